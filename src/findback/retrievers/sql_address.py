"""The database of a retriever of kind `sql`: where it is, how far that is, and that it is only read."""

import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from findback.errors import MissingError, MissingLibraryError, SettingsError
from findback.model.settings import EgressLevel
from findback.retrievers.http_settings import FROM_ENVIRONMENT, level_of_host

CONNECTING = 15
"""Seconds a server may take to answer at all."""

_LOG_NAME = "findback.retrievers"
_POSTGRESQL = frozenset(
    ("host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name")
)
"""What may stand behind the `?` of a PostgreSQL address: the others could undo that it is only read, or hide a host."""
_LEVELS: tuple[EgressLevel, ...] = ("local", "internal", "external")


class Database(NamedTuple):
    """A database, not yet opened."""

    url: URL
    """Holds the secret."""
    file: Path | None
    """The file it is; None for a server."""
    shown: str
    """What messages call it."""

    @property
    def dialect(self) -> str:
        """Return what answers there, such as sqlite, postgresql or mysql."""
        return self.url.get_backend_name()


def variable_of(url: str) -> str | None:
    """Return the environment variable an address comes from, or None where it stands in findback.toml."""
    return url.removeprefix(FROM_ENVIRONMENT).strip() if url.startswith(FROM_ENVIRONMENT) else None


def check_written(name: str, url: str) -> None:
    """Refuse an address that is written out with a password.

    Raises:
        SettingsError: Without the address.
    """
    if "://" in url and variable_of(url) is None and _parse(name, url).password is not None:
        raise SettingsError(
            f"[retrievers.{name}] url: a secret is named, never written into findback.toml",
            hint='export the address, and write url = "env:NAME"',
        )


def find_database(name: str, url: str, environment: Mapping[str, str], base: Path) -> Database:
    """Return where a database is; nothing is opened.

    Raises:
        SettingsError: If the variable is not set, or there is no address.
        MissingError: If the file is not there.
    """
    check_written(name, url)
    variable = variable_of(url)
    if variable is not None:
        url = environment.get(variable, "").strip()
        if not url:
            raise SettingsError(
                f"[retrievers.{name}] url: the environment variable {variable or '(none)'} is not set",
                hint=f"export {variable or 'NAME'}=postgresql://user:password@host/database",
            )
    parsed = _parse(name, url) if "://" in url else URL.create("sqlite", database=url)
    if parsed.get_backend_name() == "sqlite":
        if not parsed.database or parsed.database == ":memory:" or parsed.query:
            raise SettingsError(f"[retrievers.{name}] url: the address names no file", hint='url = "search.db"')
        file = base / Path(parsed.database).expanduser()
        if not file.is_file():
            raise MissingError(f"[retrievers.{name}] url: there is no file {file}", hint="check the path")
        return Database(parsed, file, str(file))
    if parsed.get_backend_name() == "postgresql":
        strange = sorted(set(parsed.query) - _POSTGRESQL)
        if strange:
            raise SettingsError(
                f"[retrievers.{name}] url: an address may not say {', '.join(strange)}",
                hint=f"behind its ? may stand {', '.join(sorted(_POSTGRESQL))}",
            )
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
    return Database(parsed, None, f"{parsed.get_backend_name()} {', '.join(_hosts(parsed))}/{parsed.database or ''}")


def level_of(database: Database) -> EgressLevel:
    """Return how far a query travels to a database: a file, a socket, this machine, a private network, or further."""
    if database.file is not None:
        return "local"
    if database.dialect != "postgresql" and not database.url.host:
        # What is behind a driver's own way to name a server cannot be told.
        return "external"
    levels = ["local" if host.startswith("/") else level_of_host(host) for host in _hosts(database.url)]
    return max(levels, key=_LEVELS.index)


def open_engine(database: Database, *, connections: int, seconds: float, setup: tuple[str, ...]) -> Engine:
    """Return an engine whose connections only read, and end a statement that takes too long.

    Raises:
        MissingLibraryError: If psycopg is not installed.
        SettingsError: If another driver is not.
    """
    quiet: dict[str, Any] = {
        "hide_parameters": True,
        "logging_name": _LOG_NAME,
        "pool_logging_name": _LOG_NAME,
        "pool_size": connections,
        "max_overflow": 0,
    }
    # A host application that logs at DEBUG would otherwise get every row that is read.
    for logger in ("sqlalchemy.engine.Engine", "sqlalchemy.pool.impl.QueuePool"):
        logging.getLogger(f"{logger}.{_LOG_NAME}").setLevel(logging.WARNING)
    if database.file is not None:
        place = f"file:{quote(str(database.file.absolute()))}?mode=ro"
        engine = create_engine(
            "sqlite://", creator=lambda: sqlite3.connect(place, uri=True, check_same_thread=False), **_pooled(quiet)
        )
    else:
        engine = _open_server(database, quiet)
    begin = (*_begin(database.dialect, seconds), *setup)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for statement in begin:
            cursor.execute(statement)
        cursor.close()
        connection.commit()

    return engine


def _pooled(options: dict[str, Any]) -> dict[str, Any]:
    from sqlalchemy.pool import QueuePool  # noqa: PLC0415 (needed for files alone)

    return {**options, "poolclass": QueuePool}


def _open_server(database: Database, options: dict[str, Any]) -> Engine:
    arguments: dict[str, Any] = {}
    if database.dialect == "postgresql":
        arguments = {"connect_timeout": CONNECTING, "application_name": "findback"}
        # Each statement is a transaction of its own, which the session has read-only: one way to the server, not three.
        options = {**options, "isolation_level": "AUTOCOMMIT"}
    try:
        return create_engine(database.url, connect_args=arguments, **options)
    except ModuleNotFoundError as missing:
        if missing.name == "psycopg":
            raise MissingLibraryError("psycopg", extra="postgres", wanted_for="asking PostgreSQL") from None
        raise SettingsError(f"asking {database.dialect} needs the library {missing.name}, which is not there") from None
    except NoSuchModuleError:
        raise SettingsError(
            f"SQLAlchemy knows no {database.url.drivername}", hint="install the package that brings its dialect"
        ) from None


def _begin(dialect: str, seconds: float) -> tuple[str, ...]:
    """Return what each connection is told first."""
    milliseconds = max(1, round(seconds * 1000))
    return {
        "sqlite": ("PRAGMA query_only = ON", "PRAGMA temp_store = MEMORY"),
        "postgresql": (
            "SET default_transaction_read_only = on",
            f"SET statement_timeout = {milliseconds}",
            f"SET lock_timeout = {milliseconds}",
        ),
        "mysql": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {milliseconds}"),
        "mariadb": ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {seconds:g}"),
    }.get(dialect, ())


def _parse(name: str, url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise SettingsError(
            f"[retrievers.{name}] url: that is no address of a database",
            hint="postgresql://user:password@host/database, or the path of an SQLite file",
        ) from None
    return parsed.set(drivername="postgresql") if parsed.drivername == "postgres" else parsed


def _hosts(url: URL) -> tuple[str, ...]:
    named = url.host or url.query.get("host") or "localhost"
    hosts = named.split(",") if isinstance(named, str) else named
    return tuple(host.strip() for host in hosts)
