"""Changing cases of the set."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from builders.ready import portal, reviewed
from findback.errors import RefusedError, StorageError, UsageError
from findback.evalset.cases import read_cases, write_cases
from findback.evalset.head import hold_head
from findback.model.case import Case
from findback.model.reviewer import Reviewer
from findback.steps import casechange
from findback.steps.bench import open_bench
from findback.steps.casechange import CaseChangeRequest, CaseConflictError, change_case, digest_case
from findback.steps.caselist import list_questioned
from findback.steps.flagmiss import FlagMissRequest, flag_miss, keep_label
from findback.workbench.store import Workbench
from findback.workspace import Workspace

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LEAD = Reviewer("ana", None, ("lead",), ("public",))
REVIEWER = Reviewer("bo", None, ("reviewer",), ("public",))


class Place(NamedTuple):
    workspace: Workspace
    bench: Workbench

    @property
    def cases(self) -> dict[str, Case]:
        return {case.id: case for case in read_cases(self.workspace.evalset / "cases.jsonl")}

    def change(self, case: Case, who: Reviewer = LEAD, **values: object) -> None:
        asked = CaseChangeRequest.model_validate({"case": case.id, "seen": digest_case(case), "why": "x", **values})
        change_case(self.workspace, self.bench, who, asked, now=NOW)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    workspace = portal(tmp_path)
    workspace.evalset.mkdir()
    write_cases(workspace.evalset / "cases.jsonl", [reviewed(number) for number in range(12)])
    with open_bench(workspace) as bench:
        yield Place(workspace, bench)


def test_changes_at_the_same_time_are_all_kept(place: Place) -> None:
    """Twelve threads change twelve cases of one file: each change is there, and in its history."""
    cases = place.cases
    threads = [
        threading.Thread(target=place.change, args=(case,), kwargs={"wording": "vague"}) for case in cases.values()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {case.wording for case in place.cases.values()} == {"vague"}
    assert {change.case_id for change in place.bench.case_changes()} == set(cases)


@pytest.mark.parametrize("times", [1, 3, 100])
def test_what_another_program_wrote_meanwhile_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A head that is edited between reading and writing is read again; the other's edit stays, and so does the change.

    Where somebody edits it all the time, the change is refused.
    """
    first, second = list(place.cases.values())[:2]
    real, left = casechange._check_label, iter(range(times))

    def edited(*given: object) -> object:
        if (number := next(left, None)) is not None:
            rest = [one for one in place.cases.values() if one.id != second.id]
            wording = "vague" if number % 2 == 0 else "symptom-first"
            write_cases(
                place.workspace.evalset / "cases.jsonl", [*rest, second.model_copy(update={"wording": wording})]
            )
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(casechange, "_check_label", edited)
    if times == 100:
        with pytest.raises(CaseConflictError):
            place.change(first, wording="wrong-name")
        assert place.cases[first.id].wording == "plain"
        assert place.bench.case_changes() == []
        return
    place.change(first, wording="wrong-name")
    assert (place.cases[first.id].wording, place.cases[second.id].wording) == ("wrong-name", "vague")
    assert [one.case_id for one in place.bench.case_changes()] == [first.id]


HOLDER = """
import sys
from pathlib import Path
from findback.evalset.head import hold_head
with hold_head(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX alone")
def test_a_change_waits_for_another_process(place: Place) -> None:
    """While another server has the head nothing is written; when it lets go, or is killed, the change is made."""
    cases = list(place.cases.values())
    for at, killed in enumerate((False, True)):
        command = [sys.executable, "-c", HOLDER, str(place.workspace.evalset)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            with pytest.raises(StorageError, match="another process"), hold_head(place.workspace.evalset, patience=0):
                raise AssertionError("two hold it")
            thread = threading.Thread(target=place.change, args=(cases[at],), kwargs={"wording": "vague"})
            thread.start()
            assert place.cases[cases[at].id].wording == "plain"
            if killed:
                other.kill()
            else:
                other.communicate("\n")
            thread.join(timeout=20)
        assert place.cases[cases[at].id].wording == "vague"


def test_a_disk_that_refuses_leaves_everything_as_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the head nor the history says what could not be written."""

    def refuse(*_: object, **__: object) -> None:
        raise StorageError("no space left on device")

    before = place.cases
    monkeypatch.setattr(casechange, "write_cases", refuse)
    with pytest.raises(StorageError):
        place.change(next(iter(before.values())), wording="vague")
    assert place.cases == before
    assert place.bench.case_changes() == []


def test_only_leads_change_cases(place: Place) -> None:
    """A reviewer may doubt a label, and neither change it nor settle the doubt."""
    case = next(iter(place.cases.values()))
    with pytest.raises(RefusedError):
        place.change(case, REVIEWER, wording="vague")
    asked = FlagMissRequest(case=case.id, document=case.gold[0].doc, said="gold-is-wrong")
    flag_miss(place.workspace, place.bench, REVIEWER, asked, now=NOW)
    with pytest.raises(RefusedError):
        keep_label(place.workspace, place.bench, REVIEWER, case.id, "it is right", now=NOW)
    assert list(list_questioned(place.bench)) == [case.id]
    keep_label(place.workspace, place.bench, LEAD, case.id, "it is right", now=NOW)
    assert list_questioned(place.bench) == {}
    with pytest.raises(UsageError, match="nobody doubts"):
        keep_label(place.workspace, place.bench, LEAD, case.id, "again", now=NOW)


def test_parts_count_from_one_and_what_is_no_answer_is_not_quoted(place: Place) -> None:
    """Judgements are kept in the order of cases, whatever numbers and quotes came in."""
    case = next(iter(place.cases.values()))
    judged = [
        {"doc": "howto/badge.md", "grade": 0, "part": 4, "anchor": "reception", "found_by": "reviewer"},
        {"doc": "howto/vpn.md", "grade": 2, "part": 9, "found_by": "reviewer"},
        {"doc": "policies/leave.md", "grade": 3, "part": 5, "found_by": "reviewer"},
    ]
    place.change(case, judged=judged)
    kept = place.cases[case.id].judged
    assert [(one.doc, one.grade, one.part, one.anchor) for one in kept] == [
        ("policies/leave.md", 3, 1, None),
        ("howto/vpn.md", 2, 2, None),
        ("howto/badge.md", 0, 1, None),
    ]
    assert place.cases[case.id].answer == "cross-doc"


def test_retired_cases_come_back(place: Place) -> None:
    """Retiring keeps the reason in the case; asking it again takes it out."""
    case = next(iter(place.cases.values()))
    place.change(case, status="retired", why="nobody asks it")
    gone = place.cases[case.id]
    assert (gone.status, gone.retired_because) == ("retired", "nobody asks it")
    place.change(gone, status="active")
    assert place.cases[case.id] == case
    assert [change.what for change in place.bench.case_changes(case.id)] == ["reinstated", "retired"]


def test_a_reason_may_hold_nobody(place: Place) -> None:
    """An address in a reason is refused by its type, whether a case changes, is doubted or is kept; nothing is kept."""
    why = "mara" + "@" + "example.org said so"
    case = next(iter(place.cases.values()))
    doubted = {"case": case.id, "document": case.gold[0].doc, "said": "gold-is-wrong"}

    def doubt(why: str | None) -> None:
        flag_miss(place.workspace, place.bench, LEAD, FlagMissRequest.model_validate(doubted | {"why": why}), now=NOW)

    for refused in (lambda: place.change(case, wording="vague", why=why), lambda: doubt(why)):
        with pytest.raises(UsageError, match="why, character 1: EMAIL") as caught:
            refused()
        assert "mara" not in str(caught.value)
    assert (place.cases[case.id], place.bench.case_changes()) == (case, [])
    doubt(None)
    with pytest.raises(UsageError, match="why, character 1: EMAIL"):
        keep_label(place.workspace, place.bench, LEAD, case.id, why, now=NOW)
