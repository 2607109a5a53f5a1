"""Every text the workbench holds, for those who look through them again."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from findback.model.candidate import RedactedSpan
from findback.workbench.rows import StoredCandidate, read_rows
from findback.workbench.tables import ASKS, CANDIDATES, DECISIONS, REVIEWS

PAGE = 200

_NAMES = frozenset({"place", "type", "action", "doc", "document", "documents", "found_by", "wording"})
"""Fields of reviews and answers that name places, types and documents."""


class StoredText(NamedTuple):
    """One text, and where it lies."""

    candidate: str
    """Key of the candidate."""
    place: str
    """query, title, line, hint, evidence, document, file, reason, review or answer."""
    position: int
    """Which one of its place, from 0."""
    text: str
    spans: tuple[RedactedSpan, ...] = ()
    """What redaction found in it; places in `text`."""


def read_texts(connection: Connection, after: int) -> tuple[list[StoredText], int | None]:
    """Return the texts of the next candidates, and the row number to go on after; None at the end."""
    query = select(CANDIDATES).where(CANDIDATES.c.id > after).order_by(CANDIDATES.c.id).limit(PAGE)
    stored = read_rows(connection, connection.execute(query).all())
    if not stored:
        return [], None
    keys = {one.number: one.candidate.key for one in stored}
    texts = [text for one in stored for text in _texts_of(one)]
    reasons = select(DECISIONS).where(DECISIONS.c.candidate.in_(keys)).order_by(DECISIONS.c.id)
    texts += [
        StoredText(keys[row.candidate], "reason", at, row.reason)
        for at, row in enumerate(connection.execute(reasons))
        if row.reason is not None
    ]
    for place, table, column in (("review", REVIEWS, REVIEWS.c.content), ("answer", ASKS, ASKS.c.answer)):
        said = select(table.c.candidate, column.label("said")).where(table.c.candidate.in_(keys), column.is_not(None))
        for at, row in enumerate(connection.execute(said.order_by(table.c.id))):
            texts += [StoredText(keys[row.candidate], place, at, text) for text in _strings_of(json.loads(row.said))]
    return texts, stored[-1].number


def _strings_of(value: Any) -> Iterator[str]:
    """Yield what people wrote in a review or an answer: every string that is no name of a thing."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in _NAMES:
                yield from _strings_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings_of(one)
    elif isinstance(value, str):
        yield value


def _texts_of(stored: StoredCandidate) -> Iterator[StoredText]:
    candidate = stored.candidate
    yield StoredText(candidate.key, "query", 0, candidate.query.text, candidate.query.spans)
    if candidate.title is not None:
        yield StoredText(candidate.key, "title", 0, candidate.title.text, candidate.title.spans)
    for at, line in enumerate(candidate.thread):
        yield StoredText(candidate.key, "line", at, line.body.text, line.body.spans)
    for place, text in (("hint", candidate.no_answer_hint), ("file", candidate.file)):
        if text is not None:
            yield StoredText(candidate.key, place, 0, text)
    for at, hit in enumerate(candidate.rules):
        if hit.evidence:
            yield StoredText(candidate.key, "evidence", at, hit.evidence)
    for at, link in enumerate(candidate.links):
        yield StoredText(candidate.key, "document", at, link.document)
