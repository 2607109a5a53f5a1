"""What git knows of a folder: when pages were written and changed, and what they were called."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from findback.corpus.findings import Findings

MOST_SECONDS = 60
"""Longest a history may take to read."""
MOST_COMMITS = 200_000

_SAFE = (
    # A cloned repository's own configuration can name programs for each of these.
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false"),
    *("-c", "diff.external="),
    *("-c", "diff.renameLimit=2000"),
    *("-c", "log.mailmap=false"),
    *("-c", "core.commitGraph=false"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class History(NamedTuple):
    """Times and earlier names by path below the folder; what is unknown is absent."""

    created: Mapping[str, datetime] = MappingProxyType({})
    modified: Mapping[str, datetime] = MappingProxyType({})
    renamed: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Earlier paths, the latest first, followed through every rename; those outside the folder as the
    repository has them."""


class _Change(NamedTuple):
    moment: datetime
    boundary: bool
    """Whether the commit's parents are unknown, so that everything in it looks new."""
    status: str
    path: str
    new_path: str


def read_history(root: Path, findings: Findings) -> History:
    """Return what git knows of the files below a folder.

    Creation is the first commit that added a page under any of its names; a mere rename is no change.
    Merges are not looked into. Where the history is cut short (a shallow clone) the times beyond the cut
    stay unknown. Without git, or outside a repository, nothing is known and a remark says so.
    """
    try:
        prefix = _run(root, "rev-parse", "--show-prefix").decode(errors="surrogateescape").removesuffix("\n")
        shallow = _run(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        log = _read_log(root)
    except FileNotFoundError:
        findings.remark("times and renames are unknown: git is not installed")
        return History()
    except subprocess.TimeoutExpired:
        findings.remark(f"times and renames are unknown: git took longer than {MOST_SECONDS} seconds")
        return History()
    except (subprocess.CalledProcessError, OSError):
        findings.remark("times and renames are unknown: git knows no history of the folder")
        return History()
    if shallow:
        findings.remark("the git clone is shallow: times before its first commit are unknown")
    return _follow(_changes(log, shallow=shallow), prefix)


def _read_log(root: Path) -> bytes:
    arguments = (
        *("log", "-z", "--name-status", "-M", "--format=%x01%ct %P", f"--max-count={MOST_COMMITS}"),
        *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color"),
    )
    try:
        # Looking at the whole repository finds pages that moved into the folder; a huge one is cut down to
        # it.
        return _run(root, *arguments)
    except subprocess.TimeoutExpired:
        return _run(root, *arguments, "--", ".")


def _run(root: Path, *arguments: str) -> bytes:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(  # noqa: S603 - every argument is ours
        ["git", *_SAFE, *arguments],  # noqa: S607 - git is where the user has it
        cwd=root,
        env={**kept, **_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=MOST_SECONDS,
        check=True,
    ).stdout


def _changes(log: bytes, *, shallow: bool) -> Iterator[_Change]:
    moment, boundary = datetime.fromtimestamp(0, UTC), False
    fields = iter(log.split(b"\0"))
    for field in fields:
        entry = field.lstrip(b"\n")
        if entry.startswith(b"\x01"):
            stamp, _, parents = entry[1:].decode("ascii", "replace").partition(" ")
            try:
                moment = datetime.fromtimestamp(int(stamp), UTC)
            except (ValueError, OverflowError, OSError):
                moment = datetime.fromtimestamp(0, UTC)
            boundary = shallow and not parents.strip()
        elif entry:
            status = entry[:1].decode("ascii", "replace")
            path = next(fields, b"").decode(errors="surrogateescape")
            renames = status in ("R", "C")
            new_path = next(fields, b"").decode(errors="surrogateescape") if renames else path
            yield _Change(moment, boundary, "r" if entry == b"R100" else status, path, new_path)


def _follow(changes: Iterator[_Change], prefix: str) -> History:
    """Go from the newest change to the oldest, keeping track of what today's pages were called."""
    today: dict[str, str | None] = {}
    created: dict[str, datetime] = {}
    modified: dict[str, datetime] = {}
    renamed: dict[str, dict[str, None]] = {}
    for moment, boundary, status, path, new_path in changes:
        page = today.get(new_path, new_path)
        if status == "D":
            today[path] = None
            continue
        if page is None:
            continue
        if status in ("R", "r"):
            today[path] = page
            today[new_path] = None
            renamed.setdefault(page, {})[path] = None
        if boundary:
            continue
        if status != "r":
            modified.setdefault(page, moment)
        if status in ("A", "C"):
            created[page] = moment
            # An older page of the same name was another page.
            today[new_path] = None
    below = len(prefix)
    inside = [page for page in {*created, *modified, *renamed} if page.startswith(prefix)]
    return History(
        {page[below:]: created[page] for page in inside if page in created},
        {page[below:]: modified[page] for page in inside if page in modified},
        {
            page[below:]: tuple(
                name[below:] if name.startswith(prefix) else name for name in renamed[page] if name != page
            )
            for page in inside
            if page in renamed
        },
    )
