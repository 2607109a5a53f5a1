"""As how many independent observations weighted ones count."""

from collections.abc import Sequence


def effective_size(weights: Sequence[float]) -> float:
    """Return (Σw)² / Σw²: the number of equally weighted observations with the same variance of their mean.

    Returns:
        Between 0, for no weight at all, and the number of weights, where all are equal.

    Source:
        Kish, "Survey Sampling" (1965).

    >>> effective_size([1, 1, 1]), effective_size([2, 1, 1])
    (3.0, 2.6666666666666665)
    """
    squares = sum(weight * weight for weight in weights)
    return sum(weights) ** 2 / squares if squares else 0.0
