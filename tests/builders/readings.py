"""Exports read to their end."""

from pathlib import Path
from typing import Any

from findback.model.thread import Thread
from findback.model.turn import Turn
from findback.sources.format import Reading, Source, SourceOptions


def threads_of(reader: Source, path: Path, **options: Any) -> tuple[list[Thread], Reading]:
    """Return every thread of an export, and the reading with its notes."""
    reading = reader.read(path, SourceOptions(**options))
    assert reading.threads is not None
    return list(reading.threads), reading


def turns_of(reader: Any, path: Path, **options: Any) -> tuple[list[Turn], Reading]:
    """Return every turn of a trace export, and the reading with its notes."""
    reading = reader.read(path, SourceOptions(**options))
    return list(reading.turns), reading
