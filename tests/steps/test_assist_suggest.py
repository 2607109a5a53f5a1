"""Draft judgements: hidden until a reviewer answered, and how far both agree."""

from pathlib import Path

import pytest

from builders.assisted import ALONE, hand_in, scripted, workspace_of
from builders.candidates import NOON, candidate, described, digest, paraphrased
from findback.errors import MissingError, RefusedError
from findback.llm.ask import Ask
from findback.model.assisted import SuggestedGrade, Suggestion
from findback.model.candidate import DocumentLink
from findback.model.case import Judgement
from findback.model.record import Record
from findback.model.review import DroppedLink, Review
from findback.model.reviewer import Reviewer
from findback.steps.assist_agreement import measure_models, measure_suggestions, pair_answers
from findback.steps.assist_shown import find_suggestion
from findback.steps.assist_suggest import SuggestRequest, suggest
from findback.steps.bench import open_bench
from findback.steps.review import open_item, save, submit
from findback.steps.reviewdesk import open_desk
from findback.steps.reviewpool import pool
from findback.workbench.doubles import Opinions
from findback.workspace import Workspace
from findback.writing.suggest import GradedDocument, Grades

ANA = Reviewer("ana", "Ana", ("reviewer",), ("public",))
BO = Reviewer("bo", "Bo", ("reviewer",), ("public",))
BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
SENTENCE = "A lost badge is blocked at the reception desk within the hour."
QUERY = "lost badge: is it blocked in the calendar, on trains, in the tunnel, at reception"
ASKED = candidate("q", query=QUERY)


def grade_badge(ask: Ask[Record]) -> Record:
    """Grade the page about badges 3 with its sentence, and every other one 0."""
    texts = ask.user.split("Document ")[1:]
    return Grades(
        grades=tuple(
            GradedDocument(number=at, grade=3 if SENTENCE in text else 0, quote=SENTENCE if SENTENCE in text else None)
            for at, text in enumerate(texts, 1)
        )
    )


def judged(*grades: tuple[str, int], **fields: object) -> Review:
    found = tuple(Judgement(doc=document, grade=grade, found_by="pool") for document, grade in grades)
    return Review(**{"wording": "plain", "judged": found, **fields})


def shown(workspace: Workspace, reviewer: Reviewer, key: str = digest("q")) -> Suggestion | None:
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        return find_suggestion(desk, reviewer, key)


def test_the_model_sees_documents_without_id_rank_or_score(tmp_path: Path) -> None:
    """Question, titles and texts, in an order of chance; no id, and nothing about who found what."""
    workspace = workspace_of(tmp_path, [], [ASKED])
    model = scripted(grade_badge)
    done = suggest(workspace, SuggestRequest(), model=model)
    (ask,) = model.asked
    assert ask.state == "unreviewed"
    assert QUERY in ask.user
    assert SENTENCE in ask.user
    assert not [one for one in (BADGE, LEAVE, VPN, ".md", "bm25", digest("q")) if one in ask.system + ask.user]
    assert (done.stored, done.graded, done.quoted, done.misquoted) == (1, ask.user.count("Document "), 1, 0)
    orders = set()
    for seed in range(6):
        suggest(workspace, SuggestRequest(seed=seed), model=model)
        orders.add(model.asked[-1].user)
    assert len(orders) > 1


def test_what_a_resolver_linked_stands_among_the_others(tmp_path: Path) -> None:
    """Nothing tells it from what retrievers found."""
    link = DocumentLink(document=VPN, line=0, by="resolver", kind="url-in-text")
    workspace = workspace_of(tmp_path, [], [candidate("q", query="badge lost", links=(link,))])
    model = scripted(grade_badge)
    suggest(workspace, SuggestRequest(), model=model)
    assert "tunnel client" in model.asked[0].user
    assert "resolver" not in model.asked[0].system + model.asked[0].user


def test_a_draft_is_hidden_until_its_reader_answered(tmp_path: Path) -> None:
    """Not on the item, not in its pool, not from the step; after submitting it is theirs to see, and nobody else's."""
    workspace = workspace_of(tmp_path, [], [ASKED], settings=ALONE)
    suggest(workspace, SuggestRequest(), model=scripted(grade_badge))
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        item = open_item(desk, ANA, digest("q"), now=NOON)
        assert (item.review, bool(item.evidence)) == (Review(), False)
        assert [one.grade for one in pool(desk, ANA, item)] == [None] * len(pool(desk, ANA, item))
        save(desk, ANA, digest("q"), judged((BADGE, 2)), revision=0, now=NOON)
        assert find_suggestion(desk, ANA, digest("q")) is None
    assert shown(workspace, ANA) is None
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        submit(desk, ANA, digest("q"), judged((BADGE, 2)), revision=1, now=NOON)
    found = shown(workspace, ANA)
    assert found is not None
    assert SuggestedGrade(document=BADGE, grade=3, quote=SENTENCE) in found.grades
    assert shown(workspace, BO) is None


def test_a_draft_stays_hidden_while_a_second_opinion_is_due(tmp_path: Path) -> None:
    """It may be one's own second look, which is to be as blind as the first."""
    workspace = workspace_of(tmp_path, [], [ASKED], settings=ALONE.replace("0.0", "1.0"))
    suggest(workspace, SuggestRequest(), model=scripted(grade_badge))
    hand_in(workspace, ANA, {digest("q"): judged((BADGE, 2))})
    assert shown(workspace, ANA) is None
    with pytest.raises(MissingError):
        shown(workspace, ANA, digest("elsewhere"))


def test_the_same_again_changes_nothing_and_another_draft_takes_its_place(tmp_path: Path) -> None:
    """One draft a candidate, the newest."""
    workspace = workspace_of(tmp_path, [], [ASKED])
    model = scripted(grade_badge)
    assert [suggest(workspace, SuggestRequest(), model=model).stored for _ in range(2)] == [1, 0]
    assert model.asked[0] == model.asked[1]
    other = scripted(grade_badge, name="other")
    assert suggest(workspace, SuggestRequest(), model=other).stored == 1
    with open_bench(workspace) as bench:
        assert [one.model for one in bench.suggestions().values()] == ["scripted:other"]


def test_a_misquote_is_counted_and_an_incomplete_answer_is_asked_for_anew(tmp_path: Path) -> None:
    """A grade on the ground of made-up words keeps no quote; a document without a grade is no answer."""
    workspace = workspace_of(tmp_path, [], [ASKED])

    def answer(ask: Ask[Record]) -> Record:
        many = ask.user.count("Document ") - (ask.attempt == 1)
        made_up = "words that no page of the portal holds"
        return Grades(grades=tuple(GradedDocument(number=n + 1, grade=1, quote=made_up) for n in range(many)))

    model = scripted(answer)
    done = suggest(workspace, SuggestRequest(), model=model)
    assert [one.attempt for one in model.asked] == [1, 2]
    assert (done.ended["answered"], done.quoted, done.misquoted) == (1, 0, done.graded)
    with open_bench(workspace) as bench:
        (kept,) = bench.suggestions().values()
    assert {(one.grade, one.quote) for one in kept.grades} == {(1, None)}


def test_what_a_model_wrote_is_not_judged_by_one(tmp_path: Path) -> None:
    """Nor what no retriever finds a document for; both are counted, and what is decided is left alone."""
    given = [ASKED, described("g", BADGE), paraphrased("p", "c0000000001"), candidate("none", query="zzz qqq")]
    model = scripted(grade_badge)
    done = suggest(workspace_of(tmp_path, [], given), SuggestRequest(), model=model)
    assert done.left_out == {"a model wrote them": 2, "no document that may answer": 1}
    assert len(model.asked) == 1


def test_unreviewed_text_goes_only_where_the_setting_lets_it(tmp_path: Path) -> None:
    """Refused before any document is looked for."""
    far = scripted(grade_badge, name="far", egress="external")
    with pytest.raises(RefusedError, match=r"far \(external\)"):
        suggest(workspace_of(tmp_path, [], [ASKED]), SuggestRequest(), model=far)
    assert far.asked == []


def test_agreement_by_hand() -> None:
    """Ten candidates of two documents: eight alike, one off by one, one that says there is no answer."""

    def draft(badge: int, leave: int) -> Suggestion:
        grades = (SuggestedGrade(document=BADGE, grade=badge), SuggestedGrade(document=LEAVE, grade=leave))
        return Suggestion(model="m", prompt="p", at=NOON, grades=grades)

    drafts = {f"k{n}": draft(3, 0) for n in range(10)}
    drafts |= {"k8": draft(2, 0), "k9": draft(0, 0), "unanswered": draft(3, 3), "unrateable": draft(3, 3)}
    said = judged((BADGE, 3), (LEAVE, 0))
    opinions = [Opinions(f"k{n}", (said, judged((LEAVE, 1))), False, (), ()) for n in range(10)]
    opinions.append(Opinions("unrateable", (Review(unrateable_reason="noise"),), False, (), ()))
    opinions.append(Opinions("never drafted", (said,), False, (), ()))
    pairs = pair_answers(drafts, opinions)
    assert [one.candidate for one in pairs] == [f"k{n}" for n in range(10)]
    exact, near, answerable, top = measure_suggestions(pairs)
    assert (exact.share.value, exact.share.n, exact.share.clusters) == (pytest.approx(0.9), 20, 10)
    assert near.share.value == pytest.approx(0.95)
    assert (answerable.share.value, answerable.share.n) == (0.9, 10)
    assert (top.share.value, top.share.n) == (1.0, 9)
    assert exact.kappa is not None
    assert exact.kappa.reason == "fewer than 20 items were judged twice: 10"
    assert near.kappa is None
    assert (top.wanted.within, top.wanted.more) == (0.05, 72 - 9)
    assert answerable.wanted.more is not None


def test_a_document_the_model_was_not_shown_is_not_held_against_it() -> None:
    """Such candidates are left out where a document is needed, and counted; what both graded still counts."""
    grades = (SuggestedGrade(document=LEAVE, grade=0),)
    drafts = {"k": Suggestion(model="m", prompt="p", at=NOON, grades=grades)}
    review = judged((BADGE, 3), dropped=(DroppedLink(document=LEAVE, reason="about holidays"),))
    exact, _, answerable, top = measure_suggestions(pair_answers(drafts, [Opinions("k", (review,), False, (), ())]))
    assert (exact.share.value, exact.share.n) == (1.0, 1)
    assert (answerable.share.value, answerable.share.left_out) == (None, 1)
    assert (top.share.value, top.share.left_out) == (None, 1)


def test_each_model_s_drafts_are_measured_apart_by_first_answers(tmp_path: Path) -> None:
    """What a reviewer changed after they saw a draft does not count."""
    workspace = workspace_of(tmp_path, [], [ASKED], settings=ALONE)
    hand_in(workspace, ANA, {digest("q"): judged((BADGE, 1), (VPN, 0))})
    done = suggest(workspace, SuggestRequest(state=("ready",)), model=scripted(grade_badge))
    (agreement,) = done.agreement
    assert (agreement.model, agreement.compared) == ("scripted:scripted", 1)
    assert {one.what: one.share.value for one in agreement.figures}["which document answers best"] == 1.0
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        submit(desk, ANA, digest("q"), judged((BADGE, 3), (VPN, 0)), revision=1, now=NOON)
        again = measure_models(bench.suggestions(), bench.opinions())
    assert [one.model_dump() for one in again] == [agreement.model_dump()]


def test_a_dry_run_asks_nothing_and_shows_the_agreement_there_is(tmp_path: Path) -> None:
    """One call a candidate, each with as many documents as there can be."""
    workspace = workspace_of(
        tmp_path, [], [ASKED], settings=ALONE + "[models.far]\nprovider = 'openai'\nmodel = 'gpt-test'\n"
    )
    model = scripted(grade_badge)
    done = suggest(workspace, SuggestRequest(dry_run=True), model=model)
    assert done.estimate is not None
    assert (done.estimate.calls, model.asked, done.agreement) == (1, [], ())
    assert done.estimate.tokens_in > 12 * 1_200 / 3
    suggest(workspace, SuggestRequest(), model=model)
    assert [one.compared for one in suggest(workspace, SuggestRequest(dry_run=True)).agreement] == [0]


def test_without_candidates_it_says_so(tmp_path: Path) -> None:
    """Nothing mined, and nothing in the states asked for."""
    with pytest.raises(MissingError, match="nothing has been mined"):
        suggest(workspace_of(tmp_path), SuggestRequest(), model=scripted(grade_badge))
    workspace = workspace_of(tmp_path / "other", [], [ASKED])
    with pytest.raises(MissingError, match="no candidate is ready"):
        suggest(workspace, SuggestRequest(state=("ready",)), model=scripted(grade_badge))
