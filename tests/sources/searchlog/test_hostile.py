"""Logs made to do harm, or merely broken: clear outcomes, nothing outside touched."""

import json
import re
import time

import pytest

from builders.searchlog import json_lines
from findback.errors import DataError, RefusedError
from findback.model.thread import Skipped
from findback.sources.format import SourceOptions
from findback.sources.searchlog import mapped, records
from findback.sources.searchlog.engines import close
from findback.sources.searchlog.mapping import load_mapping
from findback.sources.searchlog.paths import compile_path
from findback.sources.searchlog.records import Findings, list_files, read_records
from findback.sources.searchlog.times import read_time


def findings():
    return Findings(Skipped(), skip_bad=False)


def test_overlong_lines_are_faults(tmp_path, monkeypatch):
    """A line longer than the limit is a fault of that line, and the lines after it are read."""
    monkeypatch.setattr(records, "LINE_LIMIT", 100)
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"a": "' + "x" * 500 + '"}\n{"a": 3}\n')
    found = findings()
    assert [(r.place, r.fields) for r in read_records(path, found)] == [(1, {"a": 1}), (3, {"a": 3})]
    assert [fault.line for fault in found.faults] == [2]


def test_large_json_is_refused(tmp_path, monkeypatch):
    """One JSON value larger than what may be held is refused, and says what to do."""
    monkeypatch.setattr(records, "WHOLE_LIMIT", 50)
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"query": "x" * 100}], indent=1))
    with pytest.raises(RefusedError) as error:
        list(read_records(path, findings()))
    assert "JSON Lines" in error.value.hint


@pytest.mark.parametrize("content", [b"\x00\xff\xfe", b"[" * 100_000, b'{"a": [1, {}', b"3", b"", b"null"])
def test_rubbish_is_never_recognised(tmp_path, content):
    """No mapping takes rubbish for its own, and none raises."""
    for suffix in (".json", ".jsonl", ".csv", ".parquet", ".log"):
        path = tmp_path / f"rubbish{suffix}"
        path.write_bytes(content)
        for name in ("ga4", "algolia", "algolia_analytics", "elastic", "solr", "nginx", "searches"):
            assert getattr(mapped, name).recognise(path) is None


def test_a_broken_parquet_file_is_an_error(tmp_path):
    """A file that only calls itself Parquet is refused in words."""
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="no Parquet file"):
        list(read_records(path, findings()))


def test_links_out_of_a_folder_are_not_followed(tmp_path):
    """A folder is read by its own files, not by links to others."""
    (tmp_path / "secret.jsonl").write_text('{"query": "secret"}\n')
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "own.jsonl").write_text('{"query": "own"}\n')
    (folder / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert [file.name for file in list_files(folder)] == ["own.jsonl"]


@pytest.mark.parametrize("name", ["solr", "nginx"])
@pytest.mark.parametrize(
    "line",
    [
        "2026-03-02 09:00:00.000 " + "[x:" * 20_000,
        "2026-03-02 09:00:00.000 " + "path=" * 12_000,
        "1 - - [" + "a" * 60_000,
        '1 - - [02/Mar/2026:09:00:00 +0000] "GET ' + "/?q=" * 15_000,
        '1 - - [x] "GET /a b" 200 1 "' + "?q=" * 20_000,
    ],
)
def test_patterns_are_linear(name, line):
    """Lines made to make a pattern backtrack are done with at once."""
    mapping = load_mapping(name)
    began = time.perf_counter()
    for pattern in (mapping.line, mapping.search_line):
        re.search(pattern, line)
    assert time.perf_counter() - began < 1


def test_values_of_other_types_do_no_harm(tmp_path):
    """Objects where texts belong, booleans where numbers belong and huge numbers are unknown, not errors."""
    path = json_lines(
        tmp_path / "log.jsonl",
        [
            {"time": "2026-03-02T09:00:00Z", "query": {"a": 1}, "results": True, "user": ["x"]},
            {"time": 1e300, "query": "never"},
            {"time": "2026-03-02T09:00:01Z", "query": "vpn", "results": "many", "rank": [3]},
        ],
    )
    reading = mapped.searches.read(path, SourceOptions(skip_bad=True))
    rows = sorted(reading.table.to_pyarrow().to_pylist(), key=lambda row: row["time"])
    assert [row["query"] for row in rows if row["kind"] == "search"] == ["", "vpn"]
    assert "n_results" not in reading.table.columns
    assert reading.skipped.counts == {"bad records": 1}
    close(reading.table.get_backend())


def test_paths_meet_any_shape():
    """A path into a record of another shape finds nothing and raises nothing."""
    paths = ("a.b", "a[b]", "a#", "a?q", "a + b", "a.b.c")
    for record in ({}, {"a": None}, {"a": 3}, {"a": []}, {"a": [[]]}, {"a": {"b": []}}, {"a": "http://[bad?q"}, None):
        for path in paths:
            compile_path(path)(record)
    assert compile_path("a?q")({"a": "q=1&" * 1000}) is None


@pytest.mark.parametrize("value", [True, None, [], {}, "99999999999999999999", 1e30, float("inf"), "2026-13-45"])
def test_no_time(value):
    """What is no time gives None."""
    assert read_time(value) is None
