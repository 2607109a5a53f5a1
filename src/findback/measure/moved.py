"""How far a mean moves from one state of a set to another, where most cases are in both."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, bca_interval, resample_means
from findback.measure.clusters import (
    BOOTSTRAP_CLUSTERS,
    FEWEST_CLUSTERS,
    Floats,
    Golds,
    Units,
    Values,
    as_column,
    average_clusters,
    code_clusters,
    join_by_gold,
    merge_units,
)
from findback.measure.intervals import WIDEST_BY_CLUSTER, t_quantile, too_few
from findback.model.estimate import Estimate, IntervalMethod

_NEAR = 1e-12


class State(NamedTuple):
    """What was scored in one state of a set."""

    values: Values
    """One a case, None or NaN where undefined."""
    clusters: Sequence[Hashable]
    """One a case; the same name is the same cluster in both states."""
    golds: Golds | None = None
    """As for `estimate_mean`; of both states or of neither."""


def estimate_move(before: State, after: State, *, level: float = 0.95, seed: int = DEFAULT_SEED) -> Estimate:
    """Return the mean after minus the mean before, each the mean of cluster means.

    A cluster that is in both states moves both means, so clusters are resampled with what they have on either
    side. Where joining clusters that share golds multiplies the variance by more than 1.5, gold groups are.

    Args:
        before: The earlier state.
        after: The later one.
        level: Confidence level, in (0, 1).
        seed: Of the bootstrap.

    Returns:
        An estimate in the unit of the values; n counts the cases of both states, clusters those in either. No value
        where a state has none, no interval below 8 clusters, or where no cluster moves anything.

    >>> round(estimate_move(State([1, 0], ["a", "b"]), State([1, 0, 1], ["a", "b", "c"])).value, 3)
    0.167
    """
    first, second = as_column(before.values), as_column(after.values)
    matrix = np.full((len(first) + len(second), 2), np.nan)
    matrix[: len(first), 0], matrix[len(first) :, 1] = first, second
    codes = code_clusters([*before.clusters, *after.clusters], len(matrix))
    units = _drop_empty(average_clusters(matrix, codes))
    counted = int(np.count_nonzero(~np.isnan(matrix)))
    if not all(units.present()):
        return Estimate(value=None, level=level, reason="no case has a value in one of the states")
    golds = None
    if before.golds is not None and after.golds is not None:
        joined = join_by_gold(codes, [*before.golds, *after.golds])
        golds = _drop_empty(merge_units(average_clusters(matrix, codes), joined))
    naive = _variance(units)
    effect = None if golds is None or len(golds.sums) < 2 or naive <= 0 else _variance(golds) / naive
    wide = effect is not None and effect > WIDEST_BY_CLUSTER
    chosen = golds if wide and golds is not None else units
    value = float(units.means()[1] - units.means()[0])
    found = Estimate(
        value=0.0 if abs(value) < _NEAR else value,
        level=level,
        n=counted,
        clusters=len(units.sums),
        golds=None if golds is None else len(golds.sums),
        design_effect=effect,
    )
    return found.model_copy(update=_interval(chosen, value, wide=wide, level=level, seed=seed))


def _interval(units: Units, value: float, *, wide: bool, level: float, seed: int) -> dict[str, object]:
    count, variance = len(units.sums), _variance(units)
    if count < FEWEST_CLUSTERS:
        return {"reason": too_few(count, "gold groups" if wide else "clusters")}
    if variance <= _NEAR**2:
        return {"reason": "no case moves it" if abs(value) < _NEAR else "all clusters move it alike"}
    method: IntervalMethod
    if count < BOOTSTRAP_CLUSTERS:
        half = t_quantile(level, count - 1) * variance**0.5
        method, low, high = "t", value - half, value + half
    else:
        replicates = resample_means(units, seed=seed)
        method = "bca"
        low, high = bca_interval(value, replicates[:, 1] - replicates[:, 0], _influence(units), level=level)
    ends = {"low": max(low, -1.0), "high": min(high, 1.0)}
    return {**ends, "method": "gold-clustered" if wide else method, "seed": seed if method == "bca" else None}


def _influence(units: Units) -> Floats:
    """Return what leaving each unit out would take from the move."""
    found = units.influence()
    return np.asarray(found[:, 1] - found[:, 0], dtype=np.float64)


def _variance(units: Units) -> float:
    """Return the jackknife variance of the move; 0 below two units."""
    count = len(units.sums)
    return float(np.square(_influence(units)).sum()) * (count - 1) / count if count > 1 else 0.0


def _drop_empty(units: Units) -> Units:
    kept = units.counts.any(axis=1)
    return Units(units.sums[kept], units.counts[kept])
