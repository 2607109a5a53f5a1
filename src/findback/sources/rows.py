"""Rows of message exports: JSON, JSON Lines, CSV and Parquet, in a file, a folder or a zip, or of a query."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from findback.errors import DataError, FindbackError
from findback.model.thread import Place, Skipped
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.tickets.items import Items, is_lines, read_lines
from findback.sources.traces.records import plain_suffix, read_records

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
ROOT = "/"
"""`Row.array` of what a JSON document says beside its arrays; it comes after their rows."""
_TABLES = (".csv", ".tsv", ".parquet")


class Row(NamedTuple):
    """One record."""

    array: str | None
    """Key of the array that held it, `ROOT`, or None for a line, a table's row or an item of a bare array."""
    value: dict[str, Any]
    place: Place


def list_files(archive: Archive) -> list[str]:
    """Return the members that may hold rows, sorted; a single file whatever its name."""
    names = archive.names
    if len(names) == 1 and archive.where(names[0]) == str(archive.path):
        return list(names)
    return [name for name in names if name.lower().endswith(SUFFIXES)]


def read_rows(
    archive: Archive, name: str, envelopes: frozenset[str], faults: Faults, skipped: Skipped
) -> Iterator[Row]:
    """Yield the rows of a member; what cannot be read becomes a fault.

    Args:
        archive: The export.
        name: The member.
        envelopes: Keys of arrays that hold rows.
        faults: Where records that cannot be read are noted.
        skipped: Where oversized ones are counted.

    Raises:
        RefusedError: If the member is larger than may be read.
        MissingLibraryError: If it is Parquet and pyarrow is not installed.
    """
    try:
        yield from _read(archive, name, envelopes, faults, skipped)
    except DataError as error:
        for fault in error.faults:
            faults.add(fault.path, fault.line, fault.message)
        if not error.faults:
            faults.add(archive.where(name), None, error.message)


def _read(archive: Archive, name: str, envelopes: frozenset[str], faults: Faults, skipped: Skipped) -> Iterator[Row]:
    shown = archive.where(name)
    if isinstance(archive, Answer):
        yield from (Row(None, row.values, Place(shown, row.number)) for row in archive.rows())
        return
    if plain_suffix(name) in _TABLES:
        for record in read_records(archive, name, faults):
            yield Row(None, record.value, record.place)
        return
    lines = is_lines(archive.peek(name), name)
    with archive.open(name) as file:
        if lines:
            for item in read_lines(file, shown, faults, skipped):
                yield from _unfold(item.value, envelopes, Place(shown, item.offset))
            return
        enveloped = False
        for item in Items(file, shown, faults, skipped, envelopes=envelopes):
            enveloped = enveloped or item.array is not None
            array = ROOT if item.array is None and enveloped else item.array
            yield Row(array, item.value, Place(shown, item.offset))


def _unfold(value: dict[str, Any], envelopes: frozenset[str], place: Place) -> Iterator[Row]:
    arrays = [key for key in sorted(envelopes) if isinstance(value.get(key), list)] if "id" not in value else []
    for key in arrays:
        yield from (Row(key, inner, place) for inner in value[key] if isinstance(inner, dict))
    if not arrays:
        yield Row(None, value, place)


def peek_rows(archive: Archive, name: str, envelopes: frozenset[str], *, most: int = 20) -> list[Row]:
    """Return the first rows of a member; none at all where it has none or cannot be read."""
    try:
        return list(islice(read_rows(archive, name, envelopes, Faults(), Skipped()), most))
    except (FindbackError, ValueError):
        return []
