"""Exports that lie unpacked: a folder, or one file."""

import os
from pathlib import Path
from typing import IO

from findback.sources.archive import Archive, Limits, reading_error, too_many


class Folder(Archive):
    """Every file below a folder; links are not followed."""

    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        sizes: dict[str, int] = {}
        waiting = [("", 1)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                entries = list(os.scandir(path / folder))
            except OSError as error:
                raise reading_error(str(path / folder), error) from None
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_symlink():
                    self.left_out["symbolic links"] += 1
                elif entry.is_dir(follow_symlinks=False):
                    if depth >= limits.depth:
                        self.left_out["folders deeper than may be"] += 1
                    else:
                        waiting.append((name, depth + 1))
                elif not entry.is_file(follow_symlinks=False):
                    self.left_out["devices, pipes and sockets"] += 1
                else:
                    sizes[name] = entry.stat(follow_symlinks=False).st_size
                    if len(sizes) > limits.members:
                        raise too_many(path, limits)
        self.admit(sizes)

    def where(self, name: str) -> str:
        """Return how messages call a member."""
        return f"{self.path}/{name}"

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.sizes:
            raise KeyError(name)
        return _open_plainly(self.path / name)


class SingleFile(Archive):
    """One file, whatever its kind."""

    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        try:
            self.admit({path.name: path.stat().st_size})
        except OSError as error:
            raise reading_error(str(path), error) from None

    def where(self, name: str) -> str:
        """Return how messages call a member."""
        return str(self.path)

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.sizes:
            raise KeyError(name)
        return self.path.open("rb")


def _open_plainly(path: Path) -> IO[bytes]:
    """Open a file that is still no link: somebody may have put one there since the folder was read."""
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")
