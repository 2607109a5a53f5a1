"""Putting the rows of a backup into a workbench: in one transaction, so that there is the old one or the new one."""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, Table, delete, func, insert, select, text, update

from findback.errors import RefusedError, StorageError
from findback.model.protocols import SILENT, Progress
from findback.workbench.backup import BATCH, LEFT_OUT, copied, kept_tables
from findback.workbench.database import Database, connect_database
from findback.workbench.event import Details, add_event
from findback.workbench.faults import quietly
from findback.workbench.gone import Gone, read_all_gone
from findback.workbench.insertion import insert_missing
from findback.workbench.key import CHECK, check_key
from findback.workbench.migration import upgrade_database
from findback.workbench.tables import (
    EVENTS,
    EXCLUSIONS,
    META,
    METADATA,
    RESERVATIONS,
    REVIEWERS,
    TOMBSTONES,
    WATERMARKS,
)

STAY = frozenset({one.name for one in (META, EVENTS, REVIEWERS, TOMBSTONES, EXCLUSIONS)} | LEFT_OUT) - {
    RESERVATIONS.name
}
"""What a restore adds to and never takes away: the event log only grows, and what was erased stays erased."""

CHANGED = "somebody erased something while the backup was unpacked, and nothing was restored"


class Place(NamedTuple):
    """Where a backup goes, and what it needs to be allowed there."""

    address: str | Path
    key_check: str
    replace: bool
    """Whether what is there may go."""


class Past(NamedTuple):
    """What a workbench knows of before."""

    gone: list[Gone]
    since: datetime | None
    """When the first thing happened in it; None for a new one."""


@quietly("read what was erased from the workbench")
def past_of(address: str | Path) -> Past:
    """Return what was erased from a workbench and since when it knows, without asking for its key.

    Raises:
        RefusedError: If a newer findback made it.
        StorageError: If it cannot be read.
    """
    database = connect_database(address)
    try:
        upgrade_database(database)
        with database.reading() as connection:
            return Past(read_all_gone(connection), connection.scalar(select(func.min(EVENTS.c.at))))
    finally:
        database.close()


@quietly("restore the workbench")
def restore_into(
    place: Place,
    scratch: Database,
    erased: Collection[Gone],
    *,
    now: datetime,
    details: Details,
    progress: Progress = SILENT,
) -> dict[str, int]:
    """Make a workbench hold what another database holds, all of it or, after whatever interrupts it, nothing.

    Args:
        place: The workbench; its tables are made where there are none.
        scratch: A database of today's format, from which what is gone has been erased already.
        erased: What that was.
        now: When it happens.
        details: For the event log.
        progress: Shows how far it has come.

    Returns:
        How many rows went into each table.

    Raises:
        RefusedError: If the workbench holds something and may not be replaced.
        SettingsError: If what it holds was made with another key.
        StorageError: If the database refuses, or somebody erased something meanwhile; it is then as it was.
    """
    known = {one.mark for one in erased}
    database = connect_database(place.address)
    try:
        upgrade_database(database)
        with scratch.reading() as source, database.writing() as target:
            _settle_key(target, place)
            if not known.issuperset(one.mark for one in read_all_gone(target)):
                raise StorageError(CHANGED, hint="run it again")
            counts = _copy_all(source, target, progress)
            add_event(target, "restore", now, details=details)
        return counts
    finally:
        database.close()


def _settle_key(target: Connection, place: Place) -> None:
    """Refuse what may not be replaced; a workbench without anything in it takes over the key."""
    if _holds(target, [table for table in kept_tables() if table.name not in {*STAY, WATERMARKS.name}]):
        if not place.replace:
            raise RefusedError(
                "the workbench holds something, and restoring would replace it",
                hint="--replace, if that is what you want; a backup of what is there is made with findback backup",
            )
        check_key(target, place.key_check)
    elif _holds(target, [TOMBSTONES, EXCLUSIONS]):
        check_key(target, place.key_check)
    else:
        insert_missing(target, META, [{"name": CHECK, "value": place.key_check}])
        target.execute(update(META).where(META.c.name == CHECK).values(value=place.key_check))


def _holds(connection: Connection, tables: Collection[Table]) -> bool:
    return any(connection.execute(select(table).limit(1)).first() is not None for table in tables)


def _copy_all(source: Connection, target: Connection, progress: Progress) -> dict[str, int]:
    for table in reversed(METADATA.sorted_tables):
        if table.name not in STAY:
            target.execute(delete(table))
    tables = kept_tables()
    total = sum(source.scalar(select(func.count()).select_from(table)) or 0 for table in tables)
    progress.start("Restoring", total)
    reviewers = _copy_reviewers(source, target)
    counts: dict[str, int] = {}
    for table in tables:
        if table.name == REVIEWERS.name:
            counts[table.name] = len(reviewers)
        elif table.name == EVENTS.name:
            counts[table.name] = _copy_events(source, target, reviewers)
        else:
            counts[table.name] = 0
            for batch in copied(_rows(source, table, reviewers)):
                if table.name in STAY:
                    insert_missing(target, table, batch)
                else:
                    target.execute(insert(table), batch)
                counts[table.name] += len(batch)
                progress.advance(len(batch))
    _count_on(target)
    progress.finish()
    return counts


def _rows(source: Connection, table: Table, reviewers: dict[int, int]) -> Iterator[dict[str, Any]]:
    query = select(table).order_by(*table.primary_key)
    for row in source.execute(query, execution_options={"yield_per": BATCH}).mappings():
        values: dict[str, Any] = {str(name): value for name, value in row.items()}
        if values.get("reviewer") is not None:
            values["reviewer"] = reviewers.get(values["reviewer"], values["reviewer"])
        yield values


def _copy_reviewers(source: Connection, target: Connection) -> dict[int, int]:
    """Add the reviewers who are not known yet, and return each one's number there by that in the backup."""
    known: dict[str, int] = {row.subject: row.id for row in target.execute(select(REVIEWERS))}
    taken = set(known.values())
    numbers: dict[int, int] = {}
    for row in source.execute(select(REVIEWERS).order_by(REVIEWERS.c.id)).mappings().all():
        if row["subject"] not in known:
            number = max(taken) + 1 if row["id"] in taken else row["id"]
            target.execute(insert(REVIEWERS).values(**{**row, "id": number}))
            known[row["subject"]] = number
            taken.add(number)
        numbers[row["id"]] = known[row["subject"]]
    return numbers


def _copy_events(source: Connection, target: Connection, reviewers: dict[int, int]) -> int:
    """Add what happened and is not in the log yet; where that holds something already, under numbers of its own."""
    there = Counter(_what(row) for row in target.execute(select(EVENTS)).mappings())
    fresh, added = not there, 0
    for batch in copied(_rows(source, EVENTS, reviewers)):
        new = []
        for row in batch:
            if there[_what(row)] > 0:
                there[_what(row)] -= 1
            else:
                new.append(row if fresh else {name: value for name, value in row.items() if name != "id"})
        if new:
            target.execute(insert(EVENTS), new)
        added += len(new)
    return added


def _what(row: Any) -> tuple[object, ...]:
    return row["at"], row["kind"], row["candidate_key"], row["reviewer"], repr(sorted((row["details"] or {}).items()))


def _count_on(target: Connection) -> None:
    """Let PostgreSQL number new rows after those that were given with their numbers."""
    if target.dialect.name == "sqlite":
        return
    for table in METADATA.sorted_tables:
        number = table.columns.get("id")
        if number is not None and isinstance(number.type, Integer):
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            newest = f"(SELECT COALESCE(MAX(id), 1) FROM {table.name})"  # noqa: S608  (a table of ours)
            target.execute(text(f"SELECT setval({sequence}, GREATEST({newest}, nextval({sequence})))"))
