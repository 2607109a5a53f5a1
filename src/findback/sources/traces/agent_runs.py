"""Runs of agents over question sets: trajectories of thoughts, actions and observations."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from findback.model.thread import Place
from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.feedback import as_outcome
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.mapping import Mapped, load_mapping
from findback.sources.traces.messages import Said, ToolUse, read_messages, turns_of
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.values import FieldError, as_record

name = "agent-runs"
family = "traces"
rules = ("reformulation", "no-answer")

_ACTION = re.compile(r"^Action:[ \t]{0,8}(\w{1,40})\[([^\n]{0,20000})", re.MULTILINE)
_OBSERVATION = "Observation:"
_TEXT_HEAD = re.compile(rb'"traj(?:ectory)?"\s*:\s*\[')


def recognise(path: Path) -> str | None:
    """Return why the path holds agent runs, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    if _TEXT_HEAD.search(look.head) and b"Action:" in look.head:
        return "agent runs with their trajectories"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    mapping = load_mapping(name, gathering.options.mapping)
    drafts: list[Draft] = []

    def take(record: TraceRecord) -> None:
        value = as_record(record.value)
        single = mapping.find(value, "messages") is not None
        runs = {str(value.get("id", record.place.offset)): value} if single else value
        for number, (key, run) in enumerate(runs.items()):
            try:
                draft = _draft(str(key), as_record(run), mapping, gathering)
                draft.place = record.place if single else Place(record.place.file, number)
                drafts.append(draft)
            except FieldError as fault:
                gathering.fault(record, f"run {str(key)[:40]}: {fault}")

    gathering.each(take)
    return drafts


def _draft(key: str, run: Mapping[str, Any], mapping: Mapped, gathering: Gathering) -> Draft:
    messages = read_messages(mapping.find(run, "messages"), "traj")
    if not messages or messages[0].role != "user" or not messages[0].text:
        raise FieldError("the trajectory does not begin with a question")
    said = [messages[0], *(_turned(message, number) for number, message in enumerate(messages[1:]))]
    drafts = turns_of(said, key, gathering.tools)
    draft = drafts[0]
    draft.id, draft.conversation, draft.next_text = key, None, None
    draft.outcome = as_outcome(mapping.find(run, "outcome"))
    draft.multi_part = as_outcome(mapping.find(run, "multi_part"))
    draft.audience = "public" if mapping.find(run, "audience") == "public" else "private"
    return draft


def _turned(message: Said, number: int) -> Said:
    """Return a message with its action as a call of a tool, and an observation as a tool's answer.

    A model may write several actions and their imagined results at once; only one was run. It is the first search
    that counts.
    """
    if message.role == "user":
        return Said(role="tool", text=None)
    actions = _ACTION.findall(message.text or "")
    said = Said(role="assistant", text=_finish(actions))
    search = next((given for action, given in actions if action.casefold() == "search"), None)
    if search is not None:
        query = search.rpartition("]")[0] or search
        said.uses.append(ToolUse(id=f"call-{number}", name="search", queries=(query,), mark="retriever"))
    return said


def _finish(actions: list[tuple[str, str]]) -> str | None:
    return next((given.rpartition("]")[0] for action, given in actions if action.casefold() == "finish"), None)
