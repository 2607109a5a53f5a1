"""Files that are whole or not there: written under a temporary name beside the target, renamed once."""

import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from findback.errors import StorageError

TEMPORARY = ".findback-tmp-"
"""Prefix of every temporary name; what a killed process leaves can be told by it."""

STALE_SECONDS = 24 * 60 * 60
"""Age from which a temporary file is nobody's any more."""

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what the disk says into a StorageError that names the path.

    Raises:
        StorageError: If an OSError came out of the block.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(
            f"cannot write {path}: {reason.lower()}",
            hint="check that the folder exists and is yours to write",
        ) from error


def refuse_special(path: Path, *, folder: bool = False) -> None:
    """Stop where a path names something that no file, or folder, may take the place of.

    Args:
        path: Where something is to be written; nothing needs to be there.
        folder: Whether a folder is to be written.

    Raises:
        StorageError: If a folder, pipe, socket or device is there (a file, where a folder is to be written).
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError:
        # What else is wrong with it is said by whoever writes.
        return
    except ValueError:
        raise StorageError(f"cannot write {path!s:.200}: that is no usable path", hint="name another") from None
    if stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode):
        return
    found = "it is a folder" if stat.S_ISDIR(mode) else "it is not a folder" if folder else "it is not a regular file"
    raise StorageError(f"cannot write {path}: {found}", hint=f"name another {'folder' if folder else 'file'}")


def is_same(first: Path, second: Path) -> bool:
    """Return whether two paths lead to one file or folder; False where one of them is not there."""
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


@contextmanager
def open_atomically(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only when the block ends well.

    Raises:
        StorageError: If the disk refuses, or what is there is no regular file; `path` keeps its old content.
    """
    refuse_special(path)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    with storage_errors(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        handle: IO[bytes] = os.fdopen(os.open(temporary, flags, PRIVATE_FILE if private else 0o666), "wb")
        try:
            with handle:
                yield handle  # type: ignore[misc]
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_atomically(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a whole file, or leave the old one as it was.

    Raises:
        StorageError: If the disk refuses.
    """
    with open_atomically(path, private=private) as handle:
        handle.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def folder_atomically(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Give a temporary folder that becomes `path` when the block ends well; an older `path` goes.

    Raises:
        StorageError: If the disk refuses, or what is there is no folder; `path` stays as it was.
    """
    refuse_special(path, folder=True)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    with storage_errors(path):
        temporary.mkdir(mode=PRIVATE_FOLDER if private else 0o777)
        try:
            yield temporary
            if private:
                _close_to_others(temporary)
            if path.exists():
                retired = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
                path.rename(retired)
                temporary.rename(path)
                shutil.rmtree(retired)
            else:
                temporary.rename(path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _close_to_others(folder: Path) -> None:
    """Give every file and folder inside the modes of private ones, whatever library wrote them."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)


def private_folder(path: Path) -> Path:
    """Make a folder only its owner may enter, as are the parents made for it, and return it.

    Raises:
        StorageError: If the disk refuses, or a folder is there already that others may enter.
    """
    with storage_errors(path):
        for place in reversed([path, *path.parents]):
            if not place.exists():
                place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        if path.stat().st_mode & 0o077:
            raise StorageError(
                f"{path} is open to others, and what findback keeps there is private",
                hint=f"chmod 700 {path}, or name another folder",
            )
    return path


def sweep(folder: Path, *, now: float | None = None) -> None:
    """Remove what killed processes left in a folder: temporary files and folders older than a day.

    What cannot be removed stays: nothing that matters depends on it.

    Args:
        folder: Looked at without its subfolders.
        now: Seconds since the epoch; the clock's when None.
    """
    oldest = (time.time() if now is None else now) - STALE_SECONDS
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(TEMPORARY):
                continue
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime > oldest:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    Path(entry.path).unlink()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
