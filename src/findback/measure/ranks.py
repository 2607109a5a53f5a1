"""Where the judged documents of every question stand in a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.model.gold import Gold
from findback.model.run import Run

Ties = Literal["expected", "trec"]
Bools = NDArray[np.bool_]
Int64s = NDArray[np.int64]

STRETCH = 1 << 20
"""Rows looked at in one go, so that scratch memory stays small whatever the size of the run."""
NOWHERE = -1
"""`above` of a judged document that was not returned."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placed:
    """Judged documents with their places; rows sorted by question, then by place, absent ones last.

    A rank is never stored: `above` documents score higher and `tied` share the score, itself included.
    """

    questions: int
    """Questions of the set."""
    query: Int64s
    """Question of each judged document."""
    grade: Int64s
    """Its grade; the highest where it is judged for several parts."""
    above: Int64s
    """Documents above it, NOWHERE when it was not returned."""
    tied: Int64s
    """Documents at its score, itself included; 1 where the order is known."""
    part_query: Int64s
    """Question of each gold row: one per gold document and part."""
    part: Int64s
    """Which part it answers, numbered within the whole set."""
    part_above: Int64s
    """As `above`."""
    part_tied: Int64s
    """As `tied`."""
    part_document: Int64s
    """Document of each gold row, to tell documents that answer several parts."""
    returned: Int64s
    """Distinct documents returned for each question."""

    def golds(self, rel: int = 1) -> Int64s:
        """Return how many documents of grade `rel` or more each question has."""
        return np.bincount(self.query[self.grade >= rel], minlength=self.questions)

    def relevant(self, rel: int = 1) -> tuple[Int64s, Int64s, Int64s]:
        """Return question, above and tied of the returned documents of grade `rel` or more."""
        kept = (self.grade >= rel) & (self.above >= 0)
        return self.query[kept], self.above[kept], self.tied[kept]

    def total(self, query: Int64s, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values per question."""
        return np.bincount(query, weights=values, minlength=self.questions).astype(np.float64)


def find_repeats(codes: NDArray[np.int32], slots: NDArray[np.int32]) -> Bools:
    """Return which of a query's rows repeat a document that stands further up.

    `slots` is scratch space with a place for every document; what it holds does not matter.

    >>> find_repeats(np.array([4, 1, 4], dtype=np.int32), np.empty(5, dtype=np.int32)).tolist()
    [False, False, True]
    """
    order = np.arange(len(codes), dtype=np.int32)
    # Written from the bottom up, so the uppermost row of a document is the one that stays.
    slots[codes[::-1]] = order[::-1]
    repeats: Bools = slots[codes] != order
    return repeats


def join_queries(wanted: Sequence[str], given: Sequence[str]) -> Int64s:
    """Return where each wanted id stands among the given ones, -1 for absent."""
    if tuple(wanted) == tuple(given):
        return np.arange(len(wanted))
    places = {query: at for at, query in enumerate(given)}
    return np.fromiter((places.get(query, -1) for query in wanted), dtype=np.int64, count=len(wanted))


def collapse_passages(run: Run) -> Run:
    """Return the run with each document once per query, at its best place."""
    if run.distinct:
        return run
    slots = np.empty(len(run.documents), dtype=np.int32)
    kept: list[Int64s] = []
    lengths = np.zeros(len(run), dtype=np.int64)
    for query in range(len(run)):
        rows = np.arange(run.starts[query], run.starts[query + 1])
        if run.order == "score":
            rows = rows[np.argsort(-orient_scores(run, rows), kind="stable")]
        rows = rows[~find_repeats(run.codes[rows], slots)]
        lengths[query] = len(rows)
        kept.append(rows)
    rows = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
    starts = np.zeros(len(run) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return replace(
        run,
        codes=run.codes[rows],
        starts=starts,
        distinct=True,
        scores=None if run.scores is None else run.scores[rows],
        passage=None if run.passage is None else run.passage[rows],
        spans=None if run.spans is None else run.spans[rows],
    )


def orient_scores(run: Run, rows: Int64s | slice) -> NDArray[np.float64]:
    """Return scores turned so that higher is better, NaN where the engine gave none.

    Raises:
        UsageError: If the run has no scores.
    """
    if run.scores is None:
        raise UsageError(f"the run {run.name} has no scores to order it by")
    return -run.scores[rows] if run.direction == "lower" else run.scores[rows]


def place_golds(run: Run, gold: Gold, *, ties: Ties = "expected") -> Placed:
    """Return where every judged document stands.

    Args:
        run: What a retriever returned.
        gold: The judgements.
        ties: What to do with equal scores where only scores order the run. `expected`: leave the
            place open within the block. `trec`: as trec_eval does, by document id, last id first,
            scores in single precision; the order a retriever returned counts for nothing then.

    Raises:
        UsageError: If scores are needed and the run has none.
    """
    run = collapse_passages(run)
    of_run = join_queries(gold.queries, run.queries)
    codes = run.documents.find(gold.documents).astype(np.int64)
    query, code = of_run[gold.query], codes[gold.document]
    rows = _find_rows(run, query, code)
    above = np.full(len(rows), NOWHERE, dtype=np.int64)
    tied = np.ones(len(rows), dtype=np.int64)
    there = np.flatnonzero(rows >= 0)
    if ties == "trec" or run.order == "score":
        above[there], tied[there] = _count_above(run, query[there], rows[there], ties)
    else:
        above[there] = rows[there] - run.starts[query[there]]
    returned = np.where(of_run >= 0, run.lengths[of_run] if len(run) else 0, 0)
    return _arrange(gold, above, tied, returned)


def _find_rows(run: Run, query: Int64s, code: Int64s) -> Int64s:
    """Return the row of each (query, document) pair, -1 where it was not returned."""
    rows = np.full(len(query), -1, dtype=np.int64)
    known = np.flatnonzero((query >= 0) & (code >= 0))
    if not len(known):
        return rows
    keys = query[known] * len(run.documents) + code[known]
    wanted, place = np.unique(keys, return_inverse=True)
    row_of = np.full(len(wanted), -1, dtype=np.int64)
    judged = np.zeros(len(run.documents), dtype=np.bool_)
    judged[code[known]] = True
    for begin in range(0, len(run.codes), STRETCH):
        codes = run.codes[begin : begin + STRETCH]
        at = np.flatnonzero(judged[codes])
        owner = np.searchsorted(run.starts, at + begin, side="right") - 1
        seen = owner * len(run.documents) + codes[at]
        spot = np.minimum(np.searchsorted(wanted, seen), len(wanted) - 1)
        hit = wanted[spot] == seen
        row_of[spot[hit]] = at[hit] + begin
    rows[known] = row_of[place]
    return rows


def _count_above(run: Run, query: Int64s, rows: Int64s, ties: Ties) -> tuple[Int64s, Int64s]:
    """Return how many documents score above each row and how many share its score, without sorting."""
    above = np.zeros(len(rows), dtype=np.int64)
    tied = np.ones(len(rows), dtype=np.int64)
    order = np.argsort(query, kind="stable")
    bounds = np.flatnonzero(np.diff(query[order], prepend=-1, append=-1))
    owners = query[order[bounds[:-1]]]
    firsts, lasts = run.starts[owners].tolist(), run.starts[owners + 1].tolist()
    places = order.tolist()
    for begin, end, first, last in zip(bounds.tolist(), bounds[1:].tolist(), firsts, lasts, strict=False):
        block = orient_scores(run, slice(first, last))
        if ties == "trec":
            block = block.astype(np.float32)
        mine = places[begin:end]
        for at, score in zip(mine, block[rows[mine] - first].tolist(), strict=True):
            # A result without a score stands below all that have one, tied with its like.
            lost = isnan(score)
            above[at] = np.count_nonzero(~np.isnan(block) if lost else block > score)
            same = np.isnan(block) if lost else block == score
            tied[at] = np.count_nonzero(same)
            if ties == "trec" and tied[at] > 1:
                codes = run.codes[first:last][same]
                above[at] += np.count_nonzero(codes > run.codes[rows[at]])
    return above, np.ones_like(tied) if ties == "trec" else tied


def _arrange(gold: Gold, above: Int64s, tied: Int64s, returned: Int64s) -> Placed:
    far = np.iinfo(np.int64).max
    query, document = gold.query.astype(np.int64), gold.document.astype(np.int64)
    place = np.where(above < 0, far, above)
    order = np.lexsort((-gold.grade, document, place, query))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (np.diff(query[order]) != 0) | (np.diff(document[order]) != 0)
    kept = order[fresh]
    parts = order[gold.grade[order] >= 1]
    rows = np.stack([query[parts], gold.part[parts], document[parts]])
    # A document with several anchors for one part answers that part once.
    parts = parts[np.sort(np.unique(rows, axis=1, return_index=True)[1])]
    numbers = query[parts] * (1 << 32) + gold.part[parts]
    return Placed(
        questions=len(gold),
        query=query[kept],
        grade=gold.grade[kept].astype(np.int64),
        above=above[kept],
        tied=tied[kept],
        part_query=query[parts],
        part=np.unique(numbers, return_inverse=True)[1].astype(np.int64),
        part_above=above[parts],
        part_tied=tied[parts],
        part_document=document[parts],
        returned=returned.astype(np.int64),
    )
