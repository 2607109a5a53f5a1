"""The queue: what waits, how much of it, and what comes next."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from findback.errors import FindbackError
from findback.model.candidate import Strength
from findback.model.case import Name
from findback.model.record import Record
from findback.model.review import SpanDecision
from findback.model.reviewer import Reviewer
from findback.steps.expected import open_exam_words, order_by_value
from findback.steps.reviewdesk import Desk
from findback.steps.reviewitem import mask_text
from findback.steps.reviewstate import ALONE_DAYS
from findback.workbench.listing import CandidateFilters, Choices
from findback.workbench.queue import TeamProgress, Turn
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workspace import Workspace

MINUTES_EACH = 1
"""What a candidate takes in a weekly session."""
POOL = 5
"""Candidates that are weighed for each one a session holds."""

Names = Annotated[tuple[Name, ...], Field(max_length=50)]


class QueueFilters(Record):
    """Which candidates; an empty filter lets everything through that the reviewer may see."""

    states: Annotated[tuple[State, ...], Field(max_length=10)] = ()
    sources: Names = ()
    rules: Names = ()
    wordings: Names = ()
    """By one's own reviews, and by everybody's of what is decided."""
    answers: Names = ()
    """one, cross-doc, no-answer, unrateable or later; as `wordings`."""
    languages: Names = ()
    strata: Names = ()
    origins: Names = ()
    stored_since: datetime | None = None
    stored_before: datetime | None = None
    suggestions: bool | None = None
    """Whether redaction suggested something in the question."""
    disagreement: bool | None = None
    """Whether opinions differ; leads only."""


class QueueRow(Record):
    """One candidate in the queue."""

    number: int
    key: str
    state: State
    source: str
    rules: tuple[str, ...]
    strength: Strength
    query: str
    """Masked: what redaction suggests and what any reviewer redacts."""
    language: str | None
    stratum: str
    origin: str
    audience: str
    seen_on: str | None
    suggestions: int
    """In the question."""
    links: int
    stored_at: datetime
    state_at: datetime


class QueuePage(Record):
    """A page of the queue."""

    rows: tuple[QueueRow, ...]
    counts: dict[State, int]
    """By state, over all that the reviewer may see and the other filters let through."""
    total: int
    """Rows that the whole filter lets through."""
    next_after: int | None
    """Give it to get the next page; None at the end."""


def list_queue(desk: Desk, reviewer: Reviewer, filters: QueueFilters, *, limit: int = 50, after: int = 0) -> QueuePage:
    """Return a page of the queue in the order of storing.

    Args:
        desk: Where they review.
        reviewer: Who looks; what they may not see is not counted either.
        filters: Which candidates.
        limit: Most rows, up to 200.
        after: Number of the last row seen; 0 to begin.
    """
    reviewer.require("reviewer", "lead")
    wanted = bench_filters(reviewer, filters)
    limit = max(1, min(limit, 200))
    rows = desk.bench.list_candidates(wanted, limit=limit + 1, after=after)
    counts = desk.bench.count(bench_filters(reviewer, filters.model_copy(update={"states": ()})))
    total = sum(count for state, count in counts.items() if not filters.states or state in filters.states)
    return QueuePage(
        rows=_rows(desk, rows[:limit]),
        counts=counts,
        total=total,
        next_after=rows[limit - 1].number if len(rows) > limit else None,
    )


def queue_choices(desk: Desk, reviewer: Reviewer) -> Choices:
    """Return which sources, rules and languages there are among all that a reviewer may see."""
    reviewer.require("reviewer", "lead")
    return desk.bench.choices(bench_filters(reviewer, QueueFilters()))


def next_item(
    desk: Desk, reviewer: Reviewer, filters: QueueFilters, *, now: datetime, after: str | None = None
) -> str | None:
    """Return the key of the next candidate that waits for this reviewer; None when nothing does.

    Nobody else has it, they have not submitted it, and a single reviewer's second look comes when it is due.
    """
    reviewer.require("reviewer", "lead")
    return desk.bench.next_key(bench_filters(reviewer, filters), turn_of(desk, reviewer, now), after=after)


def weekly_stack(desk: Desk, reviewer: Reviewer, *, now: datetime) -> tuple[QueueRow, ...]:
    """Return what a weekly session holds: newest flags first, then what is worth most, equals by how long they wait."""
    reviewer.require("reviewer", "lead")
    limit = desk.settings.week_minutes // MINUTES_EACH
    filters = bench_filters(reviewer, QueueFilters())
    found = desk.bench.week(filters, turn_of(desk, reviewer, now), limit=limit, pool=limit * POOL)
    return _rows(desk, choose_stack(desk.workspace, found, limit))


def choose_stack(workspace: Workspace, found: Sequence[StoredCandidate], limit: int) -> list[StoredCandidate]:
    """Return the flags as given, then the rest by expected value, as many as a session holds.

    Where the set cannot be read, the rest stays in the order given.
    """
    flags = [one for one in found if one.candidate.origin == "flagged"][:limit]
    rest = [one for one in found if one.candidate.origin != "flagged"]
    try:
        exam = open_exam_words(workspace)
    except FindbackError:
        return [*flags, *rest][:limit]
    order = order_by_value([one.candidate for one in rest], exam)
    return [*flags, *(rest[place] for place, _ in order)][:limit]


def progress(desk: Desk, reviewer: Reviewer, *, now: datetime) -> TeamProgress:
    """Return how far one is and, where at least three people took part, the team."""
    reviewer.require("reviewer", "lead")
    return desk.bench.progress(bench_filters(reviewer, QueueFilters()), reviewer.subject, now=now)


def bench_filters(reviewer: Reviewer, filters: QueueFilters) -> CandidateFilters:
    """Return the workbench's filters: the reviewer's audiences always among them."""
    values = filters.model_dump()
    if "lead" not in reviewer.roles:
        values["disagreement"] = None
    return CandidateFilters(**values, audiences=tuple(sorted(reviewer.audiences)), reviewer=reviewer.subject)


def turn_of(desk: Desk, reviewer: Reviewer, now: datetime) -> Turn:
    """Return who asks for work; a single reviewer's second look comes after the hours the settings say."""
    alone = not desk.bench.others_since(reviewer.subject, now - timedelta(days=ALONE_DAYS))
    before = now - timedelta(hours=desk.settings.second_look_hours) if alone else None
    return Turn(reviewer.subject, now, before, settles="lead" in reviewer.roles)


def _rows(desk: Desk, found: Sequence[StoredCandidate]) -> tuple[QueueRow, ...]:
    redacted = desk.bench.redactions_of(found)
    return tuple(_row(one, redacted[one.candidate.key]) for one in found)


def _row(stored: StoredCandidate, redacted: Iterable[SpanDecision]) -> QueueRow:
    one = stored.candidate
    order: tuple[Strength, ...] = ("strong", "medium", "weak")
    return QueueRow(
        number=stored.number,
        key=one.key,
        state=stored.state,
        source=one.source,
        rules=tuple(dict.fromkeys(hit.rule for hit in one.rules)),
        strength=min((hit.strength for hit in one.rules), key=order.index),
        query=mask_text(one.query, (said for said in redacted if said.place == "query")),
        language=one.language,
        stratum=one.stratum,
        origin=one.origin,
        audience=one.audience,
        seen_on=one.seen_on,
        suggestions=sum(span.band == "suggested" for span in one.query.spans),
        links=len({link.document for link in one.links}),
        stored_at=stored.stored_at,
        state_at=stored.state_at,
    )
