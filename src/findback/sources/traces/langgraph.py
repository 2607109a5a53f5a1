"""LangGraph checkpoints: what a checkpointer lists or a state history gives, serialised as JSON."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.mapping import Mapped, load_mapping
from findback.sources.traces.messages import read_messages, turns_of
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.values import FieldError, as_record, as_text, as_time

name = "langgraph"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer")

OLDER = "checkpoints that a newer one of the thread repeats"
SUBGRAPHS = "checkpoints of subgraphs"


def recognise(path: Path) -> str | None:
    """Return why the path holds LangGraph checkpoints, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading. Every checkpoint repeats all messages: only the newest of each thread is read."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    columns = set(look.columns)
    if "checkpoint" in columns and columns & {"config", "thread_id", "checkpoint_id"}:
        return "LangGraph checkpoints"
    if {"values", "config"} <= columns:
        return "LangGraph state snapshots"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    mapping = load_mapping(name, gathering.options.mapping)
    newest: dict[str, tuple[str, TraceRecord, Mapping[str, Any]]] = {}

    def take(record: TraceRecord) -> None:
        value = as_record(record.value)
        thread = as_text(mapping.find(value, "conversation"), "thread_id")
        if thread is None:
            raise FieldError("no thread id is there")
        if as_text(mapping.find(value, "namespace"), "checkpoint_ns"):
            # A subgraph's searches also stand in its parent's messages where the parent keeps them.
            gathering.skipped.add(SUBGRAPHS)
            return
        # Ids of checkpoints are ordered by time.
        order = as_text(mapping.find(value, "order"), "checkpoint_id") or ""
        if thread in newest:
            gathering.skipped.add(OLDER)
        if thread not in newest or newest[thread][0] < order:
            newest[thread] = (order, record, value)

    gathering.each(take)
    drafts: list[Draft] = []
    for thread, (_, record, value) in newest.items():
        try:
            drafts += _drafts(thread, record, value, mapping, gathering)
        except FieldError as fault:
            gathering.fault(record, str(fault))
    return drafts


def _drafts(
    thread: str, record: TraceRecord, value: Mapping[str, Any], mapping: Mapped, gathering: Gathering
) -> list[Draft]:
    messages = mapping.find(value, "messages")
    if messages is None:
        raise FieldError("the checkpoint holds no messages")
    at = as_time(mapping.find(value, "at"), "ts")
    drafts = turns_of(read_messages(messages), thread, gathering.tools)
    for number, draft in enumerate(drafts):
        # Messages have no times; the checkpoint's is the last turn's.
        draft.at = at if number == len(drafts) - 1 else None
        draft.place = record.place
        draft.user = as_text(mapping.find(value, "user"), "user")
        draft.project = as_text(mapping.find(value, "project"), "project")
        draft.marked = is_marked(mapping.find(value, "marker"))
    return drafts
