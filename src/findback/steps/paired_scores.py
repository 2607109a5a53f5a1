"""Several systems' scores side by side: a row a case, a column a system."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from findback.measure.clusters import Floats
from findback.measure.paired import PairDifference, compare_all
from findback.model.question import Question
from findback.steps.makeup import cluster_of
from findback.steps.scores import Scored

Pair = tuple[int, int]
"""Columns of the first and the second system."""
RECORDED = "file"
"""Kind of a run recorded elsewhere."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedScores:
    """One metric of several systems on the answerable cases that all of them were asked."""

    names: tuple[str, ...]
    """Systems, in the order of the columns."""
    metric: str
    """Canonical name."""
    questions: tuple[Question, ...]
    """The cases, in the order of the rows."""
    values: Floats
    """Shape (cases, systems); NaN where a search failed or the metric has no value."""
    low: Floats
    """The same, with the worst possible value where a search failed."""
    high: Floats
    """The same, with the best possible value where a search failed."""
    left_out: int
    """Answerable cases that not every system was asked."""
    seed: int
    """Of everything drawn at random."""

    @cached_property
    def clusters(self) -> list[str]:
        """Return the cluster of each case."""
        return [cluster_of(question) for question in self.questions]

    @cached_property
    def golds(self) -> list[frozenset[str]]:
        """Return the gold documents of each case."""
        return [frozenset(judgement.doc for judgement in question.gold) for question in self.questions]

    @cached_property
    def failed(self) -> Floats:
        """Return 1 where a search failed, else 0; shape (cases, systems)."""
        return (np.isnan(self.values) & ~np.isnan(self.low)).astype(np.float64)

    def take(self, rows: Sequence[int]) -> "PairedScores":
        """Return the scores on some of the cases."""
        kept = list(rows)
        return PairedScores(
            names=self.names,
            metric=self.metric,
            questions=tuple(self.questions[row] for row in kept),
            values=self.values[kept],
            low=self.low[kept],
            high=self.high[kept],
            left_out=0,
            seed=self.seed,
        )

    def group_rows(self, key: Callable[[Question], str | None]) -> dict[str, list[int]]:
        """Return the rows of each value, sorted by value; cases without one are `unknown`."""
        rows: dict[str, list[int]] = defaultdict(list)
        for row, question in enumerate(self.questions):
            rows[key(question) or "unknown"].append(row)
        return {value: rows[value] for value in sorted(rows)}

    def subtract(self, pair: Pair) -> Floats:
        """Return the first minus the second system on each case; NaN where one of them has no value."""
        return self.values[:, pair[0]] - self.values[:, pair[1]]

    def count_failed(self, pair: Pair) -> int:
        """Return on how many cases a search of the two failed."""
        return int(self.failed[:, list(pair)].any(axis=1).sum())

    def bound_pairs(self, pairs: Sequence[Pair], *, resamples: int) -> list[tuple[PairDifference, PairDifference]]:
        """Return each pair's difference, first minus second, at its least and at its most.

        The two are one and the same where no search of the pair failed. All intervals and probabilities hold
        together, bounds included.
        """
        count = len(self.names)
        # Columns: every system at its least, then every system at its most.
        table = np.hstack([self.low, self.high])
        wanted = [(first, second + count) for first, second in pairs]
        failing = [at for at, pair in enumerate(pairs) if self.count_failed(pair)]
        wanted += [(pairs[at][0] + count, pairs[at][1]) for at in failing]
        found = compare_all(
            table, self.clusters, self.golds, pairs=wanted, seed=self.seed, resamples=resamples, span=1.0
        )
        most = dict(zip(failing, found[len(pairs) :], strict=True))
        return [(found[at], most.get(at, found[at])) for at in range(len(pairs))]


def pair_scores(scored: Sequence[Scored], metric: str, names: Sequence[str]) -> PairedScores:
    """Return the scores of several runs on the answerable cases that all of them were asked.

    Args:
        scored: Runs scored on the same questions.
        metric: A metric all were scored with.
        names: How the systems are called, in the order of the runs.
    """
    answerable = scored[0].scores.answerable
    rows = shared_rows(scored)
    columns = [one.scores[metric] for one in scored]
    questions = scored[0].labelled.questions
    return PairedScores(
        names=tuple(names),
        metric=metric,
        questions=tuple(questions[row] for row in rows.tolist()),
        values=np.column_stack([column.values[rows] for column in columns]),
        low=np.column_stack([column.low[rows] for column in columns]),
        high=np.column_stack([column.high[rows] for column in columns]),
        left_out=int(answerable.sum()) - len(rows),
        seed=scored[0].seed,
    )


def shared_rows(scored: Sequence[Scored]) -> NDArray[np.int64]:
    """Return the places of the answerable questions that every run was asked."""
    asked = np.all([was_asked(one) for one in scored], axis=0)
    return np.flatnonzero(scored[0].scores.answerable & asked)


def was_asked(scored: Scored) -> NDArray[np.bool_]:
    """Return which questions a run can be held to.

    A question the system could not be asked is none, nor is one that came into the set after the run. One that a
    run recorded elsewhere lacks is: it counts as missed.
    """
    scores = scored.scores
    asked = ~scores.skipped
    return asked if scored.run.kind == RECORDED else asked & ~scores.missing
