"""Expected values where only equal scores leave the order open.

A document with `above` documents scoring higher and `tied` at its own score, itself included, stands
at any of the ranks above + 1 … above + tied with the same chance. Every function below is the mean
over all orders, in closed form; without ties (tied = 1) it is the plain value.

Source: McSherry and Najork, "Computing information retrieval performance measures efficiently in the
presence of tied scores" (2008). Ours adds parts and cut-offs inside a block for reciprocal rank.
"""

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


def places_within(above: IntArray, tied: IntArray, cutoff: IntArray | int) -> NDArray[np.int64]:
    """Return how many places of each block lie within the cut-off: 0 to `tied`."""
    return np.asarray(np.clip(np.asarray(cutoff) - above, 0, tied), dtype=np.int64)


def chance_within(above: IntArray, tied: IntArray, cutoff: IntArray | int) -> FloatArray:
    """Return the chance that a document stands within the cut-off, in [0, 1].

    >>> chance_within(np.array([0, 1, 1]), np.array([1, 4, 1]), 2).tolist()
    [1.0, 0.25, 1.0]
    """
    return places_within(above, tied, cutoff) / tied


def chance_any_within(above: IntArray, tied: IntArray, count: IntArray, cutoff: IntArray | int) -> FloatArray:
    """Return the chance that at least one of `count` documents of a block stands within the cut-off.

    Two of three tied documents, one place: 2/3.

    >>> chance_any_within(np.array([0]), np.array([3]), np.array([2]), 1).round(3).tolist()
    [0.667]
    """
    places = places_within(above, tied, cutoff)
    # C(tied − places, count) / C(tied, count) is the same with places and count exchanged.
    fewer, more = np.minimum(places, count), np.maximum(places, count)
    none = np.ones(len(places))
    for step in range(int(fewer.max(initial=0))):
        factor = np.maximum(tied - more - step, 0) / np.maximum(tied - step, 1)
        none = np.where(step < fewer, none * factor, none)
    return 1.0 - none


def expect_reciprocal(above: IntArray, tied: IntArray, count: IntArray, cutoff: int | None) -> FloatArray:
    """Return the expected reciprocal rank of the first of `count` documents of a block.

    With one document it is (H(above + tied) − H(above)) / tied, H being the harmonic numbers.

    Returns:
        Values in [0, 1]; orders that put the first one beyond the cut-off count 0.

    >>> expect_reciprocal(np.array([1, 0]), np.array([1, 2]), np.array([1, 1]), None).tolist()
    [0.5, 0.75]
    """
    limit = np.iinfo(np.int64).max if cutoff is None else cutoff
    values = np.where(above < limit, 1.0 / (above + 1.0), 0.0)
    for at in np.flatnonzero(tied > 1):
        values[at] = _expect_first(int(above[at]), int(tied[at]), int(count[at]), limit)
    return values


def _expect_first(above: int, tied: int, count: int, limit: int) -> float:
    chance, total = count / tied, 0.0
    for place in range(1, min(tied - count + 1, limit - above) + 1):
        total += chance / (above + place)
        chance *= (tied - place - count + 1) / max(tied - place, 1)
    return total


def expect_discount(above: IntArray, tied: IntArray, cutoff: int | None) -> FloatArray:
    """Return the expected logarithmic discount, 1 / log2(rank + 1), 0 beyond the cut-off.

    >>> expect_discount(np.array([0, 1, 0]), np.array([1, 1, 2]), 2).round(4).tolist()
    [1.0, 0.6309, 0.8155]
    """
    limit = np.iinfo(np.int64).max if cutoff is None else cutoff
    values = np.where(above < limit, 1.0 / np.log2(above + 2.0), 0.0)
    block = np.flatnonzero(tied > 1)
    if len(block):
        begin = np.minimum(above[block], limit)
        end = np.minimum(above[block] + tied[block], limit)
        sums = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2.0, int(end.max()) + 2.0)))])
        values[block] = (sums[end] - sums[begin]) / tied[block]
    return values


def expect_precision(
    above: IntArray, tied: IntArray, earlier: IntArray, count: IntArray, cutoff: int | None
) -> FloatArray:
    """Return the expected precision at each document's own rank, 0 where that lies beyond the cut-off.

    Args:
        above: Documents that score higher.
        tied: Documents at this score, itself included.
        earlier: Relevant documents that score higher.
        count: Relevant documents at this score, itself included.
        cutoff: Last rank that counts.

    >>> one = np.array([1])
    >>> expect_precision(one, one, one, one, None).tolist()  # second rank, second relevant
    [1.0]
    >>> expect_precision(0 * one, 2 * one, 0 * one, one, None).tolist()  # (1/1 + 1/2) / 2
    [0.75]
    """
    places = places_within(above, tied, np.iinfo(np.int64).max if cutoff is None else cutoff)
    harmonic = harmonic_numbers(int((above + tied).max(initial=0)))
    slope = np.where(tied > 1, (count - 1.0) / np.maximum(tied - 1, 1), 0.0)
    level = earlier + 1.0 - slope * (above + 1.0)
    inside = (slope * places + level * (harmonic[above + places] - harmonic[above])) / tied
    # Without ties the difference of two harmonic numbers would lose the last digits.
    return np.where(tied == 1, np.where(places > 0, (earlier + 1.0) / (above + 1.0), 0.0), inside)


@lru_cache(maxsize=4)
def _harmonic(size: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, size + 1.0))])


def harmonic_numbers(last: int) -> FloatArray:
    """Return H(0) … H(last) and possibly more.

    >>> harmonic_numbers(2)[:3].tolist()
    [0.0, 1.0, 1.5]
    """
    return _harmonic(max(1024, 1 << int(last).bit_length()))


def expect_capped(lower: IntArray, spread: IntArray, cap: IntArray) -> FloatArray:
    """Return the mean of min(lower + x, cap) over x = 0 … spread, each as likely.

    >>> expect_capped(np.array([1]), np.array([2]), np.array([2])).round(3).tolist()  # (1 + 2 + 2) / 3
    [1.667]
    """
    below = np.clip(cap - lower, 0, spread + 1)
    total = below * lower + below * (below - 1) / 2 + (spread + 1 - below) * cap
    return np.asarray(total / (spread + 1), dtype=np.float64)


def chance_all_within(groups: list[int], tied: int, places: int) -> float:
    """Return the chance that every group has a document among the first `places` of a block.

    Args:
        groups: Documents of each group in the block; no document is in two groups.
        tied: Documents of the block.
        places: Places of the block within the cut-off.

    Two groups of one, three tied, two places: one of three pairs.

    >>> round(chance_all_within([1, 1], 3, 2), 3)
    0.333
    """
    if len(groups) > places:
        return 0.0
    # Ways to take i documents so that each group so far has one: exact integers.
    ways = [1] + [0] * places
    for size, least in [*((size, 1) for size in groups), (tied - sum(groups), 0)]:
        ways = [
            sum(ways[i - take] * comb(size, take) for take in range(least, min(size, i) + 1)) for i in range(places + 1)
        ]
    return ways[places] / comb(tied, places)
