"""A SQLite file or a PostgreSQL server, asked one query and only ever read."""

import logging
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, CursorResult, Engine, TextClause, create_engine, select, table, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from findback.errors import DataError, EngineError, FindbackError, MissingLibraryError, RefusedError, SettingsError
from findback.sources.address import Address

BATCH = 500
"""Rows that are fetched at a time."""
CONNECTING = 15
"""Seconds a server may take to answer at all."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""What `:since` stands for before the first run."""
SINCE = "since"

Given = TypeVar("Given")

_LOG_NAME = "findback.sources"
_READING = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_STEPS = 10_000
"""Instructions of SQLite between looks at the clock."""
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|\()*([a-zA-Z]+)")
_NAMES = re.compile(r"no such (?:column|table|function): [^\n]{1,200}|near \"[^\"\n]{1,80}\": syntax error")
_WRITES = frozenset(("25006", "0A000", "42P11"))
_TIMED_OUT = frozenset(("57014", "55P03"))
_ABOUT_THE_STATEMENT = "42"
"""PostgreSQL's class of errors whose message quotes nothing but the statement: names of columns, tables, functions."""


class Query(NamedTuple):
    """What is asked."""

    name: str
    """Of the source."""
    statement: str | None
    table: str | None
    """To be read whole, where there is no statement."""
    since: datetime | None
    """How far the last run came."""
    timeout: float
    """Seconds for the next rows."""

    def __str__(self) -> str:
        """Return what messages call it."""
        return f"query of [sources.{self.name}]"


class Database:
    """One connection, one transaction that reads, and the query; a context manager."""

    def __init__(self, address: Address, query: Query) -> None:
        """Take what is asked; nothing is opened yet.

        Raises:
            SettingsError: If the query has other parameters than `:since`, or databases of that kind are not read so.
            RefusedError: If it is no SELECT.
        """
        if address.engine not in ("sqlite", "postgresql"):
            raise SettingsError(
                f"[sources.{query.name}] rows are read from SQLite and PostgreSQL, not from {address.engine}",
                hint='kind "searches" runs in other engines too; or read an export of the table',
            )
        self.address = address
        self.query = query
        self._statement = _statement_of(query)
        self._connection: Connection | None = None
        self._deadline = 0.0

    def close(self) -> None:
        """End the transaction and let go of the connection; a second time does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with closing(connection):
                connection.engine.dispose()

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns, in order; no row is read.

        Raises:
            EngineError: If the database does not answer, or not in time.
            SettingsError: If it refuses the query.
            RefusedError: If the query would write.
        """
        statement = self._statement
        if isinstance(statement, TextClause):
            statement = text(f"SELECT * FROM (\n{statement.text}\n) AS findback_query LIMIT 0")  # noqa: S608 - the user's own
        return self._asked(lambda: self._describe(statement))

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the rows, a few at a time from the database.

        Raises:
            EngineError: If the database does not answer, or not in time.
            SettingsError: If it refuses the query.
            RefusedError: If the query would write.
        """
        result = self._asked(lambda: self._run(self._statement, yield_per=BATCH))
        with closing(result):
            batches = result.partitions()
            while (batch := self._asked(lambda: next(batches, None))) is not None:
                yield from batch

    def _describe(self, statement: Any) -> tuple[str, ...]:
        with closing(self._run(statement)) as result:
            return tuple(result.keys())

    def _run(self, statement: Any, **options: Any) -> CursorResult[Any]:
        # A cursor of the server's takes one statement and only one that reads; a plain one would take several.
        return self._connect().execute(statement, self._given(), execution_options={"stream_results": True, **options})

    def _connect(self) -> Connection:
        if self._connection is None:
            engine = self._engine()
            connection = self._connection = engine.connect()
            if self.address.file is None:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                milliseconds = round(self.query.timeout * 1000)
                for name in ("statement_timeout", "lock_timeout"):
                    connection.exec_driver_sql(f"SET LOCAL {name} = {milliseconds}")
                connection.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
                connection.exec_driver_sql("SET default_transaction_read_only = on")
            else:
                self._guard(connection)
        return self._connection

    def _engine(self) -> Engine:
        quiet: dict[str, Any] = {"hide_parameters": True, "logging_name": _LOG_NAME, "poolclass": NullPool}
        # A host application that logs at DEBUG would otherwise get every row that is read.
        logging.getLogger(f"sqlalchemy.engine.Engine.{_LOG_NAME}").setLevel(logging.WARNING)
        if self.address.file is not None:
            place = f"file:{quote(str(self.address.file.absolute()))}?mode=ro"
            return create_engine("sqlite://", creator=lambda: sqlite3.connect(place, uri=True), **quiet)
        try:
            return create_engine(
                self.address.url.set(drivername="postgresql+psycopg"),
                connect_args={"connect_timeout": CONNECTING, "application_name": "findback"},
                **quiet,
            )
        except ModuleNotFoundError:
            raise MissingLibraryError("psycopg", extra="postgres", wanted_for="reading from PostgreSQL") from None

    def _guard(self, connection: Connection) -> None:
        """Have SQLite refuse everything but reading, keep what it sorts in memory, and look at the clock."""
        driver: Any = connection.connection.driver_connection
        driver.execute("PRAGMA temp_store = MEMORY")
        driver.set_authorizer(_authorise)
        driver.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS)

    def _given(self) -> dict[str, Any]:
        if not isinstance(self._statement, TextClause) or SINCE not in _parameters(self._statement):
            return {}
        since = self.query.since or BEGINNING
        since = since.replace(tzinfo=UTC) if since.tzinfo is None else since.astimezone(UTC)
        # SQLite has no times; this is how most programs write them there, and they compare as text.
        return {SINCE: since if self.address.file is None else f"{since:%Y-%m-%d %H:%M:%S}"}

    def _asked(self, ask: Callable[[], Given]) -> Given:
        """Return what the database answers; what it raises is said in findback's words."""
        self._deadline = time.monotonic() + self.query.timeout
        try:
            return ask()
        except (SQLAlchemyError, sqlite3.Error) as error:
            fault = explain(error, self.address, self.query)
        # Raised out here, it carries no trace of the first error, whose text may quote a row.
        raise fault


def _authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    harmless = action in _READING and (second or "").lower() != "load_extension"
    return sqlite3.SQLITE_OK if harmless else sqlite3.SQLITE_DENY


def _statement_of(query: Query) -> Any:
    if query.statement is None:
        schema, _, name = (query.table or "").rpartition(".")
        return select(text("*")).select_from(table(name, schema=schema or None))
    written = check_statement(query)
    statement = text(written)
    strange = sorted(_parameters(statement) - {SINCE})
    if strange:
        raise SettingsError(
            f"the {query} has a parameter :{strange[0]}, and only :{SINCE} is known",
            hint="a colon that is none is written \\:",
        )
    return statement


def check_statement(query: Query) -> str:
    """Return the statement of a query, without what ends it.

    What it does is refused by the database itself; here only what cannot be meant.

    Raises:
        RefusedError: If it is no SELECT.
    """
    written = (query.statement or "").strip().rstrip(";").rstrip()
    first = _FIRST_WORD.match(written)
    if first is None or first[1].lower() not in ("select", "with", "values"):
        raise RefusedError(
            f"the {query} is no SELECT: findback only reads", hint="a view or a SELECT gives the rows that are wanted"
        )
    return written


def uses_since(statement: str) -> bool:
    """Return whether a query asks for what is newer than the last run.

    >>> uses_since("SELECT 1 WHERE at >= :since"), uses_since("SELECT at::since FROM t")
    (True, False)
    """
    return SINCE in _parameters(text(statement))


def _parameters(statement: TextClause) -> set[str]:
    return set(statement.compile().params)


def explain(error: Exception, address: Address, query: Query) -> FindbackError:
    """Return what to tell about a database's error: no value, row, parameter or secret comes along."""
    original = error.orig if isinstance(error, DBAPIError) else error
    state = str(getattr(original, "sqlstate", None) or "")
    said = str(original) if isinstance(original, sqlite3.Error) else ""
    if state in _WRITES or "not authorized" in said or "prohibited" in said or "one statement at a time" in said:
        return RefusedError(
            f"the {query} does more than read, which findback never does", hint="write it as one SELECT"
        )
    if state in _TIMED_OUT or "interrupted" in said:
        return EngineError(
            f"the {query} gave no rows within {query.timeout:g} seconds",
            hint=f"add an index or a narrower WHERE, or raise timeout under [sources.{query.name}]",
        )
    if about := _about_the_statement(original, state):
        return SettingsError(f"the {query} cannot be run: {about}")
    return _about_the_database(error, state, address, query)


def _about_the_statement(original: BaseException | None, state: str) -> str | None:
    """Return what is wrong with the statement itself, which quotes nothing but names in it; None if it is not that."""
    if state.startswith(_ABOUT_THE_STATEMENT):
        diagnosis = getattr(original, "diag", None)
        return str(getattr(diagnosis, "message_primary", None) or f"error {state}")[:300]
    named = _NAMES.search(str(original)) if isinstance(original, sqlite3.Error) else None
    return named[0] if named else None


def _about_the_database(error: Exception, state: str, address: Address, query: Query) -> FindbackError:
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.DatabaseError) and not isinstance(original, sqlite3.OperationalError):
        return DataError(f"{address} is damaged, or no SQLite database")
    if state and not (isinstance(error, DBAPIError) and error.connection_invalidated):
        return EngineError(f"the database of [sources.{query.name}] failed: {type(original).__name__} {state}")
    where = f"set in {address.variable}" if address.variable else "named in findback.toml"
    return EngineError(
        f"the database of [sources.{query.name}] does not answer: {address}",
        hint=f"check the address {where}, and that it runs and lets you in",
    )
