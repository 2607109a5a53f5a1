"""What earlier steps left, and what became of it since."""

import os
from pathlib import Path

import pytest

from builders.portal import write_portal
from findback.errors import DataError, MissingError
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.kept import load, newest
from findback.steps.report import ReportRequest, report
from findback.steps.runs import RunsRequest, list_runs
from findback.steps.status import status
from findback.workspace import Workspace, open_workspace


def evaluated(tmp_path: Path) -> Workspace:
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    return workspace


def break_newest(workspace: Workspace) -> list[str]:
    """Put a pipe, nonsense and a deep nesting after everything that is there, and return their names."""
    folder = workspace.private / "evaluations"
    names = [f"evaluation-99990101T00000{n}000000Z.json" for n in range(3)]
    os.mkfifo(folder / names[0])
    (folder / names[1]).write_text("{}")
    (folder / names[2]).write_text("[" * 100_000)
    return names


def test_newest_that_can_be_read_is_used(tmp_path: Path) -> None:
    """Damaged newer evaluations and a pipe among them are passed over and named; nothing hangs."""
    workspace = evaluated(tmp_path)
    made = newest(workspace, Evaluation).result
    broken = break_newest(workspace)
    found = newest(workspace, Evaluation)
    assert found.result == made
    assert made is not None
    assert len(found.unreadable) == 3
    assert all(any(name in line for line in found.unreadable) for name in broken)
    assert newest(workspace, Audit) == (None, ())


def test_report_and_status_go_on_and_say_what_is_broken(tmp_path: Path) -> None:
    """A broken newest evaluation blocks neither report nor status, and both name its file."""
    workspace = evaluated(tmp_path)
    broken = break_newest(workspace)
    done = report(workspace, ReportRequest(output=tmp_path / "r.html"))
    assert (tmp_path / "r.html").is_file()
    listed = " ".join(item.state for item in status(workspace).items if item.what == "cannot be read")
    for name in broken:
        assert name in listed
        assert name in " ".join(done.unreadable)
    for file in (workspace.private / "evaluations").glob("evaluation-2*.json"):
        file.unlink()
    with pytest.raises(MissingError, match=broken[1]):
        report(workspace, ReportRequest(output=tmp_path / "r.html"))


def test_a_pipe_named_by_hand_is_refused(tmp_path: Path) -> None:
    """`--evaluation PIPE` says that it is no regular file instead of waiting for a writer."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        load(tmp_path / "pipe", Evaluation)


def test_one_broken_run_hides_no_other(tmp_path: Path) -> None:
    """Runs that can be read are listed, the broken ones are named beside them and can be removed."""
    workspace = evaluated(tmp_path)
    folder = workspace.private / "runs"
    (folder / "broken").write_bytes(b"findback run\n" + (13).to_bytes(8, "little") + b'{"format": 1}')
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    found = list_runs(workspace, RunsRequest())
    assert [run.retriever for run in found.runs] == ["bm25"]
    assert len(found.unreadable) == 3
    cleaned = list_runs(workspace, RunsRequest(remove=("broken", "pipe", "folder")))
    assert (len(cleaned.runs), cleaned.unreadable) == (1, ())
