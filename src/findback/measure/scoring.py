"""Scores of a run, per question."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.measure.metrics.anchors import ANCHOR_SCORES, Containment, PlacedAnchors, place_anchors
from findback.measure.metrics.name import Metric, parse_metric
from findback.measure.metrics.table import COMPUTATIONS
from findback.measure.ranks import Int64s, Placed, Ties, join_queries, orient_scores, place_golds
from findback.model.gold import Gold
from findback.model.run import FAILED, OK, SKIPPED, Run

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

REASONS = (
    None,
    "no right document: scored as abstention",
    "no document of the grade asked for",
    "no anchor",
    "results came without passage or span",
    "nothing returned",
    "the query ended in an error",
    "the retriever cannot honour the context",
)
"""Why a question has no value; a column holds places in this list."""
NO_GOLD, NO_GRADE, NO_ANCHOR, NO_PASSAGE, NO_RESULT, ENDED_IN_ERROR, NOT_APPLICABLE = range(1, len(REASONS))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Column:
    """One metric over the questions of a set."""

    metric: Metric
    values: Floats
    """Value per question, NaN where there is none."""
    low: Floats
    """The value where there is one; 0 where the query ended in an error; else NaN."""
    high: Floats
    """The value where there is one; the best possible where the query ended in an error; else NaN."""
    reason: NDArray[np.int8]
    """Place in REASONS of why there is no value, per question; 0 where there is one."""

    @property
    def undefined(self) -> Bools:
        """True where the metric has no value."""
        return self.reason > 0

    def reason_of(self, question: int) -> str | None:
        """Return why a question has no value, or None where it has one."""
        return REASONS[int(self.reason[question])]

    @property
    def mean(self) -> float | None:
        """The plain mean over questions with a value, None when there is none; it knows of no clusters."""
        kept = self.values[~self.undefined]
        return float(kept.mean()) if len(kept) else None


# Not slotted: what is derived is kept once computed.
@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """Everything per question that scoring a run on a set gives; all arrays have a place per question."""

    queries: tuple[str, ...]
    """Question ids, in the set's order."""
    columns: dict[str, Column]
    """By canonical name, in the order asked."""
    placed: Placed
    """Where every judged document stands."""
    anchors: PlacedAnchors | None
    """Where anchors are held; None when no metric asked for it."""
    missing: Bools
    """True where the run does not have the question; it counts as a miss."""
    failed: Bools
    """True where the query ended in an error: no value, only bounds."""
    skipped: Bools
    """True where the retriever could not be asked: no value and no bounds."""
    answerable: Bools
    """True where the question has a document of grade 1 or more."""
    abstained: Bools
    """True where the engine said that it has no answer."""
    top_score: Floats
    """Score of the best result, turned so that higher is surer; NaN without results or scores."""
    extra: int
    """Queries of the run that the set does not have."""

    def __getitem__(self, metric: str | Metric) -> Column:
        """Return the column of a metric that was asked for."""
        name = str(parse_metric(metric) if isinstance(metric, str) else metric)
        if name not in self.columns:
            raise UsageError(f"{name} was not scored", hint=f"there are {', '.join(self.columns)}")
        return self.columns[name]

    @cached_property
    def best_gold(self) -> tuple[Int64s, Int64s]:
        """Best rank of a right document, 0 where none was returned, and how many share its score.

        With ties the rank is the first of the block: the document stands at rank … rank + tied − 1.
        """
        rank = np.zeros(len(self.queries), dtype=np.int64)
        tied = np.zeros(len(self.queries), dtype=np.int64)
        query, above, block = self.placed.relevant()
        # Rows stand by question and place: written from the end, the first one stays.
        rank[query[::-1]] = above[::-1] + 1
        tied[query[::-1]] = block[::-1]
        return rank, tied

    @property
    def tied_share(self) -> float | None:
        """Share of returned right documents that share their score with another result; None without any."""
        _, _, tied = self.placed.relevant()
        return float((tied > 1).mean()) if len(tied) else None


def score(
    run: Run,
    gold: Gold,
    metrics: Iterable[str | Metric],
    *,
    ties: Ties = "expected",
    holds: Containment | None = None,
) -> Scores:
    """Score a run on judgements.

    Args:
        run: What a retriever returned.
        gold: Judgements of every question of the set.
        metrics: Names as ir_measures writes them, and findback's own.
        ties: See `place_golds`.
        holds: Share of an anchor's words that a passage contains, for anchors or passages without spans.

    Returns:
        A column per metric. A question the run does not have counts 0; one without a right document has
        no value; one that ended in an error has bounds instead of a value.

    Raises:
        UsageError: If a name is unknown, or the run lacks what a metric needs.
    """
    asked = [parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
    placed = place_golds(run, gold, ties=ties)
    of_run = join_queries(gold.queries, run.queries)
    missing = of_run < 0
    ended = np.where(missing, OK, _take(run.ended, of_run, OK))
    anchors = place_anchors(run, gold, holds) if any(m.name in ANCHOR_SCORES for m in asked) else None
    failed, skipped = ended == FAILED, ended == SKIPPED
    return Scores(
        queries=gold.queries,
        columns={str(m): _score_metric(m, placed, anchors, failed, skipped) for m in asked},
        placed=placed,
        anchors=anchors,
        missing=missing,
        failed=failed,
        skipped=skipped,
        answerable=placed.golds() > 0,
        abstained=_take(run.abstained, of_run, False) & ~missing,
        top_score=_top_scores(run, of_run),
        extra=len(run) - int((~missing).sum()),
    )


def _take(values: NDArray[Any] | None, of_run: Int64s, default: int | bool) -> NDArray[Any]:
    if values is None or not len(values):
        return np.full(len(of_run), default)
    return values[of_run]


def _score_metric(
    metric: Metric, placed: Placed, anchors: PlacedAnchors | None, failed: Bools, skipped: Bools
) -> Column:
    reason = np.zeros(placed.questions, dtype=np.int8)
    if anchors is not None and metric.name in ANCHOR_SCORES:
        values = ANCHOR_SCORES[metric.name](anchors, metric)
        best = np.ones(placed.questions)
        reason[anchors.undecided(metric.cutoff or 0)] = NO_PASSAGE
        reason[failed] = ENDED_IN_ERROR
        reason[anchors.anchors == 0] = NO_ANCHOR
    else:
        computation = COMPUTATIONS[metric.name]
        values, best = computation.score(placed, metric), computation.best(placed, metric)
        reason[placed.returned == 0] = NO_RESULT if metric.name == "Judged" else 0
        reason[failed] = ENDED_IN_ERROR
        reason[placed.golds(metric.rel) == 0] = NO_GRADE
    reason[skipped] = NOT_APPLICABLE
    reason[placed.golds() == 0] = NO_GOLD
    bounded = reason == ENDED_IN_ERROR
    values = np.where(reason > 0, np.nan, values)
    return Column(
        metric=metric,
        values=values,
        low=np.where(bounded, 0.0, values),
        high=np.where(bounded, best, values),
        reason=reason,
    )


def _top_scores(run: Run, of_run: Int64s) -> Floats:
    top = np.full(len(run), np.nan)
    filled = np.flatnonzero(run.lengths > 0)
    if run.scores is not None and run.direction is not None and len(filled):
        if run.order == "score":
            worst_first = np.fmin if run.direction == "lower" else np.fmax
            top[filled] = worst_first.reduceat(run.scores, run.starts[filled])
            top = -top if run.direction == "lower" else top
        else:
            top[filled] = orient_scores(run, run.starts[filled])
    return np.where(of_run < 0, np.nan, top[of_run] if len(run) else np.nan)
