"""Flags: candidates that somebody sent in with one click, and the links on which they learn what came of them."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from findback.model.candidate import Candidate
from findback.model.case import Asked
from findback.workbench.aliases import Directory
from findback.workbench.database import Database
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.intake import put_batch
from findback.workbench.rows import read_by_keys
from findback.workbench.tables import CANDIDATES, FLAGS
from findback.workbench.tokens import digest_token, make_token

MOST_LINES = 20
"""Lines kept around one flag: sentences of those who sent a like one."""


class PutFlag(NamedTuple):
    """A flag that was kept."""

    token: str
    """Of its link; this is the only time it can be seen."""
    key: str
    """Key of the candidate it counts for."""
    new: bool
    """Whether the candidate is new."""


def put_flag(
    connection: Connection,
    candidate: Candidate,
    same: str,
    *,
    since: datetime,
    bucket: Callable[[int], Asked],
    now: datetime,
) -> PutFlag | None:
    """Keep a flag within the caller's transaction; None where somebody, or somewhere, objected to such texts.

    Args:
        connection: Transaction of one who writes much: two like flags at one moment must find each other.
        candidate: The flag, redacted, under a key of its own.
        same: Keyed digest of what makes two flags one.
        since: A like flag that came in since then takes this one in.
        bucket: Says of a number of flags how often that is, in the words of a case.
        now: When it happens.
    """
    like = (
        select(CANDIDATES.c.key)
        .join(FLAGS, FLAGS.c.candidate == CANDIDATES.c.id)
        .where(FLAGS.c.same == same, FLAGS.c.at >= since)
        .order_by(FLAGS.c.id)
    )
    first = connection.scalar(like.limit(1))
    given = candidate if first is None else _joined(connection, candidate, first)
    if given is not None:
        counts = put_batch(connection, [given], set(), now, Directory())
        if counts.excluded or counts.purged:
            return None
    key = first or candidate.key
    number = connection.scalar(select(CANDIDATES.c.id).where(CANDIDATES.c.key == key))
    token = make_token()
    values = {"candidate": number, "token_digest": digest_token(token), "same": same, "at": now}
    connection.execute(insert(FLAGS).values(**values))
    sent = connection.scalar(select(func.count()).select_from(FLAGS).where(FLAGS.c.candidate == number)) or 1
    # No new version: whoever is reviewing it need not look again because one more person asked.
    counted = update(CANDIDATES).where(CANDIDATES.c.id == number)
    connection.execute(counted.values(asked=bucket(sent), merged=sent - 1))
    add_event(connection, "flag", now, candidate=key, details={"via": candidate.source, "flags": sent})
    return PutFlag(token, key, first is None)


def _joined(connection: Connection, candidate: Candidate, key: str) -> Candidate | None:
    """Return a flag as part of an earlier one; None where it says nothing besides, or that holds enough already."""
    known = read_by_keys(connection, [key], hold=True)[key].candidate
    lines = {line.key for line in known.thread}
    if len(lines) >= MOST_LINES or lines >= {line.key for line in candidate.thread}:
        return None
    links = (*known.links, *(link for link in candidate.links if link not in known.links))
    return candidate.model_copy(
        update={"key": key, "asked": known.asked, "merged": known.merged, "rules": known.rules, "links": links}
    )


class Flags:
    """Flags, each call a transaction of its own."""

    _database: Database

    @quietly("keep a flag")
    def put_flag(
        self, candidate: Candidate, same: str, *, since: datetime, bucket: Callable[[int], Asked], now: datetime
    ) -> PutFlag | None:
        """Keep a flag, or count it for a like one; None where somebody, or somewhere, objected to such texts.

        Args:
            candidate: The flag, redacted, under a key of its own.
            same: Keyed digest of what makes two flags one.
            since: A like flag that came in since then takes this one in, with what it says besides.
            bucket: Says of a number of flags how often that is, in the words of a case.
            now: When it happens.

        Raises:
            StorageError: If the database refuses.
        """
        with self._database.writing() as connection:
            return put_flag(connection, candidate, same, since=since, bucket=bucket, now=now)

    @quietly("look a flag up")
    def flagged(self, token: str) -> str | None:
        """Return the key of the candidate that the flag of a link became; None where there is none, or no longer."""
        query = (
            select(CANDIDATES.c.key)
            .join(FLAGS, FLAGS.c.candidate == CANDIDATES.c.id)
            .where(FLAGS.c.token_digest == digest_token(token))
        )
        with self._database.reading() as connection:
            found: str | None = connection.scalar(query)
        return found
