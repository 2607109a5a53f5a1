"""Overwriting what was erased, so that no byte of it stays in the database's own files."""

import time

from sqlalchemy import Connection, delete, select, text
from sqlalchemy.exc import OperationalError

from findback.errors import StorageError
from findback.files import storage_errors
from findback.workbench.database import Database
from findback.workbench.insertion import insert_missing
from findback.workbench.migration import backups_of
from findback.workbench.tables import META, WITH_TEXT

PENDING = "scrub"
"""Fact in `META` that stands from an erasure until its bytes are overwritten."""

_IN_USE = "the texts are erased, but another process holds the workbench and their bytes are not overwritten yet"
_IN_USE_HINT = "close the other one, then run it again; opening the workbench tries it too"


def ask_for_scrub(connection: Connection) -> None:
    """Remember, in the transaction that erases, that bytes are to be overwritten."""
    insert_missing(connection, META, [{"name": PENDING, "value": "1"}])


def is_scrub_pending(connection: Connection) -> bool:
    """Say whether erased texts still lie in the files."""
    return connection.scalar(select(META.c.value).where(META.c.name == PENDING)) is not None


def scrub_database(database: Database) -> None:
    """Write the files anew without what was erased, and empty the journal.

    On SQLite free space is zeroed, the file rebuilt and the write-ahead log cut to nothing; copies
    that migrations left go too. On PostgreSQL the tables with texts are written anew; its
    write-ahead log, replicas and backups are the operator's.

    Raises:
        StorageError: If another process keeps the files from being written.
    """
    try:
        if database.path is None:
            _rewrite_relations(database)
        else:
            for copy in backups_of(database.path):
                with storage_errors(copy):
                    copy.unlink(missing_ok=True)
            _rewrite_file(database)
    except OperationalError:
        raise StorageError(_IN_USE, hint=_IN_USE_HINT) from None
    with database.deciding() as connection:
        connection.execute(delete(META).where(META.c.name == PENDING))
    if database.path is not None:
        with database.apart() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _rewrite_file(database: Database) -> None:
    with database.apart() as connection:
        _empty_journal(connection)
        connection.exec_driver_sql("VACUUM")
        _empty_journal(connection)


def _empty_journal(connection: Connection) -> None:
    busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
    if busy:
        raise StorageError(_IN_USE, hint=_IN_USE_HINT)


def _rewrite_relations(database: Database) -> None:
    with database.apart() as connection:
        _wait_for_readers(connection, database.patience)
        connection.exec_driver_sql(f"SET lock_timeout = {round(database.patience * 1000)}")
        try:
            for table in WITH_TEXT:
                connection.exec_driver_sql(f"VACUUM (FULL) {table.name}")
        finally:
            connection.exec_driver_sql("RESET lock_timeout")


def _wait_for_readers(connection: Connection, patience: float) -> None:
    """Wait until nobody can still see the erased rows: a vacuum keeps what an older transaction sees."""
    own = connection.exec_driver_sql("SELECT pg_current_xact_id()::xid::text").scalar()
    older = text(
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() "
        "AND backend_type = 'client backend' AND backend_xmin IS NOT NULL "
        "AND age(backend_xmin) >= age(CAST(:own AS xid))"
    )
    deadline = time.monotonic() + patience
    while connection.execute(older, {"own": own}).scalar():
        if time.monotonic() > deadline:
            raise StorageError(_IN_USE, hint=_IN_USE_HINT)
        time.sleep(0.05)
