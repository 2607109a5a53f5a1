"""A grid of configurations."""

from pathlib import Path

import pytest

from builders.comparisons import ranking
from builders.portal import write_portal
from findback.errors import MissingError, SettingsError, UntrustedError, UsageError
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.sweep import add_sweep
from findback.workspace import Workspace, open_workspace

GRID = """
[retrievers.plain]
kind = 'bm25'
factors = {chunks = 'whole'}
[sweeps.rank]
of = 'plain'
grid = {k1 = [0.9, 1.2], b = [0.0, 0.75]}
"""


def reopen(folder: Path, settings: str) -> Workspace:
    root = write_portal(folder / "portal", settings)
    return open_workspace(root, environment={"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")})


def test_every_combination_is_a_retriever(tmp_path: Path) -> None:
    """Two values of two keys make four configurations, named by them, with their values as factors."""
    workspace, names = add_sweep(reopen(tmp_path, GRID), "rank")
    assert names == ("plain k1=0.9 b=0.0", "plain k1=0.9 b=0.75", "plain k1=1.2 b=0.0", "plain k1=1.2 b=0.75")
    made = workspace.settings.retrievers["plain k1=1.2 b=0.0"]
    assert (made.kind, made.own, made.factors) == (
        "bm25",
        {"k1": 1.2, "b": 0.0},
        {"chunks": "whole", "k1": "1.2", "b": "0.0"},
    )
    assert workspace.settings.retrievers["plain"].own == {}


def test_a_sweep_is_scored_and_its_winner_doubted(tmp_path: Path) -> None:
    """All configurations and the retriever named beside them are scored; six cases show no winner, and it is said."""
    workspace = reopen(tmp_path, GRID)
    request = EvaluateRequest(set=workspace.root / "golden.jsonl", retrievers=("plain",), sweep="rank")
    result = evaluate(workspace, request)
    assert [one.name for one in result.retrievers] == ["plain", *add_sweep(workspace, "rank")[1]]
    assert result.sweep is not None
    assert (result.sweep.name, result.sweep.systems, result.sweep.n) == ("rank", 5, 6)
    assert "too few: 6 clusters" in (result.sweep.warning or "")
    assert [one.factor for one in result.sweep.effects] == ["k1", "b"]
    assert evaluate(workspace, EvaluateRequest(set=workspace.root / "golden.jsonl")).sweep is None


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ("", MissingError, "no \\[sweeps.rank\\]"),
        ("[sweeps.rank]\nof = 'nobody'\ngrid = {k1 = [1]}\n", MissingError, "varies 'nobody', which is no retriever"),
        (f"[sweeps.rank]\nof = 'bm25'\ngrid = {{k1 = {list(range(101))}}}\n", SettingsError, "101 configurations"),
        ("[sweeps.rank]\nof = 'bm25'\ngrid = {egress = ['moon']}\n", SettingsError, "egress a value that makes no"),
    ],
)
def test_sweeps_that_make_no_sense_are_refused(
    tmp_path: Path, settings: str, error: type[Exception], message: str
) -> None:
    """A sweep that is not there, varies nothing, is too large or gives a key a bad value."""
    with pytest.raises(error, match=message):
        add_sweep(reopen(tmp_path, settings), "rank")


@pytest.mark.parametrize("grid", ["{}", "{k1 = []}"])
def test_an_empty_grid_is_no_setting(tmp_path: Path, grid: str) -> None:
    """A grid without keys or values is a fault of findback.toml."""
    with pytest.raises(SettingsError, match=r"sweeps\.rank\.grid"):
        reopen(tmp_path, f"[sweeps.rank]\nof = 'bm25'\ngrid = {grid}\n")


def test_a_sweep_varies_what_is_configured(tmp_path: Path) -> None:
    """Systems at hand have no settings to vary."""
    workspace = reopen(tmp_path, GRID)
    with pytest.raises(UsageError, match="not one at hand"):
        evaluate(
            workspace, EvaluateRequest(sweep="rank", set=workspace.root / "golden.jsonl"), systems=[ranking("a", [1])]
        )


def test_what_a_sweep_names_is_asked_about(tmp_path: Path) -> None:
    """A grid that names code runs nothing nobody agreed to; the question shows every configuration."""
    settings = "[retrievers.mine]\nkind = 'python'\nfunction = 'first:search'\n[sweeps.code]\nof = 'mine'\n"
    workspace = reopen(tmp_path, settings + "grid = {function = ['second:search', 'third:search']}\n")
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(UntrustedError):
        evaluate(workspace, EvaluateRequest(sweep="code", set=workspace.root / "golden.jsonl"), ask=refuse)
    assert all(name in asked[0] for name in ("second:search", "third:search"))
