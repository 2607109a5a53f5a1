"""The head of a set: its cases as they stand now, between two releases."""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from findback.errors import StorageError
from findback.evalset.cases import case_line, read_cases, write_cases
from findback.evalset.checks import ANY_LEAK
from findback.evalset.release import CASES, list_numbers, read_release, release_folder
from findback.files import storage_errors
from findback.model.case import Case

if os.name == "posix":
    import fcntl

PATIENCE = 30.0
"""Seconds to wait for whoever changes the head."""


class Head(NamedTuple):
    """The head as it was read."""

    cases: tuple[Case, ...]
    digest: str | None
    """sha256 of its bytes; None where there is none."""


def read_head(evalset: Path, *, leak_limit: float = ANY_LEAK) -> Head:
    """Return the head of a set; an empty one where nothing was released yet.

    Raises:
        DataError: If it has faults; every one with its line.
    """
    path = evalset / CASES
    if not path.exists():
        return Head((), None)
    cases = read_cases(path, leak_limit=leak_limit)
    return Head(cases, hashlib.sha256(path.read_bytes()).hexdigest())


@contextmanager
def hold_head(evalset: Path, *, patience: float = PATIENCE) -> Iterator[None]:
    """Have the head of a set to oneself: reading, changing and writing it are one thing, whoever else changes it.

    The folder itself is locked, for the threads and processes of this machine; a killed one lets go of it. Where there
    is no such lock (Windows, some network drives), who writes last still sees that the file is another one by now.

    Args:
        evalset: Folder of the set; nothing is locked where it is not there yet.
        patience: Seconds to wait.

    Raises:
        StorageError: If somebody keeps it for longer.
    """
    if os.name != "posix" or not evalset.is_dir():
        yield
        return
    with storage_errors(evalset):
        folder = os.open(evalset, os.O_RDONLY)
    try:
        _wait_for(folder, evalset, patience)
        yield
    finally:
        os.close(folder)


def _wait_for(folder: int, evalset: Path, patience: float) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise StorageError(
                    f"{evalset} is being changed by another process", hint="try again when it is done"
                ) from None
            time.sleep(0.01)
        except OSError:
            return
        else:
            return


def settle_head(evalset: Path) -> int | None:
    """Bring the head up to the newest release where a killed process left it behind.

    A head that is the one the newest release was made from becomes that release. One that was edited meanwhile
    only gets the cases that release added. Any other stays as it is.

    Returns:
        The release it was brought up to, or None where nothing was to be done.

    Raises:
        DataError: If the head or the newest release cannot be read.
        StorageError: If the disk refuses, or somebody else changes the head for too long.
    """
    with hold_head(evalset):
        numbers = list_numbers(evalset)
        if not numbers:
            return None
        head = read_head(evalset)
        release = read_release(release_folder(evalset, numbers[-1]))
        if head.digest == release.manifest.digests[CASES]:
            return None
        kept = merge_cases(head, release.content.cases, release.manifest.made_from, release.manifest.number)
        if kept is None:
            return None
        write_cases(evalset / CASES, kept, leak_limit=ANY_LEAK)
        return release.manifest.number


def merge_cases(head: Head, released: Sequence[Case], made_from: str | None, number: int) -> tuple[Case, ...] | None:
    """Return what the head becomes when a release lands on it, or None where it has it already."""
    if head.digest in (made_from, None):
        return tuple(released)
    present = {case.id for case in head.cases}
    added = [case for case in released if case.added_in == number]
    if not added or any(case.id in present for case in added):
        return None
    return (*head.cases, *added)


def digest_cases(cases: Sequence[Case]) -> str:
    """Return the sha256 that cases have as a file."""
    return hashlib.sha256(b"".join(map(case_line, sorted(cases, key=lambda case: case.id)))).hexdigest()
