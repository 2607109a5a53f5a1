"""The same expressions on PySpark: results identical to plain Python. Runs where PySpark is installed."""

import pytest

pytest.importorskip("pyspark", reason="pyspark has a lock of its own: requirements/spark.txt")

from builders import searchreference as reference
from findback.mining.searches import SearchMining, mine_searches
from findback.mining.searchrules import count_searches, failed_texts, good_searches, prepare_events, reformulated_visits
from findback.mining.sessions import Pace
from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close, open_spark
from findback.sources.searchlog.ubi import source

# py4j leaves its sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def local(data):
    reading = source.read(data / "ubi" / "ubi_queries_events.ndjson", SourceOptions())
    yield reading.table
    close(reading.table.get_backend())


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with open_spark(tmp_path_factory.mktemp("spark")) as connection:
        yield connection


@pytest.fixture(scope="module")
def table(local, spark, tmp_path_factory):
    import pyarrow.parquet as pq

    file = tmp_path_factory.mktemp("log") / "events.parquet"
    pq.write_table(local.to_pyarrow(), file)
    return spark.read_parquet(file)


def rows(expression):
    return expression.to_pyarrow().to_pylist()


def test_spark_agrees_with_plain_python(table, local):
    """Counts, failed texts and reformulated visits on Spark are those of plain Python on the UBI file."""
    acts = reference.prepare(local.to_pyarrow().to_pylist())
    prepared, _ = prepare_events(table, Pace())
    counted = rows(count_searches(prepared))[0]
    expected = reference.counts(acts)
    assert {name: counted[name] for name in expected} == expected
    assert {
        (r["application"], r["norm"]): (r["asked"], r["zero_times"], r["no_click_times"], r["event_id"])
        for r in rows(failed_texts(prepared))
    } == reference.failed(acts)
    assert sorted(r["event_id"] for r in rows(reformulated_visits(prepared))) == sorted(reference.reformulated(acts))


def test_spark_agrees_with_duckdb(table, local):
    """Every column of every rule is the same on Spark and on DuckDB, in the same order."""
    (there, _), (here, _) = prepare_events(table, Pace()), prepare_events(local, Pace())
    for rule in (count_searches, failed_texts, reformulated_visits):
        assert rows(rule(there)) == rows(rule(here)), rule.__name__
    key = lambda row: row["number"]  # noqa: E731
    assert sorted(rows(good_searches(there)), key=key) == sorted(rows(good_searches(here)), key=key)


def test_findings_are_the_same(table, local):
    """Mining gives the same findings on both engines, control sample included."""
    mining = SearchMining(source="ubi", control=20, seed=3)
    there, here = mine_searches(table, mining), mine_searches(local, mining)
    assert there.found == here.found
    assert there.counts == here.counts
    assert (there.counts["searches"] - there.counts["clicked"], there.counts["no_click"]) == (192, 28)
    assert sum(found.stratum == "control" for found in here.found) == 20


def test_spark_stays_at_home(spark):
    """Spark has no web interface, no event log and no Hive, and listens on the loopback interface."""
    session = spark._session
    conf = session.sparkContext.getConf()
    assert conf.get("spark.ui.enabled") == conf.get("spark.eventLog.enabled") == "false"
    assert session.conf.get("spark.sql.catalogImplementation") == "in-memory"
    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert session.sparkContext.uiWebUrl is None
