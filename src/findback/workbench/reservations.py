"""Who works on a candidate: others are not given it until they save, leave or the time is over."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from findback.errors import UsageError
from findback.workbench.database import Database
from findback.workbench.decision import hold_candidate, number_of_reviewer
from findback.workbench.faults import ConflictError, quietly
from findback.workbench.tables import CANDIDATES, RESERVATIONS, REVIEWERS

LONGEST = 24 * 60
"""Minutes a reservation may last."""
YOUNG = timedelta(minutes=1)
"""A reservation made or renewed so lately is not written again: every look at the page asks for it."""


_OF_CANDIDATE = select(RESERVATIONS).where(RESERVATIONS.c.candidate == bindparam("candidate"))
_OWN = (
    select(RESERVATIONS.c.until)
    .join(CANDIDATES, CANDIDATES.c.id == RESERVATIONS.c.candidate)
    .join(REVIEWERS, REVIEWERS.c.id == RESERVATIONS.c.reviewer)
    .where(CANDIDATES.c.key == bindparam("key"), REVIEWERS.c.subject == bindparam("reviewer"))
)


class Reservation(NamedTuple):
    """A candidate that one reviewer has for a while."""

    key: str
    reviewer: str
    until: datetime


def reserve_candidate(connection: Connection, key: str, reviewer: str, *, now: datetime, minutes: int) -> Reservation:
    """Give a candidate to a reviewer, or for longer.

    Raises:
        MissingError: If there is no such candidate.
        ConflictError: If somebody else has it.
        UsageError: If the time is no time.
    """
    if not 0 < minutes <= LONGEST:
        raise UsageError(f"a reservation lasts from 1 to {LONGEST} minutes")
    row = hold_candidate(connection, key)
    number = number_of_reviewer(connection, reviewer, now)
    until = now + timedelta(minutes=minutes)
    held = connection.execute(_OF_CANDIDATE, {"candidate": row.id}).one_or_none()
    if held is not None and held.reviewer != number and held.until > now:
        # Not by whom: what a colleague does is theirs to tell.
        raise ConflictError(
            f"somebody else is working on it until {held.until:%H:%M} UTC", state=row.state, version=row.version
        )
    keep(connection, row.id, number, until, held=held is not None)
    return Reservation(key, reviewer, until)


def keep(connection: Connection, candidate: int, reviewer: int, until: datetime, *, held: bool) -> None:
    """Write a reservation down for a candidate that the transaction holds."""
    values = {"reviewer": reviewer, "until": until}
    if held:
        connection.execute(update(RESERVATIONS).where(RESERVATIONS.c.candidate == candidate).values(**values))
    else:
        connection.execute(insert(RESERVATIONS).values(candidate=candidate, **values))


def hold_on(connection: Connection, candidate: int, reviewer: int, until: datetime | None, now: datetime) -> None:
    """Keep a candidate for whoever changed their review of it, or let go of it; what somebody else has stays theirs.

    Args:
        connection: Transaction that holds the candidate.
        candidate: Row number.
        reviewer: Row number of the reviewer.
        until: Until when; None lets go.
        now: When it happens.
    """
    held = connection.execute(_OF_CANDIDATE, {"candidate": candidate}).one_or_none()
    if held is not None and held.reviewer != reviewer and held.until > now:
        return
    if until is None:
        if held is not None:
            connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.candidate == candidate))
    elif held is None or held.reviewer != reviewer or abs(until - held.until) >= YOUNG:
        keep(connection, candidate, reviewer, until, held=held is not None)


def release_candidate(connection: Connection, key: str, reviewer: str) -> None:
    """Let go of a candidate; nothing happens where the reviewer does not have it."""
    number = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == reviewer).scalar_subquery()
    candidate = select(CANDIDATES.c.id).where(CANDIDATES.c.key == key).scalar_subquery()
    connection.execute(
        delete(RESERVATIONS).where(RESERVATIONS.c.candidate == candidate, RESERVATIONS.c.reviewer == number)
    )


class Reservations:
    """Reservations, each in a transaction of its own."""

    _database: Database

    @quietly("reserve a candidate")
    def reserve(self, key: str, reviewer: str, *, now: datetime, minutes: int) -> Reservation:
        """Give a candidate to a reviewer for a while, or for longer; others are not given it meanwhile.

        Raises:
            MissingError: If there is no such candidate.
            ConflictError: If somebody else has it; says until when, not who.
            UsageError: If the time is no time.
        """
        held = self._held(key, reviewer)
        if minutes > 0 and held is not None and abs(now - (held - timedelta(minutes=minutes))) < YOUNG:
            return Reservation(key, reviewer, held)
        with self._database.deciding() as connection:
            return reserve_candidate(connection, key, reviewer, now=now, minutes=minutes)

    def _held(self, key: str, reviewer: str) -> datetime | None:
        """Return until when a reviewer has a candidate; None where they do not have it."""
        with self._database.reading() as connection:
            until: datetime | None = connection.scalar(_OWN, {"key": key, "reviewer": reviewer})
        return until

    @quietly("let go of a candidate")
    def release_reservation(self, key: str, reviewer: str) -> None:
        """Let go of a candidate; nothing happens where the reviewer does not have it."""
        with self._database.deciding() as connection:
            release_candidate(connection, key, reviewer)
