"""Turns while they are read: collected, linked to the person's next message, filtered and counted."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

from findback.model.thread import Audience, Place, Skipped
from findback.model.turn import RetrievalCall, Turn
from findback.sources.answer import Answer
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions
from findback.sources.opening import open_archive
from findback.sources.scope import fold_name
from findback.sources.traces.evaluation import MARKED_REASON, drop_bursts
from findback.sources.traces.payloads import documents_in, offset_in, queries_in, results_in
from findback.sources.traces.records import TraceRecord, read_records, trace_names
from findback.sources.traces.tools import RetrievalTools, ToolMark
from findback.sources.traces.values import FieldError

TEXT_LIMIT = 100_000
"""Most characters of a wording or query; what is longer is no question anybody asked."""
ANSWER_LIMIT = 200_000
"""Most characters of an assistant's answer that are kept."""
LONG_WORDING = f"wordings over {TEXT_LIMIT:,} characters"
LONG_QUERY = f"queries over {TEXT_LIMIT:,} characters"
OLDER = "turns before the date asked for"
OTHER_PROJECT = "turns of projects not asked for"
EXCLUDED_PROJECT = "turns of excluded projects"
FILES_BESIDE = "files beside that are no traces"

CONTENT_OFF = (
    "no query text was captured: instrumentations leave it out unless content capture is switched on, so nothing "
    "can be said about failures"
)


@dataclass(slots=True, kw_only=True)
class Draft:
    """A turn being put together."""

    id: str
    conversation: str | None = None
    user: str | None = None
    text: str | None = None
    at: datetime | None = None
    calls: list[RetrievalCall] = field(default_factory=list)
    next_text: str | None = None
    answer: str | None = None
    outcome: bool | None = None
    feedback: float | None = None
    system: str | None = None
    project: str | None = None
    audience: Audience = "private"
    gold: tuple[str, ...] = ()
    multi_part: bool | None = None
    marked: bool = False
    place: Place | None = None


@dataclass(slots=True, kw_only=True)
class Gathering:
    """What a reader of one format works with."""

    place: Path | Answer
    options: SourceOptions
    faults: Faults
    tools: RetrievalTools
    skipped: Skipped
    notes: list[str]

    def records(self, *, whole: bool = False) -> Iterator[TraceRecord]:
        """Yield the records of every trace file, file by file."""
        with open_archive(self.place) as archive:
            names = trace_names(archive)
            beside = len(archive.names) - len(names)
            if beside:
                self.skipped.add(FILES_BESIDE, beside)
            for reason, count in archive.left_out.items():
                self.skipped.add(reason, count)
            for name in names:
                yield from read_records(archive, name, self.faults, whole=whole)

    def each(self, read: Callable[[TraceRecord], None], *, whole: bool = False) -> None:
        """Hand every record to `read`; what it finds wrong becomes a fault of that record."""
        for record in self.records(whole=whole):
            try:
                read(record)
            except FieldError as fault:
                self.fault(record, str(fault))

    def fault(self, record: TraceRecord, message: str) -> None:
        """Note that a record, or a part of it, cannot be read."""
        where = "" if record.line is not None else f"record {record.place.offset + 1}: "
        self.faults.add(record.place.file, record.line, where + message)


def begin_reading(
    source: str, place: Path | Answer, options: SourceOptions, gather: Callable[[Gathering], Iterable[Draft]]
) -> Reading:
    """Return a reading whose turns come from `gather`, once the first of them is asked for."""
    reading = Reading()
    gathering = Gathering(
        place=place,
        options=options,
        faults=Faults(rows=isinstance(place, Answer)),
        tools=RetrievalTools(options.retrieval_tools),
        skipped=reading.skipped,
        notes=reading.notes,
    )
    reading.turns = _turns(source, gathering, gather)
    return reading


def make_calls(
    tools: RetrievalTools,
    *,
    key: str,
    tool: str,
    mark: ToolMark = "none",
    arguments: Any = None,
    queries: tuple[str, ...] | None = None,
    answer: Any = None,
    results: int | None = None,
    documents: tuple[str, ...] = (),
    started: datetime | None = None,
    ended: datetime | None = None,
    batch: str | None = None,
    failed: bool = False,
) -> list[RetrievalCall]:
    """Return the retrieval calls that one call of a tool is: none where it is no search, several for fan-out."""
    if not tools.count(tool, mark):
        return []
    asked: tuple[str | None, ...] = queries if queries is not None else queries_in(arguments)
    answered = answer is not None and not failed
    found = results if results is not None or not answered else results_in(answer)
    listed = documents or (documents_in(answer) if answered else ())
    # One answer to several queries says nothing about any one of them.
    several = len(asked) > 1
    return [
        RetrievalCall(
            id=f"{key}#{number}" if several else key,
            tool=tool,
            query=query,
            started=started,
            ended=ended,
            results=None if several and found else found,
            documents=() if several else listed,
            offset=offset_in(arguments),
            batch=batch or (key if several else None),
            failed=failed,
        )
        for number, query in enumerate(asked or (None,))
    ]


def _turns(source: str, gathering: Gathering, gather: Callable[[Gathering], Iterable[Draft]]) -> Iterator[Turn]:
    drafts = list(gather(gathering))
    place, options = gathering.place, gathering.options
    what = str(place.path) if isinstance(place, Answer) else place.name
    gathering.faults.settle(what, gathering.skipped, gathering.notes, skip_bad=options.skip_bad)
    kept = [draft for draft in drafts if _keep(draft, gathering)]
    _link(kept)
    turns = (_finish(source, draft, gathering.skipped) for draft in kept if _recent(draft, gathering))
    yield from drop_bursts(turns, gathering.options.exam_queries, gathering.skipped)
    _describe(kept, gathering)


def _keep(draft: Draft, gathering: Gathering) -> bool:
    options, skipped = gathering.options, gathering.skipped
    project = fold_name(draft.project or "")
    if draft.marked:
        skipped.add(MARKED_REASON)
        return False
    if project and any(fnmatchcase(project, fold_name(pattern)) for pattern in options.exclude):
        skipped.add(EXCLUDED_PROJECT)
        return False
    if options.channels and not any(fnmatchcase(project, fold_name(pattern)) for pattern in options.channels):
        skipped.add(OTHER_PROJECT)
        return False
    return True


def _recent(draft: Draft, gathering: Gathering) -> bool:
    since = gathering.options.since
    if since is not None and draft.at is not None and draft.at < since:
        gathering.skipped.add(OLDER)
        return False
    return True


def _link(drafts: list[Draft]) -> None:
    """Give each turn the person's next message in its conversation."""
    conversations: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.conversation is not None:
            conversations.setdefault(draft.conversation, []).append(draft)
    for members in conversations.values():
        if all(member.at is not None for member in members):
            members.sort(key=lambda member: member.at.timestamp() if member.at else 0.0)
        for before, after in pairwise(members):
            if before.next_text is None:
                before.next_text = after.text


def _finish(source: str, draft: Draft, skipped: Skipped) -> Turn:
    calls = sorted(draft.calls, key=lambda call: (call.started is None, call.started and call.started.timestamp()))
    return Turn(
        id=draft.id,
        source=source,
        conversation=draft.conversation,
        user=draft.user,
        text=_bounded(draft.text, LONG_WORDING, skipped),
        at=draft.at,
        calls=tuple(
            replace(call, order=order, query=_bounded(call.query, LONG_QUERY, skipped))
            for order, call in enumerate(calls)
        ),
        next_text=None if draft.next_text is None or len(draft.next_text) > TEXT_LIMIT else draft.next_text,
        answer=None if draft.answer is None else draft.answer[:ANSWER_LIMIT],
        outcome=draft.outcome,
        feedback=draft.feedback,
        system=draft.system or _only_tool(draft.calls),
        audience=draft.audience,
        place=draft.place,
        project=draft.project,
        gold=draft.gold,
        multi_part=draft.multi_part,
    )


def _bounded(text: str | None, reason: str, skipped: Skipped) -> str | None:
    if text is None or not text.strip():
        return None
    if len(text) > TEXT_LIMIT:
        skipped.add(reason)
        return None
    return text


def _only_tool(calls: list[RetrievalCall]) -> str | None:
    tools = {call.tool for call in calls}
    return tools.pop() if len(tools) == 1 else None


def _describe(drafts: list[Draft], gathering: Gathering) -> None:
    calls = [call for draft in drafts for call in draft.calls]
    worded = sum(call.query is not None for call in calls)
    gathering.notes.append(f"{len(calls):,} retrieval spans, {worded:,} with query text")
    if calls and not worded:
        gathering.notes.append(CONTENT_OFF)
    mute = sum(1 for draft in drafts if draft.calls and not draft.text)
    if mute:
        gathering.notes.append(f"{mute:,} turns with retrieval hold no person's wording")
    passed = gathering.tools.describe()
    if passed:
        gathering.notes.append(passed)
