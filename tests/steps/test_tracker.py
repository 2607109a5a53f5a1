"""Scores by release: what each was, and whether the system or the exam moved it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.ready import Ready, portal, reviewed
from findback.evalset.cases import read_cases
from findback.evalset.release import CASES, release_folder
from findback.model.case import Case
from findback.reporting.blocks import Table
from findback.reporting.tracked import say_tracker, tracker_blocks
from findback.retrievers.memory import MemoryRetriever
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.opening import SetRequest, open_documents
from findback.steps.release import ReleaseRequest, release
from findback.steps.tracker import track
from findback.workspace import Workspace

DAY = datetime(2024, 6, 3, tzinfo=UTC)


def alone(number: int) -> Case:
    """A case that shares gold with no other."""
    return reviewed(number, judged=[{"doc": f"page-{number}.md", "grade": 3, "found_by": "resolver"}])


def run(workspace: Workspace, *found: int) -> None:
    """Evaluate a system that puts the gold of some cases first, and finds that of no other."""
    pages = {f"page-{number}.md" for number in found}
    answers = {
        case.query: [gold if (gold := case.judged[0].doc) in pages else "policies/leave.md"]
        for case in read_cases(workspace.evalset / CASES)
    }
    evaluate(workspace, EvaluateRequest(), systems=[MemoryRetriever(answers, name="a")])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two releases of 12 and 16 cases: 6 of 12 found, then 9 of the same 12 and all four new ones."""
    made = portal(tmp_path)
    for number in range(16):
        (made.root / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nabout nothing else\n")
    ready = Ready(*map(alone, range(12)))
    release(made, ReleaseRequest(message="first"), ready=ready, made=DAY)
    run(made, *range(3))
    run(made, *range(6))
    for number in range(12, 16):
        ready.cases[f"new {number}"] = alone(number)
    release(made, ReleaseRequest(message="second"), ready=ready, made=DAY)
    run(made, *range(9), 12, 13, 14, 15)
    return made


def test_each_release_has_its_newest_score_and_what_changed(workspace: Workspace) -> None:
    """6 of 12, then 13 of 16 with four cases added: three of twelve are the system, and the exam is the rest."""
    found = track(workspace, open_documents(workspace, SetRequest()))
    assert found is not None
    newest, first = found.releases
    assert ((first.number, first.first, first.cases, first.changes), newest.changes) == (
        (1, True, 12, None),
        {"added": 4},
    )
    (before,), (after,) = first.scores, newest.scores
    assert before.estimate.value == pytest.approx(6 / 12)
    assert (before.by_system, before.by_exam) == (None, None)
    assert after.estimate.value == pytest.approx(13 / 16)
    assert after.by_system is not None
    assert after.by_exam is not None
    assert after.by_system.value == pytest.approx(3 / 12)
    assert after.by_exam.value == pytest.approx(13 / 16 - 9 / 12)
    assert say_tracker(found) == "Release 2 of 2024-06-03 has 16 active cases. What changed in the exam: 4 added."
    (releases, scores) = [block for block in tracker_blocks(found) if isinstance(block, Table)]
    assert [row[3].text for row in releases.rows] == ["4 added", "the first release"]
    assert [row[2].text for row in scores.rows] == [".812", ".500"]


def test_a_damaged_release_is_named_and_left_out(workspace: Workspace) -> None:
    """Changed bytes of a release leave the others in the table, with a note."""
    file = release_folder(workspace.evalset, 1) / CASES
    file.write_text(file.read_text("utf-8").replace('"plain"', '"vague"'), "utf-8")
    found = track(workspace, None)
    assert found is not None
    assert [(one.number, one.changes) for one in found.releases] == [(2, None)]
    assert found.notes[0].startswith("release 1 is left out: ")
    assert say_tracker(found).endswith("What changed in the exam: not known.")


def test_nothing_is_tracked_before_a_release(tmp_path: Path) -> None:
    """Without a release there is no table."""
    assert track(portal(tmp_path), None) is None
