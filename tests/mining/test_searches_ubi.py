"""The real UBI file: the figures that its rules must give, on DuckDB and in plain Python."""

import pytest

from builders import searchreference as reference
from findback.mining.searches import SearchMining, mine_searches
from findback.mining.searchrules import count_searches, failed_texts, prepare_events, reformulated_visits
from findback.mining.sessions import Pace
from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close
from findback.sources.searchlog.ubi import source

POSSIBLE = {"wirel", "wirels", "wirelese", "wirelress", "soun", "bacl"}


@pytest.fixture(scope="module")
def table(data):
    reading = source.read(data / "ubi" / "ubi_queries_events.ndjson", SourceOptions())
    yield reading.table
    close(reading.table.get_backend())


@pytest.fixture(scope="module")
def acts(table):
    return reference.prepare(table.to_pyarrow().to_pylist())


def test_zero_results_are_the_misspellings(table):
    """Zero-result findings are a non-empty subset of the six texts that truly found nothing."""
    mined = mine_searches(table, SearchMining(source="ubi"))
    zero = {f.query.text for f in mined.found if any(hit.rule == "zero-result" for hit in f.rules)}
    assert zero
    assert zero <= POSSIBLE
    assert zero == {"bacl", "wirelese", "wirelress", "wirels"}


def test_no_click_figures(table):
    """192 of 284 query ids have no click, and 28 of those satisfy the no-click rule."""
    counts = mine_searches(table, SearchMining(source="ubi")).counts
    assert counts["searches"] == 284
    assert counts["searches"] - counts["clicked"] == 192
    assert counts["no_click"] == 28
    assert (counts["search_rows"], counts["unknown_rows"], counts["empty_rows"], counts["facet_rows"]) == (
        473,
        200,
        192,
        182,
    )


def test_duckdb_agrees_with_plain_python(table, acts):
    """Counts, failed texts and reformulated visits are the same on DuckDB and in plain Python."""
    prepared, _ = prepare_events(table, Pace())
    counted = count_searches(prepared).to_pyarrow().to_pylist()[0]
    expected = reference.counts(acts)
    assert {name: counted[name] for name in expected} == expected
    rows = failed_texts(prepared).to_pyarrow().to_pylist()
    assert {
        (r["application"], r["norm"]): (r["asked"], r["zero_times"], r["no_click_times"], r["event_id"]) for r in rows
    } == reference.failed(acts)
    visits = reformulated_visits(prepared).to_pyarrow().to_pylist()
    assert sorted(r["event_id"] for r in visits) == sorted(reference.reformulated(acts))
    assert len(visits) > 20


def test_no_person_in_the_table(table):
    """Clients and sessions are digests: nothing of their ids is in the table."""
    clients = {row["client"] for row in table.select("client").to_pyarrow().to_pylist()}
    assert all(len(client) == 32 and not client.startswith("CLIENT") for client in clients)


def test_findings_point_at_their_line(table, data):
    """A finding names the file and line that hold its search."""
    mined = mine_searches(table, SearchMining(source="ubi"))
    lines = (data / "ubi" / "ubi_queries_events.ndjson").read_text("utf-8").splitlines()
    for found in mined.found:
        assert f'"user_query": "{found.query.text}"' in lines[found.place.offset - 1]
