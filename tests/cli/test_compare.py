"""`findback compare`."""

import json
from pathlib import Path

import pytest

from builders.portal import ASKED, PAGES, write_pages, write_portal, write_set
from findback.model.compared import Comparison

TWO = "[retrievers.plain]\nkind = 'bm25'\n[retrievers.flat]\nkind = 'bm25'\nb = 0.0\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_portal(tmp_path / "portal", TWO)


def test_two_runs_that_agree(run, root: Path) -> None:
    """Two retrievers that find the same are identical on these 6; nothing is written but to the private folder."""
    before = set(root.rglob("*"))
    outcome = run("compare", "plain", "flat", "--set", "golden.jsonl", cwd=root)
    assert outcome.status == 0, outcome.err
    assert "plain and flat are identical on these 6." in outcome.out
    assert "unreleased set, sha256 " in outcome.out
    assert set(root.rglob("*")) == before
    again = run("compare", "--set", "golden.jsonl")
    assert "kept runs were used: plain (" in again.out


def test_files_and_formats(run, root: Path) -> None:
    """JSON reads back as the record, and -o writes the format its name says, with the picture in the page."""
    lines = [f"{id_} Q0 {gold[0]} 1 1.0 t\n" for id_, _, gold in ASKED]
    (root / "best.trec").write_text("".join(lines))
    (root / "worst.trec").write_text("".join(f"{line.split()[0]} Q0 nowhere 1 1.0 t\n" for line in lines))
    words = ("compare", "best.trec", "worst.trec", "--set", "asked.jsonl", "--baseline", "worst.trec")
    outcome = run(*words, "--json", cwd=root)
    result = Comparison.model_validate(json.loads(outcome.out))
    assert [(one.first, one.second) for one in result.pairs] == [("best", "worst")]
    assert result.pairs[0].verdict == "too few"
    assert run(*words, "-o", "c.html").status == 0
    assert "Too few cases to tell best and worst apart" in (root / "c.html").read_text()
    assert run(*words, "-o", "c.md").status == 0
    assert (root / "c.md").read_text().startswith("# Comparison: unreleased set")
    refused = run(*words, "-o", "best.trec")
    assert refused.status == 2
    assert (root / "best.trec").read_text() == "".join(lines)


def test_queries_behind_a_difference(run, tmp_path: Path) -> None:
    """Three wins are printed of many, each with its query; --all prints them all."""
    rows = [(f"r{at}", f"{query} {at}", gold) for at in range(3) for _, query, gold in ASKED]
    rows = [(f"q{at}", query, gold) for at, (_, query, gold) in enumerate(rows)]
    write_pages(tmp_path / "docs", PAGES)
    write_set(tmp_path / "set.jsonl", rows)
    for name, found in (("good", True), ("bad", False)):
        text = "".join(f"{id_} Q0 {gold[0] if found else 'x'} 1 1.0 t\n" for id_, _, gold in rows)
        (tmp_path / f"{name}.trec").write_text(text)
    words = ("compare", "good.trec", "bad.trec", "--set", "set.jsonl", "--corpus", "docs")
    few, every = run(*words, cwd=tmp_path), run(*words, "--all")
    assert "good is better than bad: RR@10 +1.000" in few.out
    assert "the largest of each" in few.out
    assert [sum(f" {id_} " in out for id_, _, _ in rows) for out in (few.out, every.out)] == [3, 18]
    assert "why does the job keep" in few.out


def test_a_dead_system_ends_with_an_error_status(run, root: Path) -> None:
    """A system whose every search failed leaves the comparison open, and the status says that an engine failed."""
    (root / "broken.py").write_text("def search(query, k):\n    raise RuntimeError('down')\n")
    (root / "findback.toml").write_text(
        (root / "findback.toml").read_text() + "[retrievers.dead]\nkind = 'python'\nfunction = 'broken:search'\n"
    )
    first = run("compare", "plain", "dead", "--set", "asked.jsonl", cwd=root)
    assert first.status == 5
    digest = first.err.split("FINDBACK_TRUST=")[1].split()[0]
    outcome = run("compare", "plain", "dead", "--set", "asked.jsonl", trust=digest)
    assert outcome.status == 8
    assert "every search of dead failed" in outcome.err
