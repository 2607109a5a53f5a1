"""Phoenix, Langfuse and LangSmith exports."""

import csv
import gzip
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openinference.semconv.trace import (
    DocumentAttributes,
    MessageAttributes,
    OpenInferenceSpanKindValues,
    SpanAttributes,
    ToolCallAttributes,
)

from builders.readings import turns_of
from builders.traces import QUESTION, REWRITES, Spans, write_json, write_lines
from findback.errors import DataError, RefusedError
from findback.sources.traces import langfuse, langsmith, openinference, otel

KIND = SpanAttributes.OPENINFERENCE_SPAN_KIND


def inference_spans() -> Spans:
    """An agent's turn with a model, a retriever that found two documents and one whose output says it found none."""
    spans = Spans()
    agent = {KIND: OpenInferenceSpanKindValues.AGENT.value, SpanAttributes.SESSION_ID: "s-1"}
    agent |= {SpanAttributes.USER_ID: "u-1", SpanAttributes.INPUT_VALUE: json.dumps({"question": QUESTION})}
    agent |= {SpanAttributes.INPUT_MIME_TYPE: "application/json", SpanAttributes.OUTPUT_VALUE: "Nothing found."}
    heard = f"{SpanAttributes.LLM_INPUT_MESSAGES}.0."
    called = f"{SpanAttributes.LLM_OUTPUT_MESSAGES}.0.{MessageAttributes.MESSAGE_TOOL_CALLS}.0."
    model = {KIND: OpenInferenceSpanKindValues.LLM.value}
    model |= {heard + MessageAttributes.MESSAGE_ROLE: "user", heard + MessageAttributes.MESSAGE_CONTENT: "a prompt"}
    model |= {f"{SpanAttributes.LLM_OUTPUT_MESSAGES}.0.{MessageAttributes.MESSAGE_ROLE}": "assistant"}
    model |= {called + ToolCallAttributes.TOOL_CALL_FUNCTION_NAME: "retrieve"}
    found = {KIND: OpenInferenceSpanKindValues.RETRIEVER.value, SpanAttributes.INPUT_VALUE: REWRITES[0]}
    for number, name in enumerate(("docs/certs.md", "docs/tls.md")):
        key = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{number}.{DocumentAttributes.DOCUMENT_ID}"
        found |= {key: name}
    empty = {KIND: OpenInferenceSpanKindValues.RETRIEVER.value}
    empty |= {SpanAttributes.INPUT_VALUE: json.dumps({"query": REWRITES[1]})}
    empty |= {SpanAttributes.OUTPUT_VALUE: json.dumps({"documents": []})}
    unknown = {KIND: OpenInferenceSpanKindValues.RETRIEVER.value, SpanAttributes.INPUT_VALUE: REWRITES[2]}
    rerank = {KIND: OpenInferenceSpanKindValues.RERANKER.value, "reranker.query": REWRITES[0]}
    with spans.span("agent", agent):
        for name, attributes in (("llm", model), ("r", found), ("r", empty), ("r", unknown), ("rerank", rerank)):
            with spans.span(name, attributes):
                pass
    return spans


def check_inference(turn) -> None:
    assert (turn.text, turn.conversation, turn.user, turn.answer) == (QUESTION, "s-1", "u-1", "Nothing found.")
    assert [(call.query, call.results) for call in turn.calls] == [
        (REWRITES[0], 2),
        (REWRITES[1], 0),
        (REWRITES[2], None),
    ]
    assert turn.calls[0].documents == ("docs/certs.md", "docs/tls.md")


def phoenix_rows(spans: Spans) -> list[dict]:
    """The rows of Phoenix's spans dataframe: flattened names, documents as a nested list."""
    rows = []
    for printed in spans.printed():
        attributes = {f"attributes.{key}": value for key, value in printed["attributes"].items()}
        prefix = "attributes.retrieval.documents."
        documents = {key: attributes.pop(key) for key in list(attributes) if key.startswith(prefix)}
        if documents:
            attributes["attributes.retrieval.documents"] = [{"document.id": value} for value in documents.values()]
        rows.append(
            {
                "context.trace_id": printed["context"]["trace_id"],
                "context.span_id": printed["context"]["span_id"],
                "parent_id": printed["parent_id"],
                "name": printed["name"],
                "span_kind": attributes.get(f"attributes.{KIND}"),
                "start_time": printed["start_time"],
                "end_time": printed["end_time"],
                "status_code": "OK",
                **attributes,
            }
        )
    return rows


def test_openinference_over_otlp(tmp_path):
    """Dotted, indexed attributes in OTLP give the turn; what nothing says about results stays unknown."""
    [turn], _ = turns_of(otel, write_json(tmp_path / "spans.json", inference_spans().otlp()))
    check_inference(turn)


@pytest.mark.parametrize("shape", ["jsonl", "parquet", "csv", "nested"])
def test_phoenix_exports_in_every_shape(tmp_path, shape):
    """The dataframe as JSON Lines, Parquet or CSV, and spans with nested attributes, give the same turn."""
    rows = phoenix_rows(inference_spans())
    path = tmp_path / f"spans.{shape}"
    if shape == "parquet":
        names = dict.fromkeys(name for row in rows for name in row)
        pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows]), path)
    elif shape == "csv":
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows)
    elif shape == "nested":
        path = write_lines(
            tmp_path / "spans.jsonl",
            [
                {
                    "context": {"trace_id": row["context.trace_id"], "span_id": row["context.span_id"]},
                    "parent_id": row["parent_id"],
                    "name": row["name"],
                    "span_kind": row["span_kind"],
                    "start_time": row["start_time"],
                    "attributes": {
                        key.removeprefix("attributes."): value
                        for key, value in row.items()
                        if key.startswith("attributes.")
                    },
                }
                for row in rows
            ],
        )
    else:
        write_lines(path, rows)
    assert openinference.recognise(path)
    assert otel.recognise(path) is None
    [turn], _ = turns_of(openinference, path)
    check_inference(turn)


def test_phoenix_annotations_of_people_are_feedback(tmp_path):
    """A human annotation counts, one of a model does not."""
    rows = phoenix_rows(inference_spans())
    for row, kind in zip(rows, ("LLM", "HUMAN"), strict=False):
        row["annotations"] = [{"name": "quality", "annotator_kind": kind, "result": {"label": "bad", "score": 0.3}}]
    assert turns_of(openinference, write_lines(tmp_path / "s.jsonl", rows[:1]))[0][0].feedback is None
    assert turns_of(openinference, write_lines(tmp_path / "s.jsonl", rows))[0][0].feedback == 0.0


OBSERVATIONS = [
    {"id": "o-1", "trace_id": "t-1", "type": "SPAN", "name": "chat", "start_time": "2026-03-01 08:00:00.000001",
     "end_time": None, "parent_observation_id": None, "input": {"messages": [{"role": "user", "content": QUESTION}]},
     "output": {"content": "I could not find any document on that."}, "session_id": "s-1", "user_id": "u-1"},
    {"id": "o-2", "trace_id": "t-1", "type": "RETRIEVER", "name": "portal", "start_time": "2026-03-01 08:00:01.5",
     "end_time": "2026-03-01 08:00:02", "parent_observation_id": "o-1", "input": {"query": REWRITES[0]},
     "output": {"documents": []}},
    {"id": "o-3", "trace_id": "t-1", "type": "TOOL", "name": "Grep", "start_time": "2026-03-01 08:00:03",
     "end_time": None, "parent_observation_id": "o-1", "input": {"pattern": "x"}, "output": "found"},
    {"id": "o-4", "trace_id": "t-1", "type": "EVALUATOR", "name": "judge", "start_time": "2026-03-01 08:00:04",
     "end_time": None, "parent_observation_id": None, "input": "grade this", "output": None},
]  # fmt: skip
SCORES = [
    {"id": "s-1", "trace_id": "t-1", "name": "user-feedback", "source": "API", "value": 0, "comment": "no"},
    {"id": "s-2", "trace_id": "t-1", "name": "relevance", "source": "EVAL", "value": 1},
    {"id": "s-3", "trace_id": "t-1", "name": "resolved", "source": "ANNOTATION", "value": 0, "data_type": "BOOLEAN"},
]


def check_langfuse(turn) -> None:
    assert (turn.text, turn.conversation, turn.user) == (QUESTION, "s-1", "u-1")
    assert turn.answer == "I could not find any document on that."
    assert [(call.tool, call.query, call.results) for call in turn.calls] == [("portal", REWRITES[0], 0)]
    assert turn.at.isoformat() == "2026-03-01T08:00:00.000001+00:00"


def test_langfuse_blob_export(tmp_path):
    """Observations and scores in their folders join by trace; evaluators' scores are nobody's feedback."""
    for folder, rows in (("observations_v2", OBSERVATIONS), ("scores", SCORES)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.jsonl.gz").write_bytes(
            gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
        )
    assert langfuse.recognise(tmp_path) == "Langfuse observations"
    [turn], reading = turns_of(langfuse, tmp_path)
    check_langfuse(turn)
    assert (turn.feedback, turn.outcome) == (0.0, False)
    assert "tool calls not counted as search (name those that are): Grep 1" in reading.notes


def camel(row: dict) -> dict:
    def name(key: str) -> str:
        head, *rest = key.split("_")
        return head + "".join(part.title() for part in rest)

    return {name(key): value for key, value in row.items()}


def test_langfuse_api_trace_and_zip(tmp_path):
    """The API's camel-case trace with its observations reads the same, also inside a zip."""
    trace = {"id": "t-1", "timestamp": "2026-03-01T08:00:00.000001Z", "sessionId": "s-1", "userId": "u-1"}
    trace |= {"scores": [], "observations": [camel(row) for row in OBSERVATIONS]}
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("traces.json", json.dumps([trace]))
    assert langfuse.recognise(path) == "Langfuse traces with their observations"
    [turn], _ = turns_of(langfuse, path)
    check_langfuse(turn)
    assert turn.place.file == f"{path}!traces.json"


def test_langfuse_without_its_inputs_says_so(tmp_path):
    """Observations whose field group was left out of the export are counted and give no failure."""
    rows = [{key: value for key, value in row.items() if key not in ("input", "output")} for row in OBSERVATIONS]
    [turn], reading = turns_of(langfuse, write_lines(tmp_path / "o.jsonl", rows))
    assert (turn.text, turn.calls[0].query, turn.calls[0].results) == (None, None, None)
    assert reading.notes[0] == "2 observations without input: the field group was left out of the export"
    assert reading.notes[1] == "1 retrieval spans, 0 with query text"


def test_a_failed_langfuse_search_is_no_empty_one(tmp_path):
    """What a retriever gave back with an error says nothing about results."""
    rows = [OBSERVATIONS[0], OBSERVATIONS[1] | {"level": "ERROR"}]
    [turn], _ = turns_of(langfuse, write_lines(tmp_path / "o.jsonl", rows))
    assert [(call.results, call.failed) for call in turn.calls] == [(None, True)]


def test_langfuse_attributes_on_otel_spans(tmp_path):
    """What Langfuse's SDK puts on OpenTelemetry spans is read from OTLP."""
    spans = Spans()
    root = {"langfuse.observation.type": "span", "langfuse.observation.input": json.dumps({"query": QUESTION})}
    call = {"langfuse.observation.type": "retriever", "langfuse.observation.input": REWRITES[0]}
    call |= {"langfuse.observation.output": "[]"}
    with spans.span("chat", root), spans.span("portal", call):
        pass
    [turn], _ = turns_of(otel, write_json(tmp_path / "spans.json", spans.otlp()))
    assert (turn.text, turn.calls[0].query, turn.calls[0].results) == (QUESTION, REWRITES[0], 0)


def langsmith_runs() -> list[dict]:
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]}
    human |= {"kwargs": {"content": QUESTION, "type": "human"}}
    document = {"page_content": "…", "metadata": {"source": "docs/certs.md"}, "type": "Document"}
    return [
        {"id": "r-1", "trace_id": "r-1", "parent_run_id": None, "run_type": "chain", "name": "LangGraph",
         "start_time": "2026-03-01T08:00:00", "end_time": "2026-03-01T08:00:09", "inputs": {"messages": [human]},
         "outputs": {"messages": [human, {"type": "ai", "content": "Here it is."}]}, "session_id": "project-uuid",
         "session_name": "helpdesk", "extra": {"metadata": {"thread_id": "conv-7"}},
         "feedback_stats": {"user_score": {"n": 1, "avg": 0}, "correctness": {"n": 1, "avg": 1}}},
        {"id": "r-2", "trace_id": "r-1", "parent_run_id": "r-1", "run_type": "retriever", "name": "Portal",
         "start_time": "2026-03-01T08:00:01", "end_time": "2026-03-01T08:00:02", "inputs": {"query": REWRITES[0]},
         "outputs": {"documents": [document]}, "error": None},
        {"id": "r-3", "trace_id": "r-1", "parent_run_id": "r-1", "run_type": "retriever", "name": "Portal",
         "start_time": "2026-03-01T08:00:03", "end_time": "2026-03-01T08:00:04", "inputs": {"query": REWRITES[1]},
         "outputs": None, "error": "Timeout"},
    ]  # fmt: skip


@pytest.mark.parametrize("shape", ["jsonl", "parquet"])
def test_langsmith_runs(tmp_path, shape):
    """The conversation is in the metadata, `session_id` is the project, and a failed call found nothing."""
    rows = langsmith_runs()
    path = tmp_path / f"runs.{shape}"
    if shape == "parquet":
        packed = ("inputs", "outputs", "extra", "feedback_stats")
        names = dict.fromkeys(name for row in rows for name in row)
        table = [
            {name: json.dumps(row.get(name)) if name in packed and row.get(name) else row.get(name) for name in names}
            for row in rows
        ]
        pq.write_table(pa.Table.from_pylist(table), path)
    else:
        write_lines(path, rows)
    assert langsmith.recognise(path) == "LangSmith runs"
    [turn], _ = turns_of(langsmith, path)
    assert (turn.text, turn.answer, turn.conversation, turn.project) == (QUESTION, "Here it is.", "conv-7", "helpdesk")
    assert (turn.feedback, turn.outcome) == (0.0, None)
    assert [(call.query, call.results, call.failed) for call in turn.calls] == [
        (REWRITES[0], 1, False),
        (REWRITES[1], None, True),
    ]
    assert turn.calls[0].documents == ("docs/certs.md",)


def test_feedback_without_a_value_takes_nothing_away(tmp_path):
    """A score that cannot be read leaves the one a person gave."""
    runs = langsmith_runs()
    runs[0]["feedback_stats"]["user_comment"] = {"n": 1, "avg": None}
    [turn], _ = turns_of(langsmith, write_lines(tmp_path / "runs.jsonl", runs))
    assert turn.feedback == 0.0


def test_rows_of_wrong_types_are_faults(tmp_path):
    """A run without its id and an observation whose time is a list are faults of their line."""
    runs = langsmith_runs()
    runs[1]["id"] = {"no": 1}
    with pytest.raises(DataError) as caught:
        turns_of(langsmith, write_lines(tmp_path / "runs.jsonl", runs))
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (2, "`id` must be text, and is an object")
    ]
    rows = [dict(OBSERVATIONS[0], start_time=[1]), *OBSERVATIONS[1:]]
    with pytest.raises(DataError, match="1 fault"):
        turns_of(langfuse, write_lines(tmp_path / "o.jsonl", rows))


def test_gzip_bombs_and_damaged_files_are_refused(tmp_path):
    """A file that grows a thousandfold is refused before it fills memory; half a gzip file is a DataError."""
    bomb = tmp_path / "bomb.jsonl.gz"
    line = json.dumps(OBSERVATIONS[0]).encode() + b"\n"
    bomb.write_bytes(gzip.compress(line + b" " * 100_000_000))
    with pytest.raises(RefusedError, match="unpacks to more than"):
        turns_of(langfuse, bomb)
    half = tmp_path / "half.jsonl.gz"
    half.write_bytes(gzip.compress(line * 50)[:-20])
    with pytest.raises(DataError):
        turns_of(langfuse, half)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 nothing PAR1")
    assert langfuse.recognise(broken) is None
    with pytest.raises(DataError, match="Parquet"):
        turns_of(langfuse, broken)
