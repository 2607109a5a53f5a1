"""Best-matching windows of many texts at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Masks = NDArray[np.uint64]

BITS = 64
"""Terms in one plane of a mask."""
_MOST_RARE = (1 << 14) - 1


class Hits(NamedTuple):
    """Words of several texts that are among the terms asked of each.

    The texts are laid behind each other; all arrays have one entry a hit, in rising order of `place`.
    """

    place: Integers
    """Position of the word among the words of all texts."""
    text: Integers
    """Which text it is in."""
    term: Integers
    """Which of the terms asked of that text it is, from 0."""
    width: Integers
    """Words in a window of that text."""
    end: Integers
    """Position after the last word of that text."""
    rare: Masks
    """Shape (hits, planes): which of the terms asked of that text are rare, one bit each."""


class Best(NamedTuple):
    """The best window of each text that has a hit at all."""

    text: Integers
    """Which text."""
    first: Integers
    """The first hit in the window, which starts there."""
    until: Integers
    """The hit after the last one in the window."""
    terms: Integers
    """Distinct terms in it."""
    rare: Integers
    """Distinct rare terms in it."""


def find_best_windows(hits: Hits) -> Best:
    """Return for each text the window with the most distinct terms.

    Among equal ones that with more rare terms, then the first one. A best window need only be looked for
    among those that start at a hit: any other can be moved there without losing one.
    """
    if len(hits.place) == 0:
        nothing = np.empty(0, dtype=np.int64)
        return Best(nothing, nothing, nothing, nothing, nothing)
    order = np.arange(len(hits.place))
    until = np.searchsorted(hits.place, np.minimum(hits.place + hits.width, hits.end))
    terms = np.zeros(len(order), dtype=np.int64)
    rare = np.zeros(len(order), dtype=np.int64)
    plane, bit = hits.term // BITS, np.uint64(1) << (hits.term % BITS).astype(np.uint64)
    for number in range(hits.rare.shape[1]):
        inside = _join_ranges(np.where(plane == number, bit, np.uint64(0)), order, until)
        terms += np.bitwise_count(inside)
        rare += np.bitwise_count(inside & hits.rare[:, number])
    rank = (terms << 46) + (np.minimum(rare, _MOST_RARE) << 32) + (len(order) - 1 - order)
    changes = np.flatnonzero(np.diff(hits.text, prepend=-1))
    first = len(order) - 1 - (np.maximum.reduceat(rank, changes) & 0xFFFFFFFF)
    return Best(hits.text[first], first, until[first], terms[first], rare[first])


def _join_ranges(masks: Masks, start: Integers, until: Integers) -> Masks:
    """Return the union of the masks in each range [start, until); every range holds at least one.

    Unions of 1, 2, 4, … masks are made once; two of them, overlapping, cover any range.
    """
    level = np.frexp((until - start).astype(np.float64))[1] - 1
    joined = np.zeros(len(masks), dtype=np.uint64)
    span = 1
    unions = masks
    for current in range(int(level.max()) + 1):
        here = np.flatnonzero(level == current)
        joined[here] = unions[start[here]] | unions[until[here] - span]
        if span < len(masks):
            unions = unions.copy()
            unions[:-span] |= unions[span:]
        span *= 2
    return joined
