"""A person moves a candidate from one state to another."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from findback.errors import MissingError, UsageError
from findback.workbench.event import add_event
from findback.workbench.faults import ConflictError
from findback.workbench.insertion import insert_missing
from findback.workbench.state import WAYS, State
from findback.workbench.tables import CANDIDATES, DECISIONS, REVIEWERS

OriginalOutcome = Literal["asked", "shown", "unreadable"]
"""What became of somebody's wish to see the words behind a placeholder."""

_HELD = (
    select(CANDIDATES.c.id, CANDIDATES.c.state, CANDIDATES.c.version)
    .where(CANDIDATES.c.key == bindparam("key"))
    .with_for_update()
)
_NUMBER = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == bindparam("subject"))


def decide_candidate(
    connection: Connection,
    key: str,
    state: State,
    *,
    reviewer: str,
    version: int,
    reason: str | None,
    now: datetime,
) -> int:
    """Move a candidate to a state and return its new version.

    Raises:
        MissingError: If there is no such candidate.
        ConflictError: If it is no longer of that version.
        UsageError: If its state does not lead there.
    """
    row = hold_candidate(connection, key)
    if row.version != version:
        raise ConflictError(
            f"the candidate changed meanwhile: version {row.version}, {row.state}", state=row.state, version=row.version
        )
    number = number_of_reviewer(connection, reviewer, now)
    return move_candidate(connection, key, row, state, reviewer=number, reason=reason, now=now)


def move_candidate(
    connection: Connection,
    key: str,
    row: Row[*tuple[Any, ...]],
    state: State,
    *,
    reviewer: int,
    reason: str | None,
    now: datetime,
) -> int:
    """Move a candidate whose row the transaction holds, write the decision down, and return its new version.

    Raises:
        UsageError: If its state does not lead there.
    """
    if state not in WAYS[row.state]:
        ways = ", ".join(sorted(WAYS[row.state])) or "nothing else"
        raise UsageError(f"a candidate that is {row.state} cannot become {state}", hint=f"it can become {ways}")
    version = int(row.version) + 1
    values = {"state": state, "version": version, "state_at": now, "updated_at": now}
    connection.execute(update(CANDIDATES).where(CANDIDATES.c.id == row.id).values(**values))
    connection.execute(
        insert(DECISIONS).values(
            candidate=row.id,
            reviewer=reviewer,
            at=now,
            before=row.state,
            after=state,
            version=version,
            reason=reason,
        )
    )
    details = {"before": row.state, "after": state, "version": version}
    add_event(connection, "decide", now, candidate=key, reviewer=reviewer, details=details)
    return version


def hold_candidate(connection: Connection, key: str) -> Row[*tuple[Any, ...]]:
    """Return a candidate's id, state and version; nobody else may change it until the transaction ends.

    Raises:
        MissingError: If there is no such candidate.
    """
    row = connection.execute(_HELD, {"key": key}).one_or_none()
    if row is None:
        raise missing_candidate(key)
    return row


def log_original(
    connection: Connection, key: str, outcome: OriginalOutcome, *, reviewer: str, reason: str | None, now: datetime
) -> None:
    """Write down what became of somebody's wish to see the words behind a placeholder; reasons go with the candidate.

    Raises:
        MissingError: If there is no such candidate.
    """
    row = hold_candidate(connection, key)
    number = number_of_reviewer(connection, reviewer, now)
    if reason is not None:
        values = {"candidate": row.id, "reviewer": number, "at": now, "before": row.state, "after": row.state}
        connection.execute(insert(DECISIONS).values(**values, version=row.version, reason=reason))
    add_event(connection, "original", now, candidate=key, reviewer=number, details={"outcome": outcome})


def number_of_reviewer(connection: Connection, subject: str, now: datetime) -> int:
    """Return the row number of a reviewer, who is written down when new."""
    number = connection.scalar(_NUMBER, {"subject": subject})
    if number is None:
        # Two processes may meet the same new reviewer at once.
        insert_missing(connection, REVIEWERS, [{"subject": subject, "since": now}])
        number = connection.scalar(_NUMBER, {"subject": subject})
    assert number is not None  # noqa: S101
    return int(number)


def missing_candidate(key: str) -> MissingError:
    """Return the error for a key that is not there."""
    return MissingError(
        f"no candidate {key[:12]}… in the workbench",
        hint="findback candidates list shows them; a few letters of a key are enough to name one",
    )
