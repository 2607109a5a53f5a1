"""Which commits of a repository still hold a text."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from findback.errors import MissingError
from findback.privacy.git_blobs import read_blobs, run_git

MOST_BYTES = 2_000_000_000
"""Most bytes of a history that are looked at."""


class Held(NamedTuple):
    """What a history still holds of some texts."""

    blobs: tuple[str, ...]
    """Whole names of the blobs that hold one, those no branch reaches included."""
    commits: tuple[str, ...]
    """Commits that brought such a blob in, newest first; later ones hold it too until it is taken out."""
    references: tuple[str, ...]
    """Branches and tags whose newest commit holds one."""
    unread: tuple[str, ...]
    """What could not be looked at."""


def find_held(root: Path, pattern: re.Pattern[bytes]) -> Held:
    """Return the commits, branches and tags of a repository with a file in which a pattern is found.

    Raises:
        MissingError: If git is not installed, or the folder is in no repository.
    """
    blobs, unread = [], []
    for blob in read_blobs(root, most_bytes=MOST_BYTES):
        if blob.content is None:
            unread.append(f"{blob.where}: {blob.reason}")
        elif pattern.search(blob.content):
            blobs.append(blob.name)
    return Held(tuple(sorted(blobs)), _commits(root, blobs), _references(root, frozenset(blobs)), tuple(unread))


def is_tracked(root: Path) -> bool:
    """Return whether a folder lies in a git repository."""
    try:
        return bool(run_git(root, "rev-parse", "--git-dir"))
    except MissingError:
        return False


def _commits(root: Path, blobs: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for blob in blobs:
        listed = run_git(root, "log", "--all", "-m", "--format=%H", f"--find-object={blob}").split()
        # Taking a blob out is a change of it too.
        found.update(dict.fromkeys(commit for commit in listed if blob in _tree(root, commit)))
    if not found:
        return ()
    return tuple(run_git(root, "rev-list", "--no-walk=sorted", *found).split())


def _references(root: Path, blobs: frozenset[str]) -> tuple[str, ...]:
    names = run_git(root, "for-each-ref", "--format=%(refname)").split("\n")
    return tuple(name for name in names if name and not blobs.isdisjoint(_tree(root, name)))


def _tree(root: Path, reference: str) -> list[str]:
    listed = run_git(root, "ls-tree", "-r", "-z", "--full-tree", reference)
    return [entry.split()[2] for entry in listed.split("\0") if entry]
