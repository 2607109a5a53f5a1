"""Every row of a workbench as lines of a backup, as it was at one moment, and back into a database."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Connection,
    DateTime,
    Integer,
    MetaData,
    Table,
    Text,
    event,
    func,
    insert,
    select,
)
from sqlalchemy.types import JSON

from findback.errors import DataError, Fault, RefusedError
from findback.model.protocols import SILENT, Progress
from findback.workbench.archive import Archive, ArchiveWriter
from findback.workbench.columns import ExactText, UtcTime, as_utc
from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.migration import FORMAT, Migrations, upgrade_database
from findback.workbench.tables import API_TOKENS, JOBS, META, METADATA, RESERVATIONS, SESSIONS, VERSION_TABLE

LEFT_OUT = frozenset({one.name for one in (META, SESSIONS, API_TOKENS, JOBS, RESERVATIONS)})
"""What no backup holds: logins and tokens that may be revoked since, work in progress, facts of the one database."""
BATCH = 500


def kept_tables(metadata: MetaData = METADATA) -> list[Table]:
    """Return the tables a backup holds; one that others point at comes before these."""
    return [table for table in metadata.sorted_tables if table.name not in LEFT_OUT]


@quietly("read the workbench for a backup")
def write_tables(database: Database, archive: ArchiveWriter, progress: Progress = SILENT) -> None:
    """Write every table as it was at one moment; whoever writes meanwhile waits for nothing.

    Raises:
        StorageError: If the database refuses.
    """
    with database.still() as connection:
        counts = {table: connection.scalar(select(func.count()).select_from(table)) or 0 for table in kept_tables()}
        progress.start("Backing up", sum(counts.values()))
        for table in counts:
            columns = tuple(column.name for column in table.columns)
            archive.add_table(table.name, columns, _written(connection, table, progress))
        progress.finish()


def _written(connection: Connection, table: Table, progress: Progress) -> Iterator[bytes]:
    query = select(table).order_by(*table.primary_key)
    for row in connection.execute(query, execution_options={"yield_per": BATCH}):
        # ASCII, for a text may hold half of a surrogate pair.
        yield (json.dumps([_plain(value) for value in row], separators=(",", ":")) + "\n").encode("ascii")
        progress.advance()


def _plain(value: Any) -> Any:
    return as_utc(value).isoformat() if isinstance(value, datetime) else value


@quietly("unpack the backup")
def load_archive(archive: Archive, scratch: Database, progress: Progress = SILENT) -> None:
    """Put what a backup holds into an empty database, and bring it to today's format.

    Raises:
        RefusedError: If a newer findback made the workbench in it.
        DataError: If a row is not what its table holds.
        StorageError: If the disk refuses.
    """
    manifest = archive.manifest
    if manifest.workbench > FORMAT:
        raise RefusedError(
            f"a newer findback made the workbench in {archive.shown}: its format is {manifest.workbench}, "
            f"this one knows {FORMAT}",
            hint="install the newer findback",
        )
    upgrade_database(scratch, Migrations(format=manifest.workbench))
    with scratch.writing() as connection:
        then = read_tables(connection)
        _check_tables(archive, then)
        progress.start("Unpacking", sum(one.rows for one in manifest.members.values()))
        for table in kept_tables(then):
            if table.name in archive.tables():
                _load(connection, table, archive, progress)
        progress.finish()
        lost = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if lost is not None:
            raise DataError(f"{archive.shown} is damaged: rows point at nothing", hint="nothing was changed")
    upgrade_database(scratch)


def read_tables(connection: Connection) -> MetaData:
    """Return the tables as they are in a database of any format."""
    found = MetaData()

    @event.listens_for(found, "column_reflect")
    def read_exactly(_inspector: Any, _table: Any, column: dict[str, Any]) -> None:
        kind = column["type"]
        if isinstance(kind, DateTime):
            column["type"] = UtcTime()
        elif isinstance(kind, JSON):
            column["type"] = JSON(none_as_null=True)
        elif isinstance(kind, Text):
            column["type"] = ExactText()

    found.reflect(connection, only=lambda name, _: name != VERSION_TABLE and not name.startswith("sqlite_"))
    return found


def _check_tables(archive: Archive, then: MetaData) -> None:
    known = {table.name: {column.name for column in table.columns} for table in kept_tables(then)}
    for name in archive.tables():
        columns = archive.columns(name)
        if name not in known or set(columns) != known[name] or len(columns) != len(known[name]):
            raise DataError(
                f"{archive.shown} is damaged: a workbench of format {archive.manifest.workbench} has no such {name}",
                hint="nothing was changed",
            )


def _load(connection: Connection, table: Table, archive: Archive, progress: Progress) -> None:
    columns = [table.columns[name] for name in archive.columns(table.name)]
    batch: list[dict[str, Any]] = []
    for line, row in archive.rows(table.name):
        try:
            batch.append({column.name: _read(column.type, value) for column, value in zip(columns, row, strict=True)})
        except ValueError:
            fault = Fault(f"{archive.shown}:{table.name}", line, "a value is of another kind than its column")
            raise DataError(f"{archive.shown} is damaged", faults=[fault], hint="nothing was changed") from None
        if len(batch) >= BATCH:
            _insert(connection, table, batch, progress)
    _insert(connection, table, batch, progress)


def _insert(connection: Connection, table: Table, batch: list[dict[str, Any]], progress: Progress) -> None:
    if batch:
        connection.execute(insert(table), batch)
        progress.advance(len(batch))
        batch.clear()


def _read(kind: Any, value: Any) -> Any:
    """Return a value as its column takes it.

    Raises:
        ValueError: If it is of another kind.
    """
    if value is None or isinstance(kind, JSON):
        return value
    if isinstance(kind, UtcTime) and isinstance(value, str):
        return datetime.fromisoformat(value)
    wanted = bool if isinstance(kind, Boolean) else int if isinstance(kind, Integer) else str
    if isinstance(kind, UtcTime) or type(value) is not wanted:
        raise ValueError
    return value


def copied(rows: Iterator[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in batches that an insert takes at once."""
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(dict(row))
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
