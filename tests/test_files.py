"""Files are whole or not there."""

import os
import stat
from pathlib import Path

import pytest

from findback.errors import StorageError
from findback.files import (
    STALE_SECONDS,
    TEMPORARY,
    folder_atomically,
    open_atomically,
    private_folder,
    sweep,
    write_atomically,
)


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


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    """A pipe, a device, a folder and a path without a name are refused with a sentence and stay as they were."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    linked = tmp_path / "linked"
    linked.symlink_to(pipe)
    for target in (pipe, linked, Path("/dev/full"), Path("/dev/null")):
        with pytest.raises(StorageError, match="not a regular file"):
            write_atomically(target, "x")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert linked.is_symlink()
    for target in (tmp_path, Path(), Path("/"), Path("..")):
        with pytest.raises(StorageError, match="it is a folder"):
            write_atomically(target, "x")
    with pytest.raises(StorageError, match="no usable path"):
        write_atomically(Path("a\0b"), "x")
    assert leftovers(tmp_path) == []


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    """A folder takes the place of a folder or of nothing, never of a file."""
    target = tmp_path / "notes"
    target.write_text("mine")
    with pytest.raises(StorageError, match="not a folder"), folder_atomically(target):
        pass
    assert target.read_text() == "mine"


def test_folders_made_on_the_way_are_private_too(tmp_path: Path) -> None:
    """Every folder that had to be made for a private one has mode 0700; those that were there keep theirs."""
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    private_folder(there / "findback" / "w" / "runs")
    made = [there / "findback", there / "findback" / "w", there / "findback" / "w" / "runs"]
    assert [stat.S_IMODE(place.stat().st_mode) for place in made] == [0o700] * 3
    assert stat.S_IMODE(there.stat().st_mode) == 0o755


def test_only_stale_temporaries_are_swept(tmp_path: Path) -> None:
    """A temporary file or folder goes once it is a day old; a fresh one and everything else stay."""
    old = [tmp_path / f"{TEMPORARY}a", tmp_path / f"{TEMPORARY}b", tmp_path / "result.json"]
    old[1].mkdir()
    (old[1] / "part").write_text("half")
    for path in (old[0], old[2], tmp_path / f"{TEMPORARY}new"):
        path.write_text("x")
    for path in old:
        os.utime(path, (0, STALE_SECONDS))
    now = 2 * STALE_SECONDS + 1.0
    os.utime(tmp_path / f"{TEMPORARY}new", (now, now - STALE_SECONDS / 2))
    sweep(tmp_path, now=now)
    assert sorted(os.listdir(tmp_path)) == [f"{TEMPORARY}new", "result.json"]
    sweep(tmp_path / "nowhere", now=now)
