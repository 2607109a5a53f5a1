"""Whatever a trace file holds, reading ends in turns or in an error of ours."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.traces import QUESTION, READERS, REWRITES, Spans, agent_turn, write_json, write_lines
from findback.errors import DataError, FindbackError, RefusedError
from findback.mining.turns import TurnMining, mine_turns
from findback.model.thread import Skipped
from findback.model.turn import Turn
from findback.sources.archive import Limits
from findback.sources.format import SourceOptions
from findback.sources.traces import drafts, otel
from findback.sources.traces.evaluation import drop_bursts

KEYS = st.sampled_from(
    [
        "resourceSpans", "scopeSpans", "spans", "traceId", "spanId", "parentSpanId", "attributes", "key", "value",
        "stringValue", "intValue", "arrayValue", "values", "kvlistValue", "events", "name", "startTimeUnixNano",
        "context", "trace_id", "span_id", "resource", "gen_ai.operation.name", "gen_ai.input.messages",
        "gen_ai.retrieval.query.text", "openinference.span.kind", "context.trace_id", "context.span_id",
        "input.value", "retrieval.documents", "annotations", "id", "type", "parent_observation_id", "input",
        "output", "observations", "scores", "start_time", "run_type", "inputs", "outputs", "dotted_order", "extra",
        "metadata", "feedback_stats", "messages", "role", "content", "parts", "tool_calls", "function", "arguments",
        "previous_response_id", "response", "request", "choices", "message", "queries", "results", "uuid",
        "parentUuid", "sessionId", "isSidechain", "isMeta", "timestamp", "loglines", "toolUseResult", "config",
        "configurable", "thread_id", "checkpoint", "channel_values", "traj", "reward", "format", "session", "tool",
        "n_results", "documents", "asked", "query", "calls", "turn_id", "question", "session_id", "data", "text",
    ]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "user",
            "assistant",
            "tool",
            "retrieval",
            "RETRIEVER",
            "retriever",
            "GENERATION",
            "file_search_call",
            "chain",
            "execute_tool",
            "invoke_agent",
            "1772352000000000000",
            "2026-03-01T08:00:00Z",
            "[{}]",
            '{"query": 1}',
            "a",
        ]
    )
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=25
)


def turns_or_error(reader, path, options) -> list | FindbackError:
    try:
        return list(reader.read(path, options).turns)
    except FindbackError as error:
        return error


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(KEYS, VALUES, max_size=10), min_size=1, max_size=3))
def test_any_json_is_read_or_refused(tmp_path, rows):
    """Random objects of the formats' own keys never end in anything but turns or a FindbackError, in any reader."""
    path = write_lines(tmp_path / "x.jsonl", rows)
    for reader in READERS:
        reader.recognise(path)
        for skip_bad in (False, True):
            options = SourceOptions(skip_bad=skip_bad, retrieval_tools=("*",))
            turns = turns_or_error(reader, path, options)
            if isinstance(turns, FindbackError):
                assert not skip_bad or not isinstance(turns, DataError), reader.name
            else:
                mine_turns(turns, TurnMining(control=1))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_absent_and_binary_files(tmp_path, reader):
    """What is not there, is no regular file or is no text is an error that names it."""
    with pytest.raises(FindbackError, match="absent"):
        list(reader.read(tmp_path / "absent.jsonl", SourceOptions()).turns)
    (tmp_path / "x.jsonl").write_bytes(b"\x00\xff\xfe\x01" * 50)
    with pytest.raises(DataError) as caught:
        list(reader.read(tmp_path / "x.jsonl", SourceOptions()).turns)
    assert str(tmp_path / "x.jsonl") in str(caught.value)


def bounded(monkeypatch, **limits) -> None:
    made = Limits(**limits)
    monkeypatch.setattr(drafts, "open_archive", lambda path, opened=drafts.open_archive: opened(path, made))


def test_long_lines_are_passed_over_and_counted(tmp_path, monkeypatch):
    """A line over the limit is a fault of its line, is not held in memory, and the next one is read."""
    bounded(monkeypatch, line_bytes=20_000)
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"a": "x" * 50_000}) + "\n" + json.dumps(spans.otlp()) + "\n")
    reading = otel.read(path, SourceOptions(skip_bad=True))
    assert [turn.text for turn in reading.turns] == [QUESTION]
    assert reading.notes[0] == f"left out: {path}:1: the line has more than 20,000 bytes"


def test_one_huge_document_is_refused(tmp_path, monkeypatch):
    """A JSON document that is too large to hold is refused with what to do instead."""
    bounded(monkeypatch, whole_bytes=1_000)
    path = write_json(tmp_path / "x.json", {"resourceSpans": [{"a": "x" * 5_000}]})
    with pytest.raises(RefusedError) as caught:
        list(otel.read(path, SourceOptions()).turns)
    assert "JSON Lines" in caught.value.hint


def test_links_out_of_a_folder_are_not_followed(tmp_path):
    """A link in an export's folder is counted, and what it leads to is not read."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    outside = write_lines(tmp_path / "outside.jsonl", [spans.otlp()])
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").symlink_to(outside)
    reading = otel.read(tmp_path / "in", SourceOptions())
    assert list(reading.turns) == []
    assert reading.skipped.counts == {"symbolic links": 1}


def asked(text: str, at: datetime | None, number: int) -> Turn:
    return Turn(id=str(number), source="x", conversation=None, user=None, text=text, at=at)


def test_bursts_without_times_are_runs_in_a_row():
    """Without times five different exam questions in a row are a run; four, or with others between, are not."""
    exam = [f"question number {n}" for n in range(5)]
    skipped = Skipped()
    run = [asked(text, None, n) for n, text in enumerate(exam)]
    assert list(drop_bursts(run, exam, skipped)) == []
    assert skipped.counts == {"burst of the exam's own queries": 5}
    assert len(list(drop_bursts(run[:4], exam, Skipped()))) == 4
    mixed = [*run[:3], asked("something else", None, 9), *run[3:]]
    assert len(list(drop_bursts(mixed, exam, Skipped()))) == 6


def test_a_popular_question_is_no_burst():
    """The same exam question asked by many people within minutes stays: a run asks different ones."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    many = [asked("question number 1", start + timedelta(seconds=n), n) for n in range(20)]
    assert len(list(drop_bursts(many, [f"question number {n}" for n in range(5)], Skipped()))) == 20


def test_traces_to_findings(tmp_path):
    """From real SDK spans to a finding: the person's wording, counts of the rewrites, none of their text."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(query, ["docs/a.md"]) for query in REWRITES], conversation="c")
    agent_turn(spans, "Where is the lunch menu?", [("lunch menu", [])], conversation="d")
    parallel = Spans()
    agent_turn(parallel, QUESTION, [(query, ["docs/a.md"]) for query in REWRITES], parallel=True)
    path = write_lines(tmp_path / "x.jsonl", [spans.otlp(), parallel.otlp()])
    mined = mine_turns(otel.read(path, SourceOptions()).turns, TurnMining())
    assert [(found.query.text, found.rules[0].rule, found.selected_on) for found in mined.found] == [
        (QUESTION, "reformulation", "portal"),
        ("Where is the lunch menu?", "zero-result", "portal"),
    ]
    assert not any(query in repr(mined.found) for query in REWRITES)
