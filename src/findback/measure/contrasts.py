"""Differences within a table of means, on one set or between two, with intervals that hold for all of them together."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from findback.measure.bootstrap import DEFAULT_SEED, draw_signs
from findback.measure.clusters import (
    FEWEST_CLUSTERS,
    Codes,
    Floats,
    Golds,
    Units,
    Values,
    as_matrix,
    average_clusters,
    code_clusters,
    join_by_gold,
    merge_units,
)
from findback.measure.intervals import choose_units, t_quantile, too_few, welch_freedom
from findback.model.record import Record

RESAMPLES = 2_000
"""Sign patterns for a simultaneous width."""

_NEAR = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Several systems' scores on the cases of one set that all of them have a value for."""

    matrix: Floats
    """Shape (cases, systems)."""
    codes: Codes
    """Cluster of each case, 0 … clusters - 1."""
    golds: Golds | None
    """One entry a case, as for `join_by_gold`."""
    left_out: int
    """Cases that not every system has a value for."""

    @property
    def clusters(self) -> int:
        """Return how many clusters there are."""
        return int(self.codes.max()) + 1 if self.codes.size else 0

    def by_cluster(self) -> Units:
        """Return the mean of each cluster."""
        return average_clusters(self.matrix, self.codes)

    def units(self, weights: Floats) -> Units:
        """Return the systems' sums over clusters, or over gold groups where these widen any contrast by half.

        Shape:
            `weights` is (systems, contrasts).
        """
        by_cluster = self.by_cluster()
        if self.golds is None:
            return by_cluster
        by_gold = merge_units(by_cluster, join_by_gold(self.codes, self.golds))
        here, there = _contrast(by_cluster, weights), _contrast(by_gold, weights)
        wide = any(choose_units(here, there, at).by_gold for at in range(weights.shape[1]))
        return by_gold if wide else by_cluster

    def take(self, clusters: npt.NDArray[np.int64]) -> "Sample":
        """Return the cases of some of the clusters."""
        rows = np.flatnonzero(np.isin(self.codes, clusters))
        golds = None if self.golds is None else [self.golds[row] for row in rows.tolist()]
        return Sample(self.matrix[rows], code_clusters(self.codes[rows], len(rows)), golds, 0)


class Contrast(Record):
    """A weighted sum of means, weights adding up to 0, with an interval that holds together with others."""

    value: float | None
    """In the unit of the metric; None where a set has no case."""
    low: float | None = None
    """Lower end of the simultaneous interval."""
    high: float | None = None
    """Upper end of it."""
    p: float | None = None
    """Probability adjusted for all contrasts (single-step max-T), in (0, 1]; None without an interval."""
    error: float | None = None
    """Standard error; None below two units, and where nothing varies."""
    reason: str | None = None
    """Why there is no value, or no interval."""

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, and 0 lies outside it."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def take_sample(
    matrix: Floats | Sequence[Values],
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
) -> Sample:
    """Return the cases that every system has a value for.

    Shape:
        `matrix` is (cases, systems), one metric; `clusters` and `golds` have one entry a case.

    Raises:
        ValueError: If lengths differ or a value is infinite.
    """
    table = as_matrix(matrix)
    codes = code_clusters(clusters, len(table))
    if golds is not None and len(golds) != len(table):
        raise ValueError(f"{len(golds)} entries of golds were given for {len(table)} cases")
    rows = np.flatnonzero(~np.isnan(table).any(axis=1))
    kept = None if golds is None else [golds[row] for row in rows.tolist()]
    return Sample(table[rows], code_clusters(codes[rows], len(rows)), kept, len(table) - len(rows))


def weigh_pairs(systems: int) -> tuple[tuple[tuple[int, int], ...], Floats]:
    """Return all pairs of systems, and the weights (systems, pairs) that make first minus second of them.

    >>> weigh_pairs(2)[1].tolist()
    [[1.0], [-1.0]]
    """
    pairs = tuple(combinations(range(systems), 2))
    weights = np.zeros((systems, len(pairs)))
    for at, (first, second) in enumerate(pairs):
        weights[first, at], weights[second, at] = 1.0, -1.0
    return pairs, weights


def estimate_contrasts(
    samples: Sequence[Sample],
    weights: Sequence[Floats],
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    span: float | None = None,
) -> tuple[Contrast, ...]:
    """Return contrasts of means over independent samples, with simultaneous intervals.

    A contrast is the sum over samples of their means times its weights there. Residuals of whole units are
    flipped, and the width is the quantile of the largest studentised value over all contrasts (max-T), never
    less than that of a single t interval. Systems on one sample are paired, samples are independent.

    Args:
        samples: One a set.
        weights: For each sample, shape (systems of the sample, contrasts); a column adds up to 0 in each sample.
        level: Confidence level of all intervals together, in (0, 1).
        seed: Of the signs.
        resamples: Sign patterns.
        span: Largest possible contrast, to which intervals are cut; None for no cut.

    Returns:
        One record a contrast, in the order given. Below 8 units in any sample, and where nothing varies, a
        contrast has no interval.

    Source:
        Westfall and Young 1993; Mammen 1993 (wild bootstrap); Welch 1947 for the single width.

    >>> rows = np.array([[1.0, 0.0]] * 5 + [[0.0, 0.0]] * 5)
    >>> (found,) = estimate_contrasts([take_sample(rows)], [weigh_pairs(2)[1]])
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.5, 0.123, 0.877)
    """
    if any(not len(sample.matrix) for sample in samples):
        return tuple(
            Contrast(value=None, reason="no case has a value from every system") for _ in range(weights[0].shape[1])
        )
    sides = [_side(sample, weight) for sample, weight in zip(samples, weights, strict=True)]
    values = np.sum([side.values for side in sides], axis=0)
    variances = np.sum([side.variances for side in sides], axis=0)
    fewest = min(len(side.residuals) for side in sides)
    if fewest < FEWEST_CLUSTERS:
        reason = too_few(fewest, "clusters" if len(sides) == 1 else "clusters on one side")
        return tuple(Contrast(value=float(value), reason=reason) for value in values)
    moving = np.flatnonzero(variances > _NEAR**2)
    width, p = _largest(sides, values, variances, moving, level=level, seed=seed, resamples=resamples)
    found = []
    for at, value in enumerate(values.tolist()):
        if at not in moving:
            reason = "identical on every case" if abs(value) <= _NEAR else "the same on every case"
            found.append(Contrast(value=value if abs(value) > _NEAR else 0.0, reason=reason))
            continue
        error = float(variances[at]) ** 0.5
        low, high = value - width * error, value + width * error
        if span is not None:
            low, high = max(low, -span), min(high, span)
        found.append(Contrast(value=value, low=low, high=high, p=float(p[at]), error=error))
    return tuple(found)


class _Side(NamedTuple):
    """What one sample brings to every contrast."""

    values: Floats
    variances: Floats
    """Jackknife variance of its part of each contrast."""
    residuals: Floats
    """Shape (units, contrasts): what a unit adds to the contrast, less its expectation."""


def _side(sample: Sample, weights: Floats) -> _Side:
    units = sample.units(weights)
    joined = _contrast(units, weights)
    residuals = (joined.sums - joined.counts * joined.means()) / joined.counts.sum(axis=0)
    # What a sample of one unit lacks in variance is caught by the number of units.
    return _Side(joined.means(), np.nan_to_num(joined.variances()), residuals)


def _contrast(units: Units, weights: Floats) -> Units:
    """Return the units of weighted sums; every system has a value in each of them."""
    return Units(units.sums @ weights, np.repeat(units.counts[:, :1], weights.shape[1], axis=1))


def _largest(
    sides: Sequence[_Side],
    values: Floats,
    variances: Floats,
    moving: npt.NDArray[np.intp],
    *,
    level: float,
    seed: int,
    resamples: int,
) -> tuple[float, Floats]:
    """Return the simultaneous half-width in standard errors, and adjusted probabilities."""
    p = np.ones(len(values))
    if not moving.size:
        return 0.0, p
    observed = np.abs(values[moving]) / np.sqrt(variances[moving])
    parts = [side.residuals[:, moving] for side in sides]
    extreme = np.zeros(len(moving))
    largest = []
    for signs in draw_signs(sum(map(len, parts)), seed=seed, resamples=resamples):
        start, sums, left = 0, np.zeros((len(signs), len(moving))), np.zeros((len(signs), len(moving)))
        for part in parts:
            flipped, count = signs[:, start : start + len(part)] @ part, len(part)
            squares = np.square(part).sum(axis=0)
            left += np.maximum(squares - np.square(flipped) / count, squares * 1e-9) * count / (count - 1)
            sums += flipped
            start += count
        top = np.abs(sums / np.sqrt(left)).max(axis=1)
        extreme += (top[:, None] >= observed * (1 - 1e-9)).sum(axis=0)
        largest.append(top)
    p[moving] = (extreme + 1) / (resamples + 1)
    freedom = welch_freedom([side.variances[moving] for side in sides], [len(part) for part in parts])
    single = t_quantile(level, float(freedom.min()))
    return max(float(np.quantile(np.concatenate(largest), level)), single), p
