"""Are two samples made of the same kinds, or is the difference more than chance?"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from findback.measure.bootstrap import DEFAULT_SEED
from findback.measure.clusters import FEWEST_CLUSTERS, Floats, as_matrix, average_clusters, code_clusters
from findback.measure.intervals import too_few
from findback.model.incoming import Likeness
from findback.model.record import Record

PERMUTATIONS = 2_000
UNLIKELY = 0.05
"""What random halves reach more rarely than this is more than chance."""
NEAR = 0.2
"""Two samples are called alike where no kind's share may differ by more than this."""
_VALUES = 1 << 21
"""Random numbers held at a time."""
_ROUNDING = 1e-9


class ShareDifference(Record):
    """How much of each sample is of one kind, every cluster counting once."""

    first: float
    """Share in the first sample, or mean of a figure."""
    second: float
    low: float
    """Lower end of the interval of first minus second; it holds together with those of all kinds."""
    high: float
    p: float
    """Chance that some kind differs as clearly where samples are split at random, in (0, 1]."""

    @property
    def difference(self) -> float:
        """Return first minus second."""
        return self.first - self.second


class Shares(Record):
    """Two samples side by side, kind by kind."""

    kinds: tuple[ShareDifference, ...] = ()
    p: float | None
    """Chance that samples split at random are as far apart over all kinds together, in (0, 1]; None without a test."""
    first: int
    """Clusters of the first sample."""
    second: int
    """Clusters of the second."""
    reason: str | None = None
    """Why there is no test."""

    @property
    def widest(self) -> float | None:
        """Return the largest difference of any kind that the intervals leave open; None without any."""
        return max((max(abs(one.low), abs(one.high)) for one in self.kinds), default=None)


def compare_shares(
    first: Floats | Sequence[Sequence[float]],
    second: Floats | Sequence[Sequence[float]],
    first_clusters: Sequence[Hashable] | None = None,
    second_clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = DEFAULT_SEED,
    permutations: int = PERMUTATIONS,
) -> Shares:
    """Compare how much of each kind two samples hold that share no cases.

    Whole clusters are dealt to the two samples at random, as many to each as there are. Over all kinds together
    the figure is the sum of squared standardised differences, which for one kind a case is Pearson's chi-square;
    kind by kind it is the largest of them (max-T).

    Args:
        first: Shape (cases, kinds): 1 where a case is of a kind, a part of 1 where of several, or a figure.
        second: The same for the second sample.
        first_clusters: One a case; each case its own when left out.
        second_clusters: The same for the second sample.
        seed: Of the dealing.
        permutations: How often is dealt.

    Returns:
        No test below 8 clusters on either side. An interval is never narrower than what so many clusters leave
        open of a kind that none of them is of.

    Raises:
        ValueError: If numbers of kinds differ, or of clusters and cases.

    Source:
        Pearson 1900; Pitman 1937; Phipson and Smyth 2010 for p; Westfall and Young 1993 for max-T.

    >>> rows = [[1.0, 0.0]] * 9 + [[0.0, 1.0]]
    >>> found = compare_shares(rows, [[0.0, 1.0]] * 9 + [[1.0, 0.0]])
    >>> found.p < 0.01, round(found.kinds[0].difference, 2)
    (True, 0.8)
    """
    left, right = _units(first, first_clusters), _units(second, second_clusters)
    here, there = len(left), len(right)
    if left.shape[1] != right.shape[1] and here and there:
        raise ValueError(f"{left.shape[1]} kinds stand against {right.shape[1]}")
    if min(here, there) < FEWEST_CLUSTERS:
        reason = too_few(min(here, there), "clusters on one side")
        return Shares(p=None, first=here, second=there, reason=reason)
    pooled = np.concatenate([left, right])
    spread = pooled.var(axis=0, ddof=1)
    moving = np.flatnonzero(spread > _ROUNDING**2)
    error = np.sqrt(spread * (1 / here + 1 / there))
    own = np.sqrt(left.var(axis=0, ddof=1) / here + right.var(axis=0, ddof=1) / there)
    p, all_p, quantile = np.ones(left.shape[1]), 1.0, 0.0
    if moving.size:
        apart = (left.mean(axis=0) - right.mean(axis=0))[moving]
        dealt = _Dealt(pooled[:, moving] / error[moving], apart / error[moving])
        all_p, p[moving], quantile = dealt.tally(here, seed=seed, permutations=permutations)
    # What was seen in no cluster of a side may still be in so many of those that were not drawn.
    width = np.maximum(quantile * np.maximum(error, own), 1 - UNLIKELY ** (1 / min(here, there)))
    means = zip(left.mean(axis=0).tolist(), right.mean(axis=0).tolist(), width.tolist(), p.tolist(), strict=True)
    kinds = tuple(
        ShareDifference(first=one, second=other, low=max(one - other - w, -1.0), high=min(one - other + w, 1.0), p=p_)
        for one, other, w, p_ in means
    )
    return Shares(kinds=kinds, p=all_p, first=here, second=there)


def judge_shares(found: Shares, p: float | None) -> Likeness:
    """Return what can be said of two samples.

    Args:
        found: Their shares.
        p: Its chance, adjusted for how many such questions are asked.

    apart: the difference is more than chance. alike: whatever the intervals leave open is below .2 for every kind.
    cannot tell: neither, or no test.
    """
    if p is not None and p <= UNLIKELY:
        return "apart"
    return "alike" if found.widest is not None and found.widest <= NEAR else "cannot tell"


class _Chance(NamedTuple):
    all: float
    each: Floats
    width: float
    """Quantile of the largest standardised difference."""


class _Dealt(NamedTuple):
    """Clusters in standard errors, to be dealt again and again."""

    units: Floats
    observed: Floats

    def tally(self, here: int, *, seed: int, permutations: int) -> _Chance:
        """Return how often chance is as far apart as what was observed."""
        total, count = self.units.sum(axis=0), len(self.units)
        square = float(np.square(self.observed).sum()) * (1 - _ROUNDING)
        size = np.abs(self.observed) * (1 - _ROUNDING)
        beyond, each, largest = 0, np.zeros(len(size)), []
        for chosen in _draw(count, here, seed=seed, permutations=permutations):
            sums = chosen @ self.units
            apart = np.abs(sums / here - (total - sums) / (count - here))
            beyond += int((np.square(apart).sum(axis=1) >= square).sum())
            top = apart.max(axis=1)
            each += (top[:, None] >= size).sum(axis=0)
            largest.append(top)
        width = float(np.quantile(np.concatenate(largest), 1 - UNLIKELY))
        return _Chance((beyond + 1) / (permutations + 1), (each + 1) / (permutations + 1), width)


def _draw(count: int, here: int, *, seed: int, permutations: int) -> Iterator[npt.NDArray[np.float64]]:
    """Yield rows with a 1 for each of `here` units drawn of all."""
    random = np.random.Generator(np.random.PCG64(seed))
    block = max(1, _VALUES // count)
    for start in range(0, permutations, block):
        rows = min(block, permutations - start)
        drawn = random.random((rows, count)).argpartition(here - 1, axis=1)[:, :here]
        chosen = np.zeros((rows, count))
        np.put_along_axis(chosen, drawn, 1.0, axis=1)
        yield chosen


def _units(rows: Floats | Sequence[Sequence[float]], clusters: Sequence[Hashable] | None) -> Floats:
    if not len(rows):
        return np.zeros((0, 0))
    matrix = as_matrix(np.asarray(rows, dtype=np.float64))
    return average_clusters(matrix, code_clusters(clusters, len(matrix))).sums
