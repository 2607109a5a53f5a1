"""Resampling over independent units: weights, replicates, and the BCa interval."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from findback.measure.clusters import Floats, Sizes, Units, group_alike, ratio

DEFAULT_SEED = 20_061
RESAMPLES = 10_000
CHUNK_VALUES = 1 << 21
"""Weights held at a time (16 MB), whatever the number of units."""
MANY_UNITS = 5_000
"""Units from which those that are alike are drawn together."""

_NORMAL = NormalDist()


def draw_weights(units: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield Poisson(1) weights in blocks of shape (resamples of the block, units).

    Poisson weights stand for how often each unit is drawn. For figures that are ratios of sums they agree
    with drawing with replacement, and the variance of the total makes good the (n - 1) / n that drawing
    exactly n loses. They come from the generator's raw bits, whose stream numpy promises not to change.

    Source:
        Hanley and MacGibbon 2006; Chamandy et al. 2012.
    """
    table = _poisson_table(1)
    for raw in _draw_bits(units, seed=seed, resamples=resamples):
        yield table[raw]


def draw_total_weights(sizes: Sizes, *, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield the sums of Poisson(1) weights over groups of units, in blocks of shape (resamples of the block, groups).

    The sum over a group of m units is Poisson(m), so it is drawn at once.

    Args:
        sizes: Units in each group, rising.
        seed: As for `draw_weights`.
        resamples: As there.
    """
    different, starts = np.unique(sizes, return_index=True)
    ends = [*starts[1:].tolist(), len(sizes)]
    columns = [slice(start, end) for start, end in zip(starts.tolist(), ends, strict=True)]
    tables = [_poisson_table(size) for size in different.tolist()]
    for raw in _draw_bits(len(sizes), seed=seed, resamples=resamples):
        weights = np.empty(raw.shape)
        for own, table in zip(columns, tables, strict=True):
            weights[:, own] = table.take(raw[:, own])
        yield weights


def _draw_bits(columns: int, *, seed: int, resamples: int) -> Iterator[npt.NDArray[np.uint16]]:
    """Yield 16 random bits a weight, in blocks of shape (resamples of the block, columns)."""
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // max(columns, 1))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start) * columns
        yield bits.random_raw((count + 3) // 4).astype("<u8").view("<u2")[:count].reshape(-1, columns)


def draw_signs(units: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield random signs, -1 or 1, in blocks of shape (resamples of the block, units)."""
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // max(units, 1))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start) * units
        raw = bits.random_raw((count + 63) // 64).astype("<u8").view(np.uint8)
        yield np.unpackbits(raw, count=count).reshape(-1, units).astype(np.float64) * 2 - 1


def resample(statistic: Callable[[Floats], Floats], units: int, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Return the statistic under random weights of the units; shape (resamples, …).

    Shape:
        `statistic` takes weights of shape (resamples, units) and returns one row a resample.
    """
    blocks = [statistic(weights) for weights in draw_weights(units, seed=seed, resamples=resamples)]
    return np.concatenate(blocks)


def resample_means(units: Units, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Return replicates of every column's figure from the same resamples; shape (resamples, columns).

    NaN where a resample holds no unit with a value, which needs very few units. From 5,000 units on, those that
    are alike in every column are drawn together; the replicates are distributed alike, and quicker to draw.
    """
    if len(units.sums) >= MANY_UNITS:
        units, sizes = group_alike(units)
        blocks = draw_total_weights(sizes, seed=seed, resamples=resamples)
    else:
        blocks = draw_weights(len(units.sums), seed=seed, resamples=resamples)
    # One column of counts serves all where every unit has a value in each.
    alike = units.counts.shape[1] > 1 and bool((units.counts == units.counts[:, :1]).all())
    counts = units.counts[:, :1] if alike else units.counts
    return np.concatenate([ratio(weights @ units.sums, weights @ counts) for weights in blocks])


def leave_out(statistic: Callable[[Floats], Floats], units: int) -> Floats:
    """Return how much the statistic falls when each unit is left out; shape (units, …)."""
    whole = statistic(np.ones((1, units)))
    rows = max(1, CHUNK_VALUES // max(units, 1))
    parts = []
    for start in range(0, units, rows):
        left = np.arange(start, min(start + rows, units))
        weights = np.ones((len(left), units))
        weights[np.arange(len(left)), left] = 0.0
        parts.append(whole - statistic(weights))
    return np.concatenate(parts)


def bca_interval(observed: float, replicates: Floats, influence: Floats, *, level: float = 0.95) -> tuple[float, float]:
    """Return the bias-corrected and accelerated bootstrap interval.

    Args:
        observed: The figure on the data themselves.
        replicates: The figure on each resample; ties with `observed` count half, NaN is left out.
        influence: The figure's fall when each unit is left out, for the acceleration.
        level: Confidence level, in (0, 1).

    Source:
        Efron 1987; DiCiccio and Efron 1996 for several samples.
    """
    kept = replicates[~np.isnan(replicates)]
    near = 1e-12 * max(1.0, abs(observed))
    below = np.count_nonzero(kept < observed - near) + np.count_nonzero(np.abs(kept - observed) <= near) / 2
    smallest = 0.5 / len(kept)
    bias = _NORMAL.inv_cdf(min(max(below / len(kept), smallest), 1 - smallest))
    pull = _acceleration(influence)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + _NORMAL.inv_cdf(share)
        ends.append(_NORMAL.cdf(bias + shifted / max(1 - pull * shifted, 1e-3)))
    low, high = np.quantile(kept, ends)
    return float(low), float(high)


def _acceleration(influence: Floats) -> float:
    centred = influence - influence.mean()
    squares = float(np.square(centred).sum())
    return float((centred**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


@lru_cache(maxsize=1)
def _poisson_table(mean: int) -> Floats:
    """Return 65,536 weights that occur as often as under Poisson(mean), to the nearest 1 / 65,536."""
    reach = 5 * mean**0.5 + 5
    weights = np.arange(max(0, math.ceil(mean - reach)), math.floor(mean + reach) + 1)
    # Each weight's chance over the one before it, from the first one on; the first one's in logarithms.
    first = int(weights[0])
    steps = np.cumsum(np.log(mean / weights[1:]))
    chances = np.exp(first * math.log(mean) - mean - math.lgamma(first + 1) + np.append(0.0, steps))
    ends = np.rint(np.cumsum(chances) * 65_536).astype(np.int64)
    ends[-1] = 65_536
    return np.repeat(weights.astype(np.float64), np.diff(ends, prepend=0))
