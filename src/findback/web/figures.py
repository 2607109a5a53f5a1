"""Figures as pages write them."""

from findback.model.estimate import Estimate
from findback.reporting.figures import NONE, figure, interval
from findback.text.safe import show_in_place


def say_estimate(estimate: Estimate | None) -> str:
    """Return a figure with its interval and what it rests on, or why there is none.

    >>> say_estimate(Estimate(value=0.5, low=0.25, high=0.75, n=8))
    '.500 [.25, .75] (n 8)'
    >>> say_estimate(Estimate(value=None, reason="no cases"))
    '– (no cases)'
    """
    if estimate is None:
        return ""
    if estimate.value is None:
        return f"{NONE} ({show_in_place(estimate.reason)})" if estimate.reason else NONE
    said = [figure(estimate.value), interval(estimate.low, estimate.high), f"(n {estimate.n})"]
    return " ".join(part for part in said if part)


def say_moved(value: float | None) -> str:
    """Return a difference with its sign; nothing where there is none.

    >>> say_moved(0.05), say_moved(None)
    ('+.050', '')
    """
    return "" if value is None else figure(value, signed=True)
