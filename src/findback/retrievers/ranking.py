"""The best of many scores, in an order that two runs share."""

import numpy as np
from numpy.typing import NDArray


def find_best(scores: NDArray[np.floating], k: int, among: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return the positions of the `k` highest scores, best first; equal scores by position.

    Args:
        scores: One for each position.
        k: How many are wanted.
        among: The only positions to choose from, ascending; None allows all.

    >>> find_best(np.array([1.0, 3.0, 0.0, 3.0]), 3).tolist()
    [1, 3, 0]
    >>> find_best(np.array([1.0, 3.0, 0.0, 3.0]), 3, np.array([0, 2, 3])).tolist()
    [3, 0, 2]
    """
    if among is not None:
        return among[find_best(scores[among], k)]
    if k <= 0 or not len(scores):
        return np.empty(0, dtype=np.int64)
    places = np.arange(len(scores), dtype=np.int64)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = places[scores >= threshold]
    order = np.argsort(-scores[places], kind="stable")
    return places[order][:k]
