"""LangSmith runs: JSON, JSON Lines or the Parquet of a bulk export."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.feedback import as_outcome, is_feedback, is_outcome
from findback.sources.traces.inference import see_words
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.steps import Step, StepKind, drafts_of, see_call
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time, look_up, unpack

name = "langsmith"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")

_KINDS: dict[str, StepKind] = {"retriever": "call", "tool": "call", "llm": "model", "agent": "turn"}
_CONVERSATION = "session_id | thread_id | conversation_id"


def recognise(path: Path) -> str | None:
    """Return why the path holds LangSmith runs, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading; runs may lie in any order and over several files."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    columns = set(look.columns)
    if "run_type" in columns and columns & {"trace_id", "dotted_order", "parent_run_id", "session_id"}:
        return "LangSmith runs"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    steps: list[Step] = []

    def take(record: TraceRecord) -> None:
        value = as_record(record.value)
        runs = as_list(value["runs"], "runs") if "run_type" not in value and "runs" in value else [value]
        for run in runs:
            step = _step(as_record(run))
            step.place = record.place
            steps.append(step)

    gathering.each(take)
    return drafts_of(steps, gathering.tools)


def _step(run: Mapping[str, Any]) -> Step:
    identity = as_text(run.get("id"), "id")
    kind = as_text(run.get("run_type"), "run_type")
    if identity is None or kind is None:
        raise FieldError("`id` and `run_type` must be there")
    extra = unpack(run.get("extra"))
    metadata = unpack(look_up(extra, "metadata")) if extra is not None else None
    step = Step(
        id=identity,
        trace=as_text(run.get("trace_id"), "trace_id") or _root(run) or identity,
        parent=_parent(run),
        kind=_KINDS.get(kind, "other"),
        started=as_time(run.get("start_time"), "start_time"),
        ended=as_time(run.get("end_time"), "end_time"),
        # `session_id` of a run is its project; the conversation stands in the metadata.
        conversation=as_text(look_up(metadata, _CONVERSATION), "conversation") if metadata else None,
        user=as_text(look_up(metadata, "user_id"), "user_id") if metadata else None,
        project=as_text(run.get("session_name", run.get("project_name", run.get("session_id"))), "session_name"),
        failed=bool(run.get("error")),
        marked=is_marked(metadata),
    )
    given, gave = unpack(run.get("inputs")), unpack(run.get("outputs"))
    if step.kind == "call":
        see_call(step, as_text(run.get("name"), "name") or kind, given, gave, retriever=kind == "retriever")
    elif kind in ("llm", "chain", "agent"):
        see_words(step, given, gave)
    _see_feedback(step, unpack(run.get("feedback_stats")))
    return step


def _root(run: Mapping[str, Any]) -> str | None:
    """Return the trace that `dotted_order` names: its first part is the root run's start and id."""
    order = as_text(run.get("dotted_order"), "dotted_order")
    return order.partition(".")[0].rpartition("Z")[2] or None if order else None


def _parent(run: Mapping[str, Any]) -> str | None:
    parent = as_text(run.get("parent_run_id"), "parent_run_id")
    above = unpack(run.get("parent_run_ids"))
    if parent is None and isinstance(above, (list, tuple)) and above:
        return as_text(above[-1], "parent_run_ids")
    return parent


def _see_feedback(step: Step, stats: Any) -> None:
    if not isinstance(stats, dict):
        return
    for key, entry in stats.items():
        value = entry.get("avg") if isinstance(entry, dict) else entry
        if is_outcome(key):
            step.outcome = as_outcome(value)
        elif is_feedback(key):
            step.rate(value)
