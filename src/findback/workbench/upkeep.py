"""What the event log and the reviews say about the keeping of a set: when people worked, what waited, what came in."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from findback.workbench.database import Database
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.listing import is_newest
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES, CASE_CHANGES, EVENTS, REVIEWS

WORK = ("review", "decide", "answer")
"""Events that are somebody's work on the set."""
SEARCHES = "searches"
"""Event of a mined search log; its details are the source and how many searches each day had."""
SOURCE, OVERLAPS = "source", "overlaps"
MOST_DAYS = 2_000
"""Days of one log that are written down, the newest."""


class Stay(NamedTuple):
    """How long one candidate waited."""

    since: datetime
    until: datetime | None
    """When it came into its present state; None where it still waits."""


def read_searches(connection: Connection) -> dict[str, int]:
    """Return how many searches the mined logs hold, by day.

    What goes on from where it came to is added up; of exports that may overlap the fullest account of a day counts.
    """
    fullest: dict[tuple[str, str], int] = defaultdict(int)
    added: dict[tuple[str, str], int] = defaultdict(int)
    for details in connection.scalars(select(EVENTS.c.details).where(EVENTS.c.kind == SEARCHES)):
        days = dict(details or {})
        source, overlaps = str(days.pop(SOURCE, "")), days.pop(OVERLAPS, 1)
        for day, count in days.items():
            if overlaps:
                fullest[source, day] = max(fullest[source, day], count)
            else:
                added[source, day] += count
    by_day: dict[str, int] = defaultdict(int)
    for source, day in {**fullest, **added}:
        by_day[day] += max(fullest[source, day], added[source, day])
    return dict(by_day)


class Upkeep:
    """What is known about the keeping of the set, each call a transaction of its own."""

    _database: Database

    @quietly("read when people worked")
    def worked(self) -> list[datetime]:
        """Return when anybody decided, reviewed, answered, or changed a case; of nobody in particular."""
        events = select(EVENTS.c.at).where(EVENTS.c.kind.in_(WORK))
        changes = select(CASE_CHANGES.c.at).where(CASE_CHANGES.c.what != "released")
        with self._database.reading() as connection:
            return sorted([*connection.scalars(events), *connection.scalars(changes)])

    @quietly("read what waited")
    def stays(self) -> list[Stay]:
        """Return how long each candidate waited that is still here."""
        query = select(CANDIDATES.c.stored_at, CANDIDATES.c.state, CANDIDATES.c.state_at).order_by(CANDIDATES.c.id)
        with self._database.reading() as connection:
            return [
                Stay(row.stored_at, None if row.state in UNDECIDED else row.state_at)
                for row in connection.execute(query)
            ]

    @quietly("read when flags came in")
    def flag_times(self) -> list[datetime]:
        """Return when flags came in, oldest first; those count that were erased since."""
        with self._database.reading() as connection:
            return sorted(connection.scalars(select(EVENTS.c.at).where(EVENTS.c.kind == "flag")))

    @quietly("write down how many searches there were")
    def log_searches(self, source: str, by_day: Mapping[str, int], *, overlaps: bool, now: datetime) -> None:
        """Write down how many searches a log held.

        Args:
            source: Its name under `[sources]`, or its kind.
            by_day: Searches by day, YYYY-MM-DD.
            overlaps: Whether these days may be written down again, from another export.
            now: When it was read.
        """
        newest = dict(sorted(by_day.items())[-MOST_DAYS:])
        with self._database.deciding() as connection:
            add_event(connection, SEARCHES, now, details={SOURCE: source, OVERLAPS: int(overlaps), **newest})

    @quietly("read how many searches there were")
    def searches(self) -> dict[str, int]:
        """Return how many searches the mined logs hold, by day, YYYY-MM-DD."""
        with self._database.reading() as connection:
            return read_searches(connection)

    @quietly("read wordings")
    def wordings(self) -> dict[str, str]:
        """Return the wording that the newest submitted review gave each candidate, by its key."""
        query = (
            select(CANDIDATES.c.key, REVIEWS.c.wording)
            .join(REVIEWS, REVIEWS.c.candidate == CANDIDATES.c.id)
            .where(REVIEWS.c.stage == "submitted", REVIEWS.c.wording.is_not(None), is_newest())
            .order_by(REVIEWS.c.id)
        )
        with self._database.reading() as connection:
            return {row.key: row.wording for row in connection.execute(query)}
