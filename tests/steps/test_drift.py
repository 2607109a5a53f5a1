"""How agents reworded failed questions, in evaluation and report."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.candidates import candidate
from builders.portal import write_portal
from findback.model.candidate import Candidate, RewriteCount
from findback.steps.bench import open_bench
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.report import ReportRequest, report
from findback.workspace import Workspace, open_workspace

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = write_portal(tmp_path / "portal")
    return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})


def asked(name: str, asker: str, kept: float | None, **more: object) -> Candidate:
    return candidate(name, asker, rewrites=RewriteCount(calls=4, distinct=3, shared_words=kept), **more)


def store(workspace: Workspace, candidates: Sequence[Candidate]) -> None:
    with open_bench(workspace) as bench:
        bench.put(candidates, now=NOW)


def page(workspace: Workspace, name: str) -> str:
    request = EvaluateRequest(set=workspace.root / "asked.jsonl")
    evaluate(workspace, request)
    output = workspace.root / name
    report(workspace, ReportRequest(output=output))
    return output.read_text(encoding="utf-8")


def test_rewrites_of_agents_stand_in_the_report(workspace: Workspace) -> None:
    """Every asker counts once; control cases, people's own searches and what was rejected are left out."""
    gone = asked("f", "fay", 1.0)
    mined = [
        *(asked(f"a{n}", "ana", 0.2) for n in range(3)),
        asked("b", "bo", 0.6),
        asked("c", "cy", None),
        asked("d", "di", 1.0, stratum="control"),
        candidate("e", "eve"),
        gone,
    ]
    store(workspace, mined)
    with open_bench(workspace) as bench:
        bench.reject(gone.key, "no question", reviewer="ana", version=1, now=NOW)
    result = evaluate(workspace, EvaluateRequest(set=workspace.root / "asked.jsonl"))
    assert result.drift is not None
    assert (result.drift.questions, result.drift.calls, result.drift.wordings) == (5, 20, 15)
    assert result.drift.shared_words.value == pytest.approx(0.4)
    assert (result.drift.shared_words.clusters, result.drift.shared_words.left_out) == (2, 1)
    for name in ("report.html", "report.md"):
        assert "How far agents drifted" in page(workspace, name)


def test_without_agents_nothing_is_said(workspace: Workspace) -> None:
    """A workspace that mined nothing, or no agent, has no such section."""
    assert "drifted" not in page(workspace, "none.html")
    store(workspace, [candidate("e", "eve")])
    assert "drifted" not in page(workspace, "people.html")


def test_a_workbench_that_cannot_be_read_does_not_stop_scoring(workspace: Workspace) -> None:
    """The figure is replaced by the reason."""
    store(workspace, [asked("a", "ana", 0.2)])
    (workspace.private / "workbench" / "workbench.sqlite").write_bytes(b"no database")
    assert "Not known: the workbench cannot be read" in page(workspace, "broken.md")
