"""Success at k: is there a right document among the first k?"""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Int64s, Placed
from findback.measure.ties import chance_any_within


def first_blocks(group: Int64s, above: Int64s, tied: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Return each group's first block: group, above, tied, and how many of its rows are in it.

    Rows may come in any order within a group.

    >>> [c.tolist() for c in first_blocks(np.array([0, 0, 0]), np.array([4, 1, 1]), np.array([1, 2, 2]))]
    [[0], [1], [2], [2]]
    """
    order = np.lexsort((above, group))
    group, above, tied = group[order], above[order], tied[order]
    fresh = np.ones(len(group), dtype=np.bool_)
    fresh[1:] = (group[1:] != group[:-1]) | (above[1:] != above[:-1])
    begins = np.flatnonzero(fresh)
    count = np.diff(begins, append=len(group))
    first = np.ones(len(begins), dtype=np.bool_)
    first[1:] = group[begins[1:]] != group[begins[:-1]]
    begins = begins[first]
    return group[begins], above[begins], tied[begins], count[first]


def score_success(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return 1 where a right document is among the first k, else 0; between, the chance of it under ties."""
    query, above, tied, count = first_blocks(*placed.relevant(metric.rel))
    return placed.total(query, chance_any_within(above, tied, count, metric.cutoff or 0))
