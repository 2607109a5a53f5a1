"""What a reviewer is given next, and how far everybody is."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, func, or_, select

from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.listing import (
    CandidateFilters,
    Choices,
    filtered,
    is_newest,
    list_choices,
    twice_reviewed,
)
from findback.workbench.rows import StoredCandidate, read_rows
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES, RESERVATIONS, REVIEWERS, REVIEWS

FEWEST = 3
"""Reviewers that a figure about the team must rest on: with fewer, one could work out a colleague's."""


_OTHERS = (
    select(REVIEWS.c.id)
    .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
    .where(
        REVIEWS.c.stage == "submitted",
        REVIEWS.c.at > bindparam("since", type_=REVIEWS.c.at.type),
        REVIEWERS.c.subject != bindparam("subject"),
    )
    .order_by(REVIEWS.c.id.desc())
    .limit(1)
)


_OFTEN = case({"1": 0, "2-4": 1, "5-19": 2, "20+": 3}, value=CANDIDATES.c.asked, else_=0)


class Turn(NamedTuple):
    """Who asks for work, and when."""

    reviewer: str
    now: datetime
    second_look_before: datetime | None = None
    """What they submitted before this may come to them a second time; nothing when None."""
    settles: bool = False
    """Whether they settle disagreements."""


class TeamProgress(NamedTuple):
    """What was submitted, by whom only as far as it is oneself."""

    own_day: int
    own_week: int
    team_week: int | None
    """Everybody's; None when fewer than three people took part, because it would tell about one of them."""
    second_opinions: int
    """Candidates that wait for a second opinion."""
    disagreements: int
    """Candidates on which opinions differ."""


def open_to(turn: Turn) -> ColumnElement[bool]:
    """Return the condition that a candidate may be given to a reviewer."""
    number = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == turn.reviewer).scalar_subquery()
    held = select(RESERVATIONS.c.candidate).where(
        RESERVATIONS.c.until > turn.now, RESERVATIONS.c.reviewer.is_distinct_from(number)
    )
    mine = select(REVIEWS.c.candidate).where(REVIEWS.c.reviewer == number, REVIEWS.c.stage == "submitted", is_newest())
    done: ColumnElement[bool] = CANDIDATES.c.id.in_(mine)
    if turn.second_look_before is not None:
        over = mine.where(or_(REVIEWS.c.look == 2, REVIEWS.c.at > turn.second_look_before))
        done = and_(done, or_(CANDIDATES.c.state != "second-opinion", CANDIDATES.c.id.in_(over)))
    differ = and_(CANDIDATES.c.state == "second-opinion", CANDIDATES.c.id.in_(twice_reviewed()))
    return and_(
        CANDIDATES.c.state.in_(sorted(UNDECIDED)),
        CANDIDATES.c.id.not_in(held),
        or_(differ, ~done) if turn.settles else and_(~differ, ~done),
    )


def find_next(connection: Connection, filters: CandidateFilters, turn: Turn, after: str | None) -> str | None:
    """Return the next candidate in the order of storing, from the beginning again at the end; None without any."""
    query = filtered(select(CANDIDATES.c.key), filters).where(open_to(turn))
    start = 0
    if after is not None:
        query = query.where(CANDIDATES.c.key != after)
        start = connection.scalar(select(CANDIDATES.c.id).where(CANDIDATES.c.key == after)) or 0
    ordered = query.order_by(CANDIDATES.c.id).limit(1)
    found: str | None = connection.scalar(ordered.where(CANDIDATES.c.id > start))
    if found is None and start:
        found = connection.scalar(ordered)
    return found


def stack_week(
    connection: Connection, filters: CandidateFilters, turn: Turn, limit: int, pool: int
) -> list[StoredCandidate]:
    """Return what a short session may hold: newest flags first, then what was asked most, equals by how long they wait.

    Args:
        connection: An open transaction.
        filters: Which candidates.
        turn: Who asks, and when.
        limit: Most flags.
        pool: Most of everything else, out of which the caller chooses.
    """
    query = filtered(select(CANDIDATES), filters).where(open_to(turn))
    flags = query.where(CANDIDATES.c.origin == "flagged").order_by(CANDIDATES.c.id.desc()).limit(limit)
    rows: Sequence[Any] = connection.execute(flags).all()
    if len(rows) < limit:
        rest = query.where(CANDIDATES.c.origin != "flagged")
        ordered = rest.order_by(_OFTEN.desc(), CANDIDATES.c.state_at, CANDIDATES.c.id)
        rows = [*rows, *connection.execute(ordered.limit(pool))]
    return read_rows(connection, rows)


def count_progress(connection: Connection, filters: CandidateFilters, reviewer: str, now: datetime) -> TeamProgress:
    """Return how far a reviewer and their team are."""
    number = connection.scalar(select(REVIEWERS.c.id).where(REVIEWERS.c.subject == reviewer))

    def submitted(since: datetime) -> Select[Any]:
        columns = (REVIEWS.c.candidate, REVIEWS.c.reviewer, REVIEWS.c.look)
        return select(*columns).where(REVIEWS.c.stage == "submitted", REVIEWS.c.at > since).distinct()

    week = submitted(now - timedelta(days=7)).subquery()
    day = submitted(now - timedelta(days=1)).subquery()
    people = connection.scalar(select(func.count(week.c.reviewer.distinct()))) or 0
    team = connection.scalar(select(func.count()).select_from(week)) or 0

    def waiting(*conditions: ColumnElement[bool]) -> int:
        query = filtered(select(func.count()).select_from(CANDIDATES), filters)
        return connection.scalar(query.where(CANDIDATES.c.state == "second-opinion", *conditions)) or 0

    differ = CANDIDATES.c.id.in_(twice_reviewed())
    return TeamProgress(
        own_day=connection.scalar(select(func.count()).where(day.c.reviewer == number)) or 0,
        own_week=connection.scalar(select(func.count()).where(week.c.reviewer == number)) or 0,
        team_week=team if people >= FEWEST else None,
        second_opinions=waiting(~differ),
        disagreements=waiting(differ),
    )


def has_others(connection: Connection, reviewer: str, since: datetime) -> bool:
    """Return whether anybody else submitted a review since a moment."""
    return connection.scalar(_OTHERS, {"subject": reviewer, "since": since}) is not None


def count_decided(connection: Connection, reviewer: str, since: datetime) -> dict[str, int]:
    """Return how many reviews somebody handed in since a moment, by what they came to."""
    query = (
        select(REVIEWS.c.answer, func.count())
        .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
        .where(REVIEWS.c.stage == "submitted", REVIEWS.c.at > since, REVIEWERS.c.subject == reviewer, is_newest())
        .group_by(REVIEWS.c.answer)
    )
    return {row[0]: row[1] for row in connection.execute(query) if row[0] is not None}


class Queue:
    """What comes next, each call a transaction of its own."""

    _database: Database

    @quietly("find the next candidate")
    def next_key(self, filters: CandidateFilters, turn: Turn, *, after: str | None = None) -> str | None:
        """Return the next candidate that nobody else has and that this reviewer has not submitted.

        Args:
            filters: Which ones; carries the audiences the reviewer may see.
            turn: Who asks, and when.
            after: Key of the one they come from; at the end it begins again.
        """
        with self._database.reading() as connection:
            return find_next(connection, filters, turn, after)

    @quietly("put a session together")
    def week(self, filters: CandidateFilters, turn: Turn, *, limit: int, pool: int = 0) -> list[StoredCandidate]:
        """Return what a short session may hold: newest flags first, then what was asked most and waited longest.

        Args:
            filters: Which candidates.
            turn: Who asks, and when.
            limit: Most flags.
            pool: Most of everything else, out of which the caller chooses; `limit` when less.
        """
        with self._database.reading() as connection:
            return stack_week(connection, filters, turn, limit, max(limit, pool))

    @quietly("list what can be filtered by")
    def choices(self, filters: CandidateFilters) -> Choices:
        """Return which sources, rules and languages there are among candidates."""
        with self._database.reading() as connection:
            return list_choices(connection, filters)

    @quietly("count what is done")
    def progress(self, filters: CandidateFilters, reviewer: str, *, now: datetime) -> TeamProgress:
        """Return how far a reviewer and their team are, without a figure about another person."""
        with self._database.reading() as connection:
            return count_progress(connection, filters, reviewer, now)

    @quietly("look for other reviewers")
    def others_since(self, reviewer: str, since: datetime) -> bool:
        """Return whether anybody else submitted a review since a moment."""
        with self._database.reading() as connection:
            return has_others(connection, reviewer, since)

    @quietly("count what was decided")
    def decided_since(self, reviewer: str, since: datetime) -> dict[str, int]:
        """Return how many reviews somebody handed in since a moment, by what they came to."""
        with self._database.reading() as connection:
            return count_decided(connection, reviewer, since)
