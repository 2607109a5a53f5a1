"""A number with its uncertainty."""

from typing import Literal

from findback.model.record import Record

IntervalMethod = Literal["clopper-pearson", "t", "bca", "bootstrap", "gold-clustered", "none"]


class Estimate(Record):
    """A mean or proportion with its interval and what it rests on.

    An undefined figure has `value=None` and a `reason`; it is never 0 and never NaN.
    """

    value: float | None
    """The figure, in the unit of what was averaged; None when undefined."""
    low: float | None = None
    """Lower end of the interval; None when there is none."""
    high: float | None = None
    """Upper end of the interval; None when there is none."""
    level: float = 0.95
    """Confidence level of the interval, in (0, 1)."""
    n: int = 0
    """Cases that entered the figure."""
    clusters: int = 0
    """Clusters among them; each counts once."""
    golds: int | None = None
    """Distinct gold groups among them; None where gold plays no role."""
    design_effect: float | None = None
    """Variance of the mean when clustered by gold over the variance by cluster; None when not measured."""
    method: IntervalMethod = "none"
    """How the interval was made."""
    seed: int | None = None
    """Seed of the resampling, where there was any."""
    left_out: int = 0
    """Cases that could not enter the figure."""
    reason: str | None = None
    """Why there is no value, or no interval."""
