"""`findback compare --across`, `--by` and `findback evaluate --sweep`."""

import json
from pathlib import Path

import pytest

from builders.portal import ASKED, GOLDEN, write_portal
from findback.model.across import Across, Effects

SETTINGS = """
[retrievers.plain]
kind = 'bm25'
factors = {length = 'some'}
[retrievers.flat]
kind = 'bm25'
b = 0.0
factors = {length = 'none'}
[sweeps.rank]
of = 'plain'
grid = {k1 = [0.9, 1.2]}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_portal(tmp_path / "portal", SETTINGS)
    rows = [
        {"id": id_, "query": query, "gold": gold, "origin": origin}
        for origin, side in (("generated", GOLDEN), ("mined", ASKED))
        for id_, query, gold in side
    ]
    (root / "both.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def test_two_parts_of_a_set(run, root: Path) -> None:
    """Both sides stand beside each other; nothing is written but to the private folder."""
    before = set(root.rglob("*"))
    outcome = run("compare", "--set", "both.jsonl", "--across", "generated,mined", "--by", "length", cwd=root)
    assert outcome.status == 0, outcome.err
    assert "Whether generated and mined put the 2 systems into the same order" in outcome.out.replace("\n", " ")
    assert "If only overlap differed" in outcome.out
    assert "Effects of factors" in outcome.out
    assert set(root.rglob("*")) == before


def test_files_as_sides_and_formats(run, root: Path) -> None:
    """JSON reads back; -o writes what its name says, and never over a set that is read."""
    words = ("compare", "plain", "flat", "--across", "golden.jsonl,asked.jsonl")
    outcome = run(*words, "--json", cwd=root)
    assert [side.name for side in Across.model_validate(json.loads(outcome.out)).sides] == [
        "golden.jsonl",
        "asked.jsonl",
    ]
    assert run(*words, "-o", "a.html").status == 0
    assert "<h1" in (root / "a.html").read_text()
    assert run(*words, "-o", "a.md").status == 0
    assert (root / "a.md").read_text().startswith("# Comparison across sets: golden.jsonl")
    assert run(*words, "-o", "a.txt").status == 2
    (root / "side.json").write_text((root / "asked.jsonl").read_text())
    refused = run("compare", "plain", "flat", "--across", "golden.jsonl,side.json", "-o", "side.json")
    assert refused.status == 2
    assert "r1" in (root / "side.json").read_text()


def test_by_factor_on_one_set(run, root: Path) -> None:
    """Effects of a factor are printed, and read back from JSON."""
    outcome = run("compare", "--set", "golden.jsonl", "--by", "length", cwd=root)
    assert outcome.status == 0, outcome.err
    assert "No effect is shown of length. n 6." in outcome.out
    again = run("compare", "--set", "golden.jsonl", "--by", "all", "--json")
    assert [one.factor for one in Effects.model_validate(json.loads(again.out)).effects] == ["length"]


@pytest.mark.parametrize("words", [("--baseline", "plain"), ("--production", "plain"), ("--lenient",)])
def test_options_for_one_set_are_refused(run, root: Path, words: tuple[str, ...]) -> None:
    """What needs one set is no option across two."""
    outcome = run("compare", "--across", "golden.jsonl,asked.jsonl", *words, cwd=root)
    assert outcome.status == 2
    assert f"{words[0]}: not with --across or --by" in outcome.err


def test_a_sweep_warns(run, root: Path) -> None:
    """The winner of two configurations on six cases is doubted where everybody sees it."""
    outcome = run("evaluate", "--sweep", "rank", "--set", "golden.jsonl", cwd=root)
    assert outcome.status == 0, outcome.err
    assert "came out best of 2, but" in outcome.err.replace("\n", " ")
    assert "Is the winner of the sweep any better?" in outcome.out
