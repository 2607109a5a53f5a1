"""Rows of a query, in the place of an export."""

import csv
import os
import sqlite3
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from builders.desk import TABLES, write_postgresql, write_sqlite
from findback.errors import DataError, EngineError, MissingError, RefusedError, SettingsError
from findback.model.settings import SourceSettings
from findback.sources.address import find_address
from findback.sources.answer import Answer
from findback.sources.database import Database, Query
from findback.sources.format import SourceOptions
from findback.sources.recognise import load_source
from findback.sources.traces import calls

NUMBERS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT i, 'row ' || i AS t FROM n"
)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
MESSAGES = {"text": "body", "container": "room", "markup": "plain"}


def open_database(named: str, query: str | None = None, *, table: str | None = None, timeout: float = 30.0) -> Database:
    environment = {"DESK": named}
    settings = SourceSettings(database="env:DESK", query=query, table=table, kind="messages")
    address = find_address("desk", settings, environment, Path("/"))
    return Database(address, Query("desk", query, table, None, timeout))


class Given:
    """Rows that no database had to give."""

    def __init__(self, columns: Sequence[str], *rows: Sequence[Any]) -> None:
        self.given = tuple(columns), rows

    def columns(self) -> tuple[str, ...]:
        return self.given[0]

    def rows(self) -> Iterator[Sequence[Any]]:
        yield from self.given[1]

    def close(self) -> None:
        pass


@pytest.fixture
def desk(tmp_path: Path) -> str:
    return str(write_sqlite(tmp_path / "desk.db"))


def test_rows_are_those_of_the_csv_file(desk: str, tmp_path: Path) -> None:
    """Messages come out of a query as they do out of the same rows in a CSV file, but for where they lie."""
    file = tmp_path / "messages.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow([column.split()[0] for column in TABLES["messages"][0].split(", ")])
        writer.writerows(TABLES["messages"][1])
    source, options = load_source("messages"), SourceOptions(mapping=MESSAGES)
    from_file = list(source.read(file, options).threads or ())
    from_rows = list(source.read_answer(Answer("desk", open_database(desk, table="messages")), options).threads or ())
    assert len(from_rows) == 3
    plain = [[(m.id, m.author, m.at, m.text, m.links) for m in thread.messages] for thread in from_rows]
    assert plain == [[(m.id, m.author, m.at, m.text, m.links) for m in thread.messages] for thread in from_file]
    assert from_rows[0].messages[0].place == ("query of [sources.desk]", 1)


def test_a_million_rows_in_little_memory(desk: str) -> None:
    """Of a million rows a few are held at a time: the first 200,000 take less than 5 MB, where they are 50 at once."""
    answer = Answer("desk", open_database(desk, NUMBERS))
    with answer:
        answer.columns()
        tracemalloc.start()
        last = 0
        for row in answer.rows():
            last = row.number
            if last == 200_000:
                break
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert last == 200_000
    assert peak < 5_000_000


def test_more_rows_than_may_be(desk: str) -> None:
    """A query that gives more rows than the bound is refused, not cut."""
    with (
        Answer("desk", open_database(desk, NUMBERS), most=10_000) as answer,
        pytest.raises(RefusedError, match="10,000"),
    ):
        for _ in answer.rows():
            pass


def test_an_endless_query_is_given_up(desk: str) -> None:
    """SQLite is stopped once it has worked longer than the timeout without giving a row."""
    with pytest.raises(EngineError, match=r"within 0\.5 seconds"):
        list(open_database(desk, ENDLESS, timeout=0.5).rows())


def test_values_are_as_a_file_has_them() -> None:
    """NULL, an empty text, bytes and NaN are nothing; whole decimals are numbers, ids are text, JSON stays."""
    columns = tuple("abcdefghij")
    row = (None, "", b"\x00", float("nan"), Decimal("7.0"), Decimal("7.5"), UUID(int=1), {"x": 1}, True, 2**70)
    (values,) = [one.values for one in Answer("desk", Given(columns, row)).rows()]
    assert list(values.values()) == [
        None, None, None, None, 7, 7.5, "00000000-0000-0000-0000-000000000001", {"x": 1}, True, 2**70
    ]  # fmt: skip


def test_columns_with_one_name_are_refused() -> None:
    """Of two columns with one name nobody could say which is meant."""
    with pytest.raises(SettingsError, match="more than one column 'id'"):
        Answer("desk", Given(("id", "id"))).expect({}, {}, ())


def test_faults_name_the_row(tmp_path: Path) -> None:
    """What is wrong with a row is said with its number, for each family of readers, and quotes nothing."""
    tickets = {"ticket.id": "no", "ticket.created": "at", "opening.text": "body"}
    rows = Given(("no", "at", "body"), (1, "2026-01-01", "a"), (2, "soon", "b"), (3, None, "nul \0 in it"))
    reading = load_source("tickets").read_answer(Answer("desk", rows), SourceOptions(mapping=tickets))
    with pytest.raises(DataError) as wrong:
        list(reading.threads or ())
    assert [str(fault) for fault in wrong.value.faults] == [
        "row 2 of the query of [sources.desk]: at is no time",
        "row 3 of the query of [sources.desk]: body holds a NUL character",
    ]
    messages = Given(("author", "at", "text", "channel"), ("a", "2026-01-01", "t", None))
    reading = load_source("messages").read_answer(Answer("desk", messages), SourceOptions())
    with pytest.raises(DataError) as wrong:
        list(reading.threads or ())
    assert "row 1 of the query of [sources.desk]: the message does not say in which channel" in str(wrong.value)
    called = Given(("query", "at"), ("a", "2026-01-01"), ("b", "soon"))
    with pytest.raises(DataError, match=r"row 2 of the query of \[sources\.desk\]: `"):
        list(calls.read_answer(Answer("desk", called), SourceOptions()).turns or ())
    searched = Given(("time", "query"), ("soon", "b"))
    with pytest.raises(DataError, match=r"row 1 of the query of \[sources\.desk\]: the time"):
        load_source("searches").read_answer(Answer("desk", searched), SourceOptions())


def test_calls_without_ids_are_named_by_what_they_hold() -> None:
    """The same row is the same turn, though another run has other rows before it."""
    row, other = ("s1", "lost card", "2026-01-01"), ("s2", "vpn", "2026-01-02")
    columns = ("session", "query", "at")
    first = list(calls.read_answer(Answer("desk", Given(columns, row)), SourceOptions()).turns or ())
    second = list(calls.read_answer(Answer("desk", Given(columns, other, row)), SourceOptions()).turns or ())
    assert first[0].id == second[1].id != second[0].id


def test_the_newest_time_is_never_in_the_future() -> None:
    """How far a reading came is the newest mapped time so far; a date that is still to come does not count."""
    answer = Answer(
        "desk", Given(("at", "due"), ("2026-01-02 10:00:00", None), ("2026-01-01", None), ("2999-01-01", None))
    )
    answer.expect({}, {}, ("at",))
    list(answer.rows())
    assert answer.newest == datetime(2026, 1, 2, 10, tzinfo=UTC)


def test_only_one_parameter(desk: str) -> None:
    """A parameter other than :since is a mistake in the settings; a colon that is none can be written."""
    with pytest.raises(SettingsError, match=":when"):
        open_database(desk, "SELECT 1 WHERE 1 = :when")
    assert list(open_database(desk, "SELECT '10\\:30' AS a;").rows()) == [("10:30",)]


def test_sqlite_functions_that_reach_out(desk: str) -> None:
    """Loading extensions and looking at pragmas is no reading of rows."""
    for query in ("SELECT load_extension('x')", "SELECT * FROM pragma_database_list"):
        with pytest.raises(RefusedError):
            list(open_database(desk, query).rows())


def test_sqlite_is_left_as_it_was(desk: str) -> None:
    """Reading changes neither the file nor its folder."""
    before = Path(desk).read_bytes(), os.listdir(Path(desk).parent)
    assert len(list(open_database(desk, "SELECT * FROM messages ORDER BY body").rows())) == 7
    assert (Path(desk).read_bytes(), os.listdir(Path(desk).parent)) == before


def test_another_program_may_go_on_writing(desk: str) -> None:
    """A row that another program writes before the query is in the answer, though the file is open for reading."""
    database = open_database(desk, "SELECT count(*) FROM messages")
    database.columns()
    with closing(sqlite3.connect(desk)) as other:
        other.execute("INSERT INTO messages SELECT * FROM messages LIMIT 1")
        other.commit()
    assert list(database.rows()) == [(8,)]
    database.close()


def test_what_is_no_database(tmp_path: Path) -> None:
    """A missing file and one of another kind are named as such."""
    gone = SourceSettings(database="gone.db", query="SELECT 1", kind="messages")
    with pytest.raises(MissingError, match="is not there"):
        find_address("desk", gone, {}, tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(SettingsError, match="no SQLite or DuckDB file"):
        open_database(str(tmp_path / "notes.txt"), "SELECT 1")
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    with pytest.raises(DataError, match="damaged"):
        list(open_database(str(tmp_path / "torn.db"), "SELECT * FROM t").rows())


def test_a_server_s_types_and_statement(postgresql_url: str) -> None:
    """PostgreSQL's casts and percent signs reach it as written; times, arrays and JSON come as they are."""
    address = write_postgresql(postgresql_url)
    query = """SELECT '7'::int AS n, 7.50::numeric AS d, ARRAY['a'] AS l, '{"x": 1}'::jsonb AS j,
        at::timestamptz AS at FROM messages WHERE body LIKE '%card%' -- only cards"""
    with Answer("desk", open_database(address, query)) as answer:
        (row,) = answer.rows()
    assert row.values == {
        "n": 7, "d": 7.5, "l": ["a"], "j": {"x": 1}, "at": datetime(2026, 9, 21, 10, tzinfo=UTC)
    }  # fmt: skip


@pytest.mark.parametrize("query", ["SELECT nope FROM messages", "SELECT * FROM nope", "SELECT * FRM messages"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_mistakes_in_a_query_are_named(kind: str, query: str, desk: str, request: pytest.FixtureRequest) -> None:
    """A column or table that is not there, or a word out of place, is what the message is about."""
    named = desk if kind == "sqlite" else write_postgresql(request.getfixturevalue("postgresql_url"))
    with pytest.raises(SettingsError, match=r"nope|syntax"):
        open_database(named, query).columns()
