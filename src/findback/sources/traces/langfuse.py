"""Langfuse exports: observations, traces and scores from the blob export, the API or the interface."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.feedback import as_outcome, is_feedback, is_outcome
from findback.sources.traces.inference import see_words
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.otlp import OtelSpan
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.steps import Step, StepKind, drafts_of, see_call
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time, unpack

name = "langfuse"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")

LANGFUSE = "langfuse.observation."

_KINDS: dict[str, StepKind] = {"AGENT": "turn", "TOOL": "call", "RETRIEVER": "call", "GENERATION": "model"}
_SPEAKING = frozenset({"SPAN", "CHAIN", "AGENT", "GENERATION"})
_LEFT_OUT = "observations without input: the field group was left out of the export"


def recognise(path: Path) -> str | None:
    """Return why the path is a Langfuse export, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading; observations may lie in any order and over several files."""
    return begin_reading(name, path, options, _gather)


def see_langfuse_attributes(step: Step, span: OtelSpan) -> None:
    """Fill a step from the attributes Langfuse's SDK gives to OpenTelemetry spans."""
    attributes = span.attributes
    row = {
        "type": attributes.get(f"{LANGFUSE}type", "span"),
        "name": span.name,
        "input": attributes.get(f"{LANGFUSE}input"),
        "output": attributes.get(f"{LANGFUSE}output"),
    }
    _see(step, row)


def _looks(look: Look) -> str | None:
    columns = {_snake(column) for column in look.columns}
    if {"trace_id", "type"} <= columns and columns & {"parent_observation_id", "start_time"}:
        return "Langfuse observations"
    if "observations" in columns and columns & {"session_id", "scores", "timestamp"}:
        return "Langfuse traces with their observations"
    inner = look.record.get("data") if isinstance(look.record, dict) else None
    if isinstance(inner, list) and inner and isinstance(inner[0], dict) and "traceId" in inner[0]:
        return "a page of Langfuse's API"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    steps: list[Step] = []
    scores: dict[str, list[Mapping[str, Any]]] = {}
    silent = 0

    def take(record: TraceRecord) -> None:
        nonlocal silent
        for row in _rows(as_record(record.value)):
            if _is_score(row):
                trace = as_text(row.get("trace_id"), "trace_id")
                if trace is not None:
                    scores.setdefault(trace, []).append(row)
                continue
            step = _step(row)
            step.place = record.place
            steps.append(step)
            silent += step.kind == "call" and row.get("input") is None

    gathering.each(take)
    if silent:
        gathering.notes.append(f"{silent:,} {_LEFT_OUT}")
    for step in steps:
        for row in scores.get(step.trace, ()):
            _see_score(step, row)
    return drafts_of(steps, gathering.tools)


def _rows(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield observations, traces and scores out of pages and traces that hold them."""
    row = {_snake(key): entry for key, entry in value.items()}
    if isinstance(row.get("data"), list) and "type" not in row:
        for entry in row["data"]:
            yield from _rows(as_record(entry))
        return
    yield {key: entry for key, entry in row.items() if key not in ("observations", "scores")}
    for key in ("observations", "scores"):
        for entry in as_list(unpack(row.get(key)), key):
            # A trace may list the mere ids of its observations.
            if not isinstance(entry, str):
                inner = {_snake(name): held for name, held in as_record(entry).items()}
                yield {"trace_id": row.get("id"), "session_id": row.get("session_id"), **inner}


def _is_score(row: Mapping[str, Any]) -> bool:
    return "type" not in row and "name" in row and bool({"value", "string_value"} & set(row)) and "trace_id" in row


def _step(row: Mapping[str, Any]) -> Step:
    identity = as_text(row.get("id"), "id")
    if identity is None:
        raise FieldError("`id` must be there")
    observed = "type" in row
    trace = as_text(row.get("trace_id"), "trace_id") if observed else identity
    if trace is None:
        raise FieldError("`trace_id` must be there")
    metadata = unpack(row.get("metadata"))
    step = Step(
        # A trace's own record stands beside its spans and may share its id with one of them.
        id=identity if observed else f"trace {identity}",
        trace=trace,
        parent=as_text(row.get("parent_observation_id"), "parent_observation_id"),
        started=as_time(row.get("start_time", row.get("timestamp")), "start_time"),
        ended=as_time(row.get("end_time"), "end_time"),
        conversation=as_text(row.get("session_id"), "session_id"),
        user=as_text(row.get("user_id"), "user_id"),
        project=as_text(row.get("project_name", row.get("project_id")), "project_id"),
        failed=row.get("level") == "ERROR",
        marked=is_marked(metadata) or _tagged(row.get("tags")),
    )
    _see(step, row if observed else {**row, "type": "SPAN"})
    return step


def _see(step: Step, row: Mapping[str, Any]) -> None:
    named = str(row.get("type")).upper()
    step.kind = _KINDS.get(named, "other")
    given, gave = unpack(row.get("input")), unpack(row.get("output"))
    if step.kind == "call":
        tool = as_text(row.get("name"), "name") or named.lower()
        see_call(step, tool, given, gave, retriever=named == "RETRIEVER")
    elif named in _SPEAKING:
        see_words(step, given, gave)


def _see_score(step: Step, row: Mapping[str, Any]) -> None:
    """Take what people said; scores of evaluators are none."""
    if str(row.get("source", "")).upper() == "EVAL":
        return
    named = str(row.get("name", ""))
    value = row.get("string_value") if row.get("string_value") not in (None, "") else row.get("value")
    if is_outcome(named):
        step.outcome = as_outcome(value)
    elif str(row.get("source", "")).upper() == "ANNOTATION" or is_feedback(named):
        step.rate(value, row.get("value"))


def _tagged(tags: Any) -> bool:
    listed = unpack(tags)
    return isinstance(listed, (list, tuple)) and "x-findback: evaluation" in listed


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
