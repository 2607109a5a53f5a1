"""Every mining expression compiles for every engine that findback names."""

import ibis
import pytest
from ibis.expr.operations import ScalarUDF, relations, udf

from findback.mining.searchrules import rule_expressions
from findback.sources.searchlog.warehouse import shape_table

DIALECTS = ("bigquery", "snowflake", "trino", "clickhouse", "postgres", "pyspark", "duckdb")

COLUMNS = {
    "ts": "time",
    "act": "kind",
    "q": "query",
    "uid": "person",
    "cl": "client",
    "sess": "session",
    "qid": "query_id",
    "n": "n_results",
    "app": "application",
    "size": "size_zero",
    "doc": "document",
}


def log(dialect, columns):
    # BigQuery's epoch functions want its TIMESTAMP, which Ibis knows as a time with zone.
    time = "timestamp('UTC', 6)" if dialect == "bigquery" else "timestamp(6)"
    types = {name: "int64" if name in {"n", "size"} else "string" for name in columns}
    return ibis.table({**types, "ts": time}, name="log")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_expression_compiles(dialect):
    """A log with every column becomes SQL of every dialect, for each rule."""
    table = log(dialect, COLUMNS)
    events = shape_table(
        table, {name: column for column, name in COLUMNS.items()}, engine=dialect, actions={"s": "search", "c": "click"}
    )
    for name, expression in rule_expressions(events, exam=("reset password",)).items():
        assert "SELECT" in ibis.to_sql(expression, dialect=dialect), name


@pytest.mark.parametrize(
    ("dialect", "dropped"),
    [
        ("bigquery", {"sess", "cl", "uid"}),
        ("clickhouse", {"qid"}),
        ("snowflake", {"n", "size"}),
        ("trino", {"app", "doc", "act"}),
    ],
)
def test_logs_with_fewer_columns_compile(dialect, dropped):
    """A log without sessions, query ids, numbers of results or clicks compiles as well."""
    columns = {column: name for column, name in COLUMNS.items() if column not in dropped}
    events = shape_table(log(dialect, columns), {name: column for column, name in columns.items()}, engine=dialect)
    for expression in rule_expressions(events).values():
        assert "SELECT" in ibis.to_sql(expression, dialect=dialect)


def test_only_portable_operations():
    """The rules use no functions in Python, no as-of joins, no lists and no argmin."""
    table = ibis.table(
        {"time": "timestamp(6)", "kind": "string", "event_id": "string", "query": "string", "client": "string",
         "session": "string", "person": "string", "query_id": "string", "n_results": "int64"},
        name="events",
    )  # fmt: skip
    forbidden = {
        "AsOfJoin",
        "ArrayCollect",
        "ArgMin",
        "ArgMax",
        "First",
        "Last",
        "JSONGetItem",
        "Levenshtein",
        "RegexSearch",
        "Strip",
    }
    for expression in rule_expressions(table, exam=("a",)).values():
        used = {type(node).__name__ for node in expression.op().find(object)}
        assert not used & forbidden
        assert not expression.op().find(ScalarUDF)
        assert not expression.op().find(udf.AggUDF)
        joins = expression.op().find(relations.JoinLink)
        assert {link.how for link in joins} <= {"left", "inner"}
