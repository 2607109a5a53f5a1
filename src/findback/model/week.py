"""The week's half hour: what is worth looking at, by ids and counts, never by texts."""

import datetime as dt
from typing import Literal

from findback.model.incoming import Incoming
from findback.model.rate import FlagRate
from findback.model.record import Record
from findback.model.tracked import Tracker

WeekKind = Literal["flag", "candidate", "stale", "disagreement", "doubt"]


class WeekItem(Record):
    """One thing to look at."""

    kind: WeekKind
    id: str
    """Beginning of a candidate's key, or id of a case."""
    value: float | None = None
    """Expected value of a flag or candidate, 0 or more: times asked, by how unlike the exam it is, by what it costs."""
    why: tuple[str, ...] = ()
    """Names and counts: `asked 5-19`, `no answer found`."""


class WeekPart(Record):
    """Everything of one kind that waits."""

    kind: WeekKind
    total: int
    items: tuple[WeekItem, ...]
    """Those that are listed, the most valuable first."""


class PastWeek(Record):
    """One calendar week, Monday to Sunday, UTC."""

    monday: dt.date
    decided: int
    """Reviews, decisions and changes of cases; nobody's in particular."""
    waited: int
    """Candidates that waited at its end, or were decided after it, as far as is known now."""

    @property
    def skipped(self) -> bool:
        """Return whether something waited and nobody looked."""
        return self.waited > 0 and self.decided == 0


class Upkeep(Record):
    """Who looks after the set, and whether anybody did."""

    owner: str | None
    """From findback.toml; None where nobody is named."""
    weeks: tuple[PastWeek, ...]
    """Whole weeks since the first candidate, the newest last."""
    last: dt.date | None = None
    """Day of the newest decision; None before the first."""

    @property
    def skipped(self) -> int:
        """Return how many of the weeks were skipped."""
        return sum(week.skipped for week in self.weeks)

    @property
    def skipped_last(self) -> int:
        """Return how many weeks in a row were skipped up to now."""
        count = 0
        for week in reversed(self.weeks):
            if not week.skipped:
                break
            count += 1
        return count


class Week(Record):
    """What one half hour should hold, and how the set is doing."""

    format: Literal[1] = 1
    made: dt.datetime
    workspace: str
    findback: str
    monday: dt.date
    minutes: int
    """Length of the session; one item takes about one."""
    upkeep: Upkeep
    parts: tuple[WeekPart, ...]
    incoming: Incoming | None = None
    """None where it was left out, or there is nothing to compare."""
    flags: FlagRate | None = None
    """None before the second day of flags."""
    tracker: Tracker | None = None
    """None before the first release."""
    notes: tuple[str, ...] = ()


class Keeping(Record):
    """Who looks after the set, and how it is doing, for a report."""

    upkeep: Upkeep
    """As of the report."""
    week: Week | None
    """The newest that was kept; None where there is none."""
