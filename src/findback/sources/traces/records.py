"""Records of trace files: JSON, JSON Lines, CSV and Parquet, plain or gzipped, in a file, a folder or a zip."""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import orjson

from findback.errors import DataError, Fault, RefusedError
from findback.model.thread import Place
from findback.registry import load_module
from findback.sources.answer import Answer
from findback.sources.archive import Archive, explain_json
from findback.sources.faults import Faults
from findback.text.delimited import delimited_records
from findback.text.lines import BOM, UTF16, RawLine, raw_lines

DEPTH_LIMIT = 100
"""Deepest nesting of a record that is looked at."""
SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")

_PEEK = 1 << 20
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


class TraceRecord(NamedTuple):
    """One record and where it lies."""

    value: Any
    """A line's value, an item of a top-level array, a row as a dictionary, or a whole document."""
    place: Place
    line: int | None
    """1-based line, or row of a query; None inside a JSON document and in Parquet."""
    digest: str | None = None
    """Of what is in a row of a query, whose place is another one next time."""

    @property
    def key(self) -> str:
        """Return a name for it that stays when the export is moved or grows."""
        return self.digest or f"{PurePosixPath(self.place.file).name}#{self.place.offset}"


class Peek(NamedTuple):
    """The beginning of a file, enough to tell its format."""

    kind: str
    """json, jsonl, csv, parquet, text or empty."""
    record: Any
    """The first record, or None where it could not be cut out of the beginning."""
    head: bytes


def trace_names(archive: Archive) -> list[str]:
    """Return the names of the members that may hold traces; a single file always may.

    >>> plain_suffix("a/spans.JSONL.gz"), plain_suffix("log")
    ('.jsonl', '')
    """
    names = archive.names
    if len(names) == 1 and archive.where(names[0]) == str(archive.path):
        return list(names)
    return [name for name in names if plain_suffix(name) in SUFFIXES]


def plain_suffix(name: str) -> str:
    """Return the suffix of a name in lower case, without `.gz`."""
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def peek(archive: Archive, name: str) -> Peek:
    """Return what a member begins with.

    Raises:
        DataError: If it is damaged.
        RefusedError: If it is larger than a member may be.
        StorageError: If it may not be read.
    """
    with _opened(archive, name) as file:
        head = file.read(_PEEK + 1)
    if head[:4] == b"PAR1":
        return Peek("parquet", None, head[:4])
    suffix = plain_suffix(name)
    text = head.removeprefix(BOM).lstrip()
    if not text:
        return Peek("empty", None, b"")
    if text[:1] not in b"{[":
        return Peek("csv" if suffix in (".csv", ".tsv") else "text", None, text)
    line, ended, rest = text.partition(b"\n")
    first = _parsed(line)
    if suffix in (".jsonl", ".ndjson") or (first is not None and ended and rest.strip()[:1] in (b"{", b"[")):
        return Peek("jsonl", first, text)
    if first is not None:
        return Peek("json", first, text)
    return Peek("json", _parsed(text) if len(head) <= _PEEK else _first_item(text), text)


def read_records(archive: Archive, name: str, faults: Faults, *, whole: bool = False) -> Iterator[TraceRecord]:
    """Yield the records of one member in order.

    Args:
        archive: The export.
        name: The member.
        faults: Where records that cannot be read are noted.
        whole: Give a JSON document as one record even where it is an array.

    Raises:
        DataError: If the member as a whole cannot be read.
        RefusedError: If it is larger than a reader may go into.
        StorageError: If it may not be read.
        MissingLibraryError: If it is Parquet and pyarrow is not installed.
    """
    if isinstance(archive, Answer):
        for row in archive.rows():
            yield TraceRecord(row.values, Place(archive.where(name), row.number), row.number, row.digest)
        return
    kind = peek(archive, name).kind
    if kind == "parquet":
        for position, values in enumerate(_parquet_rows(archive, name)):
            yield TraceRecord(values, Place(archive.where(name), position), None)
    elif kind == "csv":
        yield from _read_csv(archive, name, faults)
    elif kind == "jsonl":
        yield from _read_lines(archive, name, faults)
    elif kind == "json":
        yield from _read_document(archive, name, faults, whole=whole)
    elif kind == "text":
        faults.add(archive.where(name), 1, "neither JSON nor, by its name, CSV")


def depth_of(raw: bytes) -> int:
    """Return how deep the brackets of a JSON text nest, strings left out.

    >>> depth_of(b'{"a": [1, "[[["]}')
    2
    """
    deepest = depth = 0
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in (b"]", b"}"):
            depth -= 1
    return deepest


def _parsed(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _first_item(text: bytes) -> Any:
    """Return the first item of an array of which only the beginning is known."""
    if text[:1] != b"[":
        return None
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if depth == 1:
                return _parsed(text[1 : match.end()])
    return None


def _lines(archive: Archive, name: str) -> Iterator[RawLine]:
    with _opened(archive, name) as file:
        for line in raw_lines(file, archive.limits.line_bytes):
            if line.number == 1 and line.raw.startswith(UTF16):
                fault = Fault(archive.where(name), 1, "the file is UTF-16")
                raise DataError(f"{archive.where(name)} is not UTF-8", faults=[fault], hint="save it as UTF-8")
            yield line


def _read_lines(archive: Archive, name: str, faults: Faults) -> Iterator[TraceRecord]:
    where = archive.where(name)
    for line in _lines(archive, name):
        if not line.whole:
            faults.add(where, line.number, f"the line has more than {archive.limits.line_bytes:,} bytes")
        elif line.raw.strip():
            value = _load(line.raw, where, line.number, faults)
            if value is not _BAD:
                yield TraceRecord(value, Place(where, line.offset), line.number)


def _read_document(archive: Archive, name: str, faults: Faults, *, whole: bool) -> Iterator[TraceRecord]:
    where, most = archive.where(name), archive.limits.whole_bytes
    with _opened(archive, name) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise RefusedError(
            f"{where} is one JSON document of more than {most:,} bytes",
            hint="export it as JSON Lines, one record a line",
        )
    value = _load(raw.removeprefix(BOM), where, None, faults)
    if value is _BAD:
        return
    if isinstance(value, list) and not whole:
        for position, item in enumerate(value):
            yield TraceRecord(item, Place(where, position), None)
    else:
        yield TraceRecord(value, Place(where, 0), None)


_BAD = object()


def _load(raw: bytes, where: str, line: int | None, faults: Faults) -> Any:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        faults.add(where, line if line is not None else error.lineno, f"not JSON: {explain_json(error)}")
        return _BAD
    # Brackets are only followed where there are enough of them to matter.
    if raw.count(b"[") + raw.count(b"{") > DEPTH_LIMIT and depth_of(raw) > DEPTH_LIMIT:
        faults.add(where, line, f"nested deeper than {DEPTH_LIMIT} levels")
        return _BAD
    return value


def _read_csv(archive: Archive, name: str, faults: Faults) -> Iterator[TraceRecord]:
    where = archive.where(name)
    for line, cells, fault in delimited_records(_text_lines(archive, name, faults)):
        if fault is not None:
            faults.add(where, line, fault)
        else:
            values = {column: cell or None for column, cell in cells.items()}
            yield TraceRecord(values, Place(where, line), line)


def _text_lines(archive: Archive, name: str, faults: Faults) -> Iterator[str]:
    where = archive.where(name)
    for line in _lines(archive, name):
        if not line.whole:
            faults.add(where, line.number, f"the line has more than {archive.limits.line_bytes:,} bytes")
            yield "\n"
            continue
        try:
            yield line.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            faults.add(where, line.number, f"byte 0x{line.raw[error.start]:02x} is not UTF-8")
            yield "\n"


@contextmanager
def _opened(archive: Archive, name: str) -> Iterator[IO[bytes]]:
    """Open a member and, where it is gzipped, what it unpacks to, within the archive's limits."""
    where = archive.where(name)
    with archive.open(name) as file:
        beginning = file.read(2)
    with archive.open(name) as file:
        if beginning != b"\x1f\x8b":
            yield file
            return
        try:
            with gzip.GzipFile(fileobj=file) as inflating:
                limit = min(
                    archive.limits.member_bytes,
                    max(archive.limits.free_bytes, archive.limits.ratio * archive.sizes[name]),
                )
                yield io.BufferedReader(_Bounded(inflating, where, limit), _PEEK)
        except (zlib.error, EOFError, gzip.BadGzipFile) as error:
            raise DataError(f"{where} is no whole gzip file ({type(error).__name__})") from None


class _Bounded(io.RawIOBase):
    """A gzipped stream that refuses to grow without measure."""

    def __init__(self, file: gzip.GzipFile, where: str, limit: int) -> None:
        super().__init__()
        self._file = file
        self._where = where
        self._limit = limit
        self._grown = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(len(buffer))
        self._grown += len(piece)
        if self._grown > self._limit:
            raise RefusedError(
                f"{self._where} unpacks to more than {self._limit:,} bytes", hint="unpack it yourself if you trust it"
            )
        buffer[: len(piece)] = piece
        return len(piece)


def _parquet_rows(archive: Archive, name: str) -> Iterator[dict[str, Any]]:
    path = Path(archive.where(name))
    if "!" in archive.where(name) and not path.exists():
        raise DataError(f"{archive.where(name)} is Parquet inside a zip", hint="unpack the zip and name the folder")
    rows: Iterator[dict[str, Any]] = parquet_module().read_parquet(path)
    return rows


def parquet_module() -> Any:
    """Return the module that reads Parquet.

    Raises:
        MissingLibraryError: If pyarrow is not installed.
    """
    return load_module("findback.text.parquet", wanted_for="reading Parquet")
