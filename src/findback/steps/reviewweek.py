"""The weekly half hour: what it holds, how much of it is left, and what came of it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from findback.model.reviewer import Reviewer
from findback.steps.reviewdesk import Desk
from findback.steps.reviewqueue import QueueRow, weekly_stack


class Week(NamedTuple):
    """One sitting of one person."""

    stack: tuple[QueueRow, ...]
    """What still waits: newest flags first, then what is worth most."""
    began: datetime | None
    """None before the clock was started."""
    ends: datetime
    """When it is over; for one that has not begun, when it would be if it began now."""
    over: bool
    decided: Mapping[str, int]
    """What one submitted since it began, by what it came to: one, cross-doc, no-answer, later, unrateable."""


def open_week(desk: Desk, reviewer: Reviewer, ends: str = "", *, now: datetime) -> Week:
    """Return a sitting.

    Args:
        desk: Where they review.
        reviewer: Who sits.
        ends: When it ends, as its pages carry it; a time that makes no sense is a sitting that has not begun.
        now: When it is.
    """
    length = timedelta(minutes=desk.settings.week_minutes)
    until = read_moment(ends)
    stack = weekly_stack(desk, reviewer, now=now)
    if until is None or not now - timedelta(days=1) < until <= now + length + timedelta(minutes=1):
        return Week(stack, None, now + length, over=False, decided={})
    began = until - length
    return Week(stack, began, until, over=now >= until, decided=desk.bench.decided_since(reviewer.subject, began))


def read_moment(written: str) -> datetime | None:
    """Return a moment written in ISO 8601 with its offset; None for anything else."""
    try:
        moment = datetime.fromisoformat(written)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
