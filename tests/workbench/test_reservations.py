"""Reservations that are asked for again and again."""

from datetime import timedelta

from builders.candidates import NOON, candidate
from findback.workbench.store import Workbench

MINUTE = timedelta(minutes=1)


def test_a_look_soon_after_another_writes_nothing(workbench: Workbench) -> None:
    """Within a minute a reservation stays as it is; after that it lasts longer, and others never get it meanwhile."""
    asked = candidate("q")
    workbench.put([asked], now=NOON)
    assert workbench.reserve(asked.key, "ana", now=NOON, minutes=30).until == NOON + 30 * MINUTE
    soon = workbench.reserve(asked.key, "ana", now=NOON + 0.9 * MINUTE, minutes=30)
    assert (soon.reviewer, soon.until) == ("ana", NOON + 30 * MINUTE)
    assert workbench.reserve(asked.key, "ana", now=NOON + 2 * MINUTE, minutes=30).until == NOON + 32 * MINUTE
    # Another length is another reservation.
    assert workbench.reserve(asked.key, "ana", now=NOON + 2 * MINUTE, minutes=60).until == NOON + 62 * MINUTE
