"""Records of an export put aside by channel, on disk as soon as they are many."""

import pickle
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from findback.errors import RefusedError
from findback.files import storage_errors

IN_MEMORY = 64 << 20
"""Bytes of records that are held before they go to disk."""
WITHOUT_DISK = 512 << 20
"""Most bytes that are held where nothing may be written."""
OF_ONE = 1 << 30
"""Most bytes of one channel, which is looked at whole."""


class Shelf:
    """Takes records in any order, and gives them back channel by channel, each channel's in the order they came.

    What does not fit in memory lies in a file of the folder that has no name, so that nothing of it stays, however
    the process ends.
    """

    def __init__(self, what: str, folder: Path | None) -> None:
        """Begin with nothing.

        Args:
            what: What is read, for messages.
            folder: Private folder to write to; None if nothing may be written.
        """
        self._what = what
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._held: dict[str, list[bytes]] = {}
        self._bytes = 0
        self._sizes: dict[str, int] = {}
        self._blocks: dict[str, list[tuple[int, int]]] = {}

    def __len__(self) -> int:
        """Return how many channels there are."""
        return len(self._sizes)

    def put(self, channel: str, record: Any) -> None:
        """Put one record aside.

        Raises:
            RefusedError: If there is more than may be held.
            StorageError: If the disk refuses.
        """
        raw = pickle.dumps(record, protocol=pickle.HIGHEST_PROTOCOL)
        size = self._sizes[channel] = self._sizes.get(channel, 0) + len(raw)
        if size > OF_ONE:
            raise RefusedError(
                f"{self._what} has more than {OF_ONE >> 20:,} MB of one channel, {channel[:200]}",
                hint="export it in shorter stretches of time, each into a file or folder of its own",
            )
        self._held.setdefault(channel, []).append(raw)
        self._bytes += len(raw)
        if self._folder is not None:
            if self._bytes > IN_MEMORY:
                self._spill(self._folder)
        elif self._bytes > WITHOUT_DISK:
            raise RefusedError(
                f"{self._what} has more than {WITHOUT_DISK >> 20:,} MB of messages, too many to be held in memory",
                hint="a run that stores (without --dry-run) puts them on disk; or export fewer channels at a time",
            )

    def take(self) -> Iterator[tuple[str, Iterator[Any]]]:
        """Yield the channels in order, each with its records, and forget everything."""
        try:
            for channel in sorted(self._sizes):
                yield channel, self._read(channel)
        finally:
            if self._file is not None:
                self._file.close()

    def _read(self, channel: str) -> Iterator[Any]:
        for start, size in self._blocks.pop(channel, ()):
            if self._file is not None:
                self._file.seek(start)
                block = BytesIO(self._file.read(size))
                while block.tell() < size:
                    yield pickle.load(block)  # noqa: S301 -- our own, from a file nobody else can open
        for raw in self._held.pop(channel, ()):
            yield pickle.loads(raw)  # noqa: S301 -- our own, from memory

    def _spill(self, folder: Path) -> None:
        with storage_errors(folder):
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=folder, prefix="messages-")  # noqa: SIM115 -- closed by `take`
            for channel, records in self._held.items():
                block = b"".join(records)
                self._blocks.setdefault(channel, []).append((self._file.tell(), len(block)))
                self._file.write(block)
            self._file.flush()
        self._held.clear()
        self._bytes = 0
