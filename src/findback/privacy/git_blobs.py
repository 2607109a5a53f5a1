"""Every blob a git repository holds."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from findback.errors import MissingError

MOST_BLOB = 100_000_000
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class Blob(NamedTuple):
    """The content a file had once."""

    where: str
    """Path it had, as far as known, and the beginning of its name in git."""
    content: bytes | None
    """None when it was not read."""
    reason: str = ""
    name: str = ""
    """Its whole name in git."""


def read_blobs(root: Path, *, most_bytes: int) -> Iterator[Blob]:
    """Yield every blob in the object store of a repository, those no branch holds included.

    Args:
        root: A folder inside the repository.
        most_bytes: How much is read in all; the rest comes without content.

    Raises:
        MissingError: If git is not installed, or the folder is in no repository.
    """
    paths = _list_paths(root)
    process = _start(root, "cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
    left = most_bytes
    try:
        output = process.stdout
        while output is not None and (header := output.readline()):
            name, kind, size = _parse(header)
            if kind != "blob":
                _skip(output, size + 1)
                continue
            where = f"git:{paths.get(name, '(no path)')}@{name[:12]}"
            if size > MOST_BLOB or size > left:
                _skip(output, size + 1)
                yield Blob(where, None, f"too large to be looked at: {size:,} bytes", name)
                continue
            content = output.read(size)
            output.read(1)
            left -= size
            yield Blob(where, content, name=name)
        if process.wait() != 0:
            yield Blob(f"git:{root}", None, "git stopped before the end of the history")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def run_git(root: Path, *arguments: str) -> str:
    """Return what a git command that only reads prints.

    Raises:
        MissingError: If git is not installed, or refuses, as outside a repository.
    """
    process = _start(root, *arguments)
    output, _ = process.communicate()
    if process.returncode != 0:
        raise MissingError(f"git knows no history of {root}", hint="run it inside a git repository")
    return output.decode("utf-8", "replace")


def _list_paths(root: Path) -> dict[str, str]:
    """Return for each object that a branch or tag reaches a path it has."""
    process = _start(root, "rev-list", "--objects", "--all")
    paths: dict[str, str] = {}
    if process.stdout is not None:
        with process.stdout as output:
            for line in output:
                name, _, path = line.decode("utf-8", "replace").rstrip("\n").partition(" ")
                if path:
                    paths.setdefault(name, path)
    if process.wait() != 0:
        raise MissingError(
            f"git knows no history of {root}", hint="run it inside a git repository, or without --history"
        )
    return paths


def _start(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - fixed arguments
            ["git", "-C", str(root), *_SAFE, *arguments],  # noqa: S607 - the user's git
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ENVIRONMENT},
        )
    except FileNotFoundError:
        raise MissingError("git is not installed", hint="install git, or run without --history") from None


def _parse(header: bytes) -> tuple[str, str, int]:
    name, kind, *size = header.decode("ascii").split()
    return name, kind, int(size[0]) if size else -1


def _skip(output: IO[bytes], count: int) -> None:
    while count > 0:
        count -= len(output.read(min(count, 1_000_000))) or count
