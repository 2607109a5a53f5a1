"""Two independent samples side by side: a set and real queries."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, bca_interval, resample_means
from findback.measure.clusters import (
    BOOTSTRAP_CLUSTERS,
    FEWEST_CLUSTERS,
    Codes,
    Floats,
    Golds,
    Units,
    Values,
    as_column,
    as_matrix,
    average_clusters,
    code_clusters,
    join_by_gold,
    merge_units,
)
from findback.measure.intervals import (
    Choice,
    choose_units,
    estimate_mean,
    exact_interval,
    t_quantile,
    too_few,
    welch_freedom,
)
from findback.model.estimate import Estimate, IntervalMethod
from findback.model.record import Record

Clusters: TypeAlias = Sequence[Hashable] | Codes | None


class Gap(Record):
    """One figure on two samples that share no cases."""

    first: Estimate
    """Mean of the first sample (the set), each cluster once."""
    second: Estimate
    """Mean of the second sample (real queries)."""
    first_median: float | None
    """Median of the first sample's defined values."""
    second_median: float | None
    """Median of the second sample's defined values."""
    difference: Estimate
    """First minus second; n and clusters count both samples."""
    superiority: Estimate
    """Probability in [0, 1] that a case of the first has the larger value, ties counting half; .5: no gap."""


class Spread(Record):
    """How far apart the best and the worst retriever are on one sample."""

    value: float | None
    """Largest minus smallest mean; None with fewer than two retrievers that have one."""
    low: float | None = None
    """Lower end, 0 or more; None when there is no interval."""
    high: float | None = None
    """Upper end; None when there is no interval."""
    level: float = 0.95
    """Confidence level; the interval is conservative."""
    best: int | None = None
    """Column of the largest mean."""
    worst: int | None = None
    """Column of the smallest mean."""
    n: int = 0
    """Cases with at least one value."""
    clusters: int = 0
    """Clusters among them."""
    seed: int = DEFAULT_SEED
    """Seed of the resampling."""
    reason: str | None = None
    """Why there is no value, or no interval."""


def measure_gap(
    first: Values,
    second: Values,
    first_clusters: Clusters = None,
    second_clusters: Clusters = None,
    *,
    first_golds: Golds | None = None,
    second_golds: Golds | None = None,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Gap:
    """Compare one figure on two samples: difference of means and probability of superiority.

    Each side's spread is taken over clusters, or over gold groups where these multiply it by more than 1.5.
    The difference has Welch's t interval, from 50 units on both sides a BCa one. No interval below 8 units
    on either side.

    Args:
        first: One value a case of the first sample, None or NaN where undefined.
        second: The same for the second sample.
        first_clusters: One a case; each case its own when left out.
        second_clusters: The same for the second sample.
        first_golds: As for `estimate_mean`.
        second_golds: The same for the second sample.
        level: Confidence level, in (0, 1).
        seed: Of the bootstrap.
        bounds: Range of the figure; None for one without limits.

    Returns:
        A gap whose figures are None where a side has no value.

    Raises:
        ValueError: If lengths differ, or a value is infinite or out of bounds.

    Source:
        Welch 1947; DiCiccio and Efron 1996.

    >>> gap = measure_gap([0.5, 0.7], [0.1, 0.5])
    >>> round(gap.difference.value, 3), gap.superiority.value, gap.difference.reason
    (0.3, 0.875, 'too few: 2 clusters on one side, 8 needed')
    """
    left, right = as_column(first), as_column(second)
    one = estimate_mean(left, first_clusters, first_golds, level=level, seed=seed, bounds=bounds)
    two = estimate_mean(right, second_clusters, second_golds, level=level, seed=seed, bounds=bounds)
    here, there = (
        _side(left, first_clusters, first_golds),
        _side(right, second_clusters, second_golds),
    )
    return Gap(
        first=one,
        second=two,
        first_median=_median(left),
        second_median=_median(right),
        difference=_difference(here, there, level=level, seed=seed, bounds=bounds),
        superiority=_superiority(here, there, level=level),
    )


def rate_superiority(
    first: Values,
    second: Values,
    first_clusters: Clusters = None,
    second_clusters: Clusters = None,
    *,
    first_golds: Golds | None = None,
    second_golds: Golds | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the probability that a case of the first sample has the larger value, ties counting half.

    Each cluster counts once: a case weighs one over its cluster's size. The variance is that of the
    placements by cluster on both sides, the interval t on the logit, so it stays in [0, 1]. With complete
    separation it is the exact one of as many wins as the smaller side has units, which holds because the
    two sides form that many separate pairs.

    Returns:
        An estimate in [0, 1]; .5 where neither side tends to be larger. Values only need an order.
        No value where a side is empty, no interval below 8 units on either side.

    Source:
        Brunner and Munzel 2000; DeLong et al. 1988; Obuchowski 1997 for clusters.

    >>> rate_superiority([3, 4], [1, 3]).value
    0.875
    """
    here = _side(as_column(first), first_clusters, first_golds)
    there = _side(as_column(second), second_clusters, second_golds)
    return _superiority(here, there, level=level)


def measure_spread(
    matrix: Floats | Sequence[Values],
    clusters: Clusters = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
) -> Spread:
    """Return how far apart the best and the worst of several retrievers are on one sample.

    The largest difference of means is too large by chance, so resampling it would be wrong. Instead the
    means are resampled together and the range of their errors taken: the true spread differs from the
    observed one by no more than that. Below 50 clusters the range is stretched by t over normal.

    Shape:
        `matrix` is (cases, retrievers), one metric.

    Returns:
        A spread in the unit of the metric, low 0 where the retrievers may be alike; no interval below 8
        clusters.

    Source:
        The largest minus the smallest is 1-Lipschitz in the range of the errors; Chernozhukov, Chetverikov
        and Kato 2013 for bootstrapping maxima.

    >>> spread = measure_spread(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> spread.value, spread.best, spread.reason
    (0.5, 0, 'too few: 2 clusters, 8 needed')
    """
    table = as_matrix(matrix)
    units = average_clusters(table, code_clusters(clusters, len(table)))
    means = units.means()
    named = np.flatnonzero(~np.isnan(means))
    cases = int(np.count_nonzero(~np.isnan(table).all(axis=1)))
    count = int(np.count_nonzero(units.counts.any(axis=1)))
    if len(named) < 2:
        return Spread(value=None, level=level, n=cases, clusters=count, seed=seed, reason="fewer than two retrievers")
    best, worst = int(named[means[named].argmax()]), int(named[means[named].argmin()])
    value = float(means[best] - means[worst])
    fewest = int(units.present()[named].min())
    found = Spread(value=value, level=level, best=best, worst=worst, n=cases, clusters=count, seed=seed)
    if fewest < FEWEST_CLUSTERS:
        return found.model_copy(update={"reason": too_few(fewest, "clusters")})
    errors = resample_means(Units(units.sums[:, named], units.counts[:, named]), seed=seed) - means[named]
    reach = float(np.nanquantile(np.ptp(errors, axis=1), level)) * _stretch(level, fewest)
    return found.model_copy(update={"low": max(0.0, value - reach), "high": value + reach})


class _Side(NamedTuple):
    """One sample: its cases, and the units its spread rests on."""

    values: Floats
    """Defined values only."""
    codes: Codes
    """Cluster of each, 0 … clusters - 1, in the order they appear."""
    groups: Codes | None
    """Gold group of each cluster."""
    left_out: int

    def choose(self, values: Floats) -> Choice:
        """Return the units for a figure of these cases."""
        by_cluster = average_clusters(values[:, None], self.codes)
        return choose_units(by_cluster, None if self.groups is None else merge_units(by_cluster, self.groups))


def _side(values: Floats, clusters: Clusters, golds: Golds | None) -> _Side:
    codes = code_clusters(clusters, len(values))
    if golds is not None and len(golds) != len(values):
        raise ValueError(f"{len(golds)} entries of golds were given for {len(values)} cases")
    kept = np.flatnonzero(~np.isnan(values))
    shown = code_clusters(codes[kept], len(kept))
    groups = None if golds is None else join_by_gold(shown, [golds[case] for case in kept.tolist()])
    return _Side(values[kept], shown, groups, len(values) - len(kept))


def _difference(here: _Side, there: _Side, *, level: float, seed: int, bounds: tuple[float, float] | None) -> Estimate:
    if not (len(here.values) and len(there.values)):
        return _undefined(here, there, level)
    one, two = here.choose(here.values), there.choose(there.values)
    value = float(one.units.means()[0] - two.units.means()[0])
    found = _figure(here, there, one, two, value, level=level)
    sizes = len(one.units.sums), len(two.units.sums)
    if min(sizes) < FEWEST_CLUSTERS:
        return found.model_copy(update={"reason": _too_few_aside(one, two)})
    spreads = [float(side.units.variances()[0]) for side in (one, two)]
    method: IntervalMethod
    if sum(spreads) <= 1e-24:
        return found.model_copy(update={"reason": "all cases of each side have the same value"})
    if min(sizes) >= BOOTSTRAP_CLUSTERS:
        method = "bca"
        low, high = bca_interval(
            value,
            _replicates(one.units, seed=seed, stream=0) - _replicates(two.units, seed=seed, stream=1),
            np.concatenate([one.units.influence()[:, 0], -two.units.influence()[:, 0]]),
            level=level,
        )
    else:
        method = "t"
        half = t_quantile(level, _freedom(spreads, sizes)) * sum(spreads) ** 0.5
        low, high = value - half, value + half
    if bounds is not None:
        width = bounds[1] - bounds[0]
        low, high = max(low, -width), min(high, width)
    if one.by_gold or two.by_gold:
        method = "gold-clustered"
    return found.model_copy(
        update={
            "low": low,
            "high": high,
            "method": method,
            "seed": seed if min(sizes) >= BOOTSTRAP_CLUSTERS else None,
        }
    )


def _superiority(here: _Side, there: _Side, *, level: float) -> Estimate:
    if not (len(here.values) and len(there.values)):
        return _undefined(here, there, level)
    one = here.choose(_place(here.values, there))
    two = there.choose(1 - _place(there.values, here))
    value = float(np.clip(average_clusters(_place(here.values, there)[:, None], here.codes).means()[0], 0, 1))
    found = _figure(here, there, one, two, value, level=level)
    sizes = len(one.units.sums), len(two.units.sums)
    if min(sizes) < FEWEST_CLUSTERS:
        return found.model_copy(update={"reason": _too_few_aside(one, two)})
    spreads = [float(side.units.variances()[0]) for side in (one, two)]
    if value in (0.0, 1.0):
        low, high = exact_interval(round(value) * min(sizes), min(sizes), level=level)
        return found.model_copy(update={"low": low, "high": high, "method": "clopper-pearson"})
    if sum(spreads) <= 1e-24:
        return found.model_copy(update={"reason": "all cases of each side have the same value"})
    logit = np.log(value / (1 - value))
    half = t_quantile(level, _freedom(spreads, sizes)) * sum(spreads) ** 0.5 / (value * (1 - value))
    low, high = (float(1 / (1 + np.exp(-end))) for end in (logit - half, logit + half))
    method: IntervalMethod = "gold-clustered" if one.by_gold or two.by_gold else "t"
    return found.model_copy(update={"low": low, "high": high, "method": method})


def _place(values: Floats, other: _Side) -> Floats:
    """Return the weight of the other side's cases below each value, equal ones counting half."""
    weights = 1 / np.bincount(other.codes)[other.codes] / (other.codes.max() + 1)
    order = np.argsort(other.values, kind="stable")
    ordered = other.values[order]
    heaped = np.concatenate([[0.0], np.cumsum(weights[order])])
    below = heaped[np.searchsorted(ordered, values, side="left")]
    upto = heaped[np.searchsorted(ordered, values, side="right")]
    placed = np.minimum((below + upto) / 2, 1.0)
    # Sums of weights miss 1 by rounding; complete separation has to be recognised.
    return np.where(placed > 1 - 1e-12, 1.0, placed)


def _replicates(units: Units, *, seed: int, stream: int) -> Floats:
    """Return replicates of one side's mean, independent of the other side's."""
    apart = int(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0])
    return resample_means(units, seed=apart)[:, 0]


def _freedom(spreads: list[float], sizes: tuple[int, int]) -> float:
    return float(welch_freedom([np.array(spread) for spread in spreads], sizes))


def _stretch(level: float, clusters: int) -> float:
    if clusters >= BOOTSTRAP_CLUSTERS:
        return 1.0
    return t_quantile(level, clusters - 1) / t_quantile(level, np.inf)


def _too_few_aside(one: Choice, two: Choice) -> str:
    fewer = min((one, two), key=lambda side: len(side.units.sums))
    what = "gold groups" if fewer.by_gold else "clusters"
    return too_few(len(fewer.units.sums), f"{what} on one side")


def _figure(here: _Side, there: _Side, one: Choice, two: Choice, value: float, *, level: float) -> Estimate:
    golds = [side.golds for side in (one, two) if side.golds is not None]
    effects = [side.design_effect for side in (one, two) if side.design_effect is not None]
    return Estimate(
        value=value,
        level=level,
        n=len(here.values) + len(there.values),
        clusters=one.clusters + two.clusters,
        golds=sum(golds) if golds else None,
        design_effect=max(effects) if effects else None,
        left_out=here.left_out + there.left_out,
    )


def _undefined(here: _Side, there: _Side, level: float) -> Estimate:
    return Estimate(
        value=None,
        level=level,
        n=len(here.values) + len(there.values),
        left_out=here.left_out + there.left_out,
        reason="no case has a value on " + ("the first side" if not len(here.values) else "the second side"),
    )


def _median(values: Floats) -> float | None:
    kept = values[~np.isnan(values)]
    return float(np.median(kept)) if kept.size else None
