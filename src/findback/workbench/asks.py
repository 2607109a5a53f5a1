"""Links that ask a resolver about one candidate, and what they answered."""

import json
from datetime import datetime
from typing import Annotated, NamedTuple

from pydantic import Field
from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from findback.errors import MissingError, UsageError
from findback.model.case import DocumentId
from findback.model.record import Record
from findback.model.review import Note
from findback.workbench.database import Database
from findback.workbench.decision import hold_candidate, number_of_reviewer
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.tables import ASKS, CANDIDATES
from findback.workbench.tokens import digest_token, make_token

MOST = 20
"""Links made for one candidate."""


_OF_CANDIDATE = (
    select(ASKS, CANDIDATES.c.key)
    .join(CANDIDATES, CANDIDATES.c.id == ASKS.c.candidate)
    .where(CANDIDATES.c.key == bindparam("key"))
    .order_by(ASKS.c.id)
)


class AskAnswer(Record):
    """What a resolver said: which documents helped, or that none did."""

    documents: Annotated[tuple[DocumentId, ...], Field(max_length=20)] = ()
    """Ids in the corpus; empty where none helped."""
    note: Note | None = None
    """In their words, redacted."""


class Ask(NamedTuple):
    """One link, without what would let one use it."""

    number: int
    candidate: str
    """Key of the candidate it is about."""
    at: datetime
    until: datetime
    used_at: datetime | None
    answer: AskAnswer | None


def read_asks(connection: Connection, key: str) -> list[Ask]:
    """Return the links made for a candidate, oldest first."""
    return [_ask(row) for row in connection.execute(_OF_CANDIDATE, {"key": key})]


def _ask(row: Row[tuple[object, ...]]) -> Ask:
    answer = None if row.answer is None else AskAnswer.model_validate(json.loads(row.answer))
    return Ask(row.id, row.key, row.at, row.until, row.used_at, answer)


def find_ask(connection: Connection, token: str, now: datetime) -> Ask:
    """Return the link that a token opens.

    Raises:
        MissingError: If there is none, it is used, or its time is over: all three look alike.
    """
    query = (
        select(ASKS, CANDIDATES.c.key)
        .join(CANDIDATES, CANDIDATES.c.id == ASKS.c.candidate)
        .where(ASKS.c.token_digest == digest_token(token))
    )
    row = connection.execute(query.with_for_update(of=ASKS)).one_or_none()
    if row is None or row.used_at is not None or row.until <= now:
        raise MissingError("this link is not valid, or no longer", hint="ask for a new one")
    return _ask(row)


class Asks:
    """Links to resolvers, each call a transaction of its own."""

    _database: Database

    @quietly("make a link")
    def add_ask(self, key: str, *, reviewer: str, now: datetime, until: datetime) -> str:
        """Make a link's token and return it: this is the only time it can be seen.

        Raises:
            MissingError: If there is no such candidate.
            UsageError: If the time is over, or there are too many links for it.
        """
        if until <= now:
            raise UsageError("a link needs a time that is not over yet")
        token = make_token()
        with self._database.deciding() as connection:
            row = hold_candidate(connection, key)
            if (connection.scalar(select(func.count()).where(ASKS.c.candidate == row.id)) or 0) >= MOST:
                raise UsageError(f"{MOST} links were made for this candidate already")
            number = number_of_reviewer(connection, reviewer, now)
            values = {"candidate": row.id, "token_digest": digest_token(token), "reviewer": number}
            connection.execute(insert(ASKS).values(**values, at=now, until=until))
            add_event(connection, "ask", now, candidate=key, reviewer=number)
        return token

    @quietly("open a link")
    def ask(self, token: str, *, now: datetime) -> Ask:
        """Return the link that a token opens.

        Raises:
            MissingError: If there is none, it is used, or its time is over.
        """
        with self._database.deciding() as connection:
            return find_ask(connection, token, now)

    @quietly("keep an answer")
    def answer_ask(self, token: str, answer: AskAnswer, *, now: datetime) -> Ask:
        """Keep what a resolver answered; a link is good for one answer.

        Raises:
            MissingError: If there is none, it is used, or its time is over.
        """
        with self._database.deciding() as connection:
            found = find_ask(connection, token, now)
            values = {"used_at": now, "answer": json.dumps(answer.model_dump(mode="json"))}
            connection.execute(update(ASKS).where(ASKS.c.id == found.number).values(**values))
            add_event(connection, "answer", now, candidate=found.candidate)
            return found._replace(used_at=now, answer=answer)

    @quietly("read answers")
    def asks_of(self, key: str) -> list[Ask]:
        """Return the links made for a candidate, oldest first, with their answers."""
        with self._database.reading() as connection:
            return read_asks(connection, key)
