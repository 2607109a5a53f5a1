"""Recordings of models that were committed: only those about the example's invented documents may be."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from findback.errors import Fault, MissingError
from findback.llm.replay import SUFFIX, find_foreign
from findback.privacy.git_blobs import run_git
from findback.workspace import Workspace


def find_foreign_recordings(workspace: Workspace, place: Path) -> Iterator[Fault]:
    """Yield each recording among the set's files, and among those that git knows, that is about other documents.

    Recordings in the private folder are nobody else's, and may be about any document.
    """
    listed = (files("findback.llm") / "example.txt").read_text(encoding="utf-8").splitlines()
    documents = frozenset(listed)
    found = dict.fromkeys([*sorted(place.rglob(f"*{SUFFIX}")), *_tracked(workspace.root)])
    for path in found:
        if path.is_file():
            yield from find_foreign(path, documents)


def _tracked(root: Path) -> list[Path]:
    try:
        listed = run_git(root, "ls-files", "-z", "--", f"*{SUFFIX}")
    except MissingError:
        return []
    return [root / name for name in listed.split("\0") if name]
