"""Where the table of search events lives: DuckDB by default, Spark by choice, both kept inside a private folder."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from findback.errors import MissingLibraryError
from findback.files import storage_errors
from findback.model.thread import Skipped
from findback.sources.searchlog.events import COLUMNS, REQUIRED, Event

BATCH = 20_000
"""Events that go to DuckDB at a time."""

TABLE = "events"


def open_duckdb(
    scratch: Path | None,
    inputs: Sequence[Path] = (),
    *,
    file: Path | None = None,
    threads: int = 2,
    memory: str = "2GB",
) -> Any:
    """Return an Ibis connection to a DuckDB in memory, or on a file it only reads; it reaches nothing but its inputs.

    Extensions are neither installed nor loaded, persistent secrets are off, and the settings are locked.

    Args:
        scratch: Private folder under which it spills when memory is short; None forbids spilling.
        inputs: Files it may read in place.
        file: A DuckDB database to read.
        threads: Most threads it uses.
        memory: Most memory it uses before it spills, as DuckDB writes sizes.

    Raises:
        StorageError: If the scratch folder refuses.
    """
    if scratch is None:
        spill = ""
    else:
        with storage_errors(scratch):
            spill = tempfile.mkdtemp(prefix="duckdb-", dir=scratch)
    connection = ibis.duckdb.connect(
        file or ":memory:",
        read_only=file is not None,
        threads=threads,
        memory_limit=memory,
        temp_directory=spill,
        autoinstall_known_extensions=False,
        autoload_known_extensions=False,
        allow_community_extensions=False,
        allow_persistent_secrets=False,
        preserve_insertion_order=False,
    )
    raw = connection.con
    raw.execute("SET allowed_paths = ?", [[os.fspath(path.absolute()) for path in inputs]])
    raw.execute("SET enable_external_access = false")
    raw.execute("SET lock_configuration = true")
    return connection


def close(connection: Any) -> None:
    """Let go of a connection and of what it spilled."""
    spill = None
    if connection.name == "duckdb":
        (spill,) = connection.con.execute("SELECT current_setting('temp_directory')").fetchone()
    connection.disconnect()
    if spill and Path(spill).name.startswith("duckdb-"):
        shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def closed_on_error(connection: Any) -> Iterator[None]:
    """Let go of a connection, and of what it spilled, when reading into it fails."""
    try:
        yield
    except BaseException:
        close(connection)
        raise


def load_events(connection: Any, events: Iterable[Event], skipped: Skipped) -> Any:
    """Put events into a DuckDB table and return it without the columns that nothing filled.

    Of events with the same id the first is kept, because exports overlap; the others are counted.
    """
    connection.create_table(TABLE, schema=ibis.schema(COLUMNS), temp=True)
    raw = connection.con
    schema = ibis.schema(COLUMNS).to_pyarrow()
    remaining = iter(events)
    while batch := list(islice(remaining, BATCH)):
        columns = [pa.array(values, field.type) for values, field in zip(zip(*batch, strict=True), schema, strict=True)]
        raw.register("findback_batch", pa.Table.from_arrays(columns, schema=schema))
        raw.execute(f"INSERT INTO {TABLE} SELECT * FROM findback_batch")  # noqa: S608 - fixed names
        raw.unregister("findback_batch")
    all_of_them, distinct = raw.execute(f"SELECT count(*), count(DISTINCT event_id) FROM {TABLE}").fetchone()  # noqa: S608
    if all_of_them > distinct:
        skipped.add("repeated records", all_of_them - distinct)
        raw.execute(
            f"DELETE FROM {TABLE} WHERE rowid NOT IN (SELECT min(rowid) FROM {TABLE} GROUP BY event_id)"  # noqa: S608
        )
    return filled_columns(connection.table(TABLE))


def filled_columns(table: Any) -> Any:
    """Return a table without its optional columns that hold nothing, so that a missing field is not read as empty."""
    optional = [name for name in table.columns if name not in REQUIRED]
    counts = table.aggregate(
        **{name: table[name].cast("int64").sum() if name == "size_zero" else table[name].count() for name in optional}
    )
    filled = counts.to_pyarrow().to_pylist()[0]
    return table.select([name for name in table.columns if name in REQUIRED or filled[name]])


@contextmanager
def open_spark(scratch: Path, *, threads: int = 2, memory: str = "1g") -> Iterator[Any]:
    """Give an Ibis connection to a local Spark that listens on the loopback interface only and is stopped after use.

    Web interface, event log and Hive are off; its local folders lie in `scratch`.

    Raises:
        MissingLibraryError: If PySpark is not installed.
    """
    try:
        builder = import_module("pyspark.sql").SparkSession.builder
    except ModuleNotFoundError:
        raise MissingLibraryError("pyspark", extra="spark", wanted_for="mining search logs on Spark") from None
    with storage_errors(scratch), tempfile.TemporaryDirectory(prefix="spark-", dir=scratch) as folder:
        session = _spark_builder(builder, folder, threads, memory).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield ibis.pyspark.connect(session)
        finally:
            session.stop()


def _spark_builder(builder: Any, folder: str, threads: int, memory: str) -> Any:
    settings = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": folder,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": f"-XX:-UsePerfData -Djava.io.tmpdir={folder} -Dderby.system.home={folder}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = builder.master(f"local[{threads}]").appName("findback")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder
