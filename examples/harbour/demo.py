"""The main job on the Harbour example: what `make demo` runs once everything is installed.

A second run goes on where the first ended. It starts over when the first is a week old, or only half of it is left.
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
COMMANDS = (
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
    ("report", "-o", "report.html"),
)
NOTHING_CHANGED = 2
"""Status of a release when nothing is ready that is not released."""
STALE_DAYS = 7


def main() -> int:
    """Run each command as a user would type it, and stop at the first that fails."""
    began = time.monotonic()
    findback = Path(sys.executable).parent / "findback"
    environment = {**os.environ, "COLUMNS": os.environ.get("COLUMNS", "100")}
    released = continue_or_start_over()
    with tempfile.TemporaryDirectory(prefix="harbour-exports-") as exports:
        subprocess.run([sys.executable, HERE / "exports" / "build.py", exports], check=True)  # noqa: S603
        for command in COMMANDS:
            words = [word.format(exports=exports) for word in command]
            print(f"\n$ findback {' '.join(map(quoted, words))}", flush=True)
            done = subprocess.run([findback, *words], cwd=HERE, env=environment, check=False)  # noqa: S603
            if done.returncode == NOTHING_CHANGED and words[0] == "release" and released:
                continue
            if done.returncode:
                return done.returncode
    print(f"\nThe report is {HERE / 'report.html'}   ({time.monotonic() - began:.0f} s)")
    print("What is still undecided waits on a page of this machine:")
    print(f"\n  cd {shown(HERE)} && {os.path.relpath(findback, HERE)} review")
    return 0


def continue_or_start_over() -> bool:
    """Say whether an earlier run released something; take away what is left of a run that cannot be continued.

    Set and workbench belong together: one without the other would release the same questions twice, or never.
    """
    releases = HERE / "evalset" / "releases"
    workbench = open_workspace(HERE).private / "workbench"
    parts = [part for part in (releases, workbench) if part.exists()]
    fresh = all(time.time() - part.stat().st_mtime < STALE_DAYS * 24 * 3600 for part in parts)
    if len(parts) == 2 and fresh:
        return True
    for part in (HERE / "evalset", workbench):
        if part.exists():
            print(f"starting over: removing {part}")
            shutil.rmtree(part)
    return False


def quoted(word: str) -> str:
    """Return an argument as one would type it."""
    return f'"{word}"' if " " in word else word


def shown(folder: Path) -> str:
    """Return a folder as one would type it from here."""
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)


if __name__ == "__main__":
    sys.exit(main())
