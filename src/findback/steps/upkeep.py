"""Whether anybody looked after the set: the weeks in which something waited and nobody decided anything."""

from datetime import UTC, date, datetime, timedelta

from findback.errors import FindbackError
from findback.model.week import Keeping, PastWeek, Upkeep, Week
from findback.steps.bench import has_bench, open_bench
from findback.steps.kept import newest
from findback.workbench.store import Workbench
from findback.workspace import Workspace

WEEKS = 8
"""Whole weeks that are looked back on."""
WEEK = timedelta(days=7)


def look_after(workspace: Workspace, *, now: datetime) -> Keeping | None:
    """Return how the set is kept, with the newest week that was kept; None where there is no workbench to read."""
    if not has_bench(workspace):
        return None
    try:
        with open_bench(workspace) as bench:
            upkeep = review_upkeep(workspace, bench, now=now)
    except FindbackError:
        return None
    return Keeping(upkeep=upkeep, week=newest(workspace, Week).result)


def review_upkeep(workspace: Workspace, bench: Workbench, *, now: datetime) -> Upkeep:
    """Return what happened in the last weeks.

    A week is skipped where a candidate that was there before it still waited at its end, and nobody decided
    anything in it. Whatever was erased since, by retention or a purge, is not known to have waited.
    """
    worked = bench.worked()
    stays = bench.stays()
    first = min((one.since for one in stays), default=None)
    this = monday_of(now)
    weeks = []
    for back in range(WEEKS, 0, -1):
        begins = this - back * WEEK
        ends = begins + WEEK
        if first is None or first >= _moment(begins):
            continue
        waited = sum(one.since < _moment(begins) and (one.until is None or one.until >= _moment(ends)) for one in stays)
        decided = sum(_moment(begins) <= at < _moment(ends) for at in worked)
        weeks.append(PastWeek(monday=begins, decided=decided, waited=waited))
    return Upkeep(owner=workspace.settings.set.owner, weeks=tuple(weeks), last=worked[-1].date() if worked else None)


def monday_of(moment: datetime) -> date:
    """Return the Monday of the week a moment is in, UTC."""
    day = moment.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def _moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
