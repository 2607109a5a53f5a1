"""Telling trace formats apart by the beginning of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from findback.errors import FindbackError
from findback.sources.archive import Archive
from findback.sources.opening import open_archive
from findback.sources.traces.records import parquet_module, peek, trace_names
from findback.text.delimited import guess_delimiter

_LOOKED_AT = 20


class Look(NamedTuple):
    """What a reader may judge by."""

    kind: str
    """json, jsonl, csv or parquet."""
    record: Any
    """The first record, or the first of a top-level array; None where the beginning does not hold one whole."""
    head: bytes
    columns: tuple[str, ...] = ()
    """Of a table, or the keys of the first record."""


def recognise_by(path: Path, looks: Callable[[Look], str | None]) -> str | None:
    """Return what `looks` says about the first file it knows, or None; never raises."""
    try:
        with open_archive(path) as archive:
            for name in trace_names(archive)[:_LOOKED_AT]:
                look = _look(archive, name)
                reason = looks(look) if look is not None else None
                if reason is not None:
                    return reason
    except (FindbackError, OSError, ValueError, RecursionError):
        return None
    return None


def _look(archive: Archive, name: str) -> Look | None:
    peeked = peek(archive, name)
    if peeked.kind in ("empty", "text"):
        return None
    if peeked.kind == "parquet":
        return Look("parquet", None, b"", parquet_module().column_names(Path(archive.where(name))))
    if peeked.kind == "csv":
        first = peeked.head.split(b"\n", 1)[0].decode("utf-8", "replace")
        cells = tuple(cell.strip().strip('"') for cell in first.split(guess_delimiter(first)))
        return Look("csv", None, peeked.head, cells)
    record = peeked.record
    if isinstance(record, list):
        record = record[0] if record else None
    return Look(peeked.kind, record, peeked.head, tuple(record) if isinstance(record, dict) else ())
