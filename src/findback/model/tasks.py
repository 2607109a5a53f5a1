"""Whether agents' tasks succeeded, by whether their searches found the right document."""

from findback.model.estimate import Estimate
from findback.model.record import Record


class TaskOutcomes(Record):
    """Task success where retrieval hit and where it missed: an association, never a cause.

    Over all turns read whose trace says how the task ended and names the right documents; not over those alone
    that were mined, which were chosen by how they ended.
    """

    hit: Estimate
    """Share of tasks that succeeded where a search returned a right document."""
    missed: Estimate
    """Share of tasks that succeeded where no search did."""
    difference: Estimate
    """First minus second."""
    unknown: int = 0
    """Turns with an outcome of which it is not known what their searches returned, or what is right."""
