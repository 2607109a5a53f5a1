"""Files are whole or not there."""

import os
import stat
from pathlib import Path

import pytest

from findback.errors import StorageError
from findback.files import TEMPORARY, folder_atomically, open_atomically, private_folder, write_atomically


def leftovers(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(TEMPORARY)]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    """An error in the middle leaves the old content and nothing beside it."""
    target = tmp_path / "a.txt"
    write_atomically(target, "old")
    with pytest.raises(RuntimeError), open_atomically(target) as handle:
        handle.write(b"half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == []


def test_failed_folder_keeps_the_old_folder(tmp_path: Path) -> None:
    """An error while a folder is filled leaves the old folder whole."""
    target = tmp_path / "release"
    with folder_atomically(target) as place:
        (place / "a").write_text("old")
    with pytest.raises(RuntimeError), folder_atomically(target) as place:
        (place / "a").write_text("new")
        raise RuntimeError
    assert (target / "a").read_text() == "old"
    assert leftovers(tmp_path) == []
    with folder_atomically(target) as place:
        (place / "a").write_text("new")
    assert (target / "a").read_text() == "new"


def test_private_files_and_folders_have_their_modes(tmp_path: Path) -> None:
    """What is private is readable by its owner alone, whatever library wrote it."""
    write_atomically(tmp_path / "secret", "x", private=True)
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(private_folder(tmp_path / "new").stat().st_mode) == 0o700
    with folder_atomically(tmp_path / "index", private=True) as place:
        (place / "part").mkdir()
        (place / "part" / "a").write_text("x")
    assert stat.S_IMODE((tmp_path / "index" / "part").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "index" / "part" / "a").stat().st_mode) == 0o600


def test_a_folder_that_was_there_is_never_changed(tmp_path: Path) -> None:
    """A folder open to others is refused as a private one, and keeps its mode: a cloned setting cannot close it."""
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    with pytest.raises(StorageError, match="open to others"):
        private_folder(loose)
    assert stat.S_IMODE(loose.stat().st_mode) == 0o755


def test_missing_folder_is_a_storage_error(tmp_path: Path) -> None:
    """What the disk says becomes a sentence with the path and a hint."""
    with pytest.raises(StorageError, match="no such file or directory") as caught:
        write_atomically(tmp_path / "none" / "a", "x")
    assert caught.value.exit_status == 10


def test_a_link_planted_at_the_target_is_replaced_not_followed(tmp_path: Path) -> None:
    """Writing through a symbolic link never changes the file it points at."""
    victim = tmp_path / "victim"
    victim.write_text("safe")
    link = tmp_path / "link"
    link.symlink_to(victim)
    write_atomically(link, "new")
    assert victim.read_text() == "safe"
    assert link.read_text() == "new"
