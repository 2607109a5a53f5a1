"""Candidates on which two opinions were given blind, for figures of agreement; without names."""

import json
from collections import defaultdict
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from findback.model.review import Review
from findback.workbench.asks import AskAnswer
from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.tables import ASKS, CANDIDATES, LINKS, REVIEWERS, REVIEWS


class Opinions(NamedTuple):
    """What was said first about one candidate, before anybody saw what others said."""

    candidate: str
    """Key of the candidate."""
    reviews: tuple[Review, ...]
    """Each person's first submission and a second look, in the order they were made."""
    same_person: bool
    """Whether the first two are one person's."""
    linked: tuple[str, ...]
    """Documents a resolver linked in the thread."""
    answers: tuple[AskAnswer, ...]
    """What resolvers said who were asked."""


def read_opinions(connection: Connection) -> list[Opinions]:
    """Return the first opinions on every candidate that has one."""
    first = (
        select(func.min(REVIEWS.c.id))
        .where(REVIEWS.c.stage == "submitted", REVIEWS.c.role == "reviewer")
        .group_by(REVIEWS.c.candidate, REVIEWS.c.reviewer, REVIEWS.c.look)
    )
    query = (
        select(REVIEWS.c.candidate, REVIEWS.c.reviewer, REVIEWS.c.content, REVIEWS.c.answer, CANDIDATES.c.key)
        .join(CANDIDATES, CANDIDATES.c.id == REVIEWS.c.candidate)
        .where(
            REVIEWS.c.id.in_(first),
            REVIEWS.c.answer.is_distinct_from("later"),
            # Of a paraphrase nobody grades documents, so there is nothing to agree on.
            CANDIDATES.c.origin != "paraphrase",
        )
        .order_by(REVIEWS.c.id)
    )
    linked: dict[int, list[str]] = defaultdict(list)
    links = select(LINKS.c.candidate, LINKS.c.document).where(LINKS.c.linked_by == "resolver")
    for link in connection.execute(links):
        linked[link.candidate].append(link.document)
    answers: dict[int, list[AskAnswer]] = defaultdict(list)
    for ask in connection.execute(select(ASKS.c.candidate, ASKS.c.answer).where(ASKS.c.answer.is_not(None))):
        answers[ask.candidate].append(AskAnswer.model_validate(json.loads(ask.answer)))
    keys: dict[int, str] = {}
    said: dict[int, list[tuple[int, Review]]] = defaultdict(list)
    for row in connection.execute(query):
        keys[row.candidate] = row.key
        said[row.candidate].append((row.reviewer, Review.model_validate(json.loads(row.content))))
    return [
        Opinions(
            keys[number],
            tuple(review for _, review in given),
            len(given) > 1 and given[0][0] == given[1][0],
            tuple(dict.fromkeys(linked[number])),
            tuple(answers[number]),
        )
        for number, given in said.items()
    ]


def looked_twice(connection: Connection) -> list[str]:
    """Return who took a second look at anything."""
    query = select(REVIEWERS.c.subject).join(REVIEWS, REVIEWS.c.reviewer == REVIEWERS.c.id)
    return list(connection.scalars(query.where(REVIEWS.c.look == 2, REVIEWS.c.stage == "submitted").distinct()))


class Doubles:
    """Opinions for figures of agreement."""

    _database: Database

    @quietly("read opinions")
    def opinions(self) -> list[Opinions]:
        """Return the first opinions on every candidate that has one."""
        with self._database.reading() as connection:
            return read_opinions(connection)

    @quietly("read who looked twice")
    def second_lookers(self) -> list[str]:
        """Return who took a second look at anything: a figure about these looks may be about one person."""
        with self._database.reading() as connection:
            return looked_twice(connection)
