"""Tokens for programs: shown once, kept as digests, for named scopes and a limited time."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from findback.errors import MissingError, UsageError
from findback.workbench.database import Database
from findback.workbench.decision import number_of_reviewer
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.tables import API_TOKENS, REVIEWERS

MOST = 50
"""Tokens one person may have at a time."""
LONGEST_NAME = 100


_WITH_OWNER = select(API_TOKENS, REVIEWERS.c.subject, REVIEWERS.c.roles.label("held")).join(
    REVIEWERS, REVIEWERS.c.id == API_TOKENS.c.reviewer
)
_OF_DIGEST = _WITH_OWNER.where(API_TOKENS.c.token_digest == bindparam("digest"))


class ApiToken(NamedTuple):
    """A token, without what would let one use it."""

    number: int
    name: str
    reviewer: str
    scopes: frozenset[str]
    at: datetime
    used_at: datetime | None
    until: datetime
    revoked_at: datetime | None
    held: frozenset[str] = frozenset()
    """Roles that whoever made it had when they were last seen; none where they never logged in."""

    @property
    def roles(self) -> frozenset[str]:
        """Return what it may do now: no more than its scopes, and no more than its owner may."""
        return self.scopes & self.held


def make_token() -> str:
    """Return a new random token: 256 bits, letters that need no quoting."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> str:
    """Return what is kept of a token; a random one this long cannot be guessed from it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_tokens(connection: Connection, reviewer: str | None) -> list[ApiToken]:
    """Return the tokens of one person, or all of them, newest first."""
    query = _WITH_OWNER
    if reviewer is not None:
        query = query.where(REVIEWERS.c.subject == reviewer)
    return [_token(row) for row in connection.execute(query.order_by(API_TOKENS.c.id.desc()))]


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(
        row.id,
        row.name,
        row.subject,
        frozenset(row.scopes),
        row.at,
        row.used_at,
        row.until,
        row.revoked_at,
        frozenset(row.held or ()),
    )


class ApiTokens:
    """Tokens for programs, each call a transaction of its own."""

    _database: Database

    @quietly("write a token down")
    def add_api_token(
        self, name: str, *, reviewer: str, scopes: Collection[str], now: datetime, until: datetime
    ) -> str:
        """Make a token and return it: this is the only time it can be seen.

        Raises:
            UsageError: If the name is too long, the time is over, or the person has too many.
        """
        if not 0 < len(name) <= LONGEST_NAME:
            raise UsageError(f"a token needs a name of at most {LONGEST_NAME} characters")
        if until <= now:
            raise UsageError("a token needs a time that is not over yet")
        token = make_token()
        with self._database.deciding() as connection:
            number = number_of_reviewer(connection, reviewer, now)
            valid = (API_TOKENS.c.revoked_at.is_(None), API_TOKENS.c.until > now, API_TOKENS.c.reviewer == number)
            if (connection.scalar(select(func.count()).select_from(API_TOKENS).where(*valid)) or 0) >= MOST:
                raise UsageError(f"nobody has more than {MOST} tokens", hint="revoke one first")
            values = {"token_digest": digest_token(token), "name": name, "reviewer": number, "scopes": sorted(scopes)}
            connection.execute(insert(API_TOKENS).values(**values, at=now, until=until))
            add_event(connection, "token", now, reviewer=number, details={"scopes": len(scopes)})
        return token

    @quietly("look a token up")
    def api_token(self, token: str, *, now: datetime) -> ApiToken | None:
        """Return the valid token that this is, and write down its use at most once a minute; None for any other."""
        with self._database.reading() as connection:
            row = connection.execute(_OF_DIGEST, {"digest": digest_token(token)}).one_or_none()
        if row is None or row.revoked_at is not None or row.until <= now:
            return None
        if row.used_at is None or (now - row.used_at).total_seconds() > 60:
            with self._database.deciding() as connection:
                connection.execute(update(API_TOKENS).where(API_TOKENS.c.id == row.id).values(used_at=now))
        return _token(row)._replace(used_at=now)

    @quietly("list tokens")
    def api_tokens(self, reviewer: str | None = None) -> list[ApiToken]:
        """Return the tokens of one person, or all of them, newest first."""
        with self._database.reading() as connection:
            return read_tokens(connection, reviewer)

    @quietly("revoke a token")
    def revoke_api_token(self, number: int, *, now: datetime, reviewer: str | None = None) -> None:
        """Make a token useless from now on.

        Args:
            number: Which one.
            now: When it happens.
            reviewer: Only if it is theirs; anybody's when None.

        Raises:
            MissingError: If there is no such token.
        """
        with self._database.deciding() as connection:
            where = [API_TOKENS.c.id == number]
            if reviewer is not None:
                own = select(REVIEWERS.c.id).where(REVIEWERS.c.subject == reviewer).scalar_subquery()
                where.append(API_TOKENS.c.reviewer == own)
            done = connection.execute(update(API_TOKENS).where(*where).values(revoked_at=now)).rowcount
        if not done:
            raise MissingError("there is no such token")
