"""Exports opened where they lie: a folder, a zip or one file, read within bounds.

Names of members are keys to read by and never become paths: nothing is unpacked, and nothing outside the
folder is touched.
"""

import os
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import orjson

from findback.errors import DataError, Fault, FindbackError, MissingError, RefusedError, StorageError

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PIECE = 1 << 20
_PLAIN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_ENCRYPTED = 0x1
_END_RECORD = b"PK\x05\x06"
_END_RECORD_64 = b"PK\x06\x06"


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


class RawLine(NamedTuple):
    """One line of a member."""

    number: int
    """1-based."""
    offset: int
    """Byte at which it starts."""
    raw: bytes | None
    """Without its line end; None where it is longer than may be."""


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
            raise self._damaged(name, f"cannot be unpacked: {error}") from None
        except OSError as error:
            raise _reading_error(self.where(name), error) from None
        try:
            with file:
                yield file
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise self._damaged(name, f"damaged: {error}") from None
        except OSError as error:
            raise _reading_error(self.where(name), error) from None

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
        if raw.startswith(_UTF16):
            raise self._damaged(name, "the file is UTF-16, not UTF-8")
        return raw.removeprefix(_BOM)

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
        """Yield a member's lines that are not blank; one that is too long comes without its bytes.

        Raises:
            DataError: If it is damaged, or UTF-16.
            RefusedError: If it is larger than a member may be.
            StorageError: If it may not be read.
        """
        most = self.limits.line_bytes
        with self.open(name) as file:
            number = offset = 0
            while raw := file.readline(most + 1):
                number += 1
                start, offset = offset, offset + len(raw)
                if number == 1:
                    if raw.startswith(_UTF16):
                        raise self._damaged(name, "the file is UTF-16, not UTF-8")
                    raw = raw.removeprefix(_BOM)
                if len(raw) > most:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(_PIECE)
                        offset += len(raw)
                    yield RawLine(number, start, None)
                    continue
                raw = raw.rstrip(b"\r\n")
                if raw.strip():
                    yield RawLine(number, start, raw)

    def peek(self, name: str, size: int = 65_536) -> bytes:
        """Return the first bytes of a member; none at all where it cannot be read."""
        try:
            with self.open(name) as file:
                return file.read(size).removeprefix(_BOM)
        except FindbackError:
            return b""

    def _damaged(self, name: str, reason: str) -> DataError:
        return DataError(f"{self.where(name)} cannot be read", faults=[Fault(self.where(name), None, reason)])

    def _admit(self, sizes: dict[str, int]) -> None:
        if sum(sizes.values()) > self.limits.total_bytes:
            raise RefusedError(
                f"{self.path} holds more than {self.limits.total_bytes:,} bytes",
                hint="export shorter stretches of time",
            )
        self.sizes = {name: sizes[name] for name in sorted(sizes)}


class _Folder(Archive):
    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        sizes: dict[str, int] = {}
        waiting = [("", 1)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                entries = list(os.scandir(path / folder))
            except OSError as error:
                raise _reading_error(str(path / folder), error) from None
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
                        raise _too_many(path, limits)
        self._admit(sizes)

    def where(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.sizes:
            raise KeyError(name)
        return _open_plainly(self.path / name)


class _Zip(Archive):
    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        if _count_members(path) > limits.members:
            raise _too_many(path, limits)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise DataError(
                f"{path} is not a zip that can be read", faults=[Fault(str(path), None, str(error))]
            ) from None
        except OSError as error:
            raise _reading_error(str(path), error) from None
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if len(self._members) > limits.members:
                raise _too_many(path, limits)
            if info.is_dir():
                continue
            reason = _refuse_name(info.filename, limits.depth)
            if reason is None and stat.S_ISLNK(info.external_attr >> 16):
                reason = "symbolic links"
            if reason is None and info.filename in self._members:
                reason = "second members of the same name"
            if reason is None:
                self._members[info.filename] = info
            else:
                self.left_out[reason] += 1
        self._admit({name: info.file_size for name, info in self._members.items()})

    def close(self) -> None:
        super().close()
        self._zip.close()

    def where(self, name: str) -> str:
        return f"{self.path}!{name}"

    def _open(self, name: str) -> IO[bytes]:
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise self._damaged(name, "protected by a password")
        if info.compress_type not in _PLAIN_METHODS:
            raise self._damaged(name, "packed by a method that is not read")
        grown = info.file_size > self.limits.free_bytes
        if grown and info.file_size > self.limits.ratio * max(info.compress_size, 1):
            raise RefusedError(
                f"{self.where(name)} grows more than {self.limits.ratio} times when unpacked",
                hint="a member like that is meant to fill memory; unpack the export yourself if you trust it",
            )
        return self._zip.open(info)


class _File(Archive):
    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        try:
            self._admit({path.name: path.stat().st_size})
        except OSError as error:
            raise _reading_error(str(path), error) from None

    def where(self, name: str) -> str:
        return str(self.path)

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.sizes:
            raise KeyError(name)
        return self.path.open("rb")


def open_archive(path: Path, limits: Limits = LIMITS) -> Archive:
    """Open a folder, a zip, or one file as an export of one member.

    Raises:
        MissingError: If nothing is there.
        DataError: If it is no file or folder, or a damaged zip.
        RefusedError: If it holds more than may be read.
        StorageError: If it may not be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _Folder(path, limits)
        if not stat.S_ISREG(mode):
            raise DataError(f"{path} is no file or folder")
        with path.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise _reading_error(str(path), error) from None
    except ValueError:
        raise DataError(f"{path!s:.200} is not a usable path") from None
    return _Zip(path, limits) if first in (b"PK\x03\x04", _END_RECORD) else _File(path, limits)


def explain_json(error: orjson.JSONDecodeError) -> str:
    """Return what is wrong with JSON in words, quoting nothing of it.

    >>> try: orjson.loads(b'{"a":')
    ... except orjson.JSONDecodeError as error: print(explain_json(error))
    unexpected end of data, column 6
    """
    return f"{error.msg}, column {error.colno}"


def _refuse_name(name: str, depth: int) -> str | None:
    parts = name.split("/")
    if "\\" in name or "\0" in name or name.startswith("/") or ".." in parts or ":" in parts[0]:
        return "names that lead out of the archive"
    if len(parts) > depth:
        return "folders deeper than may be"
    return None


def _open_plainly(path: Path) -> IO[bytes]:
    """Open a file that is still no link: somebody may have put one there since the folder was read."""
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


def _count_members(path: Path) -> int:
    """Return how many members a zip claims, read from its end, before any list of them is made."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 66_000, 0))
            tail = file.read()
    except OSError as error:
        raise _reading_error(str(path), error) from None
    place = tail.rfind(_END_RECORD_64)
    if place >= 0 and len(tail) >= place + 40:
        return int(struct.unpack_from("<Q", tail, place + 32)[0])
    place = tail.rfind(_END_RECORD)
    return int(struct.unpack_from("<H", tail, place + 10)[0]) if 0 <= place <= len(tail) - 12 else 0


def _too_many(path: Path, limits: Limits) -> RefusedError:
    return RefusedError(f"{path} holds more than {limits.members:,} files", hint="export shorter stretches of time")


def _reading_error(where: str, error: OSError) -> FindbackError:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return MissingError(f"{where} is not there", hint="check the path")
    if isinstance(error, PermissionError):
        return StorageError(f"{where} may not be read", hint="check its permissions")
    return StorageError(f"{where} cannot be read: {(error.strerror or type(error).__name__).lower()}")
