"""A mean with the interval its clusters allow."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

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
    sum_groups,
)
from findback.model.estimate import Estimate, IntervalMethod

WIDEST_BY_CLUSTER = 1.5
"""Above this design effect the interval is made over gold groups instead of clusters."""

Bounds = tuple[float, float]


def estimate_mean(
    values: Values,
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    bounds: Bounds | None = (0.0, 1.0),
) -> Estimate:
    """Return the mean of cluster means with its interval.

    The interval is exact (Clopper-Pearson) when all values are 0 or 1 and every cluster holds one case;
    else t on cluster means below 50 clusters and BCa over clusters from 50; below 8 clusters there is none.
    Clusters that share golds are not independent: where joining them multiplies the variance of the mean by
    more than 1.5, the interval is made over the gold groups, by t or BCa according to their number.
    When every cluster is at the same end of the range, the exact interval of that many hits or misses is
    given, which holds for any figure in a range; when all are equal inside the range, there is none.

    Args:
        values: One a case, in any unit; None or NaN where undefined, which is left out and counted.
        clusters: One a case; each case is its own cluster when left out.
        golds: For each case its gold document, or a list, tuple or set of them; see `join_by_gold`.
        level: Confidence level, in (0, 1).
        seed: Of the bootstrap; the same seed gives the same interval.
        bounds: Range of the figure, to which the interval is cut; None for one without limits.

    Returns:
        An estimate in the unit of the values. Without any defined value its `value` is None.

    Raises:
        ValueError: If values and clusters differ in length, or a value is infinite or out of bounds.

    Source:
        Clopper and Pearson 1934; Efron 1987; Bell and McCaffrey 2002. A bounded figure at its end: by
        Markov's inequality P(all n at the upper end) is at most mean ** n, whatever the distribution.

    >>> exact = estimate_mean([1] * 21 + [0] * 18)
    >>> [round(x, 3) for x in (exact.value, exact.low, exact.high)], exact.method
    ([0.538, 0.372, 0.699], 'clopper-pearson')
    """
    return estimate_means(as_column(values)[:, None], clusters, golds, level=level, seed=seed, bounds=bounds)[0]


def estimate_means(
    matrix: Floats | Sequence[Values],
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    bounds: Bounds | None = (0.0, 1.0),
) -> tuple[Estimate, ...]:
    """Return `estimate_mean` of every column, all from the same resamples.

    Shape:
        `matrix` is (cases, figures). Columns may be undefined at different cases.

    Raises:
        ValueError: As `estimate_mean`.
    """
    table = as_matrix(matrix)
    codes = code_clusters(clusters, len(table))
    _check(table, level, bounds)
    plans = _plan(table, codes, golds, bounds)
    ends: dict[int, tuple[float, float]] = {}
    for gold in (False, True):
        wanted = [j for j, plan in enumerate(plans) if plan.bootstrap and plan.choice.by_gold == gold]
        if not wanted:
            continue
        source = plans[wanted[0]].source
        replicates = resample_means(Units(source.sums[:, wanted], source.counts[:, wanted]), seed=seed)
        for at, j in enumerate(wanted):
            one = plans[j].choice.units
            ends[j] = bca_interval(float(one.means()[0]), replicates[:, at], one.influence()[:, 0], level=level)
    return tuple(
        _finish(plan, table[:, j], ends.get(j), level=level, seed=seed, bounds=bounds) for j, plan in enumerate(plans)
    )


def exact_interval(hits: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a proportion.

    Returns:
        Ends in [0, 1]; the chance that the true proportion lies outside is at most 1 - level.

    Raises:
        ValueError: If there is no trial, or hits are not in 0 … trials.

    Source:
        Clopper and Pearson 1934, as quantiles of the beta distribution.

    >>> [round(end, 3) for end in exact_interval(0, 10)]
    [0.0, 0.308]
    """
    from scipy.special import betaincinv  # noqa: PLC0415 (scipy only where needed)

    if not 0 <= hits <= trials or trials < 1:
        raise ValueError(f"{hits} hits in {trials} trials make no proportion")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def t_quantile(level: float, freedom: float) -> float:
    """Return the half-width, in standard errors, of a two-sided t interval.

    >>> round(t_quantile(0.95, 9), 3)
    2.262
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (scipy only where needed)

    return float(stdtrit(freedom, (1 + level) / 2))


def welch_freedom(variances: Sequence[Floats], units: Sequence[int]) -> Floats:
    """Return the degrees of freedom of a sum of independent means, given each one's variance and units.

    Shape:
        One array of variances a side, all of one shape, which is the result's; not all 0 at one place.

    Source:
        Welch 1947; Satterthwaite 1946.

    >>> welch_freedom([np.array([1.0, 1.0]), np.array([1.0, 0.0])], [10, 10]).tolist()
    [18.0, 9.0]
    """
    shares = [np.square(side) / (count - 1) for side, count in zip(variances, units, strict=True)]
    return np.asarray(np.square(np.sum(variances, axis=0)) / np.sum(shares, axis=0), dtype=np.float64)


def too_few(count: int, what: str, *, needed: int = FEWEST_CLUSTERS) -> str:
    """Return the reason for giving no interval, or no figure, on so few.

    >>> too_few(5, "clusters")
    'too few: 5 clusters, 8 needed'
    >>> too_few(1, "clusters on one side")
    'too few: 1 cluster on one side, 8 needed'
    """
    if count == 1:
        what = " ".join(word.removesuffix("s") for word in what.split(" "))
    return f"too few: {count} {what}, {needed} needed"


class Choice(NamedTuple):
    """The units whose spread one figure's interval rests on."""

    units: Units
    """One column, without the units that have no value."""
    by_gold: bool
    """Whether the units are gold groups."""
    clusters: int
    """Clusters with a value."""
    golds: int | None
    """Gold groups with a value; None without golds."""
    design_effect: float | None
    """None without golds, with a single group, or where the clusters do not vary."""


def choose_units(by_cluster: Units, by_gold: Units | None, column: int = 0) -> Choice:
    """Choose gold groups when they multiply the variance of the mean by more than 1.5, else clusters."""
    one = by_cluster.column(column)
    if by_gold is None:
        return Choice(one, False, len(one.sums), None, None)
    grouped = by_gold.column(column)
    effect = _design_effect(one, grouped)
    wide = effect is not None and effect > WIDEST_BY_CLUSTER
    return Choice(grouped if wide else one, wide, len(one.sums), len(grouped.sums), effect)


class _Plan(NamedTuple):
    """How one column's interval is to be made."""

    source: Units
    """All columns' units, of which this column's interval uses one."""
    choice: Choice
    exact: bool
    """Whether this is a proportion with one case a cluster."""
    bootstrap: bool


def _plan(table: Floats, codes: Codes, golds: Golds | None, bounds: Bounds | None) -> list[_Plan]:
    clusters = average_clusters(table, codes)
    sizes = sum_groups((~np.isnan(table)).astype(np.float64), codes)
    joined = None if golds is None else merge_units(clusters, join_by_gold(codes, golds))
    plans = []
    for j in range(table.shape[1]):
        choice = choose_units(clusters, joined, j)
        source = joined if choice.by_gold and joined is not None else clusters
        sums = choice.units.sums
        exact = (
            bounds == (0.0, 1.0)
            and not choice.by_gold
            and bool((sizes[:, j] <= 1).all())
            and bool(np.isin(sums, (0.0, 1.0)).all())
        )
        bootstrap = len(sums) >= BOOTSTRAP_CLUSTERS and not exact and _varies(choice.units)
        plans.append(_Plan(source, choice, exact, bootstrap))
    return plans


def _finish(
    plan: _Plan,
    column: Floats,
    ends: tuple[float, float] | None,
    *,
    level: float,
    seed: int,
    bounds: Bounds | None,
) -> Estimate:
    cases = int(np.count_nonzero(~np.isnan(column)))
    left_out = len(column) - cases
    if cases == 0:
        return Estimate(value=None, level=level, left_out=left_out, reason="no case has a value")
    choice = plan.choice
    mean = float(choice.units.means()[0])
    method: IntervalMethod
    reason: str | None = None
    if ends is not None:
        method = "gold-clustered" if choice.by_gold else "bca"
    else:
        method, ends, reason = _closed_form(plan, mean, level, bounds)
    if ends is not None and bounds is not None:
        ends = max(ends[0], bounds[0]), min(ends[1], bounds[1])
    return Estimate(
        value=mean if bounds is None else min(max(mean, bounds[0]), bounds[1]),
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        level=level,
        n=cases,
        clusters=choice.clusters,
        golds=choice.golds,
        design_effect=choice.design_effect,
        method=method,
        seed=seed if plan.bootstrap else None,
        left_out=left_out,
        reason=reason,
    )


def _closed_form(
    plan: _Plan, mean: float, level: float, bounds: Bounds | None
) -> tuple[IntervalMethod, tuple[float, float] | None, str | None]:
    """Return method, interval and the reason for none, where nothing is resampled."""
    units, by_gold = plan.choice.units, plan.choice.by_gold
    count = len(units.sums)
    if count < FEWEST_CLUSTERS:
        return "none", None, too_few(count, "gold groups" if by_gold else "clusters")
    if plan.exact:
        return "clopper-pearson", exact_interval(int(units.sums.sum()), count, level=level), None
    if not _varies(units):
        return _without_spread(mean, count, level, bounds)
    half = t_quantile(level, count - 1) * float(units.variances()[0]) ** 0.5
    return ("gold-clustered" if by_gold else "t"), (mean - half, mean + half), None


def _without_spread(
    mean: float, clusters: int, level: float, bounds: Bounds | None
) -> tuple[IntervalMethod, tuple[float, float] | None, str | None]:
    if bounds is not None and mean in bounds:
        low, high = exact_interval(clusters if mean == bounds[1] else 0, clusters, level=level)
        width = bounds[1] - bounds[0]
        return "clopper-pearson", (bounds[0] + width * low, bounds[0] + width * high), None
    return "none", None, f"all {clusters} clusters have the same value"


def _varies(units: Units) -> bool:
    return bool(np.ptp(units.sums / units.counts) > 1e-12) and float(units.variances()[0]) > 0


def _design_effect(by_cluster: Units, by_gold: Units) -> float | None:
    if len(by_gold.sums) < 2:
        return None
    naive = float(by_cluster.variances()[0])
    return float(by_gold.variances()[0]) / naive if naive > 0 else None


def _check(table: Floats, level: float, bounds: Bounds | None) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, got {level}")
    if bounds is None or table.size == 0:
        return
    slack = 1e-9 * (bounds[1] - bounds[0])
    if np.nanmin(table, initial=bounds[0]) < bounds[0] - slack or (
        np.nanmax(table, initial=bounds[1]) > bounds[1] + slack
    ):
        raise ValueError(f"a value lies outside {bounds}; bounds=None is for figures without limits")
