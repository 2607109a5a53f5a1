"""Differences between retrievers that answered the same cases."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, RESAMPLES, draw_signs
from findback.measure.clusters import (
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
from findback.measure.intervals import choose_units, estimate_mean, estimate_means, t_quantile
from findback.model.estimate import Estimate
from findback.model.record import Record

EXHAUSTIVE_UNITS = 12
"""Up to this many differing clusters every combination of signs is tried."""

_NEAR = 1e-9


class Difference(Record):
    """How far one retriever is ahead of another on the same cases."""

    estimate: Estimate
    """First minus second, in the unit of the metric, with its own interval; n counts cases both answered."""
    p: float | None
    """Two-sided sign-flip probability in (0, 1]; None where no case has both values."""
    flips: int = 0
    """Sign patterns tried."""
    exhaustive: bool = False
    """Whether these were all the patterns there are."""
    ahead: int = 0
    """Clusters on which the first is better."""
    behind: int = 0
    """Clusters on which the second is better."""


class PairDifference(Record):
    """One of several pairs compared at once."""

    first: int
    """Column of the first retriever."""
    second: int
    """Column of the second retriever."""
    estimate: Estimate
    """First minus second, with the interval it would have alone."""
    low: float | None
    """Lower end of the simultaneous interval: all pairs' intervals hold together at the level."""
    high: float | None
    """Upper end of the simultaneous interval."""
    p: float | None
    """Sign-flip probability adjusted for all pairs (single-step max-T), in (0, 1]."""
    seed: int
    """Seed of the random signs."""
    error: float | None = None
    """Standard error of the difference; None below two units and where the difference does not vary."""
    units: int = 0
    """Independent units (clusters, or gold groups) that the error rests on."""
    differing: int = 0
    """How many of them differ."""
    critical: float | None = None
    """Half-width of the simultaneous interval in standard errors, before it is bent to the pair's own interval."""


def compare_pair(
    first: Values,
    second: Values,
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    span: float | None = 1.0,
) -> Difference:
    """Compare two retrievers case by case: first minus second.

    The interval is that of a mean of differences (`estimate_mean`); the probability flips the signs of whole
    clusters, or of gold groups where these carry the interval.

    Args:
        first: One value a case of the first retriever, None or NaN where undefined.
        second: The same for the second retriever, on the same cases.
        clusters: One a case; each case its own when left out.
        golds: As for `estimate_mean`.
        level: Confidence level, in (0, 1).
        seed: Of bootstrap and signs.
        resamples: Random sign patterns, where more than 12 clusters differ.
        span: Largest possible difference, to which the interval is cut; None for figures without limits.

    Returns:
        A difference; without a common case its value is None. Retrievers that agree on every case have the
        value 0, p 1 and no interval, with the reason "identical on these n".

    Raises:
        ValueError: If lengths differ, or a value is infinite or further apart than `span`.

    Source:
        Fisher 1935 (randomisation); Phipson and Smyth 2010 for (k + 1) / (B + 1).

    >>> found = compare_pair([1, 1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> round(found.estimate.value, 3), found.p, found.flips
    (0.889, 0.0078125, 256)
    """
    gaps = _subtract(as_column(first), as_column(second))
    bounds = None if span is None else (-span, span)
    estimate = estimate_mean(gaps, clusters, golds, level=level, seed=seed, bounds=bounds)
    if estimate.value is None:
        return Difference(estimate=estimate, p=None)
    units, by_cluster = _units(gaps[:, None], clusters, golds)
    chosen = choose_units(by_cluster, units).units.sums[:, 0]
    p, flips, exhaustive = flip_signs(chosen, seed=seed, resamples=resamples)
    ahead, behind = (int(np.count_nonzero(sign * by_cluster.sums > _NEAR)) for sign in (1, -1))
    figure = _mark_identical(estimate, gaps)
    return Difference(estimate=figure, p=p, flips=flips, exhaustive=exhaustive, ahead=ahead, behind=behind)


def flip_signs(sums: Floats, *, seed: int = DEFAULT_SEED, resamples: int = RESAMPLES) -> tuple[float, int, bool]:
    """Return the two-sided sign-flip probability of a sum, the patterns tried, and whether these were all.

    Units with a sum of 0 change nothing under a flip; up to 12 others every pattern is tried and p is the
    share at least as extreme. Beyond that p = (k + 1) / (B + 1) over B random patterns.

    >>> flip_signs(np.array([1.0, 1.0, 0.0, 1.0]))
    (0.25, 8, True)
    """
    moving = sums[np.abs(sums) > _NEAR]
    bar = abs(float(moving.sum())) - _NEAR * max(1.0, float(np.abs(moving).sum()))
    if len(moving) <= EXHAUSTIVE_UNITS:
        extreme = int(np.count_nonzero(np.abs(_all_signs(len(moving)) @ moving) >= bar))
        return extreme / 2 ** len(moving), 2 ** len(moving), True
    extreme = sum(
        int(np.count_nonzero(np.abs(signs @ moving) >= bar))
        for signs in draw_signs(len(moving), seed=seed, resamples=resamples)
    )
    return (extreme + 1) / (resamples + 1), resamples, False


def compare_all(
    matrix: Floats | Sequence[Values],
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    span: float | None = 1.0,
) -> tuple[PairDifference, ...]:
    """Compare many retrievers at once, with intervals and probabilities that hold for all pairs together.

    One set of random signs serves all pairs. Probabilities come from flipping the differences, interval
    widths from flipping their residuals, both as the largest studentised value over all pairs (max-T). The
    width is never less than that of a single t interval, nor than the pair's own.

    Shape:
        `matrix` is (cases, retrievers), one metric. `pairs` are columns; all pairs when left out.

    Returns:
        One record a pair, in the order asked. Where one pair's spread has to be taken over gold groups, it
        is for all. Below 8 units, and for pairs that agree everywhere, there is no interval.

    Raises:
        ValueError: If lengths differ, a value is infinite or a difference larger than `span`.

    Source:
        Westfall and Young 1993; Mammen 1993 (wild bootstrap).
    """
    table = as_matrix(matrix)
    wanted = list(combinations(range(table.shape[1]), 2) if pairs is None else pairs)
    if not wanted:
        return ()
    gaps = np.stack([_subtract(table[:, i], table[:, j]) for i, j in wanted], axis=1)
    bounds = None if span is None else (-span, span)
    estimates = estimate_means(gaps, clusters, golds, level=level, seed=seed, bounds=bounds)
    by_gold, by_cluster = _units(gaps, clusters, golds)
    wide = any(choose_units(by_cluster, by_gold, at).by_gold for at in range(len(wanted)))
    units = by_gold if wide and by_gold is not None else by_cluster
    project = _project_systems(table, wanted, clusters, golds if wide else None)
    flipped = _flip_together(units, project, level=level, seed=seed, resamples=resamples)
    errors = np.sqrt(units.variances())
    present = units.present()
    differing = np.count_nonzero(np.abs(units.sums) > _NEAR, axis=0)
    found = []
    for at, (pair, estimate) in enumerate(zip(wanted, estimates, strict=True)):
        figure = _mark_identical(estimate, gaps[:, at])
        error = float(errors[at]) if errors[at] > _NEAR else None
        low, high = _simultaneous(figure, flipped.width * (error or 0.0), int(present[at]), span)
        if low is None and span is not None and error is None and int(present[at]) >= FEWEST_CLUSTERS:
            low, high = bound_constant(figure.value, int(present[at]), level=1 - (1 - level) / len(wanted), span=span)
        found.append(
            PairDifference(
                first=pair[0],
                second=pair[1],
                estimate=figure,
                low=low,
                high=high,
                p=None if figure.value is None else float(flipped.p[at]),
                seed=seed,
                error=error,
                units=int(present[at]),
                differing=int(differing[at]),
                critical=flipped.width if error is not None and np.isfinite(flipped.width) else None,
            )
        )
    return tuple(found)


def bound_constant(
    value: float | None, units: int, *, level: float = 0.95, span: float = 1.0
) -> tuple[float | None, float | None]:
    """Return the interval of a mean difference that is the same in every unit.

    No spread is seen, so none is assumed: only that differences lie within ± `span`.

    Returns:
        Ends within ± `span`, wide on few units; none for a value of 0, where nothing differs.

    Source:
        Markov's inequality on the distance to either end: P(all n at `value` or above) is at most
        ((span + mean) / (span + value)) ** n, and likewise from above.

    >>> [round(end, 3) for end in bound_constant(0.5, 20)]
    [0.247, 0.584]
    """
    if not value:
        return None, None
    reach = ((1 - level) / 2) ** (1 / units)
    return (span + value) * reach - span, span - (span - value) * reach


def adjust_holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's step-down adjusted probabilities, in the order given.

    Source:
        Holm 1979.

    >>> adjust_holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    adjusted = [0.0] * len(ps)
    worst = 0.0
    for place, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        worst = max(worst, min(1.0, (len(ps) - place) * ps[at]))
        adjusted[at] = worst
    return tuple(adjusted)


class _Flipped(NamedTuple):
    width: float
    """Half-width of the simultaneous intervals, in standard errors."""
    p: Floats
    """Adjusted probability of each pair."""


Project = Callable[[Floats], Floats]
"""Takes sign patterns of shape (patterns, units), returns the flipped sums of every pair."""


def _project_systems(
    table: Floats, pairs: Sequence[tuple[int, int]], clusters: Sequence[Hashable] | Codes | None, golds: Golds | None
) -> Project | None:
    """Return how to flip every pair by flipping the systems: there are far fewer of these.

    None where a value is undefined: pairs then rest on different cases, and a difference is no longer that of two sums.
    """
    if np.isnan(table).any() or len(pairs) <= table.shape[1]:
        return None
    by_gold, by_cluster = _units(table, clusters, golds)
    sums = (by_cluster if by_gold is None else by_gold).sums
    first, second = (np.array(side) for side in zip(*pairs, strict=True))

    def project(signs: Floats) -> Floats:
        flipped = signs @ sums
        return np.asarray(flipped[:, first] - flipped[:, second], dtype=np.float64)

    return project


def _flip_together(units: Units, project: Project | None, *, level: float, seed: int, resamples: int) -> _Flipped:
    """Return max-T width and probabilities over the columns that vary."""
    count = units.present()
    squares = np.square(units.sums).sum(axis=0)
    moving = np.flatnonzero(squares > _NEAR)
    p = np.ones(units.sums.shape[1])
    if moving.size == 0:
        return _Flipped(0.0, p)
    sums = units.sums[:, moving]
    residuals = sums - units.counts[:, moving] * units.means()[moving]
    spread = np.flatnonzero(np.square(residuals).sum(axis=0) > _NEAR)
    observed = np.abs(_studentise(np.ones((1, len(sums))) @ sums, squares[moving], count[moving]))[0]
    extreme = np.zeros(len(moving))
    largest = []
    patterns = 0
    means, part = units.means()[moving], residuals[:, spread]
    for signs in _signs(len(sums), seed=seed, resamples=resamples):
        patterns += len(signs)
        flipped = signs @ sums if project is None else project(signs)[:, moving]
        top = np.abs(_studentise(flipped, squares[moving], count[moving])).max(axis=1)
        extreme += (top[:, None] >= observed * (1 - 1e-9)).sum(axis=0)
        if spread.size:
            left = flipped[:, spread] - (signs @ units.counts[:, :1]) * means[spread] if project else signs @ part
            wild = _studentise(left, np.square(part).sum(axis=0), count[moving][spread])
            largest.append(np.abs(wild).max(axis=1))
    exhaustive = len(sums) <= EXHAUSTIVE_UNITS
    p[moving] = extreme / patterns if exhaustive else (extreme + 1) / (patterns + 1)
    fewest = int(count[moving].min())
    single = t_quantile(level, fewest - 1) if fewest > 1 else np.inf
    width = float(np.quantile(np.concatenate(largest), level)) if largest else single
    return _Flipped(max(width, single), p)


def _studentise(sums: Floats, squares: Floats, units: Codes) -> Floats:
    """Return t values of flipped sums; a flip leaves the sum of squares as it is."""
    left = np.maximum(squares - np.square(sums) / units, squares * 1e-9)
    return np.asarray(sums / np.sqrt(left * units / np.maximum(units - 1, 1)), dtype=np.float64)


def _simultaneous(estimate: Estimate, half: float, units: int, span: float | None) -> tuple[float | None, float | None]:
    if estimate.value is None or estimate.low is None or estimate.high is None or units < FEWEST_CLUSTERS:
        return None, None
    low = min(estimate.low, estimate.value - half)
    high = max(estimate.high, estimate.value + half)
    return (low, high) if span is None else (max(low, -span), min(high, span))


def _subtract(first: Floats, second: Floats) -> Floats:
    if len(first) != len(second):
        raise ValueError(f"paired values are needed, got {len(first)} and {len(second)}")
    gaps = first - second
    gaps[np.abs(gaps) <= _NEAR] = 0.0
    return gaps


def _units(
    gaps: Floats, clusters: Sequence[Hashable] | Codes | None, golds: Golds | None
) -> tuple[Units | None, Units]:
    """Return the differences by gold group, where golds are given, and by cluster."""
    codes = code_clusters(clusters, len(gaps))
    by_cluster = average_clusters(gaps, codes)
    return (None if golds is None else merge_units(by_cluster, join_by_gold(codes, golds))), by_cluster


def _mark_identical(estimate: Estimate, gaps: Floats) -> Estimate:
    if estimate.value is None or np.nanmax(np.abs(gaps)) > 0:
        return estimate
    these = "this one" if estimate.n == 1 else f"these {estimate.n}"
    return estimate.model_copy(update={"reason": f"identical on {these}"})


def _all_signs(units: int) -> Floats:
    patterns = np.arange(2**units)[:, None] >> np.arange(units) & 1
    return np.asarray(patterns * 2.0 - 1.0, dtype=np.float64)


def _signs(units: int, *, seed: int, resamples: int) -> Iterator[Floats]:
    if units <= EXHAUSTIVE_UNITS:
        yield _all_signs(units)
    else:
        yield from draw_signs(units, seed=seed, resamples=resamples)
