"""Who is logged in to the page: rows named by the digest of a token that only the browser has."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from findback.errors import UsageError
from findback.workbench.database import Database
from findback.workbench.decision import number_of_reviewer
from findback.workbench.faults import quietly
from findback.workbench.tables import REVIEWERS, SESSIONS

LONGEST = 20_000
"""Characters of what a session holds."""


_OF_DIGEST = (
    select(SESSIONS, REVIEWERS.c.subject)
    .outerjoin(REVIEWERS, REVIEWERS.c.id == SESSIONS.c.reviewer)
    .where(SESSIONS.c.token_digest == bindparam("digest"))
)
"""Built once: every request asks it."""


class Session(NamedTuple):
    """One login, or one on its way."""

    reviewer: str | None
    """Who it is; None before the login is done."""
    content: dict[str, Any]
    """What the page remembers: roles, CSRF token, the state of a login."""
    at: datetime
    seen_at: datetime
    until: datetime
    """When it ends, whatever happens."""


def put_session(connection: Connection, digest: str, session: Session) -> None:
    """Write a session down, in place of what there was under the digest.

    Raises:
        UsageError: If it holds too much.
    """
    content = json.dumps(session.content)
    if len(content) > LONGEST:
        raise UsageError("a session this large is not kept", hint="the login sends too many groups")
    number = None if session.reviewer is None else number_of_reviewer(connection, session.reviewer, session.at)
    connection.execute(delete(SESSIONS).where(SESSIONS.c.token_digest == digest))
    connection.execute(
        insert(SESSIONS).values(
            token_digest=digest,
            reviewer=number,
            content=content,
            at=session.at,
            seen_at=session.seen_at,
            until=session.until,
        )
    )


def read_session(connection: Connection, digest: str) -> Session | None:
    """Return a session, over or not."""
    row = connection.execute(_OF_DIGEST, {"digest": digest}).one_or_none()
    if row is None:
        return None
    return Session(row.subject, json.loads(row.content), row.at, row.seen_at, row.until)


class Sessions:
    """Logins, each call a transaction of its own."""

    _database: Database

    @quietly("write a login down")
    def put_session(
        self, digest: str, content: Mapping[str, Any], *, reviewer: str | None, now: datetime, until: datetime
    ) -> None:
        """Begin a session, or put another content in place of what there was.

        Args:
            digest: Digest of the browser's token; the token itself is not kept.
            content: What the page remembers; JSON values.
            reviewer: Who it is; None before the login is done.
            now: When it happens.
            until: When it ends, whatever happens.

        Raises:
            UsageError: If it holds too much.
        """
        with self._database.deciding() as connection:
            put_session(connection, digest, Session(reviewer, dict(content), now, now, until))

    @quietly("read a login")
    def session(self, digest: str, *, now: datetime, idle_since: datetime) -> Session | None:
        """Return a session that is not over and was used since `idle_since`, else None."""
        with self._database.reading() as connection:
            found = read_session(connection, digest)
        return found if found is not None and found.until > now and found.seen_at > idle_since else None

    @quietly("write down that a login was used")
    def touch_session(self, digest: str, *, now: datetime) -> None:
        """Write down that a session was used now."""
        with self._database.deciding() as connection:
            connection.execute(update(SESSIONS).where(SESSIONS.c.token_digest == digest).values(seen_at=now))

    @quietly("end a login")
    def end_session(self, digest: str) -> None:
        """End a session; nothing happens where there is none."""
        with self._database.deciding() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.token_digest == digest))

    @quietly("end logins")
    def end_sessions_of(self, reviewer: str) -> int:
        """End every session of a person, and return how many there were."""
        number = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == reviewer).scalar_subquery()
        with self._database.deciding() as connection:
            return connection.execute(delete(SESSIONS).where(SESSIONS.c.reviewer == number)).rowcount

    @quietly("clear old logins")
    def clear_sessions(self, *, now: datetime, idle_since: datetime) -> int:
        """Take away the sessions that are over, and return how many there were."""
        over = (SESSIONS.c.until <= now) | (SESSIONS.c.seen_at <= idle_since)
        with self._database.deciding() as connection:
            return connection.execute(delete(SESSIONS).where(over)).rowcount

    @quietly("write a reviewer down")
    def remember_reviewer(self, subject: str, *, name: str | None, roles: tuple[str, ...], now: datetime) -> None:
        """Write down how a person is called and which roles they had at their last login."""
        with self._database.deciding() as connection:
            number = number_of_reviewer(connection, subject, now)
            values = {"name": name, "roles": sorted(roles)}
            connection.execute(update(REVIEWERS).where(REVIEWERS.c.id == number).values(**values))
