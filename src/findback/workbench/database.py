"""The database under the workbench: SQLite in a private file, or PostgreSQL by URL."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from findback.errors import MissingLibraryError, RefusedError, SettingsError
from findback.files import PRIVATE_FILE, private_folder, storage_errors
from findback.workspace import without_credentials

PATIENCE = 30.0
"""Seconds to wait for another process."""

CONNECTIONS = 16
"""Connections kept open: more than threads that work at once, for opening one costs more than a decision."""

WRITERS_LOCK = 0x66696E64_6261636B
"""PostgreSQL's advisory lock of those who write much: one at a time, while single decisions go on."""

_LOG_NAME = "findback"
_MODE = "findback_mode"
_PRAGMAS = ("secure_delete=ON", "temp_store=MEMORY", "synchronous=FULL", "trusted_schema=OFF")


@dataclass(frozen=True, slots=True)
class Database:
    """An engine, and how transactions are opened on it."""

    engine: Engine
    path: Path | None
    """The SQLite file; None for a server."""
    patience: float
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """Whose turn it is to change the SQLite file, among the threads of this process."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing and waits for nobody."""
        with self.engine.connect().execution_options(**{_MODE: "read"}) as connection, connection.begin():
            yield connection

    @contextmanager
    def still(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing and sees everything as it was at its beginning."""
        options = {_MODE: "read"} | ({} if self.path is not None else {"isolation_level": "REPEATABLE READ"})
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def deciding(self) -> Iterator[Connection]:
        """Open a short transaction that changes single rows."""
        connecting = self.engine.connect().execution_options
        with self._in_turn(), connecting(**{_MODE: "write"}) as connection, connection.begin():
            if self.path is None:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(self.patience * 1000)}")
            yield connection

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Wait for one's turn: SQLite itself only looks again after ever longer naps, whoever came first.

        Who waits too long goes on, and hears from SQLite that the file is in use.
        """
        held = self.path is not None and self.turn.acquire(timeout=self.patience)
        try:
            yield
        finally:
            if held:
                self.turn.release()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that changes many rows; there is one of them at a time."""
        with self.deciding() as connection:
            if self.path is None:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": WRITERS_LOCK})
            yield connection

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        """Open a connection outside any transaction, for what no transaction may hold."""
        options: dict[str, Any] = {_MODE: "none", "isolation_level": "AUTOCOMMIT"}
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    def close(self) -> None:
        """Let go of every connection."""
        self.engine.dispose()


def connect_database(url_or_path: str | Path, *, patience: float = PATIENCE, foreign_keys: bool = True) -> Database:
    """Return the database at a path or URL; a SQLite file is made with mode 0600 where there is none.

    Args:
        url_or_path: Path of the SQLite file, or an address that starts with sqlite: or postgresql:.
        patience: Seconds to wait for another process.
        foreign_keys: Whether SQLite checks them; off only while tables are rebuilt.

    Raises:
        SettingsError: If the address is of another kind.
        RefusedError: If others may enter the file's folder.
        MissingLibraryError: If PostgreSQL's library is missing.
        StorageError: If the disk refuses.
    """
    url = _read_url(url_or_path)
    if url is None or url.get_backend_name() == "sqlite":
        named = url_or_path if url is None else url.database
        if not named or str(named) == ":memory:":
            raise SettingsError("a workbench needs a file: sqlite: alone names none")
        path = private_file(Path(str(named)).expanduser().resolve())
        return Database(_sqlite_engine(path, patience, foreign_keys=foreign_keys), path, patience)
    return Database(_server_engine(url, patience), None, patience)


def _read_url(url_or_path: str | Path) -> URL | None:
    """Return the address, or None for a path."""
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return None
    scheme = url_or_path.partition("://")[0]
    try:
        url = make_url(url_or_path)
        known = url.get_backend_name() in ("sqlite", "postgresql", "postgres")
    except (ArgumentError, ValueError):
        known = False
    if not known:
        raise SettingsError(
            f"no workbench can be at an address of kind {scheme.partition('+')[0][:20]!r}",
            hint="give a path, or postgresql://user@host/database",
        )
    return url.set(drivername="sqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg")


def private_file(path: Path) -> Path:
    """Make a file that only its owner may read, in a folder only its owner may enter; return its path.

    Raises:
        RefusedError: If the folder is there already and others may enter it.
        StorageError: If the disk refuses.
    """
    folder = path.parent
    if not folder.exists():
        private_folder(folder)
    with storage_errors(path):
        if os.name == "posix" and folder.stat().st_mode & 0o077:
            raise RefusedError(
                f"others may enter {folder}, and the workbench is private",
                hint=f"chmod 700 {folder}, or name a folder of its own",
            )
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        except FileExistsError:
            # Not opened here: closing it would drop every lock that SQLite holds on it in this process,
            # and another process would then take away the log under our feet.
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(PRIVATE_FILE)
    return path


def _silent_engine(url: URL, **options: Any) -> Engine:
    """Return an engine that quotes no parameter in errors and no statement, parameter or row in logs."""
    engine = create_engine(url, hide_parameters=True, echo=False, logging_name=_LOG_NAME, **options)
    # A host application that logs at DEBUG would otherwise get every row that is read.
    logging.getLogger(f"sqlalchemy.engine.Engine.{_LOG_NAME}").setLevel(logging.WARNING)
    return engine


def _sqlite_engine(path: Path, patience: float, *, foreign_keys: bool) -> Engine:
    engine = _silent_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": patience}, pool_size=CONNECTIONS
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        try:
            # The driver shall begin nothing by itself: "begin" below says which kind of transaction.
            connection.isolation_level = None
            use_journal(connection, patience)
            for pragma in (*_PRAGMAS, f"foreign_keys={'ON' if foreign_keys else 'OFF'}"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get(_MODE, "write")
        if mode != "none":
            connection.exec_driver_sql("BEGIN IMMEDIATE" if mode == "write" else "BEGIN")

    return engine


def use_journal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch a new file to a write-ahead log; SQLite waits for nobody here, so this does."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal" or time.monotonic() > deadline:
                return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _server_engine(url: URL, patience: float) -> Engine:
    try:
        return _silent_engine(
            url,
            pool_pre_ping=True,
            pool_size=CONNECTIONS,
            connect_args={"connect_timeout": max(2, round(patience)), "application_name": "findback"},
        )
    except ModuleNotFoundError as error:
        raise MissingLibraryError("psycopg", extra="postgres", wanted_for="a workbench on PostgreSQL") from error


def name_of(url_or_path: str | Path) -> str:
    """Return what to call the database in messages: no password, no query."""
    return without_credentials(str(url_or_path))
