"""OpenInference spans as Phoenix exports them: JSON Lines, CSV or Parquet, flattened or nested."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.inference import KIND, see_inference, see_verdict
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.otel import step_of
from findback.sources.traces.otlp import is_otlp, spans_of
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.steps import Step, drafts_of
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time, look_up, unpack

name = "openinference"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")

_PREFIX = "attributes."


def recognise(path: Path) -> str | None:
    """Return why the path holds Phoenix spans, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading; spans may lie in any order and over several files."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    columns = set(look.columns)
    if "context.trace_id" in columns and "context.span_id" in columns:
        return "Phoenix spans with flattened columns"
    if "span_kind" in columns and "context" in columns:
        return "Phoenix spans"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    steps: list[Step] = []

    def take(record: TraceRecord) -> None:
        value = as_record(record.value)
        if is_otlp(value):
            for span in spans_of(value):
                if isinstance(span, str):
                    gathering.fault(record, span)
                else:
                    steps.append(step_of(span))
            return
        for row in as_list(value.get("data"), "data") if set(value) <= {"data", "next_cursor"} else [value]:
            step = _step(as_record(row))
            step.place = record.place
            steps.append(step)

    gathering.each(take)
    return drafts_of(steps, gathering.tools)


def _step(row: Mapping[str, Any]) -> Step:
    trace = as_text(look_up(row, "context.trace_id | trace_id"), "context.trace_id")
    identity = as_text(look_up(row, "context.span_id | span_id"), "context.span_id")
    if trace is None or identity is None:
        raise FieldError("`context.trace_id` and `context.span_id` must be there")
    attributes = _attributes(row)
    step = Step(
        id=identity,
        trace=trace,
        parent=as_text(row.get("parent_id", row.get("parent_span_id")), "parent_id"),
        started=as_time(row.get("start_time"), "start_time"),
        ended=as_time(row.get("end_time"), "end_time"),
        tool=as_text(row.get("name"), "name"),
        project=as_text(look_up(row, "project_name | project.name | project_identifier"), "project_name"),
        failed=row.get("status_code") == "ERROR",
        marked=is_marked(attributes),
    )
    see_inference(step, attributes)
    for verdict in as_list(unpack(row.get("annotations", row.get("span_annotations"))), "annotations"):
        see_verdict(step, _verdict(as_record(verdict)))
    return step


def _attributes(row: Mapping[str, Any]) -> dict[str, Any]:
    inner = unpack(row.get("attributes"))
    found: dict[str, Any] = dict(as_record(inner)) if inner is not None else {}
    for key, value in row.items():
        if key.startswith(_PREFIX) and value is not None:
            found[key.removeprefix(_PREFIX)] = unpack(value)
    if row.get("span_kind") and KIND not in found:
        found[KIND] = row["span_kind"]
    return found


def _verdict(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    result = entry.get("result")
    return {**entry, **result} if isinstance(result, dict) else entry
