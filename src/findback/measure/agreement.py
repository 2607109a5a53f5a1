"""Do two sets put the same retrievers in the same order?"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from findback.measure.bootstrap import CHUNK_VALUES, DEFAULT_SEED
from findback.measure.clusters import (
    FEWEST_CLUSTERS,
    Codes,
    Floats,
    Units,
    Values,
    as_matrix,
    average_clusters,
    code_clusters,
    ratio,
)
from findback.measure.intervals import t_quantile, too_few
from findback.measure.paired import PairDifference, compare_all
from findback.model.record import Record

FEWEST_SYSTEMS = 5
"""Below this many retrievers tau has too few values to mean anything; pairs are shown alone."""
PERMUTATIONS = 2_000

Order = Literal["same", "reversed", "cannot tell"]


class PairAgreement(Record):
    """Two retrievers on two sets."""

    first: int
    """Column of one retriever."""
    second: int
    """Column of the other."""
    on_first: PairDifference
    """Their difference on the first set."""
    on_second: PairDifference
    """Their difference on the second set."""
    order: Order
    """Same or reversed only where both sets' simultaneous intervals exclude 0."""
    change: float
    """Difference on the first set minus difference on the second."""
    change_low: float | None
    """Lower end of the change's interval, simultaneous over the pairs; None below 8 clusters on a side."""
    change_high: float | None
    """Upper end."""
    differs: bool
    """Whether the change's interval excludes 0."""


class RankingAgreement(Record):
    """How alike two sets rank the same retrievers, beside what chance would leave of full agreement."""

    tau: float | None
    """Kendall's tau-b of the mean scores, in [-1, 1]; None below five retrievers or where all tie."""
    expected: float | None = None
    """Median tau of two sets of these sizes that measure the same."""
    floor: float | None = None
    """Tau that 95 of 100 such pairs of sets reach."""
    p: float | None = None
    """Chance of a tau this low if both sets measure the same, (k + 1) / (B + 1), in (0, 1]."""
    pairs: tuple[PairAgreement, ...] = ()
    """Every pair of retrievers."""
    systems: int
    """Retrievers compared."""
    first_clusters: int
    """Clusters of the first set with a value for every retriever."""
    second_clusters: int
    """Clusters of the second set with a value for every retriever."""
    left_out: int = 0
    """Cases of either set without a value for every retriever."""
    seed: int = DEFAULT_SEED
    """Seed of the permutations."""
    reason: str | None = None
    """Why there is no tau."""


def compare_rankings(
    first: Floats | Sequence[Values],
    second: Floats | Sequence[Values],
    first_clusters: Sequence[Hashable] | Codes | None = None,
    second_clusters: Sequence[Hashable] | Codes | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    permutations: int = PERMUTATIONS,
    span: float | None = 1.0,
) -> RankingAgreement:
    """Compare how two sets rank the same retrievers.

    For the noise, each case's scores are taken minus their mean over retrievers, and whole clusters are
    dealt anew between the two sets at their real sizes. Split halves would be smaller sets and understate.

    Shape:
        `first` and `second` are (cases, retrievers) with the same retrievers in the same columns, one metric.

    Returns:
        Agreement with every pair; tau is None below five retrievers, below 8 clusters on a side, or where a
        set ranks all alike.

    Raises:
        ValueError: If the sets have other numbers of retrievers, or lengths differ.

    Source:
        Kendall 1945 (tau-b). Permutation at the real sizes instead of split halves is ours.
    """
    one, two = as_matrix(first), as_matrix(second)
    if one.shape[1] != two.shape[1]:
        raise ValueError(f"the sets have {one.shape[1]} and {two.shape[1]} retrievers")
    one, one_codes, one_lost = _complete(one, first_clusters)
    two, two_codes, two_lost = _complete(two, second_clusters)
    systems = one.shape[1]
    units = [average_clusters(table, codes) for table, codes in ((one, one_codes), (two, two_codes))]
    counts = [len(side.sums) for side in units]
    agreement = RankingAgreement(
        tau=None,
        pairs=_compare_pairs((one, two), (one_codes, two_codes), level=level, seed=seed, span=span),
        systems=systems,
        first_clusters=counts[0],
        second_clusters=counts[1],
        left_out=one_lost + two_lost,
        seed=seed,
    )
    if systems < FEWEST_SYSTEMS:
        return agreement.model_copy(update={"reason": too_few(systems, "retrievers", needed=FEWEST_SYSTEMS)})
    if min(counts) < FEWEST_CLUSTERS:
        return agreement.model_copy(update={"reason": too_few(min(counts), "clusters on one side")})
    tau = float(rank_together(units[0].means()[None], units[1].means()[None])[0])
    if np.isnan(tau):
        return agreement.model_copy(update={"reason": "a set ranks all retrievers alike"})
    pool = np.concatenate([_centre(one, one_codes), _centre(two, two_codes)])
    chance = np.concatenate(list(_deal(pool, counts[0], seed=seed, permutations=permutations)))
    chance = chance[~np.isnan(chance)]
    return agreement.model_copy(
        update={
            "tau": tau,
            "expected": float(np.median(chance)),
            "floor": float(np.quantile(chance, 0.05)),
            "p": (int(np.count_nonzero(chance <= tau + 1e-9)) + 1) / (len(chance) + 1),
        }
    )


def rank_together(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of each row of two tables of scores; NaN where a row is all ties.

    >>> rank_together(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])).round(3).tolist()
    [0.333]
    """
    left, right = (_signs_of_pairs(table) for table in (first, second))
    untied = np.sqrt(np.abs(left).sum(axis=1) * np.abs(right).sum(axis=1))
    return ratio((left * right).sum(axis=1), untied)


def _signs_of_pairs(table: Floats) -> Floats:
    one, two = np.triu_indices(table.shape[1], 1)
    gaps = table[:, one] - table[:, two]
    return np.where(np.abs(gaps) < 1e-12, 0.0, np.sign(gaps))


def _complete(table: Floats, clusters: Sequence[Hashable] | Codes | None) -> tuple[Floats, Codes, int]:
    codes = code_clusters(clusters, len(table))
    kept = ~np.isnan(table).any(axis=1)
    return table[kept], code_clusters(codes[kept], int(kept.sum())), int((~kept).sum())


def _centre(table: Floats, codes: Codes) -> Floats:
    """Return cluster means of the scores minus each case's mean over retrievers."""
    return average_clusters(table - table.mean(axis=1, keepdims=True), codes).sums


def _deal(pool: Floats, size: int, *, seed: int, permutations: int) -> Iterator[Floats]:
    """Yield taus between two sets dealt at random from the pooled clusters, the first of the given size."""
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // len(pool))
    total = pool.sum(axis=0)
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        keys = bits.random_raw(count * len(pool)).reshape(count, len(pool))
        chosen = np.argpartition(keys, size - 1, axis=1)[:, :size]
        weights = np.zeros((count, len(pool)))
        np.put_along_axis(weights, chosen, 1.0, axis=1)
        sums = weights @ pool
        yield rank_together(sums / size, (total - sums) / (len(pool) - size))


def _compare_pairs(
    tables: tuple[Floats, Floats], codes: tuple[Codes, Codes], *, level: float, seed: int, span: float | None
) -> tuple[PairAgreement, ...]:
    names = list(combinations(range(tables[0].shape[1]), 2))
    if not names or not (len(tables[0]) and len(tables[1])):
        return ()
    found = [
        compare_all(table, clusters, level=level, seed=seed, span=span)
        for table, clusters in zip(tables, codes, strict=True)
    ]
    one, two = (
        average_clusters(np.stack([table[:, i] - table[:, j] for i, j in names], axis=1), clusters)
        for table, clusters in zip(tables, codes, strict=True)
    )
    change = one.means() - two.means()
    reach = _reach(one, two, level=1 - (1 - level) / len(names))
    pairs = []
    for at, (i, j) in enumerate(names):
        known = not np.isnan(reach[at])
        pairs.append(
            PairAgreement(
                first=i,
                second=j,
                on_first=found[0][at],
                on_second=found[1][at],
                order=_order(found[0][at], found[1][at]),
                change=float(change[at]),
                change_low=float(change[at] - reach[at]) if known else None,
                change_high=float(change[at] + reach[at]) if known else None,
                differs=known and bool(abs(change[at]) > reach[at]),
            )
        )
    return tuple(pairs)


def _reach(one: Units, two: Units, *, level: float) -> Floats:
    """Return the half-width of each change by Welch's t; NaN below 8 clusters on a side or without spread."""
    sizes = [len(side.sums) for side in (one, two)]
    reach = np.full(one.sums.shape[1], np.nan)
    if min(sizes) < FEWEST_CLUSTERS:
        return reach
    spreads = [side.variances() for side in (one, two)]
    for at in np.flatnonzero(spreads[0] + spreads[1] > 1e-24):
        parts = [float(spread[at]) for spread in spreads]
        shares = sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
        reach[at] = t_quantile(level, sum(parts) ** 2 / shares) * sum(parts) ** 0.5
    return reach


def _order(here: PairDifference, there: PairDifference) -> Order:
    signs = [_sign(pair) for pair in (here, there)]
    if 0 in signs:
        return "cannot tell"
    return "same" if signs[0] == signs[1] else "reversed"


def _sign(pair: PairDifference) -> int:
    if pair.low is None or pair.high is None:
        return 0
    return 1 if pair.low > 0 else -1 if pair.high < 0 else 0
