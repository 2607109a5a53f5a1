"""What one level of a factor is worth against another."""

from findback.model.estimate import Estimate
from findback.model.record import Record


class FactorEffect(Record):
    """What one level of a factor is worth against another; every interval holds together with the other effects'."""

    factor: str
    first: str
    second: str
    settings: int
    """Settings of all other factors that both levels were tried in; 0 where none was, and means are compared."""
    systems: int
    confounded: tuple[str, ...] = ()
    """Other factors that are part of the effect, where means are compared."""
    gains: tuple[Estimate, ...]
    """First level minus second: on the set, or on each of the two sides."""
    between: Estimate | None = None
    """The first side's gain minus the second's; None on one set."""

    @property
    def differs(self) -> bool:
        """Whether the effect is shown to be another one on the other side."""
        ends = (self.between.low, self.between.high) if self.between is not None else (None, None)
        return ends[0] is not None and ends[1] is not None and (ends[0] > 0 or ends[1] < 0)
