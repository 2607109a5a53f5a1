"""An interval of a rate that holds at every look, however often one looks and whenever one stops."""

from collections.abc import Callable
from math import isfinite, lgamma, log, log1p

from findback.model.rate import Rate, RateChange

PRIOR = 0.5
"""Shape and rate of the gamma mixture; a smaller one is narrower where few events were counted, and wider elsewhere."""
_STEPS = 200


def bound_rate(events: int, exposure: float, *, level: float = 0.95) -> Rate:
    """Return how often something happened, with an interval that holds at every look.

    The figure is the mean rate so far. With a probability of at least `level`, the interval of every look holds
    the mean rate up to that look: nothing is to be paid for looking each week, and one may stop when one likes.
    The true rate may change, and may hang on what happened before. Each event must come on its own: several at
    one moment count as one.

    Args:
        events: How many there were since the count began; the beginning must not be chosen by what was seen.
        exposure: How much passed since then, such as searches or weeks; for searches at most one event each.
        level: Confidence level, in (0, 1).

    Returns:
        A rate; without exposure its value is None.

    Raises:
        ValueError: If there are fewer than 0 events, or exposure is negative or not finite.

    Source:
        Ville 1939; Robbins 1970 (mixtures); Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform,
        nonparametric, nonasymptotic confidence sequences" (gamma-Poisson mixture). For events N and the rate added
        up over time L, theta^N exp(-L (theta - 1)) is a martingale for every theta > 0, and a supermartingale where
        each search has one event or none. Its mean over theta ~ gamma(1/2, 1/2) stays below 1 / (1 - level) at all
        looks with that probability; the interval is where it does.

    >>> found = bound_rate(12, 4.0)
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (3.0, 1.0, 6.57)
    >>> bound_rate(0, 0.0).reason
    'nothing passed yet'
    """
    if events < 0 or exposure < 0 or not isfinite(exposure):
        raise ValueError(f"{events} events in {exposure} make no rate")
    if not 0 < level < 1:
        raise ValueError(f"{level} is no confidence level")
    if exposure == 0:
        return Rate(value=None, level=level, events=events, reason="nothing passed yet")
    low, high = _ends(events, level)
    return Rate(
        value=events / exposure,
        low=low / exposure,
        high=high / exposure,
        level=level,
        events=events,
        exposure=exposure,
    )


def compare_rates(before: tuple[int, float], now: tuple[int, float], *, level: float = 0.95) -> RateChange:
    """Return whether a rate is another one than before, as far as can be told at every look.

    Both counts begin at moments fixed beforehand. Each interval holds with half of what may go wrong, so looking
    every week until one of them excludes the other finds a change that is not there with at most 1 - level.

    Args:
        before: Events and exposure of the time before.
        now: The same of the time since.
        level: Confidence level, in (0, 1).

    >>> compare_rates((10, 10.0), (30, 4.0)), compare_rates((10, 10.0), (6, 4.0))
    ('higher', 'cannot tell')
    """
    each = 1 - (1 - level) / 2
    first, second = bound_rate(*before, level=each), bound_rate(*now, level=each)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return "cannot tell"
    if second.low > first.high:
        return "higher"
    return "lower" if second.high < first.low else "cannot tell"


def _ends(events: int, level: float) -> tuple[float, float]:
    """Return the least and the greatest expected number of events that what was counted does not speak against."""
    least = -log1p(-level)
    start = PRIOR * log(PRIOR) - lgamma(PRIOR) + lgamma(PRIOR + events)

    def evidence(expected: float) -> float:
        return start - (PRIOR + events) * log(PRIOR + expected) + expected

    top = events + 1.0
    while evidence(top) < least:
        top *= 2
    # The evidence falls up to the number counted, and rises from there.
    low = _cross(evidence, 0.0, float(events), least) if events and evidence(0.0) >= least else 0.0
    return low, _cross(evidence, top, float(events), least)


def _cross(evidence: Callable[[float], float], outside: float, inside: float, least: float) -> float:
    """Return where the evidence crosses a bound, rounded outwards."""
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        if evidence(middle) >= least:
            outside = middle
        else:
            inside = middle
    return outside
