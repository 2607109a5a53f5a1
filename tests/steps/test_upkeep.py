"""Whether anybody looked after the set."""

from datetime import date, timedelta
from pathlib import Path

from builders.candidates import candidate, digest
from builders.ready import portal
from builders.weeks import NOW, put
from findback.reporting.week import say_upkeep
from findback.steps.bench import open_bench
from findback.steps.upkeep import look_after, review_upkeep
from findback.workspace import Workspace


def reject(workspace: Workspace, name: str, days: float) -> None:
    with open_bench(workspace) as bench:
        bench.reject(digest(name), "no question", reviewer="ana", version=1, now=NOW - timedelta(days=days))


def upkeep(workspace: Workspace) -> list[tuple[date, int, int, bool]]:
    with open_bench(workspace) as bench:
        found = review_upkeep(workspace, bench, now=NOW)
    return [(one.monday, one.decided, one.waited, one.skipped) for one in found.weeks]


def test_a_week_in_which_nobody_decided_anything_is_skipped(tmp_path: Path) -> None:
    """Of two candidates one is decided, in the second whole week: the first and the third are skipped."""
    workspace = portal(tmp_path, "[set]\nowner = 'docs team'\n")
    put(workspace, candidate("a"), candidate("b"), days=25)
    reject(workspace, "a", days=14)
    assert upkeep(workspace) == [
        (date(2026, 2, 9), 0, 2, True),
        (date(2026, 2, 16), 1, 1, False),
        (date(2026, 2, 23), 0, 1, True),
    ]
    found = look_after(workspace, now=NOW)
    assert found is not None
    assert say_upkeep(found.upkeep) == (
        "Owner: docs team. 2 of the last 3 whole weeks were skipped: something waited and nobody decided anything."
        " The newest decision is of 2026-02-18."
    )


def test_a_week_without_anything_to_do_is_not_skipped(tmp_path: Path) -> None:
    """Once all is decided nobody can skip a week."""
    workspace = portal(tmp_path)
    put(workspace, candidate("a"), days=25)
    reject(workspace, "a", days=22)
    assert [one[3] for one in upkeep(workspace)] == [False, False, False]
    found = look_after(workspace, now=NOW)
    assert found is not None
    assert "None of the last 3 whole weeks was skipped" in say_upkeep(found.upkeep)
    assert "Nobody is named as owner" in say_upkeep(found.upkeep)


def test_weeks_in_a_row_are_counted(tmp_path: Path) -> None:
    """Three months without a look: eight weeks are looked back on, all skipped."""
    workspace = portal(tmp_path)
    put(workspace, candidate("a"), days=90)
    found = look_after(workspace, now=NOW)
    assert found is not None
    assert (found.upkeep.skipped, found.upkeep.skipped_last, len(found.upkeep.weeks)) == (8, 8, 8)
    assert "8 of the last 8 whole weeks were skipped, the last 8 in a row" in say_upkeep(found.upkeep)


def test_a_workspace_without_a_workbench_is_told_nothing(tmp_path: Path) -> None:
    """And none is made by looking."""
    workspace = portal(tmp_path)
    assert look_after(workspace, now=NOW) is None
    assert not workspace.private.exists()
