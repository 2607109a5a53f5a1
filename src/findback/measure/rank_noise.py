"""Kendall's tau-b between the orders two sets give, and what noise alone would make of it."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from math import comb

import numpy as np
import numpy.typing as npt

from findback.measure.bootstrap import CHUNK_VALUES, draw_signs
from findback.measure.clusters import Floats, Units, ratio
from findback.model.record import Record

Taus = Callable[[Floats], Floats]

FLOOR = 0.05
"""Share of noise that lies below the floor."""
_NEAR = 1e-9


class Noise(Record):
    """Which tau-b two sets would show if only chance set them apart."""

    median: float
    """In [-1, 1]."""
    floor: float
    """19 of 20 would show this tau-b or a larger one."""
    p: float
    """Share that would show the observed one or a smaller one, in (0, 1]."""
    draws: int
    """How many were tried."""
    exhaustive: bool = False
    """Whether these are all there are."""


def rate_order(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b between scores of the same systems, along the last axis.

    Shape:
        Both are (…, systems); the result (…).

    Returns:
        Values in [-1, 1]: 1 the same order, -1 the reverse; NaN where one side has all scores equal.

    Source:
        Kendall 1945 (ties).

    >>> rate_order(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.3])).round(3).tolist()
    0.333
    """
    above, below = np.triu_indices(first.shape[-1], 1)
    one, two = (_signs(side[..., above] - side[..., below]) for side in (first, second))
    counted = np.count_nonzero(one, axis=-1) * np.count_nonzero(two, axis=-1)
    return ratio(np.asarray((one * two).sum(axis=-1), dtype=np.float64), np.sqrt(counted))


def permute_sets(first: Units, second: Units, observed: float, *, seed: int, draws: int) -> Noise:
    """Return what tau-b two samples of one population would show: units change sets, which keep their sizes.

    Levels play no role: each unit's scores are taken less their mean over systems. Where no more than `draws`
    divisions into two sets exist, all are tried.

    Shape:
        The units of both have one column a system, and a value from every system.

    Source:
        Fisher 1935 (randomisation); Phipson and Smyth 2010 for (k + 1) / (B + 1).
    """
    sums = np.vstack([_centre(first.sums), _centre(second.sums)])
    counts = np.concatenate([first.counts[:, 0], second.counts[:, 0]])
    size, units = len(second.sums), len(sums)
    exhaustive = comb(units, size) <= draws
    chosen = _all_choices(units, size) if exhaustive else _draw_choices(units, size, seed=seed, draws=draws)
    taus = []
    for there in chosen:
        moved, weight = there @ sums, (there @ counts)[:, None]
        taus.append(rate_order((sums.sum(axis=0) - moved) / (counts.sum() - weight), moved / weight))
    return _describe(np.concatenate(taus), observed, exhaustive=exhaustive)


def keep_order(first: Units, second: Units, observed: float, *, seed: int, draws: int) -> Noise:
    """Return what tau-b two sets would show that order the systems alike, each with its own spread and noise.

    Sets of one order need not be samples of one population: one may set the systems further apart, or be noisier.
    Each set's means are brought into the order that suits both best (by the least change that does), and each
    set's own residuals are flipped around them.

    Source:
        Isotonic regression: Barlow et al. 1972; Mammen 1993 (wild bootstrap).
    """
    sides = (first, second)
    means = [_centre(side.means()[None, :])[0] for side in sides]
    errors = [_centre(side.influence() * ((len(side.sums) - 1) / len(side.sums)) ** 0.5) for side in sides]
    order = _common_order(means, [float(np.square(error).sum()) for error in errors])
    ordered = [_bring_into(order, mean) for mean in means]
    taus = []
    for signs in draw_signs(len(first.sums) + len(second.sums), seed=seed, resamples=draws):
        here, there = signs[:, : len(first.sums)], signs[:, len(first.sums) :]
        taus.append(rate_order(ordered[0] + here @ errors[0], ordered[1] + there @ errors[1]))
    return _describe(np.concatenate(taus), observed, exhaustive=False)


def _describe(taus: Floats, observed: float, *, exhaustive: bool) -> Noise:
    # Where all systems came out equal there is no order, which counts as no agreement.
    taus = np.nan_to_num(taus, nan=0.0)
    extreme = int(np.count_nonzero(taus <= observed + _NEAR))
    return Noise(
        median=float(np.median(taus)),
        floor=float(np.quantile(taus, FLOOR)),
        p=extreme / len(taus) if exhaustive else (extreme + 1) / (len(taus) + 1),
        draws=len(taus),
        exhaustive=exhaustive,
    )


def _signs(gaps: Floats) -> npt.NDArray[np.int8]:
    return (gaps > _NEAR).astype(np.int8) - (gaps < -_NEAR).astype(np.int8)


def _centre(rows: Floats) -> Floats:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float64)


def _all_choices(units: int, size: int) -> Iterator[Floats]:
    chosen = np.fromiter(chain.from_iterable(combinations(range(units), size)), dtype=np.int64)
    there = np.zeros((comb(units, size), units))
    np.put_along_axis(there, chosen.reshape(-1, size), 1.0, axis=1)
    yield there


def _draw_choices(units: int, size: int, *, seed: int, draws: int) -> Iterator[Floats]:
    """Yield marks of `size` units out of all, in blocks of shape (draws of the block, units)."""
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // units)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        keys = bits.random_raw(count * units).reshape(count, units)
        there = np.zeros((count, units))
        np.put_along_axis(there, np.argpartition(keys, size - 1, axis=1)[:, :size], 1.0, axis=1)
        yield there


def _common_order(means: list[Floats], variances: list[float]) -> npt.NDArray[np.intp]:
    """Return the systems in the order, worst first, of the one profile both sets are nearest to in their own noise."""
    scaled = np.stack([mean / max(spread, _NEAR**2) ** 0.5 for mean, spread in zip(means, variances, strict=True)])
    profile = np.linalg.svd(scaled, full_matrices=False)[2][0]
    return np.argsort(profile if float((scaled @ profile).sum()) >= 0 else -profile, kind="stable")


def _bring_into(order: npt.NDArray[np.intp], means: Floats) -> Floats:
    """Return the nearest means that do not fall along the order."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 (scipy only where needed)

    ordered = np.empty_like(means)
    ordered[order] = isotonic_regression(means[order]).x
    return ordered
