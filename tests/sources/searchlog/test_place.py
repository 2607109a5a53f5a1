"""Search logs that stay in a warehouse."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import ibis
import pytest
import sqlglot

from findback.errors import RefusedError, SettingsError
from findback.mining.searchrules import rule_expressions
from findback.model.settings import SourceSettings
from findback.sources.database import Query
from findback.sources.searchlog.events import COLUMNS
from findback.sources.searchlog.place import ENGINES, select_of
from findback.sources.searchlog.warehouse import shape_table

DOCS = Path(__file__).parents[3] / "docs" / "mining.md"


def query(statement: str, since: datetime | None = None) -> Query:
    return Query("desk", statement, None, since, 1.0)


def test_google_analytics_as_documented_compiles() -> None:
    """The documented GA4 source is BigQuery, gives columns of findback's names, and every rule compiles over them."""
    (block,) = [part for part in DOCS.read_text("utf-8").split("```toml\n")[1:] if "bigquery://" in part]
    (given,) = tomllib.loads(block.partition("```")[0])["sources"].values()
    settings = SourceSettings.model_validate(given)
    statement = select_of(query(settings.query or ""), "bigquery")
    names = sqlglot.parse_one(statement, read="bigquery").named_selects
    assert set(names) == {"time", "client", "session", "kind", "query", "document"} <= set(COLUMNS)
    assert "UNIX_MICROS(CAST('1970-01-01 00:00:00' AS TIMESTAMP))" in statement
    types = {name: "timestamp('UTC', 6)" if name == "time" else "string" for name in names}
    events = shape_table(ibis.table(types, name="ga4"), {name: name for name in names}, engine="bigquery")
    for name, expression in rule_expressions(events).items():
        assert "SELECT" in ibis.to_sql(expression, dialect="bigquery"), name


@pytest.mark.parametrize("dialect", [engine.replace("postgresql", "postgres") for engine in ENGINES])
def test_since_is_a_time_of_the_engine(dialect: str) -> None:
    """The parameter becomes a time, and everything else stays what it was."""
    written = select_of(query("SELECT a FROM t WHERE b >= :since;", datetime(2026, 1, 2, tzinfo=UTC)), dialect)
    assert "CAST('2026-01-02 00:00:00' AS" in written
    assert ":since" not in written


@pytest.mark.parametrize(
    "statement",
    [
        "WITH a AS (INSERT INTO t VALUES (1) RETURNING x) SELECT * FROM a",
        "SELECT * INTO made FROM t",
        "SELECT 1; DROP TABLE t",
        "SELECT 1) AS a; DROP TABLE t; SELECT * FROM (SELECT 2",
        "DROP TABLE t",
        "SELEC 1",
    ],
)
def test_what_is_more_than_a_select_is_refused(statement: str) -> None:
    """A statement that writes anywhere in it, or is more than one, never reaches the engine."""
    with pytest.raises(RefusedError):
        select_of(query(statement), "postgres")


def test_other_parameters_are_refused() -> None:
    """Only :since is known."""
    with pytest.raises(SettingsError, match=":later"):
        select_of(query("SELECT 1 WHERE a = :later"), "postgres")
