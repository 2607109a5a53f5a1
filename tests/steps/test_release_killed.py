"""Releases that are killed on the way."""

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def test_a_killed_release_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    """Ended before each single step on the disk, and by 100 SIGKILLs: never a mixture, and a second run completes it.

    Nothing is released twice, and the finished set is the same, byte for byte, as one never interrupted. Forty of
    the kills hit releases out of a real workbench.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "builders" / "killed.py"), str(tmp_path), "60", "40"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    said = re.search(r"(\d+) steps: (\d+) left the old release, (\d+) the new one; 100 kills", done.stdout)
    assert said is not None
    assert min(int(said[2]), int(said[3])) >= 3
