"""What a paired comparison could find, and how many cases would settle one that is open."""

from statistics import NormalDist

POWER = 0.8
"""Chance with which a difference of the detectable size is found."""
MOST_UNITS = 10_000_000
"""Beyond this no number of units is given."""

_NORMAL = NormalDist()


def power_of(difference: float, error: float, critical: float, freedom: float) -> float:
    """Return the chance that an interval of `critical` standard errors excludes 0 on the side of the difference.

    Args:
        difference: True difference, in the unit of the metric.
        error: Standard error of the difference, above 0.
        critical: Half-width of the interval in standard errors.
        freedom: Degrees of freedom of the error: units minus one.

    Returns:
        A probability in (0, 1).

    Source:
        The noncentral t distribution.

    >>> round(power_of(0.05, 0.05 / 2.87, 2.023, 39), 2)
    0.8
    """
    from scipy.special import nctdtr  # noqa: PLC0415 (scipy only where needed)

    return 1.0 - float(nctdtr(freedom, abs(difference) / error, critical))


def detectable_difference(error: float, critical: float, freedom: float, *, power: float = POWER) -> float:
    """Return the true difference that such an interval would find with the given chance.

    It follows from the spread of the differences alone, never from their mean.

    Args:
        error: Standard error of the difference, above 0.
        critical: Half-width of the interval in standard errors.
        freedom: Degrees of freedom of the error: units minus one.
        power: Chance of finding it, in (0, 1).

    Returns:
        A difference above 0 in the unit of the metric; it may exceed the metric's range.

    >>> round(detectable_difference(0.01, 1.96, 1e9), 4)
    0.028
    """
    from scipy.special import nctdtrinc  # noqa: PLC0415 (scipy only where needed)

    return float(nctdtrinc(freedom, 1.0 - power, critical)) * error


def count_units_to_tell(
    difference: float, error: float, units: int, critical: float, *, power: float = POWER
) -> int | None:
    """Return how many units in all would find a difference of this size, spread and interval staying as they are.

    Returns:
        None for a difference of 0 and beyond ten million.

    >>> count_units_to_tell(0.028, 0.02, 100, 1.96)
    401
    """
    if not difference:
        return None
    wanted = units * ((critical + _NORMAL.inv_cdf(power)) * error / difference) ** 2
    return None if wanted > MOST_UNITS else int(wanted) + 1


def count_units_to_tie(
    difference: float, error: float, units: int, critical: float, margin: float, *, power: float = POWER
) -> int | None:
    """Return how many units in all would put the interval inside ± margin, if the difference is as given.

    Returns:
        None for a difference that is not inside the margin, and beyond ten million.

    Source:
        The two one-sided tests procedure: Schuirmann 1987.

    >>> count_units_to_tie(0.0, 0.02, 100, 1.96, 0.02)
    1051
    """
    room = margin - abs(difference)
    if room <= 0:
        return None

    def chance(count: int) -> float:
        shrunk = error * (units / count) ** 0.5
        reach = margin - critical * shrunk
        if reach <= 0:
            return 0.0
        return _NORMAL.cdf((reach - difference) / shrunk) - _NORMAL.cdf((-reach - difference) / shrunk)

    if chance(MOST_UNITS) < power:
        return None
    low, high = 0, MOST_UNITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= power else (middle, high)
    return high
