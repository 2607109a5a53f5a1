"""What stands beside the week's stack on its page: with the texts, for those who may read them."""

from datetime import datetime
from typing import NamedTuple

from findback.errors import FindbackError
from findback.model.reviewer import Reviewer
from findback.model.week import Upkeep, Week, WeekItem
from findback.reporting.incoming import say_flags, say_incoming
from findback.reporting.week import say_upkeep
from findback.steps.caselist import open_head
from findback.steps.flagrate import rate_flags
from findback.steps.kept import newest
from findback.steps.reviewdesk import Desk
from findback.steps.reviewqueue import QueueFilters, list_queue
from findback.steps.upkeep import review_upkeep
from findback.steps.week import list_case_parts

SHOWN = 10
"""Things of one kind that are shown."""


class BesideRow(NamedTuple):
    """One thing to look at."""

    link: str
    text: str
    """The question."""
    why: str


class BesidePart(NamedTuple):
    """Things of one kind."""

    title: str
    total: int
    rows: tuple[BesideRow, ...]


class Beside(NamedTuple):
    """What stands beside the stack."""

    upkeep: Upkeep
    said: tuple[str, ...]
    """Who looks after the set, whether the exam is like the questions, and how often people flag."""
    compared: datetime | None
    """When `findback week` last compared; None where it never did."""
    parts: tuple[BesidePart, ...]
    notes: tuple[str, ...]


def look_beside(desk: Desk, reviewer: Reviewer, *, now: datetime) -> Beside:
    """Return stale and doubted cases, to a lead also opinions that differ, and how the set is doing."""
    reviewer.require("reviewer", "lead")
    notes: list[str] = []
    kept = newest(desk.workspace, Week).result
    incoming = kept.incoming if kept is not None else None
    upkeep = review_upkeep(desk.workspace, desk.bench, now=now)
    parts = [_differ(desk, reviewer)] if "lead" in reviewer.roles else []
    try:
        queries = {case.id: case.query for case in open_head(desk.workspace).cases}
        stale, doubts = list_case_parts(desk.workspace, desk.bench, notes)
        parts += [
            BesidePart(title, part.total, tuple(_case(item, queries) for item in part.items[:SHOWN]))
            for title, part in (("Stale: the documents changed", stale), ("Suspicious: to be looked at again", doubts))
        ]
    except FindbackError as error:
        notes.append(f"the cases cannot be read: {error.code}")
    said = (say_upkeep(upkeep), say_incoming(incoming), say_flags(rate_flags(desk.bench, now=now)))
    return Beside(
        upkeep,
        said,
        kept.made if incoming is not None and kept is not None else None,
        tuple(part for part in parts if part.total),
        tuple(notes),
    )


def _differ(desk: Desk, reviewer: Reviewer) -> BesidePart:
    page = list_queue(desk, reviewer, QueueFilters(disagreement=True), limit=SHOWN)
    rows = tuple(BesideRow(f"/items/{row.key}", row.query, "") for row in page.rows)
    return BesidePart("Opinions that differ", page.total, rows)


def _case(item: WeekItem, queries: dict[str, str]) -> BesideRow:
    return BesideRow(f"/cases/{item.id}", queries.get(item.id, item.id), ", ".join(item.why))
