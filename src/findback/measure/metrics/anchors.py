"""Metrics over passages: does a returned passage hold the quoted answer?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.measure.metrics.name import Metric
from findback.measure.ranks import Int64s, join_queries
from findback.model.gold import Gold
from findback.model.run import Run

HELD = 0.5
"""Least share of an anchor that a passage must hold."""

Containment = Callable[[str, str], float | None]
"""Takes an anchor and a passage; returns the share of the anchor that the passage contains."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacedAnchors:
    """Anchors of gold documents with the place of the first passage that holds them."""

    questions: int
    query: Int64s
    """Question of each anchor."""
    above: Int64s
    """Passages above the first one that holds it, before passages are collapsed; -1 when none does."""
    blind: Int64s
    """Passages above the first result of the gold document that came without text and span; -1 for none."""

    @property
    def anchors(self) -> Int64s:
        """How many anchors each question has."""
        return np.bincount(self.query, minlength=self.questions)

    def undecided(self, cutoff: int) -> NDArray[np.bool_]:
        """Return where a result that cannot be checked might hold an anchor that nothing else holds."""
        held = (self.above >= 0) & (self.above < cutoff)
        doubtful = (self.blind >= 0) & (self.blind < cutoff) & ~held
        return np.bincount(self.query[doubtful], minlength=self.questions) > 0


def place_anchors(run: Run, gold: Gold, holds: Containment | None = None) -> PlacedAnchors:
    """Return where each anchor is first held.

    A passage holds an anchor when it comes from the gold document and has at least half of it: by
    characters when both have spans, else by `holds`.

    Raises:
        UsageError: If only scores order the run, so that passages have no order of their own.
    """
    if run.order == "score":
        raise UsageError(f"the run {run.name} is ordered by scores alone; passages need the order returned")
    of_run = join_queries(gold.queries, run.queries)
    codes = run.documents.find(gold.documents)
    rows = [row for row in np.flatnonzero(gold.grade >= 1).tolist() if _has_anchor(gold, row)]
    above = np.full(len(rows), -1, dtype=np.int64)
    blind = np.full(len(rows), -1, dtype=np.int64)
    for at, row in enumerate(rows):
        query = int(of_run[gold.query[row]])
        if query < 0:
            continue
        begin, end = int(run.starts[query]), int(run.starts[query + 1])
        for hit in np.flatnonzero(run.codes[begin:end] == codes[gold.document[row]]).tolist():
            share = _share_held(run, begin + hit, gold, row, holds)
            if share is None:
                blind[at] = hit if blind[at] < 0 else blind[at]
            elif share >= HELD:
                above[at] = hit
                break
    return PlacedAnchors(questions=len(gold), query=gold.query[rows].astype(np.int64), above=above, blind=blind)


def _has_anchor(gold: Gold, row: int) -> bool:
    quoted = bool(gold.anchors) and bool(gold.anchors[row])
    return quoted or (gold.spans is not None and gold.spans[row, 0] >= 0)


def _share_held(run: Run, hit: int, gold: Gold, row: int, holds: Containment | None) -> float | None:
    if run.spans is not None and gold.spans is not None and run.spans[hit, 0] >= 0 and gold.spans[row, 0] >= 0:
        begin, end = gold.spans[row]
        held = min(end, run.spans[hit, 1]) - max(begin, run.spans[hit, 0])
        return float(max(held, 0) / max(end - begin, 1))
    anchor = gold.anchors[row] if gold.anchors else None
    if holds is None or anchor is None or run.passage is None or run.passage[hit] < 0:
        return None
    return holds(anchor, run.passages[int(run.passage[hit])])


def score_anchor_success(placed: PlacedAnchors, metric: Metric) -> NDArray[np.float64]:
    """Return 1 where a passage among the first k holds an anchor, else 0."""
    held = (placed.above >= 0) & (placed.above < (metric.cutoff or 0))
    return (np.bincount(placed.query[held], minlength=placed.questions) > 0).astype(np.float64)


def score_anchor_recall(placed: PlacedAnchors, metric: Metric) -> NDArray[np.float64]:
    """Return the share of anchors that a passage among the first k holds."""
    held = (placed.above >= 0) & (placed.above < (metric.cutoff or 0))
    return np.bincount(placed.query[held], minlength=placed.questions) / np.maximum(placed.anchors, 1)


ANCHOR_SCORES = {"AnchorSuccess": score_anchor_success, "AnchorRecall": score_anchor_recall}
