"""A person moves a candidate from one state to another."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from findback.errors import MissingError, UsageError
from findback.workbench.event import add_event
from findback.workbench.faults import ConflictError
from findback.workbench.insertion import insert_missing
from findback.workbench.state import WAYS, State
from findback.workbench.tables import CANDIDATES, DECISIONS, REVIEWERS


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
    row = connection.execute(
        select(CANDIDATES.c.id, CANDIDATES.c.state, CANDIDATES.c.version)
        .where(CANDIDATES.c.key == key)
        .with_for_update()
    ).one_or_none()
    if row is None:
        raise missing_candidate(key)
    if row.version != version:
        raise ConflictError(
            f"the candidate changed meanwhile: version {row.version}, {row.state}", state=row.state, version=row.version
        )
    if state not in WAYS[row.state]:
        ways = ", ".join(sorted(WAYS[row.state])) or "nothing else"
        raise UsageError(f"a candidate that is {row.state} cannot become {state}", hint=f"it can become {ways}")
    values = {"state": state, "version": version + 1, "state_at": now, "updated_at": now}
    connection.execute(update(CANDIDATES).where(CANDIDATES.c.id == row.id).values(**values))
    number = number_of_reviewer(connection, reviewer, now)
    connection.execute(
        insert(DECISIONS).values(
            candidate=row.id,
            reviewer=number,
            at=now,
            before=row.state,
            after=state,
            version=version + 1,
            reason=reason,
        )
    )
    details = {"before": row.state, "after": state, "version": version + 1}
    add_event(connection, "decide", now, candidate=key, reviewer=number, details=details)
    return version + 1


def number_of_reviewer(connection: Connection, subject: str, now: datetime) -> int:
    """Return the row number of a reviewer, who is written down when new."""
    query = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == subject)
    number = connection.scalar(query)
    if number is None:
        # Two processes may meet the same new reviewer at once.
        insert_missing(connection, REVIEWERS, [{"subject": subject, "since": now}])
        number = connection.scalar(query)
    assert number is not None  # noqa: S101
    return int(number)


def missing_candidate(key: str) -> MissingError:
    """Return the error for a key that is not there."""
    return MissingError(
        f"no candidate {key[:12]}… in the workbench",
        hint="findback candidates list shows them; a few letters of a key are enough to name one",
    )
