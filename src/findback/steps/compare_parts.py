"""What a comparison shows without a verdict: other metrics, types of cases, and the cases behind a difference."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from findback.measure.clusters import Floats
from findback.measure.intervals import estimate_means
from findback.measure.metrics.name import parse_metric
from findback.model.compared import ComparedCase, MetricDifference, PartDifference
from findback.model.estimate import Estimate
from findback.model.evaluation import Axis, Score
from findback.steps.paired_scores import Pair, PairedScores, pair_scores
from findback.steps.scores import Scored, silence

TYPES: tuple[Axis, ...] = ("origin", "wording", "answer", "language")
"""Axes along which differences are shown by type."""
_NEAR = 1e-9


def estimate_differences(paired: PairedScores, pairs: Sequence[Pair], *, level: float = 0.95) -> list[Estimate]:
    """Return each pair's difference with an interval of its own; without a value where a search of it failed."""
    gaps = np.stack([paired.subtract(pair) for pair in pairs], axis=1)
    gaps[np.abs(gaps) <= _NEAR] = 0.0
    found = estimate_means(gaps, paired.clusters, paired.golds, level=level, seed=paired.seed, bounds=(-1.0, 1.0))
    errors = [paired.count_failed(pair) for pair in pairs]
    return [silence(one, failed) if failed else one for one, failed in zip(found, errors, strict=True)]


def score_systems(paired: PairedScores) -> list[Score]:
    """Return each system's mean over the cases compared; bounds where a search of it failed."""
    errors = [int(count) for count in paired.failed.sum(axis=0)]
    means = _means(paired, paired.values)
    lowest, highest = (_means(paired, paired.low), _means(paired, paired.high)) if any(errors) else (means, means)
    return [
        Score(
            metric=paired.metric,
            label=parse_metric(paired.metric).label,
            estimate=silence(mean, failed) if failed else mean,
            lowest=low if failed else None,
            highest=high if failed else None,
        )
        for mean, low, high, failed in zip(means, lowest, highest, errors, strict=True)
    ]


def _means(paired: PairedScores, values: Floats) -> tuple[Estimate, ...]:
    return estimate_means(values, paired.clusters, paired.golds, seed=paired.seed)


def differ_in_metrics(
    scored: Sequence[Scored], metrics: Sequence[str], names: Sequence[str], pairs: Sequence[Pair]
) -> list[tuple[MetricDifference, ...]]:
    """Return each pair's differences in metrics that carry no verdict."""
    columns = [(name, estimate_differences(pair_scores(scored, name, names), pairs)) for name in metrics]
    return [
        tuple(
            MetricDifference(metric=name, label=parse_metric(name).label, difference=column[at])
            for name, column in columns
        )
        for at in range(len(pairs))
    ]


def differ_by_type(paired: PairedScores, pairs: Sequence[Pair]) -> list[tuple[PartDifference, ...]]:
    """Return each pair's differences by type; the intervals of one pair along one axis hold together."""
    found: list[list[PartDifference]] = [[] for _ in pairs]
    for axis in TYPES:
        groups = paired.group_rows(attrgetter(axis))
        if len(groups) < 2:
            continue
        for value, rows in groups.items():
            part = paired.take(rows)
            differences = estimate_differences(part, pairs, level=1 - 0.05 / len(groups))
            for at, difference in enumerate(differences):
                found[at].append(PartDifference(axis=axis, value=value, cases=len(rows), difference=difference))
    return [tuple(parts) for parts in found]


def list_differing(paired: PairedScores, ranks: Sequence[np.ndarray]) -> tuple[ComparedCase, ...]:
    """Return the cases on which not all systems score alike, or a search failed.

    Args:
        paired: The primary metric.
        ranks: Best gold rank of each case with each system, 0 where none was returned.
    """
    failed = np.isnan(paired.values)
    alike = ~failed.any(axis=1) & (np.ptp(np.where(failed, 0.0, paired.values), axis=1) <= _NEAR)
    found = []
    for row in np.flatnonzero(~alike).tolist():
        question = paired.questions[row]
        scores = paired.values[row].tolist()
        found.append(
            ComparedCase(
                question=question.id,
                query=question.query,
                wording=question.wording,
                stratum=question.stratum,
                scores=tuple(None if np.isnan(score) else score for score in scores),
                ranks=tuple(int(column[row]) or None for column in ranks),
            )
        )
    return tuple(found)
