"""Candidates by filter, a page at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from findback.workbench.rows import StoredCandidate, read_rows
from findback.workbench.state import STATES, State
from findback.workbench.tables import CANDIDATES, HITS, LINKS


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


def list_rows(connection: Connection, filters: CandidateFilters, limit: int, after: int) -> list[StoredCandidate]:
    """Return candidates in the order they were stored, from the one after `after` on."""
    query = _filtered(select(CANDIDATES), filters).where(CANDIDATES.c.id > after)
    rows = connection.execute(query.order_by(CANDIDATES.c.id).limit(limit)).all()
    return read_rows(connection, rows)


def count_states(connection: Connection, filters: CandidateFilters) -> dict[State, int]:
    """Return how many candidates are in each state, 0 included."""
    query = _filtered(select(CANDIDATES.c.state, func.count()), filters).group_by(CANDIDATES.c.state)
    found = {row[0]: row[1] for row in connection.execute(query)}
    return {state: found.get(state, 0) for state in STATES}


def find_prefix(connection: Connection, prefix: str) -> Iterator[str]:
    """Yield up to two keys that start so."""
    query = select(CANDIDATES.c.key).where(CANDIDATES.c.key.startswith(prefix, autoescape=True))
    yield from connection.scalars(query.order_by(CANDIDATES.c.key).limit(2))


def _filtered(query: Select[*tuple[Any, ...]], filters: CandidateFilters) -> Select[*tuple[Any, ...]]:
    columns = CANDIDATES.c
    wanted = (
        (columns.state, filters.states),
        (columns.source, filters.sources),
        (columns.stratum, filters.strata),
        (columns.language, filters.languages),
        (columns.container_hmac, filters.containers),
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
