"""How often people flag: against the searches of mined logs, where there are any, else by the week."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from findback.measure.anytime import bound_rate, compare_rates
from findback.model.rate import FlagMonth, FlagRate, Rate, RateUnit
from findback.workbench.store import Workbench

MONTHS = 12
"""Months that are listed, the newest."""
DAY = timedelta(days=1)


class Count(NamedTuple):
    """Flags, and what passed meanwhile."""

    flags: int
    exposure: float

    def plus(self, flags: int, exposure: float) -> "Count":
        """Return both counts together."""
        return Count(self.flags + flags, self.exposure + exposure)


NONE = Count(0, 0.0)


def rate_flags(bench: Workbench, *, now: datetime) -> FlagRate | None:
    """Return how often people flagged; None before the day after the first flag is over."""
    return count_flags(bench.flag_times(), bench.searches(), now=now)


def count_flags(times: Sequence[datetime], searches: Mapping[str, int], *, now: datetime) -> FlagRate | None:
    """Return the rate of flags, by month.

    The count begins the day after the first flag: a beginning that does not hang on anything counted. Only whole
    days count. Where a mined log covers days since then, flags and searches of these days are counted, and of no
    others.

    Args:
        times: When flags came in.
        searches: Searches by day, YYYY-MM-DD, as mined logs hold them.
        now: When it is.
    """
    if not times:
        return None
    first, today = min(times).astimezone(UTC).date() + DAY, now.astimezone(UTC).date()
    days = [first + at * DAY for at in range((today - first).days)]
    if not days:
        return None
    flags = Counter(one.astimezone(UTC).date() for one in times)
    covered = [day for day in days if searches.get(day.isoformat(), 0) > 0]
    unit: RateUnit = "search" if covered else "week"
    counted = covered or days
    by_month: dict[str, Count] = {}
    for day in counted:
        passed = float(searches[day.isoformat()]) if covered else 1 / 7
        by_month[_month(day)] = by_month.get(_month(day), NONE).plus(flags[day], passed)
    *before, newest = by_month.values()
    earlier = Count(sum(one.flags for one in before), sum(one.exposure for one in before))
    return FlagRate(
        unit=unit,
        since=counted[0].isoformat(),
        until=counted[-1].isoformat(),
        overall=_rate(earlier.plus(*newest)),
        months=tuple(FlagMonth(month=month, rate=_rate(count)) for month, count in list(by_month.items())[-MONTHS:]),
        change=compare_rates(earlier, newest) if before else "cannot tell",
        uncounted=sum(flags[day] for day in days) - sum(flags[day] for day in counted),
    )


def _rate(count: Count) -> Rate:
    return bound_rate(count.flags, round(count.exposure, 9))


def _month(day: date) -> str:
    return f"{day:%Y-%m}"
