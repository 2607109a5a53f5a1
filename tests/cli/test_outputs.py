"""Results never take the place of what is read, of documents, or of what is no file."""

import json
import os
import stat
from pathlib import Path

import pytest

from builders.portal import PAGES, write_portal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a portal with a set in CSV and one in BEIR's folder."""
    root = write_portal(tmp_path / "portal")
    (root / "g.csv").write_text("query,gold\nlost badge,howto/badge.md\n")
    (root / "beir" / "qrels").mkdir(parents=True)
    (root / "beir" / "queries.jsonl").write_text('{"_id": "1", "text": "lost badge"}\n')
    (root / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\thowto/badge.md\t1\n")
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "g.csv", "-o", "g.csv"), "being read"),
        (("import", "g.csv", "-o", "./docs/../g.csv"), "being read"),
        (("import", "g.csv", "-o", "linked.csv"), "being read"),
        (("import", "beir", "-o", "beir/queries.jsonl"), "being read"),
        (("export", "beir", "--to", "beir", "-o", "beir"), "being read"),
        (("export", "g.csv", "--to", "mapped", "-o", "docs/howto/badge.md"), "a document of the corpus"),
        (("import", "g.csv", "-o", "docs/howto/vpn.md"), "a document of the corpus"),
        (("import", "g.csv", "-o", "findback.toml"), "settings"),
    ],
)
def test_sources_and_documents_are_never_replaced(
    run, root: Path, words: tuple[str, ...], said: str, *, force: bool
) -> None:
    """Import and export refuse to write over set, documents and settings, even with --force."""
    (root / "linked.csv").symlink_to("g.csv")
    before = contents(root)
    outcome = run(*words, *(["--force"] if force else []), cwd=root)
    assert outcome.status == 2, outcome.err
    assert said in outcome.err
    assert contents(root) == before


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("import", "g.csv", "-o", "notes.jsonl"), "notes.jsonl"),
        (("export", "g.csv", "--to", "mapped", "-o", "notes.csv"), "notes.csv"),
        (("export", "g.csv", "--to", "beir", "-o", "out"), "out/queries.jsonl"),
        (("export", "g.csv", "--to", "beir", "-o", "out"), "out/qrels/test.tsv"),
        (("export", "g.csv", "--to", "trec", "-o", "out"), "out/qrels.txt"),
        (("export", "g.csv", "--to", "quepid", "-o", "q.csv"), "q.csv.findback-extra.jsonl"),
        (("export", "g.csv", "--to", "ragas", "-o", "r.csv"), "r.csv"),
    ],
)
def test_what_is_there_is_replaced_only_by_force(run, root: Path, words: tuple[str, ...], file: str) -> None:
    """A file that is there already stops import and export before anything is written; --force replaces it."""
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text("mine")
    before = contents(root)
    outcome = run(*words, cwd=root)
    assert outcome.status == 2
    assert "--force" in outcome.err
    assert contents(root) == before
    assert run(*words, "--force").status == 0
    assert (root / file).read_text() != "mine"


@pytest.mark.parametrize("target", [".", "/", "..", "docs", "pipe", "/dev/full"])
def test_what_is_no_file_is_refused(run, root: Path, target: str) -> None:
    """A folder, a pipe and a device are refused with a sentence by every command that writes, and stay."""
    os.mkfifo(root / "pipe")
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    commands = [
        ("import", "g.csv", "-o", target),
        ("import", "g.csv", "-o", target, "--force"),
        ("export", "g.csv", "--to", "quepid", "-o", target),
        ("report", "--format", "html", "-o", target),
        ("report", "--card", "--format", "html", "-o", target),
    ]
    for words in commands:
        outcome = run(*words)
        assert outcome.status == 10, (words, outcome.err)
        assert "it is a folder" in outcome.err or "not a regular file" in outcome.err
    assert stat.S_ISFIFO((root / "pipe").stat().st_mode)


def test_results_are_not_written_over_what_they_are_about(run, root: Path) -> None:
    """Evaluate, audit and report refuse documents and sets as -o before the work; an own report is replaced."""
    (root / "golden.json").write_text(json.dumps([{"query": "lost badge", "gold": "howto/badge.md"}]))
    (root / "docs" / "page.html").write_text("<html><body>A page about badges</body></html>")
    before = contents(root)
    refused = [
        ("evaluate", "--set", "golden.json", "-o", "golden.json"),
        ("evaluate", "--set", "asked.jsonl", "-o", "docs/howto/badge.md"),
        ("audit", "golden.json", "-o", "golden.json"),
        ("audit", "asked.jsonl", "--real", "golden.json", "-o", "golden.json"),
        ("audit", "asked.jsonl", "-o", "docs/page.html"),
        ("evaluate", "--set", "asked.jsonl", "-o", "out.pdf"),
    ]
    for words in refused:
        assert run(*words, cwd=root).status == 2, words
    assert contents(root) == before
    assert not list((root.parent / "state").rglob("evaluation-*.json"))
    assert run("evaluate", "--set", "asked.jsonl", "-o", "docs/own.html").status == 0
    assert run("report", "-o", "docs/own.html").status == 0
    for target in ("docs/page.html", "docs/howto/badge.md"):
        assert run("report", "-o", target).status == 2
    assert (root / "docs" / "howto" / "badge.md").read_text() == PAGES["howto/badge.md"]


def test_card_takes_no_foreign_picture(run, root: Path) -> None:
    """A picture beside a new card is somebody's, and stays; a card's own badge is made anew."""
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    (root / "logo.svg").write_text("<svg>mine</svg>")
    outcome = run("report", "--card", "-o", "logo.html")
    assert outcome.status == 2
    assert "logo.svg" in outcome.err
    assert (root / "logo.svg").read_text() == "<svg>mine</svg>"
    for _ in range(2):
        assert run("report", "--card", "-o", "card.html").status == 0


def test_settings_file_is_replaced_only_as_a_file(run, root: Path) -> None:
    """`init --force` replaces a settings file, never a pipe of its name."""
    (root / "findback.toml").unlink()
    os.mkfifo(root / "findback.toml")
    outcome = run("init", "--force", cwd=root)
    assert outcome.status == 10, outcome.err
    assert stat.S_ISFIFO((root / "findback.toml").stat().st_mode)


def test_labels_do_not_replace_their_sample(run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`label quick -o SAMPLE` is refused; a document as -o is read as labels, which it is none, and stays."""
    assert run("import", "g.csv", "-o", "set.jsonl", cwd=root).status == 0
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    before = contents(root)
    assert run("label", "quick", "set.jsonl", "--output", "set.jsonl").status == 2
    assert run("label", "quick", "set.jsonl", "--output", "docs/howto/badge.md").status == 3
    assert contents(root) == before
