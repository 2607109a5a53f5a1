"""A folder walked safely: nothing outside it, no loops, nothing hidden, links as further names."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from findback.corpus.findings import Findings
from findback.corpus.textfile import unreadable

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Folders nobody writes documents in."""
MOST_FOLDER_LINKS = 100
"""Links to folders that are honoured; each gives every document below another name."""


class Tree(NamedTuple):
    """What a folder holds."""

    files: dict[str, str]
    """Path below the folder as ids have it (NFC) to the name on the disk, sorted."""
    links: dict[str, tuple[str, ...]]
    """Path of a file or folder to the links that lead to it."""


def walk_folder(root: Path, findings: Findings) -> Tree:
    """Return the regular files below a folder, and the links inside it.

    A link is never walked through: where it leads to something inside the folder it is another name of
    that; else it is left out and counted, as are hidden files, and devices and pipes.
    """
    top = Path(os.path.realpath(root))
    files: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    folder_links = 0
    for entry, name in _entries(top, findings):
        if entry.is_symlink():
            target = os.path.realpath(entry.path)
            inside = os.path.relpath(target, top).replace(os.sep, "/")
            if Path(target).is_dir():
                if inside in (name, ".") or name.startswith(inside + "/"):
                    findings.count("links that lead back to a folder they are in, left out")
                    continue
                folder_links += 1
            if inside.startswith("..") or not Path(target).exists():
                findings.count("links that lead outside the folder or nowhere, left out")
            elif folder_links > MOST_FOLDER_LINKS:
                findings.count(f"links to folders beyond {MOST_FOLDER_LINKS}, left out")
            else:
                links.setdefault(_normal(inside), []).append(_normal(name))
        elif not entry.is_file(follow_symlinks=False):
            findings.count("devices, pipes and sockets, left out")
        elif not _is_unicode(name):
            findings.fault(ascii(name), None, "the file name is not valid UTF-8")
        elif _normal(name) in files:
            findings.fault(name, None, "another file has the same name but for its Unicode form")
        else:
            files[_normal(name)] = name
    ordered = {name: files[name] for name in sorted(files)}
    return Tree(ordered, {target: tuple(sorted(names)) for target, names in links.items()})


def list_link_names(path: str, links: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the other paths that links give a file.

    >>> list_link_names("v2/a.md", {"v2": ("latest",), "v2/a.md": ("b.md",)})
    ('b.md', 'latest/a.md')
    """
    if not links:
        return ()
    names = list(links.get(path, ()))
    for place, character in enumerate(path):
        if character == "/":
            names += [f"{link}{path[place:]}" for link in links.get(path[:place], ())]
    return tuple(names)


def _entries(top: Path, findings: Findings) -> Iterator[tuple["os.DirEntry[str]", str]]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(top / folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as refused:
            fault = unreadable(folder or ".", refused)
            findings.fault(*fault)
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                findings.count("hidden files and folders, left out")
            elif not entry.is_dir(follow_symlinks=False):
                yield entry, name
            elif entry.name in SKIPPED_FOLDERS:
                findings.count(f"folders named {entry.name}, left out")
            else:
                waiting.append(name)


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
