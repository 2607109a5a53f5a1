"""`findback gate` and `evaluate --publish` on the command line."""

import json
import re
from pathlib import Path

import pytest

from builders.gaterepo import write_pages, write_repository

CASES = 64


@pytest.fixture
def root(run, tmp_path: Path) -> Path:
    """Return a workspace with a release and the baseline main."""
    folder = write_repository(tmp_path / "repository", CASES)
    done = run("evaluate", "bm25", "--publish", "main", cwd=folder)
    assert done.status == 0, done.err
    assert "main.jsonl: commit it" in done.out.replace("\n", "")
    return folder


def test_pass_fail_and_undecided_have_their_exit_status(run, root: Path) -> None:
    """0 for an unchanged system, 1 for one that lost a quarter, and 11 where a single page was lost for good."""
    assert run("gate", "--baseline", "main", cwd=root).status == 0
    write_pages(root, CASES, untold=range(0, CASES, 4))
    failed = run("gate", "--baseline", "main")
    assert failed.status == 1
    assert "fell by .250 against main" in failed.out
    write_pages(root, CASES, untold=[0, 1])
    assert run("gate", "bm25", "--baseline", "main").status == 11
    (root / "findback.toml").write_text("[corpus]\npath = 'docs'\n[gate]\nbaseline = 'main'\nundecided = 0\n")
    assert run("gate").status == 0


def test_every_output_says_the_same_verdict(run, root: Path) -> None:
    """Terminal, JSON, JUnit, Markdown and annotations come from one run; `--all` prints every changed case."""
    write_pages(root, CASES, untold=range(0, CASES, 4))
    done = run(
        "gate", "--baseline", "main", "--junit", "j.xml", "--markdown", "c.md", "--annotations", "--all", cwd=root
    )
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32
    assert lines[-2] == f"::{token}::"
    assert lines[-1].startswith("::error title=findback gate fail")
    assert sum(line.startswith("c00000000") for line in lines) == CASES // 4
    assert "failure message=" in (root / "j.xml").read_text()
    assert "## findback gate: fail" in (root / "c.md").read_text()
    shown = json.loads(run("gate", "--baseline", "main", "--json").out)
    assert (shown["verdict"], shown["comparisons"][0]["lost"]) == ("fail", CASES // 4)


def test_queries_are_shown_when_asked_for(run, root: Path) -> None:
    """Without --show-queries no word of a case is printed or written; with it those of the release are."""
    write_pages(root, CASES, untold=range(0, CASES, 4))
    silent = run("gate", "--baseline", "main", "--markdown", "c.md", cwd=root)
    assert "trouble with" not in silent.out + (root / "c.md").read_text()
    told = run("gate", "--baseline", "main", "--markdown", "c.md", "--show-queries")
    assert "trouble with" in (root / "c.md").read_text()
    assert "trouble" in told.out


def test_a_dead_engine_is_an_error_whatever_undecided_means(run, root: Path) -> None:
    """When every search failed the gate exits with the status of an engine error, not with that of a pass."""
    (root / "findback.toml").write_text(
        "[corpus]\npath = 'docs'\n[gate]\nundecided = 0\n[retrievers.bm25]\nkind = 'command'\ncommand = ['false']\n"
    )
    untrusted = run("gate", "--baseline", "main", cwd=root)
    assert untrusted.status == 5
    (digest,) = re.findall(r"FINDBACK_TRUST=(\w+)", untrusted.err)
    done = run("gate", "--baseline", "main", trust=digest)
    assert done.status == 8, done.out + done.err
    assert "every search failed" in done.err


def test_mistakes_are_said_before_any_search(run, root: Path) -> None:
    """A bad name, two systems, a missing baseline and a file that is read are refused."""
    assert run("evaluate", "--publish", "../x", cwd=root).status == 2
    assert run("gate").status == 2
    assert run("gate", "--baseline", "other").status == 6
    assert run("gate", "--baseline", "main", "--json", "--annotations").status == 2
    file = "evalset/baselines/main.jsonl"
    assert run("gate", "--baseline", file, "--markdown", file).status == 2
    assert run("gate", "--baseline", "main", "--margin", "0").status == 2


def test_a_release_that_is_not_here_is_said(run, root: Path) -> None:
    """A baseline whose first line names a release that does not exist says so; one of a release here does not."""
    assert "not here" not in run("gate", "--baseline", "main", cwd=root).out
    (file,) = root.rglob("baselines/main.jsonl")
    file.write_text(file.read_text().replace('"release":1,', '"release":77,', 1))
    said = " ".join(run("gate", "--baseline", "main").out.split())
    assert "the baseline main says that it was made on release 77, which is not here" in said


@pytest.mark.parametrize(
    "words",
    [
        ("gate", "--baseline", "x.zip"),
        ("gate", "--baseline", "main", "--run", "x.zip"),
        ("compare", "bm25", "x.zip"),
    ],
)
def test_a_file_of_unknown_kind_has_a_hint_that_fits(run, root: Path, words: tuple[str, ...]) -> None:
    """Where no option names a format, the hint says which endings are read."""
    (root / "x.zip").write_bytes(b"PK\x03\x04")
    done = run(*words, cwd=root)
    assert done.status == 3
    assert "cannot tell what" in done.err
    assert ".trec" in done.err
    assert "format =" not in done.err
