"""Sending suspicious cases to be looked at again, blind, and what comes of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.comparisons import question_set, questions, ranking
from builders.lookagain import NOBODY, SECOND, heads, released, two_systems
from builders.ready import Ready
from findback.errors import RefusedError, UsageError
from findback.evalset.cases import write_cases
from findback.model.case import Case
from findback.model.items import SentItems
from findback.model.reviewer import Reviewer
from findback.retrievers.memory import MemoryRetriever
from findback.steps.bench import open_bench
from findback.steps.casechange import CaseChangeRequest, CaseConflictError, change_case, digest_case
from findback.steps.caselist import LOOK, list_questioned
from findback.steps.items_send import SendRequest, send_items
from findback.steps.lookagain import answer_look, list_documents, list_pools, read_pool
from findback.steps.release import ReleaseRequest, release
from findback.steps.releases import DiffRequest, compare_releases
from findback.workbench.store import Workbench
from findback.workspace import Workspace

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LEAD = Reviewer("ana", None, ("lead",), ("public",))
REVIEWER = Reviewer("bo", None, ("reviewer",), ("public",))


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    return released(tmp_path)


@pytest.fixture
def bench(made: Workspace) -> Iterator[Workbench]:
    with open_bench(made) as opened:
        yield opened


def send(made: Workspace, **options: object) -> SentItems:
    return send_items(made, SendRequest.model_validate(options), systems=two_systems(made), by="ana", moment=NOW)


def answer(made: Workspace, bench: Workbench, case: Case, gold: set[str], **more: object) -> bool:
    """Look at a case again: these documents answer, the others do not; what was gold gets the grade it had."""
    pool = read_pool(list_questioned(bench)[case.id]) or {}
    had = {one.doc: one.grade for one in case.judged}
    grades = {one: (had.get(one) or 3) if one in gold else 0 for one in list_documents(case, pool)}
    return answer_look(made, bench, LEAD, case.id, grades, seen=digest_case(case), now=NOW, **more)  # type: ignore[arg-type]


def test_suspicious_cases_go_with_as_many_random_ones(made: Workspace, bench: Workbench) -> None:
    """Two suspicious cases and two others are sent; nothing about any of them says which it is."""
    sent = send(made)
    assert (sent.cases, sent.random, sent.waiting) == (4, 2, 0)
    waiting = list_questioned(bench)
    assert len(waiting) == 4
    assert {SECOND, NOBODY} < set(waiting)
    assert {(change.what, change.why, change.role, change.at, change.before) for change in waiting.values()} == {
        (LOOK, "to be looked at again", "lead", NOW, None)
    }
    for change in waiting.values():
        pool = read_pool(change)
        assert pool is not None
        assert len(pool) >= 3, "no case shows by having nothing new to grade"
        assert not set(pool) & {one.doc for one in heads(made)[change.case_id].judged}
        assert set(change.after or {}) == {"pool"}


def test_every_system_is_named_for_what_it_put_forward(made: Workspace, bench: Workbench) -> None:
    """Both rank policies/leave.md first, and each a page of its own third."""
    send(made)
    assert list_pools(bench)[SECOND] == {
        "policies/leave.md": ("a", "b"),
        "howto/vpn.md": ("a",),
        "howto/badge.md": ("b",),
    }


def test_a_number_can_be_named(made: Workspace, bench: Workbench) -> None:
    """One suspicious case is sent with one other; the second waits, and goes next time with a fresh one."""
    first = send(made, most=1)
    assert (first.cases, first.waiting) == (2, 1)
    before = set(list_questioned(bench))
    assert SECOND in before
    assert NOBODY not in before
    second = send(made, most=1)
    assert (second.cases, second.waiting) == (2, 0)
    assert len(list_questioned(bench)) == 4
    assert NOBODY in list_questioned(bench)


def test_what_was_looked_at_is_not_sent_again(made: Workspace, bench: Workbench) -> None:
    """After every case was looked at, nothing new looks wrong, although systems still miss one."""
    send(made)
    for id_ in list_questioned(bench):
        answer(made, bench, heads(made)[id_], {heads(made)[id_].judged[0].doc})
    again = send(made)
    assert (again.cases, again.notes[-1]) == (0, "nothing new looks wrong")


def test_a_new_document_is_news(made: Workspace, bench: Workbench) -> None:
    """A case that was looked at goes again where two systems rank a page first that it was not sent with."""
    send(made)
    for id_ in list_questioned(bench):
        answer(made, bench, heads(made)[id_], {heads(made)[id_].judged[0].doc})
    query = heads(made)[SECOND].query
    new = [MemoryRetriever({query: ["policies/travel.md"]}, name=name) for name in ("c", "d")]
    assert "policies/travel.md" not in list_pools(bench)[SECOND]
    release(made, ReleaseRequest(message="second"), ready=Ready())
    sent = send_items(made, SendRequest(), systems=[*two_systems(made), *new], moment=NOW)
    assert sent.cases == 2
    assert list_pools(bench)[SECOND]["policies/travel.md"][:2] == ("c", "d")


def test_alone_they_would_show(made: Workspace, bench: Workbench) -> None:
    """Where every case looks wrong none is sent: there is nothing to hide them among."""
    wrong = [MemoryRetriever(lambda query, k: ["howto/vpn.md", "howto/badge.md"], name=name) for name in ("a", "b")]
    sent = send_items(made, SendRequest(), systems=wrong, moment=NOW)
    assert (sent.cases, sent.waiting) == (0, 16)
    assert list_questioned(bench) == {}


def test_only_cases_of_the_set(made: Workspace) -> None:
    """Questions of another file cannot be sent: there is no label here to look at."""
    with pytest.raises(UsageError, match="none of the questions"):
        send_items(made, SendRequest(), systems=[ranking("a", [0] * 3)], questions=question_set(questions(3)))


def test_a_paraphrase_sends_its_root(made: Workspace, bench: Workbench) -> None:
    """What looks wrong on a paraphrase is the label of its root: that is what waits."""
    root = heads(made)[SECOND]
    copy = root.model_copy(update={"id": "c0000000099", "origin": "paraphrase", "root": SECOND, "query": "other words"})
    write_cases(made.evalset / "cases.jsonl", [*heads(made).values(), copy])
    release(made, ReleaseRequest(message="second"), ready=Ready())
    send(made)
    assert "c0000000099" not in list_questioned(bench)
    assert SECOND in list_questioned(bench)


def test_a_second_gold_is_found_by_item_analysis(made: Workspace, bench: Workbench) -> None:
    """A document graded for the first time says how it was found; what kept its grade says what it said before."""
    send(made)
    before = heads(made)[SECOND]
    assert answer(made, bench, before, {"policies/leave.md", "page-0.md"})
    after = heads(made)[SECOND]
    assert {(one.doc, one.grade, one.found_by) for one in after.gold} == {
        ("page-0.md", 3, "resolver"),
        ("policies/leave.md", 3, "item-analysis"),
    }
    assert all(one.found_by == "item-analysis" for one in after.judged if not one.grade)
    assert SECOND not in list_questioned(bench)
    assert (after.labelled_by, bench.case_changes(SECOND)[0].what) == ("lead", "judged")


def test_a_wrong_gold_is_found_by_item_analysis(made: Workspace, bench: Workbench) -> None:
    """Gold that gets grade 0 says so; where nothing answers any more, a reason is needed."""
    send(made)
    case = heads(made)[NOBODY]
    with pytest.raises(UsageError, match="say why none does"):
        answer(made, bench, case, set())
    assert answer(made, bench, case, set(), no_answer_reason="nobody wrote it down")
    after = heads(made)[NOBODY]
    assert (after.gold, after.no_answer_reason) == ((), "nobody wrote it down")
    assert {one.found_by for one in after.judged} == {"item-analysis"}


def test_every_document_is_graded_by_a_lead_who_saw_the_case(made: Workspace, bench: Workbench) -> None:
    """A grade left out would tell nothing, a reviewer may not, and a case changed meanwhile is a conflict."""
    send(made)
    case = heads(made)[SECOND]
    grades = dict.fromkeys(list_documents(case, list_pools(bench)[SECOND]), 1)
    seen = digest_case(case)
    with pytest.raises(RefusedError):
        answer_look(made, bench, REVIEWER, SECOND, grades, seen=seen, now=NOW)
    with pytest.raises(UsageError, match="grade every document"):
        answer_look(made, bench, LEAD, SECOND, {"page-0.md": 3}, seen=seen, now=NOW)
    with pytest.raises(CaseConflictError):
        answer_look(made, bench, LEAD, SECOND, grades, seen="0" * 64, now=NOW)
    unasked = next(id_ for id_ in heads(made) if id_ not in list_questioned(bench))
    with pytest.raises(UsageError, match="nobody asked"):
        answer_look(made, bench, LEAD, unasked, grades, seen=seen, now=NOW)
    assert heads(made)[SECOND] == case


def test_the_next_release_says_scores_with_and_without(made: Workspace, bench: Workbench) -> None:
    """A second gold ranked first lifts both by half a case; one only a put forward lifts a, and is taken out there.

    Of 16 cases a and b find 14 golds at rank 1, one at rank 2, one not at all: 14.5 / 16.
    """
    send(made)
    answer(made, bench, heads(made)[SECOND], {"policies/leave.md", "page-0.md"})
    pool = list_pools(bench)[NOBODY]
    own = next(one for one, systems in pool.items() if systems == ("a",))
    answer(made, bench, heads(made)[NOBODY], {own, "page-1.md"})
    for id_ in list_questioned(bench):
        answer(made, bench, heads(made)[id_], {heads(made)[id_].judged[0].doc})
    result = release(made, ReleaseRequest(message="second"), ready=Ready())
    assert (result.number, result.obstacles) == (2, ())
    a, b = result.found
    assert (a.retriever, b.retriever) == ("a", "b")
    assert (a.without_found.value, b.without_found.value) == (pytest.approx(14.5 / 16), pytest.approx(14.5 / 16))
    assert (a.with_found.value, b.with_found.value) == (pytest.approx(16 / 16), pytest.approx(15 / 16))
    assert a.moved is not None
    assert a.moved.value == pytest.approx(1.5 / 16)
    assert (a.own, b.own) == (1, 0)
    assert a.without_own is not None
    assert a.without_own.value == pytest.approx(15 / 16)
    assert b.without_own == b.with_found
    assert compare_releases(made, DiffRequest(before=1, after=2)).found == result.found


def test_without_them_a_wrong_gold_counts_again(made: Workspace, bench: Workbench) -> None:
    """Without what was found, the case has the gold of the release before, although two releases passed since."""
    send(made)
    answer(made, bench, heads(made)[NOBODY], {"howto/vpn.md", "howto/badge.md"})
    release(made, ReleaseRequest(message="second"), ready=Ready())
    case = heads(made)["c0000000009"]
    request = CaseChangeRequest(case=case.id, seen=digest_case(case), why="x", wording="vague")
    change_case(made, bench, LEAD, request, now=NOW)
    result = release(made, ReleaseRequest(message="third"), ready=Ready())
    for one in result.found:
        assert one.without_found.value == pytest.approx(14.5 / 16)
        assert one.with_found.value == pytest.approx(15.5 / 16)


def test_a_release_without_such_labels_says_nothing(made: Workspace, bench: Workbench) -> None:
    """Where item analysis found nothing there is nothing to tell apart."""
    send(made)
    assert compare_releases(made, DiffRequest(before=1)).found == ()
