"""Documents from one query of a database: an SQLite file, or a server whose address an environment variable holds."""

import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from findback.corpus.findings import Findings
from findback.corpus.tables import Row, shape_rows
from findback.errors import DataError, MissingLibraryError, SettingsError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

BATCH_ROWS = 1_000
CONNECTING = 15
"""Seconds a server may take to answer at all."""
SECONDS = 600
"""Seconds the query may take."""

_POSTGRESQL = frozenset(
    ("host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name")
)
"""What may stand behind the `?` of a PostgreSQL address: the others could undo that it is only read."""
_SYNTAX = "42"
"""First digits of the SQLSTATE of errors in the statement itself: their message holds names, and no values."""


def read_sql(
    path: Path, settings: CorpusSettings, findings: Findings, *, address: str | None = None
) -> Iterator[Document]:
    """Yield a document for each row of the query, streamed; the columns' names say what is what, as in tables.

    The connection only reads.

    Args:
        path: An SQLite file; not looked at where there is an address.
        settings: With the query.
        findings: Takes faults and notes; they count rows from 1.
        address: Of a server, from the environment.

    Raises:
        SettingsError: If there is no query, or no address of a database.
        MissingLibraryError: If the server's driver is not installed.
        DataError: If the database refuses.
    """
    if settings.query is None:
        raise SettingsError(
            "a corpus of kind sql needs a query", hint='query = "SELECT id, title, text FROM pages" under [corpus]'
        )
    engine = _open_file(path) if address is None else _open_server(address)
    try:
        yield from shape_rows(_read_rows(engine, settings.query, settings.path), settings.path, settings, findings)
    finally:
        engine.dispose()


def host_of(address: str) -> str:
    """Return the server and database an address names, without user and password."""
    url = _parse(address)
    host = url.host or url.query.get("host") or "localhost"
    return f"{host if isinstance(host, str) else ', '.join(host)}/{url.database or ''}"


def _read_rows(engine: Engine, query: str, shown: str) -> Iterator[Row]:
    number = 0
    try:
        # Without parameters a percent sign of the query stays one.
        with engine.connect().execution_options(stream_results=True, no_parameters=True) as connection:
            result = connection.exec_driver_sql(query)
            if not result.returns_rows:
                raise DataError(f"{shown}: the query gives no rows", hint="it must be a SELECT")
            for row in result.yield_per(BATCH_ROWS).mappings():
                number += 1
                yield Row(number, {str(name): _plain(value) for name, value in row.items()})
    except SQLAlchemyError as error:
        where = f" (after row {number:,})" if number else ""
        raise DataError(
            f"{shown}: the database refused the query{where}: {_reason(error)}",
            hint="try it in the database's own client",
        ) from None


def _reason(error: SQLAlchemyError) -> str:
    """Return why, without values: SQLite's messages and those about the statement itself hold names alone."""
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return str(cause).partition("\n")[0][:200]
    state = str(getattr(cause, "sqlstate", "") or "")
    message = getattr(getattr(cause, "diag", None), "message_primary", None)
    if state.startswith(_SYNTAX) and isinstance(message, str):
        return message[:200]
    return f"{type(cause or error).__name__}{f' ({state})' if state else ''}"


def _plain(value: Any) -> Any:
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, (bytes, memoryview)):
        raw = bytes(value)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw
    return value


def _open_file(path: Path) -> Engine:
    place = f"file:{quote(str(path.absolute()))}?mode=ro"
    return _reading(
        create_engine(
            "sqlite://", creator=lambda: sqlite3.connect(place, uri=True), poolclass=NullPool, hide_parameters=True
        )
    )


def _open_server(address: str) -> Engine:
    url = _parse(address)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    more: dict[str, Any] = {"connect_timeout": CONNECTING} if url.get_backend_name() == "postgresql" else {}
    try:
        return _reading(create_engine(url, connect_args=more, poolclass=NullPool, hide_parameters=True))
    except ModuleNotFoundError as missing:
        if missing.name == "psycopg":
            raise MissingLibraryError("psycopg", extra="postgres", wanted_for="reading PostgreSQL") from None
        raise SettingsError(f"reading {url.get_backend_name()} needs the library {missing.name}") from None
    except NoSuchModuleError:
        raise SettingsError(
            f"SQLAlchemy knows no {url.drivername}", hint="install the package that brings its dialect"
        ) from None


def _reading(engine: Engine) -> Engine:
    """Return the engine, its connections told to read only and to give up in time."""
    begin = {
        "sqlite": ("PRAGMA query_only = ON",),
        "postgresql": (
            "SET default_transaction_read_only = on",
            f"SET statement_timeout = {SECONDS * 1_000}",
        ),
        "mysql": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {SECONDS * 1_000}"),
        "mariadb": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {SECONDS}"),
    }.get(engine.dialect.name, ())

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for statement in begin:
            cursor.execute(statement)
        cursor.close()
        connection.commit()

    return engine


def _parse(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise SettingsError(
            "the variable of [corpus] path holds no address of a database",
            hint="postgresql://user:password@host/database",
        ) from None
    if url.get_backend_name() == "sqlite":
        raise SettingsError("an SQLite file is named by its path", hint='path = "wiki.db" under [corpus]')
    if url.get_backend_name() not in ("postgresql", "postgres"):
        return url
    strange = sorted(set(url.query) - _POSTGRESQL)
    if strange:
        raise SettingsError(
            f"the address of [corpus] path may not say {', '.join(strange)}",
            hint=f"behind its ? may stand {', '.join(sorted(_POSTGRESQL))}",
        )
    return url.set(drivername="postgresql") if url.drivername == "postgres" else url
