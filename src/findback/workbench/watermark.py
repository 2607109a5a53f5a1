"""How far each source has been read."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from findback.workbench.tables import WATERMARKS


class Watermark(NamedTuple):
    """Where the next reading of a source begins."""

    reached: datetime | None
    """Moment of the newest thing read."""
    cursor: str | None = None
    """The source's own way to say where it was."""


def read_watermark(connection: Connection, source: str) -> Watermark | None:
    """Return how far a source has been read; None when it never was."""
    row = connection.execute(select(WATERMARKS).where(WATERMARKS.c.source == source)).one_or_none()
    return None if row is None else Watermark(row.reached, row.cursor)


def advance_watermark(connection: Connection, source: str, mark: Watermark, now: datetime) -> Watermark:
    """Write down how far a source has been read and return it; it never goes back."""
    known = read_watermark(connection, source)
    if known is None:
        row = {"source": source, "reached": mark.reached, "cursor": mark.cursor, "at": now}
        connection.execute(insert(WATERMARKS).values(**row))
        return mark
    if known.reached is not None and (mark.reached is None or mark.reached < known.reached):
        return known
    values = {"reached": mark.reached, "cursor": mark.cursor, "at": now}
    connection.execute(update(WATERMARKS).where(WATERMARKS.c.source == source).values(**values))
    return mark
