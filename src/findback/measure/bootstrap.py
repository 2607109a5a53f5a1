"""Resampling over independent units: weights, replicates, and the BCa interval."""

from collections.abc import Callable, Iterator
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from findback.measure.clusters import Floats, Units, ratio

DEFAULT_SEED = 20_061
RESAMPLES = 10_000
CHUNK_VALUES = 1 << 21
"""Weights held at a time (16 MB), whatever the number of units."""

_NORMAL = NormalDist()


def draw_weights(units: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Yield Poisson(1) weights in blocks of shape (resamples of the block, units).

    Poisson weights stand for how often each unit is drawn. For figures that are ratios of sums they agree
    with drawing with replacement, and the variance of the total makes good the (n - 1) / n that drawing
    exactly n loses. They come from the generator's raw bits, whose stream numpy promises not to change.

    Source:
        Hanley and MacGibbon 2006; Chamandy et al. 2012.
    """
    table = _poisson_table()
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // max(units, 1))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start) * units
        raw = bits.random_raw((count + 3) // 4).astype("<u8").view("<u2")[:count]
        yield table[raw].reshape(-1, units)


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

    NaN where a resample holds no unit with a value, which needs very few units.
    """
    return resample(
        lambda weights: ratio(weights @ units.sums, weights @ units.counts),
        len(units.sums),
        seed=seed,
        resamples=resamples,
    )


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


@cache
def _poisson_table() -> npt.NDArray[np.float64]:
    """Return 65,536 weights that occur as often as under Poisson(1), to the nearest 1 / 65,536."""
    chances = np.exp(-1.0) / np.cumprod([1, *range(1, 10)])
    ends = np.rint(np.cumsum(chances) * 65_536).astype(np.int64)
    ends[-1] = 65_536
    return np.repeat(np.arange(10.0), np.diff(ends, prepend=0))
