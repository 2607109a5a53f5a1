"""Exports as they come, member by member, with bounds on everything."""

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson

from findback.errors import DataError, Fault, FindbackError, MissingError, RefusedError, StorageError
from findback.text.lines import BOM, UTF16, RawLine, raw_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large an export may be, in members and bytes."""

    members: int = 1_000_000
    depth: int = 32
    """Most folders inside each other."""
    member_bytes: int = 4 << 30
    whole_bytes: int = 512 << 20
    """Most bytes of a member that is read into memory at once."""
    line_bytes: int = 100_000_000
    total_bytes: int = 256 << 30
    ratio: int = 200
    """Most times a zip member may grow, once it is larger than `free_bytes`."""
    free_bytes: int = 16 << 20


LIMITS = Limits()


class Archive(ABC):
    """The members of an export, by name. A context manager."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.limits = limits
        self.closed = False
        self.left_out: Counter[str] = Counter()
        """What is there and not offered, by reason."""
        self.sizes: dict[str, int] = {}
        """Bytes of each member, sorted by name; `/` stands between folders."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all members, sorted."""
        return tuple(self.sizes)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a member of this name."""
        return name in self.sizes

    def __enter__(self) -> "Archive":
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the file."""
        self.close()

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        self.closed = True

    @abstractmethod
    def where(self, name: str) -> str:
        """Return how messages call a member: the file, or `archive!member`."""

    @abstractmethod
    def _open(self, name: str) -> IO[bytes]:
        """Open a member, without looking at its size."""

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member for reading.

        Raises:
            DataError: If it is damaged, protected by a password or packed in a way that is not read.
            RefusedError: If it is larger than a member may be.
            StorageError: If it may not be read.
        """
        if self.sizes[name] > self.limits.member_bytes:
            raise RefusedError(
                f"{self.where(name)} has more than {self.limits.member_bytes:,} bytes",
                hint="export shorter stretches of time",
            )
        try:
            file = self._open(name)
        except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
            raise self.damaged(name, f"cannot be unpacked: {error}") from None
        except OSError as error:
            raise reading_error(self.where(name), error) from None
        try:
            with file:
                yield file
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise self.damaged(name, f"damaged: {error}") from None
        except OSError as error:
            raise reading_error(self.where(name), error) from None

    def read(self, name: str) -> bytes:
        """Return a member's bytes, without a byte order mark.

        Raises:
            DataError: If it is damaged, or UTF-16.
            RefusedError: If it is larger than may be read at once.
            StorageError: If it may not be read.
        """
        most = self.limits.whole_bytes
        # Asking for more than there is would have the memory set aside first.
        expected = self.sizes[name]
        with self.open(name) as file:
            raw = file.read(min(expected, most) + 1)
            if expected < len(raw) <= most:
                raw += file.read(most + 1 - len(raw))
        if len(raw) > most:
            raise RefusedError(
                f"{self.where(name)} has more than {most:,} bytes, too many to be read at once",
                hint="export shorter stretches of time, or as JSON Lines",
            )
        if raw.startswith(UTF16):
            raise self.damaged(name, "the file is UTF-16, not UTF-8")
        return raw.removeprefix(BOM)

    def read_json(self, name: str) -> Any:
        """Return a member's JSON value.

        Raises:
            DataError: If it is not JSON, with the line.
            RefusedError: If it is larger than may be read at once.
            StorageError: If it may not be read.
        """
        raw = self.read(name)
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            fault = Fault(self.where(name), error.lineno, f"not JSON: {explain_json(error)}")
            raise DataError(f"{self.where(name)} is not JSON", faults=[fault]) from None

    def lines(self, name: str) -> Iterator[RawLine]:
        """Yield a member's lines; of one that is too long only the beginning.

        Raises:
            DataError: If it is damaged, or UTF-16.
            RefusedError: If it is larger than a member may be.
            StorageError: If it may not be read.
        """
        with self.open(name) as file:
            for line in raw_lines(file, self.limits.line_bytes):
                if line.number == 1 and line.raw.startswith(UTF16):
                    raise self.damaged(name, "the file is UTF-16, not UTF-8")
                yield line

    def peek(self, name: str, size: int = 65_536) -> bytes:
        """Return the first bytes of a member; none at all where it cannot be read."""
        try:
            with self.open(name) as file:
                return file.read(size).removeprefix(BOM)
        except FindbackError:
            return b""

    def damaged(self, name: str, reason: str) -> DataError:
        """Return the error for a member that cannot be read."""
        return DataError(f"{self.where(name)} cannot be read", faults=[Fault(self.where(name), None, reason)])

    def admit(self, sizes: dict[str, int]) -> None:
        """Take the members with their bytes.

        Raises:
            RefusedError: If they are more bytes than may be read.
        """
        if sum(sizes.values()) > self.limits.total_bytes:
            raise RefusedError(
                f"{self.path} holds more than {self.limits.total_bytes:,} bytes",
                hint="export shorter stretches of time",
            )
        self.sizes = {name: sizes[name] for name in sorted(sizes)}


def explain_json(error: orjson.JSONDecodeError) -> str:
    """Return what is wrong with JSON in words, quoting nothing of it.

    >>> try: orjson.loads(b'{"a":')
    ... except orjson.JSONDecodeError as error: print(explain_json(error))
    unexpected end of data, column 6
    """
    return f"{error.msg}, column {error.colno}"


def too_many(path: Path, limits: Limits) -> RefusedError:
    """Return the error for an export of more members than may be."""
    return RefusedError(f"{path} holds more than {limits.members:,} files", hint="export shorter stretches of time")


def reading_error(where: str, error: OSError) -> FindbackError:
    """Return what the disk says about a file as an error."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return MissingError(f"{where} is not there", hint="check the path")
    if isinstance(error, PermissionError):
        return StorageError(f"{where} may not be read", hint="check its permissions")
    return StorageError(f"{where} cannot be read: {(error.strerror or type(error).__name__).lower()}")
