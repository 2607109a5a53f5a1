"""What a glossary is worth, on answers it was built from and on others."""

import json
from pathlib import Path

import numpy as np
import pytest

from builders.glossary import THEMES, TOPICS, bare_workspace, cases, corpus, question_set, released_workspace
from builders.sets import case
from findback.api import load_cases
from findback.corpus.open import open_corpus
from findback.errors import RefusedError, UsageError
from findback.evalset.glossary import add_terms
from findback.model.glossary import GlossaryEvaluation, GlossaryScore, Term
from findback.model.protocols import Query
from findback.model.question import QuestionSet
from findback.model.settings import CorpusSettings
from findback.retrievers.memory import MemoryRetriever
from findback.steps import glossary_evaluate
from findback.steps.glossary_evaluate import (
    BY_HAND,
    MODEL_LEFT_OUT,
    NO_GLOSSARY,
    NO_SEEN,
    NO_UNSEEN,
    GlossaryEvaluateRequest,
    evaluate,
)
from findback.steps.glossary_suggest import SuggestRequest, suggest
from findback.steps.opening import trusted_items
from findback.trust import remember
from findback.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace in which nothing is released."""
    return bare_workspace(tmp_path)


def measured(workspace: Workspace, asked: QuestionSet | None = None, **more: object) -> GlossaryEvaluation:
    request = GlossaryEvaluateRequest(**{"folds": 2, **more})
    return evaluate(workspace, request, questions=asked or question_set(cases()), documents=corpus())


def by_name(result: GlossaryEvaluation) -> dict[str, GlossaryScore]:
    return {one.glossary: one for one in result.scores}


def accepted(workspace: Workspace, *terms: Term) -> None:
    add_terms(workspace.evalset / "glossary.toml", terms)


def term(when: str, add: str, rows: range, **more: object) -> Term:
    ids = tuple(f"c{row:010d}" for row in rows)
    return Term(**{"when": when, "add": add, "source": "alignment", "cases": ids, "clusters": len(ids)} | more)


def only(patch: pytest.MonkeyPatch, *systems: MemoryRetriever) -> None:
    patch.setattr(glossary_evaluate, "open_systems", lambda *_, **__: list(systems))


def find_exactly(query: Query, k: int) -> list[str]:
    """Find the pages whose theme and topic are both named."""
    words = query.text.split()
    return [f"{theme}/{topic}.md" for theme in THEMES for topic in TOPICS if theme in words and topic in words][:k]


def test_names_of_things_carry_over_to_unseen_answers(workspace: Workspace) -> None:
    """A nickname learned from half the pages helps on the other half as much: 36 of 96 questions."""
    (score,) = measured(workspace).scores
    assert score.glossary == "as proposed"
    assert score.seen is not None
    for gain in (score.seen, score.unseen):
        assert (gain.cases, gain.changed, gain.better, gain.worse) == (96, 36, 36, 0)
        assert gain.difference.value == pytest.approx(gain.with_it.value - gain.without.value)
        assert gain.difference.low > 0
    assert score.harmed == ()


def test_words_of_single_answers_do_not(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A glossary that says what each page's own questions say gains on them and nothing on pages it never saw."""
    asked = []
    for at, one in enumerate(cases(("wireless", "payroll", "printer"), said={})):
        asked.append(one.model_copy(update={"query": f"thing{at // 2} {one.query.split()[1]} {one.query.split()[2]}"}))
    (score,) = measured(workspace, question_set(asked)).scores
    assert score.seen is not None
    assert score.seen.better > 0
    assert (score.unseen.better, score.unseen.changed) == (0, 0)
    assert score.unseen.difference.value == 0
    assert score.unseen.difference.reason == "identical on these 36"


def test_gains_are_the_mean_of_hand_counted_scores(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve accepted questions of 96 go from nothing to first: .125 on all, 1 on those seen."""
    only(monkeypatch, MemoryRetriever(find_exactly, name="exact"))
    accepted(workspace, term("wifi", "wireless", range(2)), term("moneybox", "payroll", range(12, 24)))
    score = by_name(measured(workspace))["accepted"]
    # Seen: the page of the first two questions, and all six of the second term.
    assert score.seen is not None
    assert (score.seen.cases, score.seen.better, score.seen.without.value, score.seen.with_it.value) == (14, 14, 0, 1)
    # Unseen: ten questions say wifi, twelve say paperjam and stay unfound, sixty are found already.
    assert (score.unseen.cases, score.unseen.changed, score.unseen.better, score.unseen.worse) == (82, 10, 10, 0)
    assert score.unseen.without.value == pytest.approx(60 / 82)
    assert score.unseen.difference.value == pytest.approx(10 / 82)
    wifi, moneybox = score.scored_terms
    assert (wifi.unseen.cases, wifi.unseen.better) == (10, 10)
    assert wifi.unseen.gain == pytest.approx(10 / 82)
    assert (moneybox.unseen.cases, moneybox.unseen.gain) == (0, 0)


def test_figures_on_seen_answers_never_stand_alone(workspace: Workspace) -> None:
    """Where every answer lies behind some term there is nothing to set beside it, so it is left out with the reason."""
    accepted(workspace, term("wifi", "wireless", range(96)))
    score = by_name(measured(workspace))["accepted"]
    assert (score.seen, score.seen_reason) == (None, NO_UNSEEN)
    assert (score.unseen.cases, score.unseen.difference.value) == (0, None)


def test_terms_of_other_questions_have_unseen_answers_alone(workspace: Workspace) -> None:
    """Cases of an older release that this one no longer holds saw nothing of it."""
    accepted(workspace, term("wifi", "wireless", range(5000, 5004)))
    score = by_name(measured(workspace))["accepted"]
    assert (score.seen, score.seen_reason, score.unseen.cases) == (None, NO_SEEN, 96)


def test_seen_is_every_answer_that_hangs_on_the_evidence(workspace: Workspace) -> None:
    """A question of the same cluster, and one with a further gold in common, were seen too."""
    further = [
        case(800, query="wifi zone", cluster="k0", judged=[{"doc": "parking/setup.md", "grade": 3, "found_by": "r"}]),
        case(801, query="badge zone", judged=[{"doc": "parking/setup.md", "grade": 3, "found_by": "r"}]),
    ]
    accepted(workspace, term("wifi", "wireless", range(2)))
    score = by_name(measured(workspace, question_set([*cases(("wireless", "badge")), *further])))["accepted"]
    assert score.seen is not None
    assert (score.seen.cases, score.unseen.cases) == (4, 22)


def test_harm_is_named(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions whose answer falls stand with their ranks, the greatest loss first, one that is lost without a rank."""
    ranks = {"badge setup urgent": (1, 3), "badge outage monday": (2, 0), "badge pricing laptop": (5, 4)}

    def find(query: Query, k: int) -> list[str]:
        plain = query.text.removesuffix(" door")
        topic = plain.split()[1]
        before, after = ranks.get(plain, (1, 1))
        rank = after if query.text.endswith(" door") else before
        return [*(f"other{n}" for n in range(rank - 1)), f"badge/{topic}.md"] if rank else ["other"]

    only(monkeypatch, MemoryRetriever(find, name="scripted"))
    accepted(workspace, Term(when="badge", add="door"))
    score = by_name(measured(workspace, question_set(cases(("badge",)))))["accepted"]
    assert [(one.query, one.before, one.after) for one in score.harmed] == [
        ("badge setup urgent", 1, 3),
        ("badge outage monday", 2, None),
    ]
    assert score.harmed[0].added == ("door",)
    assert (score.unseen.better, score.unseen.worse) == (1, 2)
    (door,) = score.scored_terms
    assert (door.unseen.cases, door.unseen.better, door.unseen.worse) == (12, 1, 2)


def test_failed_searches_leave_bounds(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One search of twelve fails with the words added: no mean, and a difference between all missed and all hit."""

    def find(query: Query, k: int) -> list[str]:
        if query.text == "badge setup urgent door":
            raise RuntimeError("down")
        return [f"badge/{query.text.split()[1]}.md"]

    only(monkeypatch, MemoryRetriever(find, name="shaky"))
    accepted(workspace, Term(when="badge", add="door"))
    score = by_name(measured(workspace, question_set(cases(("badge",)))))["accepted"]
    gain = score.unseen
    assert (gain.failed, gain.difference.value, gain.with_it.value) == (1, None, None)
    assert gain.lowest is not None
    assert gain.highest is not None
    assert (gain.lowest.value, gain.highest.value) == (pytest.approx(-1 / 12), 0)
    assert score.scored_terms[0].unseen.gain is None
    assert score.errors == ("1 searches with shaky: RuntimeError: down",)


def test_questions_that_cannot_be_asked_are_left_out(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context the retriever does not honour is no miss."""
    only(monkeypatch, MemoryRetriever(find_exactly, name="exact"))
    asked = [*cases(("badge",)), case(900, query="badge setup", context={"locale": "de"}, judged=cases()[0].judged)]
    accepted(workspace, Term(when="badge", add="door"))
    score = by_name(measured(workspace, question_set(asked)))["accepted"]
    assert (score.unseen.cases, score.unseen.difference.n, score.unseen.failed) == (13, 12, 0)


def test_strata_stand_side_by_side(workspace: Workspace) -> None:
    """Gains on past failures and on everyday questions are not one number."""
    asked = [one.model_copy(update={"stratum": "control" if at % 4 else "failure"}) for at, one in enumerate(cases())]
    (score,) = measured(workspace, question_set(asked)).scores
    assert [(one.stratum, one.gain.cases) for one in score.strata] == [("control", 72), ("failure", 24)]
    assert measured(workspace).scores[0].strata == ()


def test_what_cannot_be_known_is_said(workspace: Workspace) -> None:
    """No terms yet; terms that name no case; terms of a model, which are not rebuilt."""
    assert measured(workspace).notes == (NO_GLOSSARY,)
    accepted(workspace, Term(when="a", add="b"), term("c", "d", range(2), source="model", model="openai:x"))
    notes = measured(workspace).notes
    assert notes[1:] == (BY_HAND.format(1), MODEL_LEFT_OUT)


def test_too_few_groups_are_refused(workspace: Workspace) -> None:
    """Questions about one page hang together, and make no two folds."""
    with pytest.raises(UsageError, match="into 1 groups, too few for 2 folds"):
        measured(workspace, question_set(cases(("badge",))[:2]))


def test_every_retriever_is_scored_and_none_twice(tmp_path: Path) -> None:
    """Recorded runs and retrievers with a glossary in front are passed over; naming one says why it cannot be."""
    settings = (
        "[retrievers.words]\nkind = 'bm25'\n[retrievers.long]\nkind = 'bm25'\nstop_words = 'long'\n"
        "[retrievers.kept]\nkind = 'file'\npath = 'run.txt'\n"
    )
    workspace = released_workspace(tmp_path, settings=settings)
    (workspace.root / "run.txt").write_text("c0000000000 Q0 a 1 1.0 x\n")
    result = evaluate(workspace, GlossaryEvaluateRequest(folds=2))
    assert [one.retriever for one in result.scores] == ["words", "long"]
    assert result.heading == "release 1"
    with pytest.raises(UsageError, match="recorded run"):
        evaluate(workspace, GlossaryEvaluateRequest(folds=2, retrievers=("kept",)))


def test_unreviewed_questions_stay_here(tmp_path: Path) -> None:
    """An unreleased set is not sent to a server elsewhere; a release may be."""
    far = "kind = 'http'\nurl = 'https://search.example.org/{{query}}'\nhits = '$.hits[*]'\nid = '$.id'\n"
    workspace = bare_workspace(tmp_path, f"[retrievers.far]\n{far}")
    remember(workspace.root, trusted_items(workspace), workspace.environment)
    with pytest.raises(RefusedError, match="were not reviewed, and would leave this machine: far"):
        measured(workspace, question_set(cases(), kind="unreleased set"))
    with pytest.raises(RefusedError, match="were not reviewed"):
        suggest(
            workspace,
            SuggestRequest(on="far"),
            questions=question_set(cases(), kind="unreleased set"),
            documents=corpus(),
        )


def test_half_the_golds_of_real_questions(data: Path, tmp_path: Path) -> None:
    """On 348 help-channel questions a glossary of half the golds gains .13 on these and loses .01 on the others."""
    documents = open_corpus(CorpusSettings(path="ubuntu/corpus.jsonl"), base=data)
    asked = load_cases(data / "ubuntu" / "queries.jsonl", corpus=documents)
    workspace = bare_workspace(tmp_path)
    result = evaluate(workspace, GlossaryEvaluateRequest(folds=2), questions=asked, documents=documents)
    (score,) = result.scores
    assert score.seen is not None
    assert (result.questions, result.groups, score.seen.cases, score.unseen.cases) == (348, 118, 348, 348)
    assert score.unseen.without.value == score.seen.without.value == pytest.approx(0.255, abs=5e-4)
    assert 0.1 < score.seen.difference.value < 0.16
    assert score.seen.difference.low > 0.05
    assert -0.02 < score.unseen.difference.value < -0.004
    assert score.unseen.difference.high < 0
    assert len(score.harmed) == score.unseen.worse > 10
    # The same by hand: golds of both halves are apart, and each question is scored by the glossary of the other half.
    rows = [json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text("utf-8").splitlines()]
    assert len({row["gold"] for row in rows}) == 118
    assert np.isclose(score.unseen.with_it.value - score.unseen.without.value, score.unseen.difference.value)
