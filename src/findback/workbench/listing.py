"""Candidates by filter, a page at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, func, select

from findback.workbench.rows import StoredCandidate, read_rows
from findback.workbench.state import STATES, State
from findback.workbench.tables import CANDIDATES, HITS, LINKS, REVIEWERS, REVIEWS, SPANS


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFilters:
    """Which candidates to list; an empty filter lets everything through."""

    states: tuple[State, ...] = ()
    sources: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Those that at least one of these rules found."""
    audiences: tuple[str, ...] | None = None
    """Audiences the reader may see; None for all of them, an empty one for none."""
    strata: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    """HMACs of channels or queues."""
    documents: tuple[str, ...] = ()
    """Those with a link to one of these documents."""
    origins: tuple[str, ...] = ()
    stored_since: datetime | None = None
    stored_before: datetime | None = None
    suggestions: bool | None = None
    """Whether redaction suggested something in the question."""
    wordings: tuple[str, ...] = ()
    """Those a review says are of one of these; see `reviewer`."""
    answers: tuple[str, ...] = ()
    """Those a review answers so: one, cross-doc, no-answer, unrateable or later; see `reviewer`."""
    reviewer: str | None = None
    """Whose own reviews `wordings` and `answers` go by, beside everybody's of what is decided; None for everybody's."""
    disagreement: bool | None = None
    """Whether it waits for a lead because opinions differ."""


class Choices(NamedTuple):
    """What candidates can be told apart by; each sorted."""

    sources: tuple[str, ...]
    rules: tuple[str, ...]
    languages: tuple[str, ...]


def list_rows(connection: Connection, filters: CandidateFilters, limit: int, after: int) -> list[StoredCandidate]:
    """Return candidates in the order they were stored, from the one after `after` on."""
    query = filtered(select(CANDIDATES), filters).where(CANDIDATES.c.id > after)
    rows = connection.execute(query.order_by(CANDIDATES.c.id).limit(limit)).all()
    return read_rows(connection, rows)


def count_states(connection: Connection, filters: CandidateFilters) -> dict[State, int]:
    """Return how many candidates are in each state, 0 included."""
    query = filtered(select(CANDIDATES.c.state, func.count()), filters).group_by(CANDIDATES.c.state)
    found = {row[0]: row[1] for row in connection.execute(query)}
    return {state: found.get(state, 0) for state in STATES}


def list_choices(connection: Connection, filters: CandidateFilters) -> Choices:
    """Return which sources, rules and languages there are among candidates."""

    def found(column: ColumnElement[Any], within: Select[*tuple[Any, ...]]) -> tuple[str, ...]:
        values = connection.scalars(within.with_only_columns(column).distinct())
        return tuple(sorted(value for value in values if value is not None))

    every = filtered(select(CANDIDATES.c.id), filters)
    hits = select(HITS).where(HITS.c.candidate.in_(every))
    return Choices(found(CANDIDATES.c.source, every), found(HITS.c.rule, hits), found(CANDIDATES.c.language, every))


def find_prefix(connection: Connection, prefix: str) -> Iterator[str]:
    """Yield up to two keys that start so."""
    query = select(CANDIDATES.c.key).where(CANDIDATES.c.key.startswith(prefix, autoescape=True))
    yield from connection.scalars(query.order_by(CANDIDATES.c.key).limit(2))


def filtered(query: Select[*tuple[Any, ...]], filters: CandidateFilters) -> Select[*tuple[Any, ...]]:
    """Return a query over `CANDIDATES` that lets through only what the filters do."""
    return _by_reviews(_by_candidate(query, filters), filters)


def _by_candidate(query: Select[*tuple[Any, ...]], filters: CandidateFilters) -> Select[*tuple[Any, ...]]:
    columns = CANDIDATES.c
    if filters.stored_since is not None:
        query = query.where(columns.stored_at >= filters.stored_since)
    if filters.stored_before is not None:
        query = query.where(columns.stored_at < filters.stored_before)
    wanted = (
        (columns.state, filters.states),
        (columns.source, filters.sources),
        (columns.stratum, filters.strata),
        (columns.language, filters.languages),
        (columns.container_hmac, filters.containers),
        (columns.origin, filters.origins),
    )
    for column, values in wanted:
        if values:
            query = query.where(column.in_(values))
    if filters.audiences is not None:
        query = query.where(columns.audience.in_(filters.audiences))
    if filters.rules:
        query = query.where(columns.id.in_(select(HITS.c.candidate).where(HITS.c.rule.in_(filters.rules))))
    if filters.documents:
        query = query.where(columns.id.in_(select(LINKS.c.candidate).where(LINKS.c.document.in_(filters.documents))))
    return query


def _by_reviews(query: Select[*tuple[Any, ...]], filters: CandidateFilters) -> Select[*tuple[Any, ...]]:
    columns = CANDIDATES.c
    if filters.suggestions is not None:
        suggested = columns.id.in_(
            select(SPANS.c.candidate).where(SPANS.c.place == "query", SPANS.c.band == "suggested")
        )
        query = query.where(suggested if filters.suggestions else ~suggested)
    for column, values in ((REVIEWS.c.wording, filters.wordings), (REVIEWS.c.answer, filters.answers)):
        if values:
            query = query.where(columns.id.in_(_reviewed(column.in_(values), filters.reviewer)))
    if filters.disagreement is not None:
        differ = (columns.state == "second-opinion") & columns.id.in_(twice_reviewed())
        query = query.where(differ if filters.disagreement else ~differ)
    return query


@cache
def is_newest() -> ColumnElement[bool]:
    """Return the condition that a row of `REVIEWS` is the newest revision of its review."""
    later = REVIEWS.alias()
    same = [later.c[name] == REVIEWS.c[name] for name in ("candidate", "reviewer", "look")]
    return ~select(later.c.id).where(*same, later.c.revision > REVIEWS.c.revision).exists()


@cache
def twice_reviewed() -> Select[Any]:
    """Return the numbers of candidates on which two opinions are submitted."""
    return (
        select(REVIEWS.c.candidate)
        .where(REVIEWS.c.stage == "submitted", REVIEWS.c.answer.is_distinct_from("later"), is_newest())
        .group_by(REVIEWS.c.candidate)
        .having(func.count() > 1)
    )


def _reviewed(condition: ColumnElement[bool], reviewer: str | None) -> Select[Any]:
    """Return the numbers of candidates with a review of a kind that the reviewer may know of."""
    query = select(REVIEWS.c.candidate).where(condition, is_newest())
    if reviewer is None:
        return query
    decided = select(CANDIDATES.c.id).where(CANDIDATES.c.state.in_(("ready", "released", "rejected")))
    own = REVIEWS.c.reviewer == select(REVIEWERS.c.id).where(REVIEWERS.c.subject == reviewer).scalar_subquery()
    return query.where(own | REVIEWS.c.candidate.in_(decided))
