"""Scoring retrievers on a set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import findback
from builders.portal import write_portal, write_set
from findback.corpus.corpus import corpus_of
from findback.errors import DataError, MissingError, RefusedError, UntrustedError
from findback.evalset.runs import load_run
from findback.model.case import Judgement
from findback.model.document import Document
from findback.model.evaluation import Evaluation, RetrieverScores
from findback.model.hits import Hit
from findback.model.protocols import Retriever
from findback.model.question import Question, QuestionSet
from findback.retrievers.memory import MemoryRetriever
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.label import JudgeRequest, judge
from findback.workspace import open_workspace


def question(id_: str, gold: str | None, **more: object) -> Question:
    judged = () if gold is None else (Judgement(doc=gold, grade=3, found_by="resolver"),)
    reason = "not documented" if gold is None else None
    return Question.model_validate(
        {"id": id_, "query": f"query {id_}", "judged": judged, "no_answer_reason": reason} | more
    )


def question_set(questions: Sequence[Question]) -> QuestionSet:
    return QuestionSet(name="set.jsonl", kind="unreleased set", questions=tuple(questions))


def score(
    tmp_path: Path, questions: Sequence[Question], systems: Mapping[str, Retriever], documents: Sequence[str] = ()
) -> Evaluation:
    workspace = open_workspace(tmp_path, environment={"HOME": str(tmp_path)}, required=False)
    corpus = corpus_of([Document(id=name, text=f"text of {name}") for name in documents]) if documents else None
    return evaluate(
        workspace,
        EvaluateRequest(),
        systems=list(systems.values()),
        questions=question_set(questions),
        documents=corpus,
    )


def value(scores: RetrieverScores, metric: str, axis: str = "all", name: str = "all") -> float | None:
    group = scores.group(axis, name)  # type: ignore[arg-type]
    assert group is not None
    return next(one.estimate.value for one in group.scores if one.metric == metric)


def ranked(name: str, answers: Mapping[str, object]) -> MemoryRetriever:
    return MemoryRetriever({f"query {key}": found for key, found in answers.items()}, name=name)


def test_21_of_39_is_the_exact_interval(tmp_path: Path) -> None:
    """39 cases with 21 at rank 1 give .538 with the exact interval [.37, .70]."""
    questions = [question(f"q{n}", f"d{n}") for n in range(39)]
    answers = {f"q{n}": [f"d{n}"] if n < 21 else ["other", f"d{n}"] for n in range(39)}
    result = score(tmp_path, questions, {"a": ranked("a", answers)})
    group = result.retrievers[0].group()
    assert group is not None
    estimate = group.scores[0].estimate
    assert (estimate.value, estimate.method, estimate.n, estimate.clusters) == (
        pytest.approx(21 / 39),
        "clopper-pearson",
        39,
        39,
    )
    assert estimate.low == pytest.approx(0.372, abs=5e-4)
    assert estimate.high == pytest.approx(0.699, abs=5e-4)


def test_paraphrases_count_as_one(tmp_path: Path) -> None:
    """The same 39 cases as 13 roots of three paraphrases give another interval, from 13 cluster means."""
    questions = [question(f"q{n}", f"d{n // 3}", cluster=f"root{n // 3}") for n in range(39)]
    answers = {f"q{n}": [f"d{n // 3}"] if n < 21 else ["other", f"d{n // 3}"] for n in range(39)}
    result = score(tmp_path, questions, {"a": ranked("a", answers)})
    group = result.retrievers[0].group()
    assert group is not None
    estimate = group.scores[0].estimate
    assert (estimate.value, estimate.method, estimate.n, estimate.clusters) == (pytest.approx(7 / 13), "t", 39, 13)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low > 0.6


def test_no_answer_cases_never_enter_a_mean(tmp_path: Path) -> None:
    """Cases without a good answer change no score; they have figures of their own."""
    answerable = [question(f"q{n}", f"d{n}") for n in range(12)]
    nothing = [question(f"n{n}", None) for n in range(12)]
    answers = {f"q{n}": [Hit(f"d{n}", 5.0)] for n in range(12)} | {f"n{n}": [Hit("d0", 1.0)] for n in range(12)}
    alone = score(tmp_path, answerable, {"a": ranked("a", answers)}).retrievers[0]
    both = score(tmp_path, [*answerable, *nothing], {"a": ranked("a", answers)}).retrievers[0]
    assert value(alone, "RR@10") == value(both, "RR@10") == 1
    assert alone.abstention is None
    assert both.abstention is not None
    assert both.abstention.auroc.value == 1
    assert (both.abstention.answerable, both.abstention.unanswerable) == (12, 12)


def test_error_is_not_a_miss(tmp_path: Path) -> None:
    """One failed search of ten leaves no mean, only bounds: nine tenths of what was found, and one tenth more."""
    questions = [question(f"q{n}", f"d{n}") for n in range(10)]
    answers: dict[str, object] = {f"q{n}": [f"d{n}"] for n in range(9)}
    answers["q9"] = RuntimeError("out of shards")
    scores = score(tmp_path, questions, {"a": ranked("a", answers)}).retrievers[0]
    group = scores.group()
    assert group is not None
    first = group.scores[0]
    assert first.estimate.value is None
    assert "1 query failed" in (first.estimate.reason or "")
    assert first.lowest is not None
    assert first.highest is not None
    assert (first.lowest.value, first.highest.value) == (pytest.approx(0.9), pytest.approx(1.0))
    assert scores.failed == 1
    assert [(kind.count, "out of shards" in kind.first) for kind in scores.errors] == [(1, True)]
    assert [(miss.name, miss.count) for miss in scores.misses] == [("error", 1)]


def test_misses_say_why(tmp_path: Path) -> None:
    """Beyond the cut-off, not found and not in the index are told apart, and what cannot be told says so."""
    documents = [f"d{n}" for n in range(30)]
    questions = [question("deep", "d20"), question("lost", "d21"), question("absent", "gone")]
    answers = {"deep": documents[:21], "lost": documents[:5], "absent": documents[:5]}
    holds = MemoryRetriever({f"query {k}": v for k, v in answers.items()}, name="a", holds=documents)
    silent = ranked("b", answers)
    told, untold = score(tmp_path, questions, {"a": holds, "b": silent}, documents).retrievers
    assert {miss.name: miss.count for miss in told.misses} == {
        "beyond the cut-off": 1,
        "not found": 1,
        "not in the index": 1,
    }
    assert (told.coverage.golds, told.coverage.indexed) == (3, 2)
    assert untold.coverage.indexed is None
    assert "cannot be told" in (untold.coverage.reason or "")
    why = {miss.question: miss.why for miss in told.miss_examples}
    assert "rank 21" in why["deep"]
    assert "does not hold it" in why["absent"]
    assert value(told, "RR@10", "indexed", "gold in the index") is not None


def test_strata_and_origins_stand_apart(tmp_path: Path) -> None:
    """Failure and control, and generated and mined cases, are never only in one number."""
    questions = [question(f"f{n}", "x", stratum="failure", origin="mined") for n in range(8)]
    questions += [question(f"c{n}", f"d{n}", stratum="control", origin="generated") for n in range(8)]
    answers = {f"f{n}": ["y"] for n in range(8)} | {f"c{n}": [f"d{n}"] for n in range(8)}
    scores = score(tmp_path, questions, {"a": ranked("a", answers)}).retrievers[0]
    assert value(scores, "Success@1", "stratum", "failure") == 0
    assert value(scores, "Success@1", "stratum", "control") == 1
    assert value(scores, "Success@1", "origin", "generated") == 1
    assert value(scores, "Success@1", "origin", "mined") == 0


def test_gold_outside_the_corpus_is_scored_and_named(tmp_path: Path) -> None:
    """A set whose gold is partly no document of the corpus keeps those cases as misses and says so."""
    result = score(
        tmp_path, [question("a", "d1"), question("b", "gone")], {"a": ranked("a", {"a": ["d1"], "b": ["d1"]})}, ["d1"]
    )
    assert value(result.retrievers[0], "Success@1") == 0.5
    assert result.retrievers[0].outside_corpus == 0


def test_runs_are_kept_and_can_be_read_again(tmp_path: Path) -> None:
    """In a workspace every run is kept privately, under the id the result names."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    result = evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    run_id = result.retrievers[0].run
    assert run_id is not None
    run = load_run(workspace.private / "runs" / run_id)
    assert run.queries == ("r1", "r2", "r3", "r4", "r5", "r6")
    assert sorted((workspace.private / "evaluations").glob("evaluation-*.json"))


def test_a_set_is_needed(tmp_path: Path) -> None:
    """Without a release and without --set the error says how to name one."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    with pytest.raises(MissingError, match="nothing has been released") as caught:
        evaluate(workspace, EvaluateRequest())
    assert "--set" in (caught.value.hint or "")


def test_gold_that_meets_nothing_is_no_score_of_zero(tmp_path: Path) -> None:
    """Where no gold is a document of the corpus, there is an error with a hint instead of zeros."""
    with pytest.raises(DataError, match="no gold"):
        evaluate(
            open_workspace(tmp_path, environment={"HOME": str(tmp_path)}, required=False),
            EvaluateRequest(),
            systems=[ranked("a", {})],
            questions=question_set([Question(id="q", query="x", judged=(), unresolved=("nowhere",))]),
            documents=corpus_of([Document(id="d", text="t")]),
        )


def test_unreviewed_questions_stay_here(tmp_path: Path) -> None:
    """An unreleased set goes to no retriever beyond this machine unless findback.toml allows it by name."""
    root = write_portal(
        tmp_path / "portal",
        "[retrievers.far]\nkind = 'http'\nurl = 'https://search.example.org/?q={{query}}'\nhits = '$[*]'\n",
    )
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    workspace = open_workspace(root, environment=environment)
    with pytest.raises(UntrustedError) as untrusted:
        evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    digest = (untrusted.value.hint or "").rpartition("FINDBACK_TRUST=")[2]
    trusted = open_workspace(root, environment=environment | {"FINDBACK_TRUST": digest})
    with pytest.raises(RefusedError, match=r"far \(external\)") as caught:
        evaluate(trusted, EvaluateRequest(set=root / "asked.jsonl"))
    assert 'unreviewed_to = ["far"]' in (caught.value.hint or "")


def test_python_function_prints_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`findback.evaluate` takes a plain function and returns a record that prints and shows in a notebook."""
    root = write_portal(tmp_path / "portal")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def search(query: str, k: int) -> list[str]:
        return ["policies/leave.md", "howto/vpn.md"][:k]

    cases = findback.load_cases("asked.jsonl", corpus="docs")
    result = findback.evaluate(search, cases, depth=5, corpus="docs")
    assert value(result.retrievers[0], "Success@1") == pytest.approx(1 / 6)
    assert "search" in str(result)
    assert "RR@10" in result._repr_html_()


def test_python_callers_say_where_documents_are_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`base_url` joins gold that names documents by path or address, in reading and in scoring."""
    root = write_portal(tmp_path / "portal")
    (root / "findback.toml").unlink()
    write_set(root / "paths.jsonl", [("p1", "lost card", ["docs/howto/badge.md"])])
    monkeypatch.chdir(root)
    assert any("no document" in note for note in findback.load_cases("paths.jsonl", corpus="docs").notes)
    cases = findback.load_cases("paths.jsonl", corpus="docs", base_url="docs/")
    assert cases.questions[0].judged[0].doc == "howto/badge.md"
    scored = findback.evaluate(lambda query, k: ["howto/badge.md"], "paths.jsonl", corpus="docs", base_url="docs/")
    assert value(scored.retrievers[0], "RR@10") == 1


def test_same_documents_count_as_one_beside_the_headline(tmp_path: Path) -> None:
    """A mirror confirmed to be the same page is a miss in the headline and a hit in the lenient figure beside it."""
    root = write_portal(tmp_path / "portal", "same = 'same.csv'\n")
    (root / "docs" / "howto" / "vpn-mirror.md").write_text("# VPN\n\nInstall the client at home and enrol.")
    (root / "same.csv").write_text("howto/vpn.md,howto/vpn-mirror.md\n")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    answers = MemoryRetriever({"cant get in from home": ["howto/vpn-mirror.md"]}, name="a")
    scores = evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"), systems=[answers]).retrievers[0]
    assert value(scores, "Success@1") == 0
    assert value(scores, "Success@1", "lenient", "same documents count as one") == pytest.approx(1 / 6)


def test_retrievers_with_different_contexts_stand_beside_each_other(tmp_path: Path) -> None:
    """Cases one retriever cannot honour are not applicable there, and the spread rests on those all were asked."""
    questions = [question(f"q{n}", f"d{n}", context={"locale": "de"} if n < 3 else None) for n in range(12)]
    answers = {f"query q{n}": [f"d{n}"] for n in range(12)}
    plain = MemoryRetriever(answers, name="plain")
    local = MemoryRetriever(answers, name="local", honours=["locale"])
    result = score(tmp_path, questions, {"plain": plain, "local": local})
    assert [one.not_applicable for one in result.retrievers] == [3, 0]
    assert result.spread is not None
    assert (result.spread.n, result.spread.left_out) == (9, 3)


def test_scores_that_are_partly_missing_say_nothing_about_abstention(tmp_path: Path) -> None:
    """An engine that scores only some results gets a reason instead of a crash or a guess."""
    questions = [question(f"q{n}", f"d{n}") for n in range(12)] + [question(f"n{n}", None) for n in range(12)]
    answers: dict[str, object] = {f"q{n}": [Hit(f"d{n}", 1.0)] for n in range(12)}
    answers |= {f"n{n}": [Hit("d0", None if n == 0 else 0.5)] for n in range(12)}
    scores = score(tmp_path, questions, {"a": ranked("a", answers)}).retrievers[0]
    assert scores.abstention is not None
    assert scores.abstention.auroc.value is None
    assert scores.abstention.auroc.reason is not None
    assert scores.abstention.own_false_answer is not None
    assert scores.abstention.own_false_answer.value == 1


def test_depth_is_never_below_a_cut_off(tmp_path: Path) -> None:
    """Asking for three documents and scoring at ten would call found what was never asked; ten are asked."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    result = evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl", depth=3))
    assert result.depth == 10


def test_lost_gold_keeps_its_part(tmp_path: Path) -> None:
    """Of two alternatives one is no document: finding the other is still the whole answer."""
    root = write_portal(tmp_path / "portal")
    rows = [("q", "lost badge", ["howto/badge.md", "howto/gone.md"])]
    write_set(root / "two.jsonl", rows)
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    result = evaluate(workspace, EvaluateRequest(set=root / "two.jsonl"))
    assert value(result.retrievers[0], "PartRecall@10") == 1
    assert (result.retrievers[0].coverage.golds, result.retrievers[0].coverage.indexed) == (2, 1)


@pytest.mark.parametrize("gold", ["https://docs.example.org/howto/badge/", "howto/badge.md"])
def test_hand_judgements_hold_however_gold_is_written(tmp_path: Path, gold: str) -> None:
    """The commands for wrong gold and "also right" change the next evaluation whether gold is an id or an address."""
    root = write_portal(tmp_path / "portal", "base_url = 'https://docs.example.org/'\n")
    write_set(root / "one.jsonl", [("q", "lost badge", [gold])])
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    request = EvaluateRequest(set=root / "one.jsonl")
    assert value(evaluate(workspace, request).retrievers[0], "Success@1") == 1
    judge(workspace, JudgeRequest(set=root / "one.jsonl", question="q", doc="howto/badge.md", grade=0))
    judge(workspace, JudgeRequest(set=root / "one.jsonl", question="q", doc="policies/leave.md", grade=3))
    scores = evaluate(workspace, request).retrievers[0]
    assert value(scores, "Success@1") == 0
    assert scores.coverage.golds == 1


def test_golds_and_gold_documents_are_told_apart(tmp_path: Path) -> None:
    """Documents judged right for more questions join their gold groups; the legend and the make-up say what counts."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    request = EvaluateRequest(set=root / "asked.jsonl")
    for name in ("r1", "r2"):
        judge(workspace, JudgeRequest(set=request.set, question=name, doc="howto/vpn.md"))
    result = evaluate(workspace, request)
    group = result.retrievers[0].group()
    assert group is not None
    assert (group.scores[0].estimate.golds, result.set.golds, result.set.judged_by_hand) == (4, 6, 2)
    assert sum(line.startswith("golds: groups of questions that share a gold document") for line in result.legend) == 1


def test_address_gold_works_from_python_in_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`findback.evaluate(search, file)` inside a workspace resolves gold against the workspace's documents."""
    root = write_portal(tmp_path / "portal", "base_url = 'https://docs.example.org/'\n")
    write_set(root / "one.jsonl", [("q", "lost badge", ["https://docs.example.org/howto/badge"])])
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    result = findback.evaluate(lambda query, k: ["howto/badge.md"], "one.jsonl")
    assert value(result.retrievers[0], "Success@1") == 1


def test_changed_documents_are_noted(tmp_path: Path) -> None:
    """Reading the corpus again says what was added, changed, moved and removed since the last evaluation."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    request = EvaluateRequest(set=root / "asked.jsonl")
    assert not any("documents since" in note for note in evaluate(workspace, request).set.notes)
    (root / "docs/howto/badge.md").rename(root / "docs/howto/access-card.md")
    (root / "docs/howto/vpn.md").write_text("# VPN\n\nAsk the help desk.")
    (root / "docs/new.md").write_text("# New\n\nA new page.")
    notes = evaluate(workspace, request).set.notes
    assert any("1 added, 1 changed, 1 moved" in note for note in notes), notes
    assert any("howto/badge.md is now howto/access-card.md" in note for note in notes)


def test_wider_interval_by_gold_is_the_one_shown(data: Path, tmp_path: Path) -> None:
    """Ubuntu's 348 questions share 118 golds: design effect between 2 and 3, and the interval shown is by gold."""
    workspace = open_workspace(tmp_path, environment={"XDG_STATE_HOME": str(tmp_path)}, required=False)
    request = EvaluateRequest(set=data / "ubuntu" / "queries.jsonl", corpus=data / "ubuntu" / "corpus.jsonl")
    group = evaluate(workspace, request).retrievers[0].group()
    assert group is not None
    figures = {one.metric: one.estimate for one in group.scores}
    rr, recall = figures["RR@10"], figures["PartRecall@10"]
    assert (rr.n, rr.golds, rr.method) == (348, 118, "gold-clustered")
    assert rr.design_effect is not None
    assert 2 < rr.design_effect < 3
    assert rr.value == pytest.approx(0.255, abs=0.005)
    assert recall.value == pytest.approx(0.431, abs=0.005)
    assert figures["nDCG@10"].value == pytest.approx(0.296, abs=0.005)
    assert figures["Success@1"].value == pytest.approx(0.181, abs=0.005)
