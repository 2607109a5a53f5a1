"""Rows of tickets from CSV, Parquet and queries, beside those from JSON."""

from collections.abc import Iterator
from pathlib import Path

from findback.errors import RefusedError
from findback.model.thread import Place, Skipped
from findback.registry import load_module
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.tickets.export import Row, read_rows
from findback.sources.tickets.fields import Fields
from findback.text.delimited import delimited_records

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_MOST_LINE = 64_000_000
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def read_table(
    archive: Archive,
    name: str,
    faults: Faults,
    skipped: Skipped,
    notes: list[str],
    *,
    envelopes: frozenset[str],
) -> Iterator[Row]:
    """Yield the rows of a member, whatever of JSON, JSON Lines, CSV, Parquet and query it is.

    Raises:
        DataError: If the member is damaged.
        RefusedError: If it is larger than may be read, or Parquet inside a zip.
        StorageError: If it may not be read.
        MissingLibraryError: If it is Parquet and pyarrow is not installed.
    """
    if isinstance(archive, Answer):
        shown = archive.where(name)
        for row in archive.rows():
            yield Row(None, Fields(row.values, shown, row.number, faults), Place(shown, row.number), name)
        return
    head = archive.peek(name, 4_096)
    if head.startswith(b"PAR1"):
        yield from _read_parquet(archive, name, faults)
    elif head.lstrip()[:1] in (b"{", b"[") and not name.lower().endswith((".csv", ".tsv")):
        yield from read_rows(archive, name, faults, skipped, envelopes=envelopes)
    elif head:
        yield from _read_csv(archive, name, faults, notes)


def _read_csv(archive: Archive, name: str, faults: Faults, notes: list[str]) -> Iterator[Row]:
    shown = archive.where(name)
    for line, cells, fault in delimited_records(_text_lines(archive, name, notes)):
        if fault is not None:
            faults.add(shown, line, fault)
        elif any("\0" in cell for cell in cells.values()):
            faults.add(shown, line, "holds a NUL character")
        else:
            values = {column: cell or None for column, cell in cells.items()}
            yield Row(None, Fields(values, shown, line, faults), Place(shown, line), name)


def _text_lines(archive: Archive, name: str, notes: list[str]) -> Iterator[str]:
    """Yield lines as text: UTF-8, UTF-16 with its mark, or Windows-1252 from the first line that is neither on."""
    shown = archive.where(name)
    with archive.open(name) as file:
        start = file.read(3)
        mark, encoding = next(((m, e) for m, e in _ENCODINGS if start.startswith(m)), (b"", "utf-8"))
        kept = start[len(mark) :]
        end = "\n".encode(encoding)
        while True:
            raw = kept + file.readline(_MOST_LINE)
            # In UTF-16 a line feed is two bytes, of which readline() may stop after the first.
            kept = b""
            if encoding.startswith("utf-16") and raw.endswith(b"\n") and len(raw) % 2:
                raw += file.read(1)
            if not raw:
                return
            if len(raw) >= _MOST_LINE and not raw.endswith(end):
                raise RefusedError(f"{shown} has a line of more than {_MOST_LINE:,} bytes")
            try:
                yield raw.decode(encoding)
            except UnicodeDecodeError:
                encoding = "cp1252"
                notes.append(f"{shown} is not UTF-8 and was read as Windows-1252")
                yield raw.decode(encoding, "replace")


def _read_parquet(archive: Archive, name: str, faults: Faults) -> Iterator[Row]:
    shown = archive.where(name)
    if "!" in shown.removeprefix(str(archive.path)):
        raise RefusedError(f"{shown} is Parquet inside a zip, which is not read", hint="unpack it and name the folder")
    parquet = load_module("findback.text.parquet", wanted_for="reading Parquet")
    for position, values in enumerate(parquet.read_parquet(Path(shown))):
        yield Row(None, Fields(values, shown, None, faults), Place(shown, position), name)
