"""A backup's file: a ZIP of one JSON Lines member a table, and a manifest with a digest of each."""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError

from findback.errors import DataError, Fault, RefusedError
from findback.model.record import Record

FORMAT = 1
"""Format of the file; that of the workbench in it is another number."""
MANIFEST = "manifest.json"
KEY = "hmac.key"
SUFFIX = ".jsonl"

LARGEST_MANIFEST = 1_000_000
LARGEST_LINE = 32_000_000
"""Bytes of one row; the longest thread is far below it."""
MOST_BYTES = 32_000_000_000
"""Bytes of all members together, unpacked."""
MOST_MEMBERS = 100
KEY_BYTES = 200

_NAME = re.compile(r"[a-z][a-z_]{0,60}\.jsonl")


class Member(Record):
    """One table in a backup."""

    columns: tuple[str, ...]
    """Their values stand in each line in this order."""
    rows: NonNegativeInt
    size: NonNegativeInt
    """Bytes, unpacked."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(Record):
    """What a backup says of itself."""

    format: Literal[1] = 1
    findback: str
    """Version that wrote it."""
    made: datetime
    workbench: PositiveInt
    """Format of the workbench in it."""
    key: str
    """Tells which key its digests were made with, and nothing about the key."""
    with_key: bool
    """Whether the key is in it."""
    members: dict[str, Member]


class ArchiveWriter:
    """Writes the members of a backup, one after the other."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self.members: dict[str, Member] = {}

    def add_table(self, name: str, columns: tuple[str, ...], lines: Iterator[bytes]) -> None:
        """Write a table, a row a line."""
        digest, size, rows = hashlib.sha256(), 0, 0
        with self._packed.open(_info(name + SUFFIX), "w", force_zip64=True) as member:
            for line in lines:
                member.write(line)
                digest.update(line)
                size += len(line)
                rows += 1
        self.members[name + SUFFIX] = Member(columns=columns, rows=rows, size=size, sha256=digest.hexdigest())

    def add_key(self, written: str) -> None:
        """Write the key."""
        self._packed.writestr(_info(KEY), written)

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest: without it nothing is a backup."""
        self._packed.writestr(_info(MANIFEST), manifest.model_dump_json(indent=1))


@contextmanager
def write_archive(handle: BinaryIO) -> Iterator[ArchiveWriter]:
    """Open a backup for writing in a file that can be sought."""
    with zipfile.ZipFile(handle, "w") as packed:
        yield ArchiveWriter(packed)


def _info(name: str) -> zipfile.ZipInfo:
    """Return a member to be written: packed, and without a date, which the manifest has."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


class Archive:
    """A backup that is open for reading; everything in it is checked before it is believed."""

    def __init__(self, packed: zipfile.ZipFile, shown: str) -> None:
        self._packed = packed
        self.shown = shown
        self._infos = _check_members(packed, shown)
        self.manifest = self._read_manifest()

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""
        return sorted(name.removesuffix(SUFFIX) for name in self.manifest.members)

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table, in the order of each line."""
        return self.manifest.members[table + SUFFIX].columns

    def rows(self, table: str) -> Iterator[tuple[int, list[object]]]:
        """Yield each row of a table with its line; the last one only after all was as the manifest says.

        Raises:
            DataError: If the member is damaged, cut short or longer than it should be.
        """
        name = table + SUFFIX
        said = self.manifest.members[name]
        digest, size, number = hashlib.sha256(), 0, 0
        held: tuple[int, list[object]] | None = None
        for line in _lines(self._packed, name, self._damaged):
            number, size = number + 1, size + len(line)
            if len(line) >= LARGEST_LINE or size > said.size:
                raise self._damaged(name, number, "it is longer than the backup says")
            digest.update(line)
            if held is not None:
                yield held
            held = (number, self._row(name, number, line, len(said.columns)))
        if (size, number, digest.hexdigest()) != (said.size, said.rows, said.sha256):
            raise self._damaged(name, None, "its content is not what was backed up")
        if held is not None:
            yield held

    def key(self) -> str | None:
        """Return the key that is in the backup, as written; None where it is not.

        Raises:
            DataError: If the member is damaged.
        """
        return None if KEY not in self._infos else self._read(KEY, KEY_BYTES).decode("ascii", "replace").strip()

    def _row(self, name: str, number: int, line: bytes, width: int) -> list[object]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise self._damaged(name, number, "the line is no JSON") from None
        if not isinstance(row, list) or len(row) != width:
            raise self._damaged(name, number, "the line is no row of the table")
        return row

    def _read_manifest(self) -> Manifest:
        if MANIFEST not in self._infos:
            raise DataError(f"{self.shown} is no backup of findback", hint="findback backup FILE writes one")
        try:
            written = json.loads(self._read(MANIFEST, LARGEST_MANIFEST))
            found = written.get("format") if isinstance(written, dict) else None
            if isinstance(found, int) and found > FORMAT:
                raise RefusedError(
                    f"a newer findback made {self.shown}: its format is {found}, this one knows {FORMAT}",
                    hint="install the newer findback",
                )
            manifest = Manifest.model_validate(written)
        except (ValueError, RecursionError, ValidationError):
            raise self._damaged(MANIFEST, None, "it cannot be read") from None
        wanted = {*manifest.members, MANIFEST, *([KEY] if manifest.with_key else [])}
        if wanted != self._infos.keys():
            raise self._damaged(MANIFEST, None, "it names other members than there are")
        return manifest

    def _read(self, name: str, most: int) -> bytes:
        content = b"".join(_lines(self._packed, name, self._damaged, most + 1))
        if len(content) > most:
            raise self._damaged(name, None, "it is too large")
        return content

    def _damaged(self, name: str, line: int | None, message: str) -> DataError:
        fault = Fault(f"{self.shown}:{name}", line, message)
        return DataError(f"{self.shown} is damaged", faults=[fault], hint="take another backup; nothing was changed")


@contextmanager
def open_archive(path: Path, shown: str) -> Iterator[Archive]:
    """Open a backup for reading.

    Raises:
        DataError: If it is none, or damaged.
        RefusedError: If a newer findback made it, or it is larger than any backup may be.
    """
    try:
        packed = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        raise DataError(f"{shown} is no backup of findback", hint="findback backup FILE writes one") from None
    with packed:
        yield Archive(packed, shown)


def _check_members(packed: zipfile.ZipFile, shown: str) -> Mapping[str, zipfile.ZipInfo]:
    infos = packed.infolist()
    if len(infos) > MOST_MEMBERS:
        raise RefusedError(f"{shown} has more members than a backup has tables")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        known = info.filename in (MANIFEST, KEY) or _NAME.fullmatch(info.filename)
        plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not info.flag_bits & 1
        if not known or not plain or info.filename in found:
            raise RefusedError(f"{shown} holds what no backup of findback holds", hint="nothing was changed")
        found[info.filename] = info
    if sum(info.file_size for info in infos) > MOST_BYTES:
        raise RefusedError(f"{shown} unpacks to more than {MOST_BYTES:,} bytes")
    return found


def _lines(
    packed: zipfile.ZipFile, name: str, damaged: Callable[[str, int | None, str], DataError], most: int = 0
) -> Iterator[bytes]:
    """Yield the lines of a member, none longer than the largest; with `most`, only so many bytes."""
    try:
        with packed.open(name) as member:
            handle: IO[bytes] = member
            if most:
                yield handle.read(most)
                return
            while line := handle.readline(LARGEST_LINE):
                yield line
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError):
        raise damaged(name, None, "it cannot be unpacked") from None
