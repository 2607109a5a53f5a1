"""How often something happens."""

from typing import Literal

from findback.model.record import Record

RateChange = Literal["higher", "lower", "cannot tell"]
RateUnit = Literal["search", "week"]


class Rate(Record):
    """Events in proportion to something that passed, with an interval that holds at every look."""

    value: float | None
    """Events a unit of exposure, 0 or more; None where nothing passed."""
    low: float | None = None
    """Lower end, 0 or more."""
    high: float | None = None
    """Upper end."""
    level: float = 0.95
    """Chance, at least, that the interval holds at all looks together, in (0, 1)."""
    events: int = 0
    exposure: float = 0.0
    """What passed: searches, or weeks."""
    reason: str | None = None
    """Why there is no value."""


class FlagMonth(Record):
    """Flags of one month."""

    month: str
    """YYYY-MM."""
    rate: Rate
    """The interval holds at every look within the month."""


class FlagRate(Record):
    """How often people say that they could not find something."""

    unit: RateUnit
    """What they are counted against: searches, where a log of them was mined for the same days, else weeks."""
    since: str
    """Day the count begins, YYYY-MM-DD: the day after the first flag, which is not counted itself."""
    until: str
    """Last day counted."""
    overall: Rate
    """The mean rate since the count began; the interval holds at every look."""
    months: tuple[FlagMonth, ...]
    """The newest last."""
    change: RateChange
    """This month against all the time before, as far as can be told at every look."""
    uncounted: int = 0
    """Flags of days that no mined log covers, which are left out."""
