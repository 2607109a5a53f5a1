"""UBI logs: what is missing is not zero, ids repeat, times come in three shapes."""

import json

import pytest

from builders.searchlog import UbiLog, at
from findback.errors import DataError, MissingError, UsageError
from findback.mining.searches import SearchMining, mine_searches
from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close
from findback.sources.searchlog.ubi import source


@pytest.fixture
def read_ubi(read, tmp_path):
    def _read(log, **options):
        return read(source, log.write(tmp_path / "log.ndjson") if isinstance(log, UbiLog) else log, **options)

    return _read


def rows(reading):
    return sorted(reading.table.to_pyarrow().to_pylist(), key=lambda row: row["event_id"])


def found(reading, **options):
    return mine_searches(reading.table, SearchMining(source="ubi", **options))


def rules(mined):
    return {f.query.text: sorted(hit.rule for hit in f.rules) for f in mined.found}


def test_missing_and_empty_hits_differ(read_ubi):
    """No hit list means unknown, an empty one means none, and only the latter is a zero result."""
    log = UbiLog()
    log.search(0, "parking")
    log.search(100, "vpn setup", [])
    log.search(200, "lunch", ["d1", "d2"])
    reading = read_ubi(log)
    assert [row["n_results"] for row in rows(reading)] == [None, 0, 2]
    assert rules(found(reading)) == {"vpn setup": ["zero-result"]}
    assert "1 of 3 query records do not say what they returned" in reading.notes


def test_facet_requests_are_no_searches(read_ubi):
    """A size 0 request with no hits beside a search with hits is not a zero result."""
    log = UbiLog()
    log.search(0, "toner", ["d1"], query_id="q")
    log.search(0.01, "toner", [], query_id="q", size=0)
    log.search(50, "ink", [], query_id="r", size=0)
    mined = found(read_ubi(log))
    assert mined.found == []
    assert mined.counts["facet_rows"] == 2


def test_an_id_with_hits_is_no_zero_result(read_ubi):
    """A query id whose last row has no hits is not a zero result when an earlier row had some."""
    log = UbiLog()
    log.search(0, "printer toner", ["d1"], query_id="q")
    log.search(40, "printe", [], query_id="q")
    assert found(read_ubi(log)).found == []


def test_the_same_id_of_two_clients_is_two_searches(read_ubi):
    """Query ids are counted by client."""
    log = UbiLog()
    log.search(0, "toner", ["d1"], query_id="1", client="a")
    log.search(9, "bleach", [], query_id="1", client="b")
    mined = found(read_ubi(log))
    assert mined.counts["searches"] == 2
    assert rules(mined) == {"bleach": ["zero-result"]}


@pytest.mark.parametrize(
    ("first", "second", "wait", "expected"),
    [
        ("wirel", "wireless", 3, {}),
        ("vpn setupp", "vpn setup", 3, {}),
        ("vpn setup mac", "vpn", 3, {"vpn setup mac": ["zero-result"]}),
        ("wirel", "wireless", 31, {"wirel": ["zero-result"]}),
        ("bacl", "black case", 3, {"bacl": ["zero-result"]}),
    ],
)
def test_prefix_chains(read_ubi, first, second, wait, expected):
    """A search still being typed is none; one cut back by a word, or continued later, is."""
    log = UbiLog()
    log.search(0, first, [])
    log.search(wait, second, ["d1"])
    assert rules(found(read_ubi(log))) == expected


def test_three_kinds_of_time(read_ubi):
    """Z, +0000 and epoch milliseconds of the same instant are the same instant."""
    log = UbiLog()
    log.search(0, "one", timestamp="2026-03-02T09:00:00.000Z")
    log.search(0, "two", timestamp="2026-03-02T09:00:00.000+0000")
    log.search(0, "three", timestamp=int(at(0).timestamp() * 1000))
    assert {row["time"] for row in rows(read_ubi(log))} == {at(0).replace(tzinfo=None)}


def test_blank_queries_are_counted(read_ubi):
    """Blank queries with no hits are counted, and are no findings."""
    log = UbiLog()
    log.search(0, "", [])
    log.search(5, "  ", [])
    mined = found(read_ubi(log))
    assert (mined.counts["blank_rows"], mined.found) == (2, [])
    assert mined.counts["zero_result"] == 0


def test_no_click_needs_a_client_that_clicks(read_ubi):
    """Only a client that ever sent a click can be said not to have clicked; orphaned clicks harm nobody."""
    log = UbiLog()
    log.search(0, "vpn", ["d1"], query_id="q1", client="a")
    log.event(3, "click", "q1", "d1", client="a", session="sa")
    log.search(4000, "proxy", ["d1"], query_id="q2", client="a")
    log.search(0, "dns", ["d1"], query_id="q3", client="b")
    log.event(1, "click", "orphan", "d9", client="c", session="sc")
    mined = found(read_ubi(log))
    assert rules(mined) == {"proxy": ["no-click"]}
    assert (mined.counts["searches"], mined.counts["clicked"], mined.counts["no_click"]) == (3, 1, 1)


def test_impressions_stand_for_results(read_ubi):
    """A search of unknown results with impressions and no click satisfies no-click."""
    log = UbiLog()
    log.search(0, "vpn", ["d1"], query_id="q1")
    log.event(3, "click", "q1", "d1")
    log.search(4000, "proxy", query_id="q2")
    log.event(4001, "impression", "q2", "d3")
    assert rules(found(read_ubi(log))) == {"proxy": ["no-click"]}


def test_reformulation_gives_the_first_wording(read_ubi):
    """Three different searches for one need are one finding, with the document clicked at the end as evidence."""

    class Documents:
        def resolve(self, reference):
            return {"d7": "guide/vpn.md"}.get(reference)

    log = UbiLog()
    log.search(0, "laptop cannot reach intranet", ["d1"], query_id="q1")
    log.search(40, "intranet laptop vpn", ["d2"], query_id="q2")
    log.search(90, "VPN client setup", ["d7"], query_id="q3")
    log.event(95, "click", "q3", "d7")
    mined = mine_searches(
        read_ubi(log).table, SearchMining(source="ubi", rules=frozenset({"reformulation"})), Documents()
    )
    (only,) = mined.found
    assert only.query.text == "laptop cannot reach intranet"
    assert [(link.document, link.by, link.kind, link.line) for link in only.links] == [
        ("guide/vpn.md", "asker", "click", -1)
    ]
    assert only.rules[0].evidence == "3 searches, 3 different; clicked at the end"


def test_different_needs_are_no_reformulation(read_ubi):
    """Three searches about three things, or two wordings only, are no reformulation."""
    log = UbiLog()
    for number, query in enumerate(["lunch menu", "vpn setup", "parking permit", "Parking  permit", "parking lot"]):
        log.search(number * 40, query, ["d1"])
    assert found(read_ubi(log)).found == []


def test_a_pause_ends_a_visit(read_ubi):
    """Three wordings with half an hour between them are not one visit."""
    log = UbiLog()
    for number, query in enumerate(["vpn setup", "vpn client", "vpn mac"]):
        log.search(number * 1801, query, ["d1"])
    assert found(read_ubi(log)).found == []
    assert found(read_ubi(log)).unsupported == {"no-click": "the log has no clicks"}


def test_the_same_question_is_one_finding(read_ubi):
    """A text asked four times, once with results, is one finding that says so."""
    log = UbiLog()
    for number, (query, hits) in enumerate(
        [("VPN setup", []), ("vpn  setup", []), ("vpn setup ", []), ("vpn setup", ["d"])]
    ):
        log.search(number * 4000, query, hits, client=f"c{number}")
    (only,) = found(read_ubi(log)).found
    assert (only.query.text, only.asked, only.container, only.selected_on) == ("VPN setup", 4, "docs", "docs")
    assert only.audience == "private"
    assert only.place.offset == 2


def test_programs_and_evaluation_are_left_out(read_ubi):
    """Bots by name, our own marker and exam bursts are dropped and counted."""
    log = UbiLog()
    log.search(0, "by a bot", [], client="quepid-nightly-bot")
    log.search(1, "marked", [], attributes={"X-Findback": "evaluation"})
    exam = [f"exam question {letter}" for letter in "abcde"]
    for number, query in enumerate(exam):
        log.search(100 + number * 40, query, [], client="runner")
    log.search(500, "exam question a", [], client="person")
    reading = read_ubi(log)
    assert reading.skipped.counts == {"programs, not people": 1, "evaluation traffic": 1}
    mined = found(reading, exam=frozenset(exam))
    assert rules(mined) == {"exam question a": ["zero-result"]}
    assert mined.found[0].asked == 1
    assert mined.dropped == {"evaluation traffic": 5}


def test_search_events_count_where_no_queries_are_logged(read_ubi):
    """Events called search are searches of unknown results, but only in a log without query records."""
    log = UbiLog()
    log.event(0, "search", "q1")
    log.lines[-1] = json.dumps({**json.loads(log.lines[-1]), "message": "vpn setup"})
    reading = read_ubi(log)
    assert [(row["kind"], row["query"]) for row in rows(reading)] == [("search", "vpn setup")]
    log.search(1, "proxy", ["d1"])
    assert sorted(row["kind"] for row in rows(read_ubi(log))) == ["other", "search"]


def test_actions_can_be_named(read_ubi):
    """A team's own action names are mapped, and a kind that does not exist is refused."""
    log = UbiLog()
    log.event(0, "opened_doc", "q1", "d1")
    assert rows(read_ubi(log, actions={"opened_doc": "click"}))[0]["kind"] == "click"
    with pytest.raises(UsageError, match="cannot be a 'clack'"):
        read_ubi(log, actions={"opened_doc": "clack"})


def test_overlapping_exports_count_once(tmp_path, read_ubi):
    """The same records in two files of a folder are read once and counted."""
    log = UbiLog()
    log.search(0, "vpn", [])
    folder = tmp_path / "exports"
    folder.mkdir()
    log.write(folder / "monday.ndjson")
    log.write(folder / "tuesday.ndjson")
    (folder / "notes.md").write_text("# not a log")
    reading = read_ubi(folder)
    assert len(rows(reading)) == 1
    assert reading.skipped.counts == {"repeated records": 1}


def test_faults_name_file_and_line(tmp_path):
    """Broken lines and times are all named at once; with skip_bad the rest is read and they are counted."""
    path = tmp_path / "log.ndjson"
    log = UbiLog()
    log.search(0, "good", [])
    log.search(1, "no time", [], timestamp="soon")
    log.write(path)
    path.write_text(path.read_text() + '{"user_query": \n' + "[1]\n" + "[" * 5000 + "\n")
    with pytest.raises(DataError) as error:
        source.read(path, SourceOptions())
    assert [fault.line for fault in error.value.faults] == [4, 5, 6, 7]
    reading = source.read(path, SourceOptions(skip_bad=True))
    assert reading.skipped.counts == {"bad records": 4}
    assert reading.table.count().to_pyarrow().as_py() == 1
    close(reading.table.get_backend())


def test_a_failed_reading_leaves_nothing(tmp_path):
    """A log with a fault is refused and leaves nothing in the scratch folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "log.ndjson").write_text("{\n")
    with pytest.raises(DataError):
        source.read(tmp_path / "log.ndjson", SourceOptions(scratch=scratch))
    assert list(scratch.iterdir()) == []


def test_recognised_by_itself(tmp_path):
    """Bulk lines, plain lines and search answers are recognised with a reason; rubbish and absence are not."""
    log = UbiLog()
    log.search(0, "vpn", [])
    assert "UBI queries" in source.recognise(log.write(tmp_path / "bulk.ndjson"))
    answer = {"hits": {"hits": [{"_id": "e1", "_source": json.loads(log.lines[1])}]}}
    (tmp_path / "answer.json").write_text(json.dumps(answer, indent=1))
    assert "UBI queries" in source.recognise(tmp_path / "answer.json")
    (tmp_path / "rubbish.ndjson").write_bytes(b"\x00\xff[[[")
    assert source.recognise(tmp_path / "rubbish.ndjson") is None
    assert source.recognise(tmp_path / "nothing") is None
    with pytest.raises(MissingError):
        source.read(tmp_path / "nothing", SourceOptions())
