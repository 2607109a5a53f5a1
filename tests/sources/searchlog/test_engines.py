"""The local engine reaches its inputs and nothing else, and leaves nothing behind."""

import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.searchlog import at
from findback.errors import UsageError
from findback.mining.searches import SearchMining, mine_searches
from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close, open_duckdb
from findback.sources.searchlog.events import digest_of
from findback.sources.searchlog.mapped import searches
from findback.sources.searchlog.warehouse import read_flat_file, read_table


@pytest.fixture
def log(tmp_path):
    rows = [
        {"ts": at(n * 60).replace(tzinfo=None), "who": who, "text": text, "hits": hits, "act": act, "doc": doc}
        for n, (who, text, hits, act, doc) in enumerate(
            [
                ("anna", "vpn", 3, "s", None),
                ("anna", None, None, "c", "d1"),
                ("anna", "badge", 2, "s", None),
                ("ben", "parking", 0, "s", None),
                ("nightly-bot", "robots", 0, "s", None),
            ]
        )
    ]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


COLUMNS = {"time": "ts", "client": "who", "query": "text", "n_results": "hits", "kind": "act", "document": "doc"}
ACTIONS = {"s": "search", "c": "click"}


def test_nothing_but_the_inputs(tmp_path, log):
    """Other files, attached databases, copies and extensions are refused, and so is changing that."""
    connection = open_duckdb(tmp_path, [log])
    raw = connection.con
    assert raw.execute(f"SELECT count(*) FROM read_parquet('{log}')").fetchone() == (5,)
    (tmp_path / "other.csv").write_text("a\n1\n")
    for statement in (
        f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET autoload_known_extensions = true",
    ):
        with pytest.raises(duckdb.Error):
            raw.execute(statement)
    close(connection)
    assert sorted(os.listdir(tmp_path)) == ["log.parquet", "other.csv"]


def test_spill_stays_private_and_goes(tmp_path):
    """What does not fit in memory lies in a folder of mode 0700 below the scratch folder, and is gone afterwards."""
    connection = open_duckdb(tmp_path, memory="60MB", threads=1)
    connection.con.execute(
        "CREATE TEMP TABLE t AS SELECT range AS a, repeat('x', 200) || range AS s FROM range(600000)"
    )
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(folder.iterdir())
    close(connection)
    assert list(tmp_path.iterdir()) == []


def test_flat_files_are_read_in_place(log):
    """A Parquet file with flat columns is mined without loading; ids leave only as digests; bots are left out."""
    reading = read_flat_file(log, COLUMNS, SourceOptions(actions=ACTIONS))
    assert reading.skipped.counts == {"programs, not people": 1}
    mined = mine_searches(reading.table, SearchMining(source="warehouse"))
    assert {f.query.text: [hit.rule for hit in f.rules] for f in mined.found} == {
        "badge": ["no-click"],
        "parking": ["zero-result"],
    }
    assert {f.asker for f in mined.found} == {digest_of("anna"), digest_of("ben")}
    close(reading.table.get_backend())


def test_scope_in_place(tmp_path):
    """Applications, time and numbers as times are told apart where the table is, and counted."""
    when = [at(n).timestamp() for n in range(5)]
    rows = [
        {"ts": int(when[0]), "text": "seconds", "app": "docs"},
        {"ts": int(when[1] * 1000), "text": "milliseconds", "app": "docs"},
        {"ts": int(when[2] * 1_000_000), "text": "microseconds", "app": "docs-hr"},
        {"ts": int(when[3] * 1_000_000_000), "text": "nanoseconds", "app": "docs"},
        {"ts": int(when[4]), "text": "elsewhere", "app": "shop"},
    ]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    columns = {"time": "ts", "query": "text", "application": "app"}
    options = SourceOptions(channels=("docs*",), exclude=("*-hr",), since=at(1), mapping=columns)
    reading = searches.read(path, options)
    kept = {row["query"]: row["time"] for row in reading.table.to_pyarrow().to_pylist()}
    assert kept == {"milliseconds": at(1).replace(tzinfo=None), "nanoseconds": at(3).replace(tzinfo=None)}
    assert reading.skipped.counts == {
        "excluded applications": 1,
        "applications not asked for": 1,
        "before the time asked for": 1,
    }
    assert reading.notes == ["log.parquet is read in place"]
    close(reading.table.get_backend())


def test_tables_are_read_in_place(tmp_path, log):
    """A table of a connection is read by the names a team gives; wrong names are refused; nothing is left there."""
    connection = open_duckdb(tmp_path, [log])
    connection.con.execute(f"CREATE TABLE searches AS SELECT * FROM read_parquet('{log}')")
    reading = read_table(connection, "searches", SourceOptions(mapping=COLUMNS, actions=ACTIONS))
    mined = mine_searches(reading.table, SearchMining(source="warehouse"))
    assert len(mined.found) == 2
    assert connection.list_tables() == ["searches"]
    with pytest.raises(UsageError, match="no column 'treffer'"):
        read_table(connection, "searches", SourceOptions(mapping={**COLUMNS, "n_results": "treffer"}))
    with pytest.raises(UsageError, match="which column holds the query"):
        read_table(connection, "searches", SourceOptions(mapping={"time": "ts"}))
    close(connection)
