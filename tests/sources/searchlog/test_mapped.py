"""Every shipped mapping file, on records in its product's shape."""

import json
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.searchlog import at, elastic_event, ga4_event, json_lines, nginx_line, read_the_docs_csv, solr_line
from findback.errors import DataError, UsageError
from findback.mining.searches import SearchMining, mine_searches
from findback.sources.format import SourceOptions
from findback.sources.searchlog import mapped
from findback.sources.searchlog.mapping import load_mapping
from findback.sources.searchlog.readthedocs import source as readthedocs

SHIPPED = (
    mapped.ga4, mapped.algolia, mapped.algolia_analytics, mapped.elastic, mapped.solr, mapped.nginx, mapped.searches,
)  # fmt: skip


def rows(reading):
    return sorted(
        reading.table.to_pyarrow().to_pylist(), key=lambda row: (row["time"] is None, row["time"], row["query"])
    )


def mine(reading, **options):
    return mine_searches(reading.table, SearchMining(source="log", **options))


def rules(mined):
    return {f.query.text: sorted(hit.rule for hit in f.rules) for f in mined.found}


def text_file(path, lines):
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("source", SHIPPED, ids=lambda source: source.name)
def test_mapping_files_are_whole(source):
    """Every shipped mapping file is read, says its tier and claims rules of its tier only."""
    mapping = load_mapping(source.name)
    assert mapping.tier in {"A", "B", "C"}
    assert source.rules
    assert "reformulation" not in source.rules or mapping.tier == "A"
    assert source.family == "searchlog"


def test_read_the_docs(tmp_path, read):
    """Zero results are found, an empty total is unknown, and two people in one second are two searches."""
    path = read_the_docs_csv(
        tmp_path / "readthedocs_search_analytics_my_project_2026-03-01_2026-03-31.csv",
        [(0, "wirel", 0), (3, "wireless", 4), (50, "hooks, pre", 0), (50, "hooks, pre", 0), (90, "odd", "")],
    )
    assert "Created Date" in readthedocs.recognise(path)
    reading = read(readthedocs, path)
    mined = mine(reading)
    assert rules(mined) == {"hooks, pre": ["zero-result"]}
    assert (mined.found[0].asked, mined.found[0].selected_on) == (2, "my_project")
    assert sorted(mined.unsupported) == ["no-click", "reformulation"]
    assert "session" not in reading.table.columns
    again = read(readthedocs, path)
    assert {row["event_id"] for row in rows(again)} == {row["event_id"] for row in rows(reading)}


def test_read_the_docs_faults(tmp_path):
    """Cells that are no times or numbers are faults with their line."""
    path = read_the_docs_csv(tmp_path / "x.csv", [(0, "a", "many"), (1, "b", 2)])
    path.write_text(path.read_text() + "yesterday,c,1\n")
    with pytest.raises(DataError) as error:
        readthedocs.read(path, SourceOptions())
    assert [fault.line for fault in error.value.faults] == [2, 4]


def ga4_log(tmp_path):
    search = "https://docs.example.org/search?q=vpn"
    return json_lines(
        tmp_path / "ga4.jsonl",
        [
            ga4_event(0, "page_view", {"page_location": search}),
            ga4_event(0.5, "view_search_results", {"search_term": "laptop vpn", "results": 0}),
            ga4_event(60, "view_search_results", {"search_term": "vpn laptop mac", "results": 3}),
            ga4_event(120, "view_search_results", {"search_term": "vpn setup", "results": 3}),
            ga4_event(130, "page_view", {"page_location": "https://docs.example.org/vpn"}),
            ga4_event(131, "scroll", {"percent_scrolled": 90}),
            ga4_event(120, "view_search_results", {"search_term": "bot was here"}, client="1.2"),
        ],
    )


def test_ga4(tmp_path, read):
    """Nested parameters are read; a page seen after the results is a click; unknown results stay unknown."""
    path = ga4_log(tmp_path)
    assert "event_timestamp" in mapped.ga4.recognise(path)
    reading = read(mapped.ga4, path)
    kinds = [(row["kind"], row["query"]) for row in rows(reading) if row["kind"] != "other"]
    assert ("click", None) in kinds
    assert sum(kind == "click" for kind, _ in kinds) == 1
    assert rows(reading)[0]["time"] == at(0).replace(tzinfo=None)
    mined = mine(reading)
    assert rules(mined) == {"laptop vpn": ["reformulation"]}
    assert mined.unsupported["zero-result"] == "the log does not say how many results a search had"
    assert any("three days" in note for note in reading.notes)


def test_ga4_with_the_sites_own_parameter(tmp_path, read):
    """A site that sends the number of results gets the zero-result rule by one line of mapping."""
    reading = read(mapped.ga4, ga4_log(tmp_path), mapping={"n_results": "event_params[results]"})
    assert rules(mine(reading))["laptop vpn"] == ["reformulation", "zero-result"]


def test_ga4_days_that_changed(tmp_path, read):
    """A day exported twice, with events that came late, is counted once."""
    folder = tmp_path / "days"
    folder.mkdir()
    first = ga4_event(0, "view_search_results", {"search_term": "vpn"})
    late = ga4_event(9, "view_search_results", {"search_term": "proxy"})
    json_lines(folder / "events_intraday_20260302.jsonl", [first])
    json_lines(folder / "events_20260302.jsonl", [first, late])
    reading = read(mapped.ga4, folder)
    assert [row["query"] for row in rows(reading)] == ["vpn", "proxy"]
    assert reading.skipped.counts == {"repeated records": 1}


def test_ga4_parquet(tmp_path, read):
    """The same events exported as Parquet, with nested lists, give the same rows."""
    events = [json.loads(line) for line in ga4_log(tmp_path).read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(events), tmp_path / "ga4.parquet")
    as_lines = read(mapped.ga4, tmp_path / "ga4.jsonl")
    as_parquet = read(mapped.ga4, tmp_path / "ga4.parquet")
    pick = lambda reading: [(r["time"], r["kind"], r["query"], r["client"]) for r in rows(reading)]  # noqa: E731
    assert pick(as_parquet) == pick(as_lines)


def test_algolia(tmp_path, read):
    """Answers with queryID and Insights clicks are joined: one search is clicked, one is not, one found nothing."""
    when = lambda seconds: int(at(seconds).timestamp() * 1000)  # noqa: E731
    answer = {"userToken": "u1", "index": "handbook"}
    path = json_lines(
        tmp_path / "algolia.jsonl",
        [
            {**answer, "time": when(0), "query": "vpn", "nbHits": 5, "queryID": "q1"},
            {
                "eventType": "click", "eventName": "hit", "index": "handbook", "userToken": "u1", "queryID": "q1",
                "objectIDs": ["d1"], "positions": [1], "timestamp": when(4),
            },
            {**answer, "time": when(4000), "query": "badge", "nbHits": 2, "queryID": "q2"},
            {**answer, "time": when(9000), "query": "badgee", "nbHits": 0, "queryID": "q3"},
            {**answer, "time": when(9900), "query": "facets", "nbHits": 0, "queryID": "q4", "hitsPerPage": 0},
        ],
    )  # fmt: skip
    assert mapped.algolia.recognise(path)
    reading = read(mapped.algolia, path)
    assert rules(mine(reading)) == {"badge": ["no-click"], "badgee": ["zero-result"]}
    (click,) = (row for row in rows(reading) if row["kind"] == "click")
    assert (click["document"], click["position"]) == ("d1", 1)


def test_algolia_analytics(tmp_path, read):
    """Aggregated rows count all their searches; a text nobody tracked is not one nobody clicked."""
    page = {
        "searches": [
            {"search": "vpn", "count": 40, "nbHits": 7, "trackedSearchCount": 40, "clickCount": 22},
            {"search": "badge", "count": 12, "nbHits": 3, "trackedSearchCount": 9, "clickCount": 0},
            {"search": "untracked", "count": 8, "nbHits": 3, "trackedSearchCount": 0, "clickCount": 0},
            {"search": "parking", "count": 5, "withFilterCount": 1},
        ]
    }
    path = tmp_path / "analytics.json"
    path.write_text(json.dumps(page))
    assert mapped.algolia_analytics.recognise(path)
    mined = mine(read(mapped.algolia_analytics, path))
    assert rules(mined) == {"badge": ["no-click"], "parking": ["zero-result"]}
    assert {f.query.text: f.asked for f in mined.found} == {"badge": 12, "parking": 5}
    assert mined.unsupported["reformulation"] == "each row stands for many searches"


@pytest.mark.parametrize("flat", [False, True])
def test_elastic(tmp_path, read, flat):
    """Nested and flattened events are read alike: no results, and no click in a session that clicks."""
    events = [
        elastic_event(0, "search", "vpn", total=4),
        elastic_event(5, "search_click", "vpn", document={"id": "d1"}, page={"url": "https://docs.example.org/vpn"}),
        elastic_event(60, "search", "badge", total=3),
        elastic_event(120, "search", "parking", total=0),
        elastic_event(125, "page_view", ""),
    ]
    if flat:
        events = [flatten(event) for event in events]
    path = json_lines(tmp_path / "elastic.jsonl", events)
    assert mapped.elastic.recognise(path)
    reading = read(mapped.elastic, path)
    assert rules(mine(reading)) == {"badge": ["no-click"], "parking": ["zero-result"]}


def flatten(value, prefix=""):
    if not isinstance(value, dict):
        return {prefix: value}
    flat = {}
    for key, inner in value.items():
        flat |= flatten(inner, f"{prefix}.{key}" if prefix else key)
    return flat


def test_solr(tmp_path, read):
    """Shards, warm-ups, further pages and everything requests are counted and left out; rows=0 is no search."""
    path = text_file(
        tmp_path / "solr.log",
        [
            solr_line(0, "q=vpn+setup&start=0&rows=10", 4),
            solr_line(1, "q=vpn+setup&isShard=true", 0),
            solr_line(2, "q=badge%20lost&rows=10", 0),
            solr_line(3, "q=badge%20lost&rows=10&start=10", 0),
            solr_line(4, "q=facets&rows=0", 0),
            solr_line(5, "q=*:*", 0),
            solr_line(6, "q=old&event=newSearcher", 0),
            solr_line(7, "commit=true", None, path="/update"),
            "2026-03-02 09:00:08.000 WARN (main) [x:docs] something else",
        ],
    )
    assert "Solr" in mapped.solr.recognise(path)
    reading = read(mapped.solr, path)
    mined = mine(reading)
    assert rules(mined) == {"badge lost": ["zero-result"]}
    assert mined.found[0].selected_on == "docs"
    assert reading.skipped.counts == {
        "shard sub-requests": 1,
        "further pages of a search": 1,
        "requests without a text": 1,
        "warm-up requests": 1,
        "requests that are no searches": 1,
        "lines of another shape": 1,
    }


def test_nginx(tmp_path, read):
    """Queries are decoded, pages opened from results are clicks, zones are honoured, bots and styles left out."""
    results = "https://docs.example.org/search?q=vpn"
    path = text_file(
        tmp_path / "access.log",
        [
            nginx_line(0, "/search?q=laptop+vpn"),
            nginx_line(40, "/search?lang=en&q=vpn%20mac"),
            nginx_line(80, "/search?q=vpn+gel%F6scht"),
            nginx_line(90, "/vpn/reset", referrer=results),
            nginx_line(91, "/style.css", referrer=results),
            nginx_line(92, "/search?q=bots", agent="ExampleBot/2.0"),
            nginx_line(93, "/search?q=broken", status=502),
            nginx_line(94, "/search?q=elsewhere", address="198.51.100.7"),
        ],
    )
    assert "access log" in mapped.nginx.recognise(path)
    reading = read(mapped.nginx, path)
    searches = [row["query"] for row in rows(reading) if row["kind"] == "search"]
    assert searches == ["laptop vpn", "vpn mac", "vpn gelöscht", "elsewhere"]
    assert rows(reading)[0]["time"] == at(0).replace(tzinfo=None)
    mined = mine(reading)
    assert rules(mined) == {"laptop vpn": ["reformulation"]}
    assert mined.found[0].rules[0].evidence.endswith("clicked at the end")
    assert reading.skipped.counts["programs, not people"] == 1
    assert "203.0.113.9" not in json.dumps(rows(reading), default=str)


def test_searches_of_any_shape(tmp_path, read):
    """A team's own CSV is read with its columns named; columns and fields that do not exist are refused."""
    path = text_file(
        tmp_path / "own.csv",
        [
            "wann;wer;suchtext;treffer",
            "2026-03-02T09:00:00+01:00;anna;Reisekosten;0",
            "2026-03-02T10:00:00+01:00;ben;Urlaub;3",
        ],
    )
    mapping = {"time": "wann", "person": "wer", "query": "suchtext", "n_results": "treffer"}
    reading = read(mapped.searches, path, mapping=mapping)
    assert rows(reading)[0]["time"] == (at(0) - timedelta(hours=1)).replace(tzinfo=None)
    assert rules(mine(reading)) == {"Reisekosten": ["zero-result"]}
    assert "anna" not in json.dumps(rows(reading), default=str)
    with pytest.raises(UsageError, match="no column 'person_name'"):
        mapped.searches.read(path, SourceOptions(mapping={"person_name": "wer"}))


def test_scope_of_applications(tmp_path, read):
    """Applications are read by name, excluded by pattern, and older events left out, all counted."""
    path = json_lines(
        tmp_path / "own.jsonl",
        [
            {"time": at(n).isoformat(), "query": "q", "results": 0, "app": app}
            for n, app in enumerate(["docs", "hr-portal", "shop"])
        ],
    )
    reading = read(mapped.searches, path, channels=("docs", "hr*"), exclude=("hr*",))
    assert reading.skipped.counts == {"excluded applications": 1, "applications not asked for": 1}
    reading = read(mapped.searches, path, since=at(1))
    assert reading.skipped.counts == {"before the time asked for": 1}
