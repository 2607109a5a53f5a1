"""Long work that faces start: stored, so that it survives them; with progress, cancel and resume."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, delete, insert, select, update

from findback.errors import MissingError
from findback.workbench.database import Database
from findback.workbench.decision import number_of_reviewer
from findback.workbench.faults import quietly
from findback.workbench.tables import JOBS, REVIEWERS

JobState = Literal["waiting", "running", "cancelling", "done", "failed", "cancelled"]

OVER: frozenset[str] = frozenset({"done", "failed", "cancelled"})
MOST = 1_000
"""Jobs remembered; the oldest that are over go."""


class Job(NamedTuple):
    """A piece of long work."""

    number: int
    kind: str
    request: dict[str, Any]
    state: JobState
    done: int
    total: int | None
    reviewer: str | None
    created_at: datetime
    started_at: datetime | None
    beat_at: datetime | None
    """When its worker was last heard of."""
    ended_at: datetime | None
    error: str | None
    """Code of the error it ended with; its message is not kept."""


def read_jobs(connection: Connection, *conditions: Any, limit: int) -> list[Job]:
    """Return jobs, newest first."""
    query = select(JOBS, REVIEWERS.c.subject).outerjoin(REVIEWERS, REVIEWERS.c.id == JOBS.c.reviewer)
    return [_job(row) for row in connection.execute(query.where(*conditions).order_by(JOBS.c.id.desc()).limit(limit))]


def _job(row: Row[Any]) -> Job:
    return Job(
        row.id,
        row.kind,
        row.request or {},
        row.state,
        row.done,
        row.total,
        row.subject,
        row.created_at,
        row.started_at,
        row.beat_at,
        row.ended_at,
        row.error,
    )


class Jobs:
    """Long work, each call a transaction of its own."""

    _database: Database

    @quietly("write a job down")
    def add_job(
        self, kind: str, request: Mapping[str, Any], *, reviewer: str | None, now: datetime, running: bool = False
    ) -> int:
        """Put a job in the queue and return its number.

        Args:
            kind: What it is.
            request: With what it is asked; JSON values.
            reviewer: Who asks.
            now: When it happens.
            running: Whether the caller does it at once, and nobody else takes it unless it falls silent.
        """
        with self._database.deciding() as connection:
            number = None if reviewer is None else number_of_reviewer(connection, reviewer, now)
            values = {"kind": kind, "request": dict(request), "state": "waiting", "done": 0, "reviewer": number}
            if running:
                values |= {"state": "running", "started_at": now, "beat_at": now}
            made = connection.execute(insert(JOBS).values(**values, created_at=now).returning(JOBS.c.id)).scalar_one()
            connection.execute(delete(JOBS).where(JOBS.c.id <= made - MOST, JOBS.c.state.in_(sorted(OVER))))
            return int(made)

    @quietly("start a job")
    def start_job(self, *, now: datetime, stale_before: datetime, number: int | None = None) -> Job | None:
        """Take the oldest waiting job, or one whose worker was not heard of since, and return it; None without any.

        Args:
            now: When it happens.
            stale_before: A running job not heard of since then is taken over; what it did so far stays done.
            number: Only this one.
        """
        waiting = (JOBS.c.state == "waiting") | (
            JOBS.c.state.in_(("running", "cancelling")) & (JOBS.c.beat_at < stale_before)
        )
        with self._database.deciding() as connection:
            query = select(JOBS.c.id, JOBS.c.state).where(waiting)
            if number is not None:
                query = query.where(JOBS.c.id == number)
            row = connection.execute(query.order_by(JOBS.c.id).limit(1).with_for_update(skip_locked=True)).one_or_none()
            if row is None:
                return None
            state = "cancelling" if row.state == "cancelling" else "running"
            values = {"state": state, "started_at": now, "beat_at": now}
            connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(**values))
            return read_jobs(connection, JOBS.c.id == row.id, limit=1)[0]

    @quietly("write down how far a job is")
    def beat_job(self, number: int, *, done: int, total: int | None, now: datetime) -> bool:
        """Write down how far a job is; return False when it shall stop."""
        with self._database.deciding() as connection:
            values = {"done": done, "total": total, "beat_at": now}
            connection.execute(update(JOBS).where(JOBS.c.id == number, JOBS.c.ended_at.is_(None)).values(**values))
            return connection.scalar(select(JOBS.c.state).where(JOBS.c.id == number)) == "running"

    @quietly("end a job")
    def finish_job(
        self,
        number: int,
        state: Literal["done", "failed", "cancelled"],
        *,
        now: datetime,
        error: str | None = None,
        forget: bool = False,
    ) -> None:
        """Write down how a job ended; the first end counts.

        Args:
            number: Which one.
            state: How it ended.
            now: When it happens.
            error: Code of the error it ended with.
            forget: Whether what it was asked with is of nobody's concern any more, and goes.
        """
        with self._database.deciding() as connection:
            values: dict[str, Any] = {"state": state, "ended_at": now, "error": error}
            if forget:
                values["request"] = None
            connection.execute(update(JOBS).where(JOBS.c.id == number, JOBS.c.ended_at.is_(None)).values(**values))

    @quietly("cancel a job")
    def cancel_job(self, number: int, *, now: datetime, forget: bool = False) -> None:
        """Ask a job to stop: one that waits is cancelled at once, one that runs at its next beat.

        Args:
            number: Which one.
            now: When it happens.
            forget: Whether what one that waits was asked with goes.
        """
        with self._database.deciding() as connection:
            ended: dict[str, Any] = {"state": "cancelled", "ended_at": now}
            if forget:
                ended["request"] = None
            here = JOBS.c.id == number
            connection.execute(update(JOBS).where(here, JOBS.c.state == "waiting").values(**ended))
            connection.execute(update(JOBS).where(here, JOBS.c.state == "running").values(state="cancelling"))

    @quietly("read a job")
    def job(self, number: int) -> Job:
        """Return a job.

        Raises:
            MissingError: If there is none.
        """
        with self._database.reading() as connection:
            found = read_jobs(connection, JOBS.c.id == number, limit=1)
        if not found:
            raise MissingError(f"there is no job {number}")
        return found[0]

    @quietly("list jobs")
    def jobs(self, *, reviewer: str | None = None, limit: int = 50) -> list[Job]:
        """Return jobs, newest first: one person's, or everybody's."""
        with self._database.reading() as connection:
            return read_jobs(connection, *(() if reviewer is None else (REVIEWERS.c.subject == reviewer,)), limit=limit)
