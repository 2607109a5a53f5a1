"""Search events that already lie in a table: a warehouse through any Ibis connection, or a Parquet or CSV file.

Nothing is made there. Ids of clients and sessions stay in the engine, and who asked leaves only as a digest that the
engine itself computes.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import ibis
import pyarrow.parquet as pq

from findback.errors import UsageError
from findback.model.thread import Skipped
from findback.sources.format import Reading, SourceOptions
from findback.sources.searchlog.engines import closed_on_error, filled_columns, open_duckdb
from findback.sources.searchlog.events import COLUMNS, DIGEST, KINDS
from findback.sources.searchlog.scope import OURSELVES, matches, program_parts

_CARRIERS = ("client", "session")
_PLAIN_TEXTS = ("application", "query_id", "query", "document")
_NUMBERS = ("n_results", "position", "asked", "clicks")


def _native(name: str, *takes: type, gives: type) -> Any:
    """Return a function of the engine itself, by the name it has there; nothing of it runs in Python."""
    stub = (lambda first: None) if len(takes) == 1 else (lambda first, second: None)
    return ibis.udf.scalar.builtin(stub, name=name, signature=(takes, gives))


_sha256_of_text = _native("SHA256", str, gives=bytes)
_sha256_of_bytes = _native("SHA256", bytes, gives=bytes)
_sha2 = _native("SHA2", str, int, gives=str)
_to_hex = _native("TO_HEX", bytes, gives=str)
_hex = _native("HEX", bytes, gives=str)
_to_utf8 = _native("TO_UTF8", str, gives=bytes)
_convert_to = _native("convert_to", str, str, gives=bytes)
_encode = _native("encode", bytes, str, gives=str)

_DIGESTS: dict[str, Callable[[Any], Any]] = {
    "duckdb": lambda text: text.hexdigest("sha256"),
    "pyspark": lambda text: text.hexdigest("sha256"),
    "databricks": lambda text: _sha2(text, 256),
    "snowflake": lambda text: _sha2(text, 256),
    "bigquery": lambda text: _to_hex(_sha256_of_text(text)),
    "trino": lambda text: _to_hex(_sha256_of_bytes(_to_utf8(text))).lower(),
    "athena": lambda text: _to_hex(_sha256_of_bytes(_to_utf8(text))).lower(),
    "clickhouse": lambda text: _hex(_sha256_of_text(text)).lower(),
    "postgres": lambda text: _encode(_sha256_of_bytes(_convert_to(text, "UTF8")), "hex"),
}

_EPOCHS = frozenset({"duckdb", "bigquery", "snowflake", "trino"})
"""Engines that make a time of a number of milliseconds."""

ENGINES = tuple(_DIGESTS)
"""Engines whose own functions give the digest of an id."""


def digest_in(engine: str, text: Any) -> Any:
    """Return the expression for the digest of an id, the same text in every engine; nothing of an empty one.

    Raises:
        UsageError: If the engine is not one whose functions are known.
    """
    if engine not in _DIGESTS:
        raise UsageError(
            f"search logs cannot be read from {engine}: it has no SHA-256 that findback knows",
            hint=f"engines are {', '.join(ENGINES)}; or read an export of the table",
        )
    text = text.cast("string")
    return ibis.ifelse(text == "", ibis.null("string"), _DIGESTS[engine](text).substr(0, DIGEST))


def shape_table(
    table: Any,
    columns: Mapping[str, str],
    *,
    engine: str,
    actions: Mapping[str, str] | None = None,
) -> Any:
    """Return a table of a log as search events, as an expression; nothing runs yet.

    `program` is 1 where the client's name is a program's, ours among them. The unit of a time that is a number is
    told by its size.

    Args:
        table: One row per event.
        columns: Its column for each of findback's; several joined by " + " make an `event_id`. `=text` is a constant.
        engine: Name of the Ibis backend it runs on.
        actions: What the values of the column given for `kind` mean; others mean nothing here.

    Raises:
        UsageError: If a column is not there, or time or query is not given.
    """
    _check(table, columns, actions or {})
    kinds = dict(actions or {}) or {kind: kind for kind in KINDS}
    shaped = {
        "time": _time(table[columns["time"]], engine),
        "kind": _kind(table, columns.get("kind"), kinds),
        "event_id": _event_id(table, columns, engine),
    }
    for name, column in columns.items():
        if name in shaped or name in {"file", "offset"}:
            continue
        value = ibis.literal(column[1:]) if column.startswith("=") else table[column]
        if name == "person":
            shaped[name] = digest_in(engine, value)
        elif name in _CARRIERS:
            shaped[name] = value.cast("string").nullif("")
        elif name in _PLAIN_TEXTS:
            shaped[name] = value.cast("string")
        elif name in _NUMBERS:
            shaped[name] = value.cast("int64")
        elif name == "size_zero":
            shaped[name] = value if value.type().is_boolean() else value.cast("int64") == 0
    askers = [shaped["person"]] if "person" in shaped else []
    askers += [digest_in(engine, shaped[name]) for name in _CARRIERS if name in shaped]
    if askers:
        shaped["asker"] = ibis.coalesce(*askers)
    program = _is_program(table[columns["client"]]) if "client" in columns else ibis.literal(False)
    return table.select(**shaped, program=ibis.ifelse(program, 1, 0).cast("int64"))


def read_table(connection: Any, name: str, options: SourceOptions, *, database: str | None = None) -> Reading:
    """Read a table of a connection as search events, in place.

    Raises:
        UsageError: If the mapping does not fit the table or the engine.
    """
    if options.mapping is None:
        raise UsageError(f"no columns are named for the table {name}", hint="give a mapping: time, query, …")
    return read_events(connection.table(name, database=database), options.mapping, options, engine=connection.name)


def read_events(table: Any, columns: Mapping[str, str], options: SourceOptions, *, engine: str) -> Reading:
    """Read a table or query of a warehouse as search events, in place.

    Args:
        table: One row per event.
        columns: Its column for each of findback's.
        options: What may be read, and what the values of `kind` mean.
        engine: Name of the Ibis backend it runs on.

    Raises:
        UsageError: If the columns do not fit the table or the engine.
    """
    shaped = shape_table(table, columns, engine=engine, actions=options.actions)
    reading = Reading(notes=["read in place: nothing is made in the warehouse"])
    reading.table = _in_scope(shaped, options, reading.skipped)
    return reading


def read_flat_file(path: Path, columns: Mapping[str, str], options: SourceOptions) -> Reading:
    """Read a Parquet or CSV file with flat columns in place, by DuckDB, without loading it.

    Raises:
        UsageError: If the columns do not fit the file.
    """
    connection = open_duckdb(options.scratch, [path], threads=options.threads, memory=options.memory)
    reading = Reading(notes=[f"{path.name} is read in place"])
    with closed_on_error(connection):
        reader = connection.read_parquet if path.suffix.lower() == ".parquet" else connection.read_csv
        table = reader(path.absolute(), table_name="findback_file")
        shaped = shape_table(table, columns, engine="duckdb", actions=options.actions)
        reading.table = filled_columns(_in_scope(shaped, options, reading.skipped))
    return reading


def has_columns(path: Path, names: Iterable[str]) -> bool:
    """Return whether a path is a Parquet file that has all of these columns at its top."""
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    try:
        schema = pq.read_schema(path)
    except (OSError, ValueError):
        return False
    return set(names) <= set(schema.names)


def _in_scope(table: Any, options: SourceOptions, skipped: Skipped) -> Any:
    """Return the events that may be read; the rest is counted by reason, in one query."""
    barred = {"programs, not people": table["program"] == 1}
    if "application" in table.columns and (options.channels or options.exclude):
        names = [row["application"] or "" for row in table.select("application").distinct().to_pyarrow().to_pylist()]
        application = table["application"].fill_null("")
        out = [name for name in names if matches(name, options.exclude)]
        barred["excluded applications"] = application.isin(out)
        if options.channels:
            wanted = [name for name in names if matches(name, options.channels)]
            barred["applications not asked for"] = ~application.isin([*wanted, *out])
    if options.since is not None:
        zoned = table["time"].type().timezone is not None
        since = options.since if zoned or options.since.tzinfo is None else options.since.astimezone(UTC)
        since = since if zoned else since.replace(tzinfo=None)
        barred["before the time asked for"] = (table["time"] < ibis.timestamp(since)).fill_null(False)
    counts = table.aggregate(
        **{f"c{at}": ibis.ifelse(each, 1, 0).sum() for at, each in enumerate(barred.values())}
    ).to_pyarrow()
    for reason, count in zip(barred, counts.to_pylist()[0].values(), strict=True):
        if count:
            skipped.add(reason, int(count))
    return table.filter([~each for each in barred.values()]).drop("program")


def _check(table: Any, columns: Mapping[str, str], actions: Mapping[str, str]) -> None:
    for name in ("time", "query"):
        if name not in columns:
            raise UsageError(f"the mapping does not say which column holds the {name}")
    for name, column in columns.items():
        if name not in COLUMNS:
            raise UsageError(f"a search log has no column {name!r}", hint=f"columns are {', '.join(COLUMNS)}")
        for part in column.split(" + "):
            if not part.startswith("=") and part not in table.columns:
                raise UsageError(f"the table has no column {part!r}", hint=f"it has {', '.join(table.columns)}")
    for action, kind in actions.items():
        if kind not in KINDS:
            raise UsageError(f"the action {action!r} cannot be a {kind!r}", hint=f"kinds are {', '.join(KINDS)}")


def _time(column: Any, engine: str) -> Any:
    kind = column.type()
    if kind.is_timestamp():
        return column
    if not kind.is_numeric():
        return column.cast("timestamp")
    if engine not in _EPOCHS:
        raise UsageError(
            f"the time is a number, which {engine} has no portable way to read",
            hint="name a column, or make a view with one, that is a timestamp",
        )
    number = column.cast("int64")
    # Milliseconds are what all of these take.
    milliseconds = number * 1_000
    for smallest, divisor in ((10**11, 1), (10**13, 1_000), (10**16, 1_000_000)):
        milliseconds = ibis.ifelse(number >= smallest, number // divisor, milliseconds)
    return milliseconds.as_timestamp("ms")


def _kind(table: Any, column: str | None, kinds: Mapping[str, str]) -> Any:
    if column is None:
        return ibis.literal("search")
    named = ibis.literal("other")
    for kind in sorted(set(kinds.values())):
        actions = sorted(action for action, means in kinds.items() if means == kind)
        named = ibis.ifelse(table[column].isin(actions), kind, named)
    return named


def _event_id(table: Any, columns: Mapping[str, str], engine: str) -> Any:
    named = columns.get("event_id")
    if named is not None and " + " not in named:
        return table[named].cast("string")
    named = named or " + ".join(
        columns[name]
        for name in ("client", "session", "query_id", "time", "kind", "query", "document")
        if name in columns
    )
    parts = [table[part].cast("string").fill_null("") for part in named.split(" + ")]
    # Made of ids of people and what they typed: it leaves as a digest like those.
    return digest_in(engine, reduce(lambda left, right: left + ibis.literal("\n") + right, parts))


def _is_program(client: Any) -> Any:
    name = client.cast("string").fill_null("").lower()
    return reduce(or_, [name.contains(part) for part in (*program_parts(), OURSELVES)])
