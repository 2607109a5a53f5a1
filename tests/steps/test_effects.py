"""What factors of configured retrievers are worth."""

from pathlib import Path

import pytest

from builders.portal import ASKED, GOLDEN, write_portal
from findback.errors import UsageError
from findback.model.across import Effects
from findback.steps.across import AcrossRequest, compare_across
from findback.steps.effects import EffectsRequest, list_factors, measure_effects
from findback.steps.kept import newest
from findback.workspace import Workspace, open_workspace

GRID = "".join(
    f"[retrievers.{name}]\nkind = 'bm25'\nb = {b}\nk1 = {k1}\nfactors = {{length = '{b}', k1 = '{k1}', own = 'same'}}\n"
    for name, b, k1 in (("a", 0.0, 0.5), ("b", 0.75, 0.5), ("c", 0.0, 1.5), ("d", 0.75, 1.5))
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = write_portal(tmp_path / "portal", GRID)
    return open_workspace(root, environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})


def test_every_factor_that_differs_is_measured(workspace: Workspace) -> None:
    """Two factors with two levels have two effects, like with like; one that never differs has none."""
    result = measure_effects(workspace, EffectsRequest(set=workspace.root / "golden.jsonl"))
    assert [(one.factor, one.first, one.second, one.settings) for one in result.effects] == [
        ("length", "0.0", "0.75", 2),
        ("k1", "0.5", "1.5", 2),
    ]
    assert (result.n, len(result.systems), result.label) == (len(GOLDEN), 4, "RR@10")
    assert all(one.gains[0].reason for one in result.effects)
    assert newest(workspace, Effects).result == result


def test_only_what_is_asked_for(workspace: Workspace) -> None:
    """A named factor stands alone; a kept run is used again."""
    request = EffectsRequest(set=workspace.root / "asked.jsonl", by=("k1",), systems=("a", "c"))
    result = measure_effects(workspace, request)
    assert [one.factor for one in result.effects] == ["k1"]
    assert result.n == len(ASKED)
    again = measure_effects(workspace, request)
    assert any(note.startswith("kept runs were used: a (") for note in again.notes)


def test_a_metric_deeper_than_depth_is_named(tmp_path: Path) -> None:
    """Effects and comparisons across sets say that the search went deeper than `depth`."""
    root = write_portal(tmp_path / "portal", "[measures]\ndepth = 5\n" + GRID)
    workspace = open_workspace(root, environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
    said = "searched 10 deep, not 5: RR@10 needs it"
    assert said in measure_effects(workspace, EffectsRequest(set=root / "golden.jsonl", by=("k1",))).notes
    request = AcrossRequest(across=f"{root / 'golden.jsonl'},{root / 'asked.jsonl'}", systems=("a", "b"))
    assert said in compare_across(workspace, request).notes


def test_factors_that_say_nothing_are_refused(workspace: Workspace) -> None:
    """One nobody names, and one with a single level, are faults; the hint says which there are."""
    words = ("a", "b", "c", "d")
    with pytest.raises(UsageError, match="no system names a factor 'model'") as caught:
        list_factors(workspace, words, ["model"])
    assert caught.value.hint == "factors that differ: length, k1"
    with pytest.raises(UsageError, match="one level"):
        list_factors(workspace, words, ["own"])
    with pytest.raises(UsageError, match="no retriever here has factors") as caught:
        list_factors(workspace, ("a.run",), ["all"])
    assert "retrievers.NAME.factors" in caught.value.hint
    assert list_factors(workspace, words, []).wanted == ()
