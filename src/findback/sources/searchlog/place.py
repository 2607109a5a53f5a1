"""Search logs that stay where they are: a table or query of a warehouse, read by Ibis; nothing is made there."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import ibis
import sqlglot
from ibis.common.exceptions import IbisError
from sqlglot import exp

from findback.errors import EngineError, FindbackError, MissingLibraryError, RefusedError, SettingsError
from findback.sources.address import Address
from findback.sources.database import BEGINNING, CONNECTING, SINCE, Query, check_statement
from findback.sources.format import Reading, SourceOptions
from findback.sources.searchlog.engines import close, closed_on_error, open_duckdb
from findback.sources.searchlog.events import COLUMNS
from findback.sources.searchlog.warehouse import read_events

Answered = TypeVar("Answered")

ENGINES = ("duckdb", "postgresql", "bigquery", "snowflake", "trino", "clickhouse")
"""Databases in which the rules themselves run."""
_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Command, exp.Copy, exp.Into)


def read_in_place(address: Address, query: Query, options: SourceOptions) -> Reading:
    """Begin reading search events where they are; whoever has the reading closes its table's backend.

    Columns that have findback's own names need no mapping.

    Raises:
        SettingsError: If the query or the mapping does not fit.
        RefusedError: If the query does more than read.
        MissingLibraryError: If the engine's library is not installed.
        EngineError: If the database does not answer.
        UsageError: If the columns do not fit.
    """
    return quietly(query, address, lambda: _read(address, query, options))


def check_in_place(address: Address, query: Query, options: SourceOptions) -> None:
    """Check that a database answers and has the columns that the mapping names.

    Raises:
        FindbackError: As `read_in_place`.
    """
    reading = read_in_place(address, query, options)
    if reading.table is not None:
        close(reading.table.get_backend())


def quietly(query: Query, address: Address, ask: Callable[[], Answered]) -> Answered:
    """Return what a warehouse answers; of what its library raises only the kind is said, as its words may quote rows.

    Raises:
        EngineError: For whatever is no error of findback's own.
    """
    try:
        return ask()
    except FindbackError:
        raise
    except Exception as error:  # noqa: BLE001 - each engine has a tree of its own
        state = str(getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None) or "")
        kind = type(error).__name__
    hint = f"check the address, the query and the rights of [sources.{query.name}]"
    if state.startswith("57"):
        hint = f"it took longer than {query.timeout:g} seconds: narrow the query, or raise its timeout"
    raise EngineError(f"{address} did not answer the {query}: {kind} {state}".rstrip(), hint=hint)


def _read(address: Address, query: Query, options: SourceOptions) -> Reading:
    connection = _connect(address, query, options)
    with closed_on_error(connection):
        table = _table(connection, query)
        own = {name: name for name in COLUMNS if name in table.columns}
        columns = {**own, **(options.mapping or {})}
        reading = read_events(table, columns, options, engine=connection.name)
        reading.until = _newest(reading.table)
        return reading


def _newest(events: Any) -> datetime | None:
    newest: datetime | None = events["time"].max().to_pyarrow().as_py()
    if newest is None:
        return None
    newest = newest.replace(tzinfo=UTC) if newest.tzinfo is None else newest.astimezone(UTC)
    return min(newest, datetime.now(UTC))


def _connect(address: Address, query: Query, options: SourceOptions) -> Any:
    if address.engine == "duckdb":
        return open_duckdb(options.scratch, file=address.file, threads=options.threads, memory=options.memory)
    if address.engine != "postgresql":
        try:
            return ibis.connect(address.url.render_as_string(hide_password=False))
        except ImportError:
            raise SettingsError(
                f"the {query} needs Ibis's library for {address.engine}, which is not installed",
                hint=f"pip install 'ibis-framework[{address.engine}]'",
            ) from None
    url, given = address.url, {"connect_timeout": CONNECTING, **dict(address.url.query)}
    host, port = given.pop("host", url.host), given.pop("port", url.port)
    try:
        connection = ibis.postgres.connect(
            host=host, port=port, user=url.username, password=url.password, database=url.database, **given
        )
    except ModuleNotFoundError:
        raise MissingLibraryError("psycopg", extra="postgres", wanted_for="reading from PostgreSQL") from None
    for setting in ("default_transaction_read_only = on", f"statement_timeout = {round(query.timeout * 1000)}"):
        connection.con.execute(f"SET {setting}")
    # The query may set the default otherwise; this is said anew with every transaction.
    connection.con.read_only = True
    return connection


def _table(connection: Any, query: Query) -> Any:
    if query.statement is None:
        database, _, name = (query.table or "").rpartition(".")
        try:
            return connection.table(name, database=database or None)
        except IbisError:
            raise SettingsError(f"there is no table {query.table} for [sources.{query.name}]") from None
    statement = select_of(query, connection.dialect)
    schema = _schema_of(connection, statement) if connection.name == "postgres" else None
    return connection.sql(statement, schema=schema)


def select_of(query: Query, dialect: Any) -> str:
    """Return the query as the engine writes it, with `:since` filled in."""
    try:
        trees = sqlglot.parse(check_statement(query), read=dialect)
    except sqlglot.errors.SqlglotError:
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise RefusedError(f"the {query} is not one SELECT that can be understood", hint="write it as one SELECT")
    if trees[0].find(*_WRITES) is not None:
        raise RefusedError(f"the {query} does more than read, which findback never does", hint="write it as one SELECT")
    since = query.since or BEGINNING
    since = since.replace(tzinfo=UTC) if since.tzinfo is None else since.astimezone(UTC)
    # Ibis has every engine's sessions in UTC.
    moment = exp.cast(exp.Literal.string(f"{since:%Y-%m-%d %H:%M:%S}"), "timestamptz")

    def fill(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Placeholder):
            return node
        if node.name != SINCE:
            raise SettingsError(f"the {query} has a parameter :{node.name}, and only :{SINCE} is known")
        return moment.copy()

    return trees[0].transform(fill).sql(dialect=dialect)


def _schema_of(connection: Any, statement: str) -> Any:
    """Return the columns of a query with their types; Ibis itself would make a view for that."""
    types = connection.con.adapters.types
    read_type = connection.compiler.type_mapper.from_string
    with connection.con.transaction(), connection.con.cursor(name="findback_columns") as cursor:
        cursor.execute(statement)
        found = [(column.name, types.get(column.type_code)) for column in cursor.description]
    return ibis.schema({name: read_type(kind.name) if kind is not None else "string" for name, kind in found})
