"""Backups, restores and upgrades that are killed on the way."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_is_half_written_by_a_killed_backup_restore_or_upgrade(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """By SIGKILLs at random and an end before each step on the disk: the old backup or the new one, both whole.

    After a killed restore the workbench holds everything it held before, or everything of the backup, and a second
    restore completes it. After a killed upgrade it has the old format or the new one, with every row.
    """
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "builders" / "killedbackups.py"), str(tmp_path), url, "6"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    backups = re.search(r"backups: (\d+) old, (\d+) new", done.stdout)
    restores = re.search(r"restores: (\d+) old, (\d+) new", done.stdout)
    assert backups is not None
    assert restores is not None
    assert int(backups[1]) >= 3
    assert int(backups[2]) >= 1
    assert int(restores[1]) + int(restores[2]) == 6
    assert int(restores[1]) >= 2
    upgrades = re.search(r"upgrades: (\d+) old, (\d+) new", done.stdout)
    assert upgrades is not None
    assert int(upgrades[1]) + int(upgrades[2]) == 6
    assert int(upgrades[1]) >= 2
