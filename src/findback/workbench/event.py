"""The event log: what happened, in names, states and counts. It only grows."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from findback.workbench.tables import EVENTS, REVIEWERS

Details = Mapping[str, int | str]


class Event(NamedTuple):
    """One thing that happened."""

    number: int
    at: datetime
    kind: str
    """put, decide, review, original, ask, answer, flag, searches, token, forget, exclude, purge, retention,
    backup, restore."""
    candidate: str | None
    """Key of the candidate it was about."""
    reviewer: str | None
    details: Details


def add_event(
    connection: Connection,
    kind: str,
    now: datetime,
    *,
    candidate: str | None = None,
    reviewer: int | None = None,
    details: Details | None = None,
) -> None:
    """Write down that something happened; details are counts and states, never a text."""
    row = {"at": now, "kind": kind, "candidate_key": candidate, "reviewer": reviewer, "details": dict(details or {})}
    connection.execute(insert(EVENTS).values(**row))


def read_events(connection: Connection, limit: int, after: int) -> Iterator[Event]:
    """Yield events in the order they happened, from the one after `after` on."""
    query = (
        select(EVENTS, REVIEWERS.c.subject)
        .outerjoin(REVIEWERS, REVIEWERS.c.id == EVENTS.c.reviewer)
        .where(EVENTS.c.id > after)
        .order_by(EVENTS.c.id)
        .limit(limit)
    )
    for row in connection.execute(query):
        yield Event(row.id, row.at, row.kind, row.candidate_key, row.subject, row.details or {})


def read_newest(connection: Connection, limit: int, before: int | None) -> Iterator[Event]:
    """Yield events, newest first, from the one before `before` on."""
    query = select(EVENTS, REVIEWERS.c.subject).outerjoin(REVIEWERS, REVIEWERS.c.id == EVENTS.c.reviewer)
    if before is not None:
        query = query.where(EVENTS.c.id < before)
    for row in connection.execute(query.order_by(EVENTS.c.id.desc()).limit(limit)):
        yield Event(row.id, row.at, row.kind, row.candidate_key, row.subject, row.details or {})
