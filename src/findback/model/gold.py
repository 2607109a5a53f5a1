"""Judgements in columns: what scoring needs to know about the right answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.model.hits import Span


class Judged(NamedTuple):
    """One judgement, as a row."""

    query: str
    """Question id."""
    document: str
    """Document id."""
    grade: int = 1
    """0 seen and not an answer, 1 or more gold; below 0 counts as neither."""
    part: int | None = None
    """What it answers; None makes the document a part of its own."""
    anchor: str | None = None
    """A quoted sentence of the document that holds the answer."""
    span: Span | None = None
    """Where the anchor stands in the document, where known."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Gold:
    """Judgements of a set as arrays, rows grouped by question in the set's order."""

    queries: tuple[str, ...]
    """Every question id of the set, those without an answer included."""
    documents: tuple[str, ...]
    """Distinct judged documents."""
    query: NDArray[np.int32]
    """Question number of each row."""
    document: NDArray[np.int32]
    """Document number of each row."""
    grade: NDArray[np.int32]
    """Grade of each row."""
    part: NDArray[np.int32]
    """Part of each row, within its question."""
    anchors: tuple[str | None, ...] = ()
    """Anchor of each row; empty when no row has one."""
    spans: NDArray[np.int64] | None = None
    """Start and end of each row's anchor, -1 for unknown; None when no row has one."""

    def __len__(self) -> int:
        return len(self.queries)


def make_gold(queries: Sequence[str], rows: Iterable[Judged]) -> Gold:
    """Return judgements in columns.

    Args:
        queries: Every question id of the set, in its order.
        rows: Judgements in any order; a document may answer several parts of a question, and one part with
            several anchors.

    Raises:
        UsageError: If a row names an unknown question, or a question judges a document twice for one part and
            anchor.

    >>> gold = make_gold(["q1", "q2"], [Judged("q1", "a"), Judged("q1", "b", 0)])
    >>> gold.query.tolist(), gold.grade.tolist(), gold.documents
    ([0, 0], [1, 0], ('a', 'b'))
    """
    places = {query: at for at, query in enumerate(queries)}
    if len(places) != len(queries):
        raise UsageError("a question id stands twice in the set", hint="ids must be unique")
    documents: dict[str, int] = {}
    kept: list[tuple[int, int, int, int, str | None, Span | None]] = []
    for row in rows:
        if row.query not in places:
            raise UsageError(f"a judgement names the question {row.query!r}, which is not in the set")
        document = documents.setdefault(row.document, len(documents))
        # Parts given by number are small; a document's own part must not meet them.
        part = -1 - document if row.part is None else row.part
        kept.append((places[row.query], document, row.grade, part, row.anchor, row.span))
    kept.sort(key=lambda row: row[0])
    if len({(row[0], row[1], row[3], row[4], row[5]) for row in kept}) != len(kept):
        raise UsageError("a question judges one document twice for the same part and anchor")
    columns = np.array([row[:4] for row in kept], dtype=np.int32).reshape(-1, 4)
    spans = np.array([row[5] or (-1, -1) for row in kept], dtype=np.int64).reshape(-1, 2)
    return Gold(
        queries=tuple(queries),
        documents=tuple(documents),
        query=columns[:, 0].copy(),
        document=columns[:, 1].copy(),
        grade=columns[:, 2].copy(),
        part=columns[:, 3].copy(),
        anchors=tuple(row[4] for row in kept) if any(row[4] for row in kept) else (),
        spans=spans if (spans >= 0).any() else None,
    )
