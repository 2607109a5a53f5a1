"""One retriever's run, scored on a set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from findback.measure.abstention import measure_abstention
from findback.measure.intervals import estimate_means
from findback.measure.metrics.name import parse_metric
from findback.measure.scoring import Column, Scores, score
from findback.model.estimate import Estimate
from findback.model.evaluation import (
    Abstention,
    Axis,
    Count,
    Latency,
    Score,
    ScoreGroup,
)
from findback.model.protocols import Documents
from findback.model.question import Question
from findback.model.run import OK, Run
from findback.steps.gold import HOLDS, Labelled
from findback.steps.makeup import cluster_of

RANK_BINS = ((1, 1), (2, 3), (4, 10), (11, 100))
"""First and last rank of each bin of the rank distribution."""

Rows = Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A run with its scores, ready to be cut into groups."""

    run: Run
    labelled: Labelled
    scores: Scores
    metrics: tuple[str, ...]
    seed: int

    def group(self, axis: Axis, value: str, rows: Rows, *, together: int = 1) -> ScoreGroup:
        """Return the scores of some questions, by their place in the set.

        Args:
            axis: What the questions have in common.
            value: Which value of it.
            rows: Their places.
            together: Groups shown side by side; their intervals hold all at once.
        """
        answerable = [row for row in rows if self.scores.answerable[row] and not self.scores.skipped[row]]
        questions = [self.labelled.questions[row] for row in answerable]
        columns = [self.scores[name] for name in self.metrics]
        return ScoreGroup(
            axis=axis,
            value=value,
            cases=len(answerable),
            exploratory=axis != "all",
            scores=tuple(self._score(columns, answerable, questions, level=1 - 0.05 / together)),
        )

    def _score(
        self, columns: Sequence[Column], rows: Rows, questions: Sequence[Question], *, level: float
    ) -> list[Score]:
        estimates = self._estimate([column.values for column in columns], rows, questions, level)
        lowest: Sequence[Estimate | None] = [None] * len(columns)
        highest = lowest
        errors = int(self.scores.failed[list(rows)].sum()) if rows else 0
        if errors:
            lowest = self._estimate([column.low for column in columns], rows, questions, level)
            highest = self._estimate([column.high for column in columns], rows, questions, level)
            estimates = [silence(estimate, errors) for estimate in estimates]
        return [
            Score(metric=str(column.metric), label=column.metric.label, estimate=estimate, lowest=low, highest=high)
            for column, estimate, low, high in zip(columns, estimates, lowest, highest, strict=True)
        ]

    def _estimate(
        self, columns: Sequence[np.ndarray], rows: Rows, questions: Sequence[Question], level: float
    ) -> list[Estimate]:
        if not rows:
            return [Estimate(value=None, reason="no cases") for _ in columns]
        matrix = np.column_stack([column[list(rows)] for column in columns])
        clusters = [cluster_of(question) for question in questions]
        golds = [frozenset(judgement.doc for judgement in question.gold) for question in questions]
        return list(estimate_means(matrix, clusters, golds, level=level, seed=self.seed))

    @property
    def answerable_rows(self) -> list[int]:
        """Return the places of the questions that have an answer and could be asked."""
        rows: list[int] = np.flatnonzero(self.scores.answerable & ~self.scores.skipped).tolist()
        return rows

    def answerable_values(self, metric: str) -> list[float]:
        """Return one metric for each of these questions, NaN where the search failed."""
        values: list[float] = self.scores[metric].values[self.answerable_rows].tolist()
        return values

    @property
    def answerable_clusters(self) -> list[str]:
        """Return the cluster of each of these questions."""
        return [cluster_of(self.labelled.questions[row]) for row in self.answerable_rows]

    @property
    def answerable_golds(self) -> list[frozenset[str]]:
        """Return the gold documents of each of these questions."""
        return [
            frozenset(judgement.doc for judgement in self.labelled.questions[row].gold) for row in self.answerable_rows
        ]


def score_run(run: Run, labelled: Labelled, metrics: Sequence[str], *, seed: int) -> Scored:
    """Score a run on every labelled question.

    Raises:
        UsageError: If a metric's name is unknown.
    """
    names = tuple(str(parse_metric(name)) for name in metrics)
    return Scored(run, labelled, score(run, labelled.gold, names, holds=HOLDS), names, seed)


def silence(estimate: Estimate, errors: int) -> Estimate:
    """Return an estimate without its value: with errors there are only bounds."""
    said = "1 query failed" if errors == 1 else f"{errors} queries failed"
    return estimate.model_copy(
        update={"value": None, "low": None, "high": None, "method": "none", "reason": f"{said}: bounds only"}
    )


def rank_counts(scored: Scored) -> tuple[Count, ...]:
    """Return how many answerable questions have their best gold at which rank."""
    rank, _ = scored.scores.best_gold
    kept = rank[scored.scores.answerable & ~scored.scores.failed & ~scored.scores.skipped]
    bins = [
        Count(
            name=str(first) if first == last else f"{first}-{last}", count=int(((kept >= first) & (kept <= last)).sum())
        )
        for first, last in RANK_BINS
    ]
    beyond = int((kept > RANK_BINS[-1][1]).sum())
    if beyond:
        bins.append(Count(name=f"over {RANK_BINS[-1][1]}", count=beyond))
    return (*bins, Count(name="not returned", count=int((kept == 0).sum())))


def measure_latency(run: Run, *, warm_up: int, concurrency: int) -> Latency:
    """Return how long successful searches took; warm-up has no latency recorded and is only counted."""
    found = np.empty(0) if run.latency is None else run.latency
    asked = np.ones(len(found), dtype=bool) if run.ended is None else run.ended == OK
    kept = found[asked]
    measured = kept[~np.isnan(kept)]
    return Latency(
        median_ms=float(np.median(measured)) if len(measured) else None,
        p95_ms=float(np.quantile(measured, 0.95)) if len(measured) else None,
        measured=len(measured),
        warm_up=warm_up,
        concurrency=concurrency,
    )


def count_outside(run: Run, documents: Documents) -> int:
    """Return how many distinct returned ids are no document of the corpus."""
    return sum(1 for document in run.documents if documents.get(document) is None)


def rate_abstention(scored: Scored) -> Abstention | None:
    """Return whether the retriever tells no-answer cases apart; None where the set has none."""
    scores = scored.scores
    asked = ~scores.failed & ~scores.skipped
    answerable = scores.answerable[asked]
    if answerable.all():
        return None
    rows = np.flatnonzero(asked).tolist()
    returned = (scores.placed.returned > 0) & ~scores.abstained
    scoreless = bool(np.isnan(scores.top_score[asked & returned]).any())
    found = measure_abstention(
        None if scoreless else scores.top_score[asked],
        answerable,
        returned[asked],
        [cluster_of(scored.labelled.questions[row]) for row in rows],
        fused=scored.run.kind == "fuse",
        seed=scored.seed,
    )
    return Abstention(
        auroc=found.auroc,
        false_answer=found.false_answer,
        false_abstain=found.false_abstain,
        own_false_answer=found.own_false_answer,
        own_false_abstain=found.own_false_abstain,
        answerable=int(answerable.sum()),
        unanswerable=int((~answerable).sum()),
    )
