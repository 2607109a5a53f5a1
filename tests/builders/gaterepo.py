"""A git repository with documents, a release and a baseline, as CI gets it: and nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from builders.ready import Ready
from builders.sets import case
from findback.steps.release import ReleaseRequest, release
from findback.workspace import open_workspace

ROOT = Path(__file__).resolve().parents[2]
DAY = datetime(2024, 6, 3, tzinfo=UTC)
WORDINGS = ("plain", "vague", "symptom-first", "wrong-name")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(number: int, salt: int) -> str:
    """Return a made-up word that no other number and salt have."""
    left, found = number * 7 + salt * 1009 + 17, ""
    while left:
        left, at = divmod(left, 26)
        found += _LETTERS[at]
    return f"q{found}{'xyz'[salt % 3]}"


def page(number: int, *, told: bool = True) -> str:
    """Return a page; untold, the words that its question asks for are not in it."""
    about = f"{word(number, 1)} {word(number, 2)}" if told else "something else"
    return f"# Page {word(number, 3)}\n\nWhat to do about {about}, and whom to ask about it.\n"


def question(number: int) -> str:
    """Return what is asked about a page."""
    return f"trouble with {word(number, 1)} and {word(number, 2)}"


def write_pages(root: Path, count: int, untold: Sequence[int] = ()) -> None:
    """Write the documents; those of `untold` without what is asked for."""
    (root / "docs").mkdir(exist_ok=True)
    for number in range(count):
        (root / "docs" / f"page-{number}.md").write_text(page(number, told=number not in set(untold)), "utf-8")


def write_repository(root: Path, count: int, *, settings: str = "", queries: Mapping[int, str] | None = None) -> Path:
    """Write documents, settings and release 1 with one case a page; return the folder."""
    root.mkdir(parents=True)
    write_pages(root, count)
    (root / "findback.toml").write_text(f"[corpus]\npath = 'docs'\n{settings}", "utf-8")
    environment = {"HOME": str(root.parent / "home"), "XDG_STATE_HOME": str(root.parent / "author")}
    cases = [
        case(
            number,
            query=(queries or {}).get(number, question(number)),
            judged=[{"doc": f"page-{number}.md", "grade": 3, "found_by": "resolver"}],
            wording=WORDINGS[number % 4],
            stratum="failure" if number % 2 else "control",
        )
        for number in range(count)
    ]
    release(
        open_workspace(root, environment=environment), ReleaseRequest(message="first"), ready=Ready(*cases), made=DAY
    )
    return root


def git(root: Path, *words: str) -> str:
    """Run git, with no settings but these."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    done = subprocess.run(["git", "-C", str(root), *words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def commit(root: Path, message: str) -> None:
    """Commit everything there is, in a repository made where there is none."""
    if not (root / ".git").exists():
        git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def clone(root: Path, target: Path) -> Path:
    """Return a clone: what a CI machine checks out."""
    git(root, "clone", "--quiet", str(root), str(target))
    return target


def record(file: Path, ranks: Mapping[int, int], count: int) -> Path:
    """Write recorded results: each case's page at a rank, 0 for nowhere."""
    lines = []
    for number in range(count):
        others = [f"page-{(number + 1 + at) % count}.md" for at in range(10)]
        rank = ranks.get(number, 1)
        if rank:
            others.insert(rank - 1, f"page-{number}.md")
        lines.append(json.dumps({"query_id": f"c{number:010d}", "hits": others[:10]}))
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def run_action(root: Path, scratch: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the action's script as a runner does: in a clone, with a home that holds nothing."""
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "home").mkdir(exist_ok=True)
    environment = {
        "PATH": f"{scratch}/bin:{os.environ['PATH']}",
        "HOME": str(scratch / "home"),
        "XDG_STATE_HOME": str(scratch / "state"),
        "COLUMNS": "100",
        "RUNNER_TEMP": str(scratch / "temp"),
        "GITHUB_STEP_SUMMARY": str(scratch / "summary.md"),
        "GITHUB_OUTPUT": str(scratch / "output"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GATE_PYTHON": sys.executable,
        "GATE_INSTALL": "",
        "GATE_FOLDER": str(root),
        **{f"GATE_{name.upper()}": value for name, value in inputs.items()},
    }
    (scratch / "temp").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", str(ROOT / "action" / "run.sh")],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
