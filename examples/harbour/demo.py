"""The main job on the Harbour example: what `make demo` runs once everything is installed.

It works on a copy of the portal, `portal/` beside this file, so that its pages can change on the way. A second run
goes on where the first ended. It starts over when the first is a week old, or only half of it is left.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from findback.workspace import open_workspace

HERE = Path(__file__).resolve().parent
PORTAL = HERE / "portal"
PARTS = ("docs", "findback.toml", "golden.jsonl", "asked.jsonl", "labels.csv")

IN_SPRING = (
    ("models", "pull", "minilm-l6"),
    ("audit", "golden.jsonl", "--real", "asked.jsonl"),
    ("mine", "{exports}/slack.zip"),
    ("mine", "{exports}/zendesk.jsonl"),
    ("mine", "{exports}/traces.jsonl"),
    ("mine", "{exports}/ubi.ndjson"),
    ("candidates", "list", "--limit", "10"),
    ("label", "import", "labels.csv"),
    ("release", "-m", "What people looked for in February and March"),
    ("evaluate", "--by", "wording", "--by", "answer"),
    ("compare",),
    ("glossary", "suggest", "--most", "6"),
    ("glossary", "evaluate", "--retrievers", "bm25"),
)
"""From exports to a first exam, who does best on it, and words that would help."""

IN_SUMMER = (
    ("refresh", "--accept-moves"),
    ("release", "-m", "Labels follow the pages that moved"),
    ("evaluate",),
    ("decompose", "1", "2"),
    ("week",),
    ("report", "-o", "../report.html"),
)
"""After the portal changed: what became stale, the second exam, and what of a moved score was the exam."""

EXPECTED = {"release": {2}, "refresh": {12}}
"""Statuses that end nothing: a release with nothing new to release, a refresh that found something."""
STALE_DAYS = 7


def main() -> int:
    """Run each command as a user would type it, and stop at the first that fails."""
    began = time.monotonic()
    released = continue_or_start_over()
    if not released:
        copy_portal()
    with tempfile.TemporaryDirectory(prefix="harbour-exports-") as exports:
        run([sys.executable, HERE / "exports" / "build.py", exports])
        status = run_all(IN_SPRING, exports=exports, released=released)
    if status == 0 and not released:
        print("\nSummer comes: pages move, merge, split and go.")
        change_portal()
    status = status or run_all(IN_SUMMER, released=True)
    if status:
        return status
    print(f"\nThe report is {HERE / 'report.html'}   ({time.monotonic() - began:.0f} s)")
    print("What is still undecided waits on a page of this machine:")
    print(f"\n  cd {shown(PORTAL)} && {os.path.relpath(findback(), PORTAL)} review")
    return 0


def run_all(commands: tuple[tuple[str, ...], ...], *, exports: str = "", released: bool) -> int:
    """Run commands in the portal; return 0, or the status of the first that fails."""
    environment = {**os.environ, "COLUMNS": os.environ.get("COLUMNS", "100")}
    for command in commands:
        words = [word.format(exports=exports) for word in command]
        print(f"\n$ findback {' '.join(map(quoted, words))}", flush=True)
        status = subprocess.run([findback(), *words], cwd=PORTAL, env=environment, check=False).returncode  # noqa: S603
        if status and not (released and status in EXPECTED.get(words[0], ())):
            return status
    return 0


def findback() -> Path:
    """Return the command of the Python that runs this."""
    return Path(sys.executable).parent / "findback"


def run(command: list[object]) -> None:
    """Run a program, and stop where it fails."""
    subprocess.run(list(map(str, command)), check=True)  # noqa: S603


def copy_portal() -> None:
    """Copy what a team would have: pages, settings, sets, and the sheet of a reviewer."""
    PORTAL.mkdir(exist_ok=True)
    for name in PARTS:
        source = HERE / name
        if source.is_dir():
            shutil.copytree(source, PORTAL / name)
        else:
            shutil.copyfile(source, PORTAL / name)


def change_portal() -> None:
    """Put the pages of some months later in the place of today's."""
    later = PORTAL / "docs-later"
    run([sys.executable, HERE / "changed.py", later])
    shutil.rmtree(PORTAL / "docs")
    later.rename(PORTAL / "docs")


def continue_or_start_over() -> bool:
    """Say whether an earlier run came to its second release; take away what is left of one that cannot be continued.

    Set and workbench belong together: one without the other would release the same questions twice, or never.
    """
    if not PORTAL.exists():
        return False
    if not (PORTAL / "findback.toml").exists():
        # Half a copy; its settings would be looked for further up.
        shutil.rmtree(PORTAL)
        return False
    releases = PORTAL / "evalset" / "releases"
    workbench = open_workspace(PORTAL).private / "workbench"
    parts = (releases / "2", workbench)
    if all(part.exists() and time.time() - part.stat().st_mtime < STALE_DAYS * 24 * 3600 for part in parts):
        return True
    print(f"starting over: removing {PORTAL}")
    shutil.rmtree(PORTAL)
    if workbench.exists():
        shutil.rmtree(workbench)
    return False


def quoted(word: str) -> str:
    """Return an argument as one would type it."""
    return f'"{word}"' if " " in word else word


def shown(folder: Path) -> str:
    """Return a folder as one would type it from here."""
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)


if __name__ == "__main__":
    sys.exit(main())
