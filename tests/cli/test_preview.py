"""`findback import --preview`: what was understood, before anything is written."""

import json
from pathlib import Path

import pytest

from cli.conftest import Run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two documents and a set that names one of them, and one that is not there."""
    folder = tmp_path / "work"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "badge.md").write_text("# Lost badge\nReport it at the desk.\n", "utf-8")
    (folder / "docs" / "vpn.md").write_text("# VPN\nUse the client.\n", "utf-8")
    rows = ["query,gold,grade", "lost badge,badge.md,2", "vpn gone,nowhere.md,1", "what else,,"]
    (folder / "g.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_preview_says_what_was_understood(run: Run, root: Path) -> None:
    """Format, columns, counts, first questions and how gold met the documents are shown; nothing is written."""
    before = contents(root)
    outcome = run("import", "g.csv", "--preview", "--corpus", "docs", cwd=root)
    assert outcome.status == 0, outcome.err
    for piece in (
        "read as mapped: table with the query in 'query' and gold in 'gold'",
        "columns read: query from 'query', gold from 'gold', grade from 'grade'",
        "lost badge",
        "badge.md (2)",
        "1 of 2 gold references (50.0%) are no document of the corpus: 'nowhere.md'",
        "2 judgements: grade 1 1, grade 2 1",
        "nothing was written",
    ):
        assert piece in outcome.out
    assert contents(root) == before


def test_preview_as_json(run: Run, root: Path) -> None:
    """The same as a record: counts, rows, and gold that resolved."""
    outcome = run("import", "g.csv", "--preview", "--json", "--corpus", "docs", cwd=root)
    seen = json.loads(outcome.out)
    assert (seen["format"], seen["questions"], seen["judgements"]) == ("mapped", 3, 2)
    assert (seen["references"], seen["resolved"], seen["dangling"]) == (2, 1, ["nowhere.md"])
    assert [row["answer"] for row in seen["rows"]] == ["one", "one", "unlabelled"]
    assert (seen["faults"], seen["fault_count"], seen["beside"]) == ([], 0, None)


def test_preview_lists_faults_with_lines(run: Run, root: Path) -> None:
    """What an import would refuse is listed with file and line beside what can be read, and the status says so."""
    (root / "g.csv").write_text("query,gold,grade\nlost badge,badge.md,2\nvpn,a.md,nine\n,b.md,1\n", "utf-8")
    outcome = run("import", "g.csv", "--preview", cwd=root)
    assert outcome.status == 3
    assert "fault: g.csv:3: `gold` grade must be a whole number" in outcome.out
    assert "fault: g.csv:4: `query` is empty" in outcome.out
    assert "badge.md (2)" in outcome.out
    assert run("import", "g.csv", "--preview", "--skip-bad", cwd=root).status == 0


def test_preview_where_nothing_can_be_read(run: Run, root: Path) -> None:
    """A file in which every row is bad gives its faults and no questions."""
    (root / "g.csv").write_text("query,gold\n,b.md\n", "utf-8")
    outcome = run("import", "g.csv", "--preview", cwd=root)
    assert outcome.status == 3
    assert "nothing can be read beside these faults" in outcome.out


def test_preview_is_safe_to_look_at(run: Run, root: Path) -> None:
    """Escapes and addresses of a hostile file do not reach the terminal, and long questions are cut."""
    address = "bo@" + "example.org"
    row = {"query": f"\x1b[31mred {address} " + "x" * 5_000, "gold": "\x1b]0;t\x07.md", "id": "\u202eid"}
    (root / "h.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    for more in ((), ("--json",)):
        outcome = run("import", "h.jsonl", "--preview", *more, cwd=root)
        assert outcome.status == 0, outcome.err
        assert not {"\x1b", "\x07", "\u202e"} & set(outcome.out)
        assert address not in outcome.out
        assert "x" * 200 not in outcome.out


def test_preview_names_the_side_file(run: Run, root: Path) -> None:
    """What a side file adds is said with its counts."""
    rows = {"id": "q1", "query": "why", "gold": "badge.md", "wording": "vague", "tags": ["a"]}
    (root / "w.jsonl").write_text(json.dumps(rows) + "\n", "utf-8")
    sent = run("export", "w.jsonl", "--to", "opensearch", "-o", "out", cwd=root)
    assert "opensearch cannot hold ids of 1, wording of 1, tags of 1" in sent.out
    outcome = run("import", "out", "--preview", cwd=root)
    assert "the side file of opensearch adds ids of 1, wording of 1, tags of 1" in outcome.out


def test_two_formats_that_fit(run: Run, root: Path) -> None:
    """A preview of what could be two formats names both and the option that chooses."""
    both = {"input": {"query": "why"}, "output": {"doc": "a"}, "expectedOutput": {"doc": "b"}}
    (root / "x.json").write_text(json.dumps([both]), "utf-8")
    outcome = run("import", "x.json", "--preview", cwd=root)
    assert outcome.status == 2
    assert "langfuse (" in outcome.err
    assert "phoenix (" in outcome.err
    assert "--as" in outcome.err


def test_an_import_needs_a_target(run: Run, root: Path) -> None:
    """Without -o and without --preview nothing is read, and the error says both."""
    outcome = run("import", "g.csv", cwd=root)
    assert outcome.status == 2
    assert "--preview" in outcome.err


def test_formats_that_cannot_be_written(run: Run, root: Path) -> None:
    """Exporting to a format that is only read names those that can be written."""
    outcome = run("export", "g.csv", "--to", "lines", "-o", "x.txt", cwd=root)
    assert outcome.status == 2
    assert "lines can be read but not written" in outcome.err
    assert "argilla, autorag, beir" in outcome.err
