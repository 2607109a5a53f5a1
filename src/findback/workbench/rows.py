"""Candidates as rows: written in batches, read back as the same records."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, delete, insert, select, update

from findback.model.candidate import (
    Candidate,
    DocumentLink,
    RedactedSpan,
    RedactedText,
    RewriteCount,
    RuleHit,
    ThreadLine,
)
from findback.model.written import Written
from findback.workbench.state import State
from findback.workbench.tables import CANDIDATES, HITS, LINES, LINKS, SPANS, TEXTS

CHUNK = 500
"""Values in one IN list."""

Item = TypeVar("Item")
Place = tuple[str, int]
"""query, title or line; and which line."""


_BY_KEY = select(CANDIDATES).where(CANDIDATES.c.key == bindparam("key"))


class StoredCandidate(NamedTuple):
    """A candidate as the workbench keeps it."""

    number: int
    """Row number, in the order of storing: where a list goes on."""
    candidate: Candidate
    state: State
    version: int
    """Grows by one with every change; who decides names the one they saw."""
    stored_at: datetime
    updated_at: datetime
    state_at: datetime
    """When it entered its state; retention counts from here."""
    context_dropped_at: datetime | None = None
    """When retention took its thread."""


def in_chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`; the last may be shorter.

    >>> list(in_chunks("abc", 2))
    [['a', 'b'], ['c']]
    """
    chunk: list[Item] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def read_by_keys(connection: Connection, keys: Collection[str], *, hold: bool) -> dict[str, StoredCandidate]:
    """Return those of the candidates that are stored.

    Args:
        connection: An open transaction.
        keys: Keys of candidates.
        hold: Whether nobody else may change them until the transaction ends.
    """
    rows: list[Row[Any]] = []
    if len(keys) == 1 and not hold:
        rows.extend(connection.execute(_BY_KEY, {"key": next(iter(keys))}))
    else:
        for chunk in in_chunks(sorted(keys)):
            rows.extend(_select(connection, CANDIDATES.c.key.in_(chunk), hold=hold))
    return {stored.candidate.key: stored for stored in read_rows(connection, rows)}


def read_by_numbers(connection: Connection, numbers: Collection[int]) -> list[StoredCandidate]:
    """Return candidates by row number, in that order; nobody else may change them until the transaction ends."""
    rows: list[Row[Any]] = []
    for chunk in in_chunks(sorted(numbers)):
        rows.extend(_select(connection, CANDIDATES.c.id.in_(chunk), hold=True))
    return read_rows(connection, rows)


def _select(connection: Connection, where: ColumnElement[bool], *, hold: bool) -> Sequence[Row[Any]]:
    query = select(CANDIDATES).where(where).order_by(CANDIDATES.c.id)
    return connection.execute(query.with_for_update() if hold else query).all()


def read_rows(connection: Connection, rows: Sequence[Row[Any]]) -> list[StoredCandidate]:
    """Return the candidates whose rows these are, in the same order."""
    numbers = [row.id for row in rows]
    spans: dict[int, dict[Place, list[RedactedSpan]]] = defaultdict(lambda: defaultdict(list))
    for row in _children(connection, SPANS, numbers, "place", "position", "ordinal"):
        spans[row.candidate][row.place, row.position].append(_span(row))
    texts: dict[int, dict[Place, RedactedText]] = defaultdict(dict)
    for row in _children(connection, TEXTS, numbers):
        found = spans[row.candidate][row.place, row.position]
        texts[row.candidate][row.place, row.position] = RedactedText(
            text=row.text, spans=tuple(found), raw_hmac=row.raw_hmac
        )
    lines = _grouped(_children(connection, LINES, numbers, "position"))
    hits = _grouped(_children(connection, HITS, numbers, "ordinal"))
    links = _grouped(_children(connection, LINKS, numbers, "ordinal"))
    return [_stored(row, texts[row.id], lines[row.id], hits[row.id], links[row.id]) for row in rows]


def insert_candidates(connection: Connection, candidates: Sequence[Candidate], now: datetime) -> None:
    """Store candidates that are not there yet, as new."""
    if not candidates:
        return
    rows = [
        {**_columns(candidate), "state": "new", "version": 1, "stored_at": now, "updated_at": now, "state_at": now}
        for candidate in candidates
    ]
    connection.execute(insert(CANDIDATES), rows)
    numbers: dict[str, int] = {}
    for chunk in in_chunks([candidate.key for candidate in candidates]):
        found = connection.execute(select(CANDIDATES.c.key, CANDIDATES.c.id).where(CANDIDATES.c.key.in_(chunk)))
        numbers.update((row.key, row.id) for row in found)
    _insert_children(connection, [(numbers[candidate.key], candidate) for candidate in candidates], {})


def rewrite_candidates(
    connection: Connection, changes: Sequence[tuple[StoredCandidate, Candidate]], now: datetime
) -> None:
    """Put other contents in place of stored ones; what reviewers said to unchanged spans stays."""
    if not changes:
        return
    numbers = [stored.number for stored, _ in changes]
    decided = _span_decisions(connection, changes)
    for table in (TEXTS, LINES, HITS, LINKS):
        for chunk in in_chunks(numbers):
            connection.execute(delete(table).where(table.c.candidate.in_(chunk)))
    for stored, candidate in changes:
        values = {**_columns(candidate), "version": stored.version + 1, "updated_at": now}
        connection.execute(update(CANDIDATES).where(CANDIDATES.c.id == stored.number).values(**values))
    _insert_children(connection, [(stored.number, candidate) for stored, candidate in changes], decided)


def delete_candidates(connection: Connection, numbers: Collection[int]) -> None:
    """Take candidates away with everything that belongs to them."""
    for chunk in in_chunks(sorted(numbers)):
        connection.execute(delete(CANDIDATES).where(CANDIDATES.c.id.in_(chunk)))


def _children(connection: Connection, table: Table, numbers: Sequence[int], *order: str) -> Iterator[Row[Any]]:
    if len(numbers) == 1:
        yield from connection.execute(_children_of_one(table, order), {"number": numbers[0]})
        return
    for chunk in in_chunks(numbers):
        query = select(table).where(table.c.candidate.in_(chunk))
        yield from connection.execute(query.order_by(*(table.c[name] for name in order)) if order else query)


@lru_cache
def _children_of_one(table: Table, order: tuple[str, ...]) -> Select[Any]:
    """Return the query for one candidate's rows, built once: whoever reviews asks it at every step."""
    return select(table).where(table.c.candidate == bindparam("number")).order_by(*(table.c[name] for name in order))


def _grouped(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    groups: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        groups[row.candidate].append(row)
    return groups


def _bodies(candidate: Candidate) -> Iterator[tuple[str, int, RedactedText]]:
    yield "query", 0, candidate.query
    if candidate.title is not None:
        yield "title", 0, candidate.title
    for position, line in enumerate(candidate.thread):
        yield "line", position, line.body


def _columns(candidate: Candidate) -> dict[str, Any]:
    return {
        "key": candidate.key,
        "format": candidate.format,
        "source": candidate.source,
        "container_hmac": candidate.container_hmac,
        "asker_hmac": candidate.asker_hmac,
        "audience": candidate.audience,
        "query_line": candidate.query_line,
        "cue_line": candidate.cue_line,
        "origin": candidate.origin,
        "stratum": candidate.stratum,
        "selected_on": candidate.selected_on,
        "language": candidate.language,
        "seen_on": candidate.seen_on,
        "asked": candidate.asked,
        "merged": candidate.merged,
        "outcome": candidate.outcome,
        "rewrites": None if candidate.rewrites is None else candidate.rewrites.model_dump(mode="json"),
        "no_answer_hint": candidate.no_answer_hint,
        "file": candidate.file,
        "file_offset": candidate.offset,
        "root": candidate.root,
        "written": None if candidate.written is None else candidate.written.model_dump(mode="json"),
    }


SpanKey = tuple[int, str, str, RedactedSpan]
"""Candidate, place, HMAC of the raw text, and the span as it was found, without its value."""


def _span_decisions(
    connection: Connection, changes: Sequence[tuple[StoredCandidate, Candidate]]
) -> dict[SpanKey, dict[str, Any]]:
    raw = {
        (stored.number, place, position): body.raw_hmac
        for stored, _ in changes
        for place, position, body in _bodies(stored.candidate)
    }
    decided: dict[SpanKey, dict[str, Any]] = {}
    for chunk in in_chunks([stored.number for stored, _ in changes]):
        query = select(SPANS).where(SPANS.c.candidate.in_(chunk), SPANS.c.decision.is_not(None))
        for row in connection.execute(query):
            key = (row.candidate, row.place, raw[row.candidate, row.place, row.position], _nameless(_span(row)))
            decided[key] = {"decision": row.decision, "reviewer": row.reviewer, "decided_at": row.decided_at}
    return decided


def _insert_children(
    connection: Connection, candidates: Sequence[tuple[int, Candidate]], decided: dict[SpanKey, dict[str, Any]]
) -> None:
    rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in (TEXTS, LINES, SPANS, HITS, LINKS)}
    undecided: dict[str, Any] = {"decision": None, "reviewer": None, "decided_at": None}
    for number, candidate in candidates:
        for place, position, body in _bodies(candidate):
            where = {"candidate": number, "place": place, "position": position}
            rows[TEXTS].append({**where, "text": body.text, "raw_hmac": body.raw_hmac})
            for ordinal, span in enumerate(body.spans):
                said = decided.get((number, place, body.raw_hmac, _nameless(span))) if decided else None
                rows[SPANS].append({**where, "ordinal": ordinal, **_span_columns(span), **(said or undecided)})
        rows[LINES] += [
            {
                "candidate": number,
                "position": position,
                "key": line.key,
                "role": line.role,
                "author_hmac": line.author_hmac,
                "at": line.at,
                "edited": line.edited,
            }
            for position, line in enumerate(candidate.thread)
        ]
        rows[HITS] += [
            {"candidate": number, "ordinal": ordinal, **hit.model_dump()} for ordinal, hit in enumerate(candidate.rules)
        ]
        rows[LINKS] += [
            {
                "candidate": number,
                "ordinal": ordinal,
                "document": link.document,
                "line": link.line,
                "linked_by": link.by,
                "kind": link.kind,
                "created_before": link.created_before,
            }
            for ordinal, link in enumerate(candidate.links)
        ]
    for table, values in rows.items():
        if values:
            connection.execute(insert(table), values)


def _span_columns(span: RedactedSpan) -> dict[str, Any]:
    return {
        "begins": span.start,
        "ends": span.end,
        "type": span.type,
        "rule": span.rule,
        "version": span.version,
        "band": span.band,
        "value_hmac": span.value_hmac,
    }


def _nameless(span: RedactedSpan) -> RedactedSpan:
    return span if span.value_hmac is None else span.model_copy(update={"value_hmac": None})


def _span(row: Row[Any]) -> RedactedSpan:
    return RedactedSpan(
        start=row.begins,
        end=row.ends,
        type=row.type,
        rule=row.rule,
        version=row.version,
        band=row.band,
        value_hmac=row.value_hmac,
    )


def _stored(
    row: Row[Any],
    texts: dict[Place, RedactedText],
    lines: Sequence[Row[Any]],
    hits: Sequence[Row[Any]],
    links: Sequence[Row[Any]],
) -> StoredCandidate:
    candidate = Candidate(
        format=row.format,
        key=row.key,
        source=row.source,
        container_hmac=row.container_hmac,
        asker_hmac=row.asker_hmac,
        audience=row.audience,
        query=texts["query", 0],
        query_line=row.query_line,
        cue_line=row.cue_line,
        thread=tuple(
            ThreadLine(
                key=line.key,
                role=line.role,
                author_hmac=line.author_hmac,
                at=line.at,
                body=texts["line", line.position],
                edited=line.edited,
            )
            for line in lines
        ),
        title=texts.get(("title", 0)),
        rules=tuple(RuleHit(rule=hit.rule, strength=hit.strength, evidence=hit.evidence) for hit in hits),
        links=tuple(
            DocumentLink(
                document=link.document,
                line=link.line,
                by=link.linked_by,
                kind=link.kind,
                created_before=link.created_before,
            )
            for link in links
        ),
        origin=row.origin,
        stratum=row.stratum,
        selected_on=row.selected_on,
        language=row.language,
        seen_on=row.seen_on,
        asked=row.asked,
        merged=row.merged,
        outcome=row.outcome,
        rewrites=None if row.rewrites is None else RewriteCount.model_validate(row.rewrites),
        no_answer_hint=row.no_answer_hint,
        file=row.file,
        offset=row.file_offset,
        root=row.root,
        written=None if row.written is None else Written.model_validate(row.written),
    )
    return StoredCandidate(
        number=row.id,
        candidate=candidate,
        state=row.state,
        version=row.version,
        stored_at=row.stored_at,
        updated_at=row.updated_at,
        state_at=row.state_at,
        context_dropped_at=row.context_dropped_at,
    )
