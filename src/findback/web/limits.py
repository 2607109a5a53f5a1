"""How often one visitor may ask: in memory, gone with the process."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

WINDOW = 60.0
"""Seconds over which requests are counted."""


class Rate(NamedTuple):
    """How many requests of a kind are allowed in a minute."""

    kind: str
    amount: int


READS = Rate("reads", 1_200)
WRITES = Rate("writes", 600)
ENTRIES = Rate("entries", 30)
"""Log-ins and other things strangers can do."""


class Limits:
    """Counts requests of each visitor over the last minute; every request asks it, so it starts no threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, str], deque[float]] = {}
        self._cleared = clock()

    def allow(self, rate: Rate, who: str) -> bool:
        """Return whether one more is allowed, and count it; one that is not allowed does not count."""
        now = self._clock()
        with self._lock:
            if now - self._cleared > WINDOW:
                self._clear(now)
            asked = self._asked.setdefault((rate.kind, who), deque())
            while asked and now - asked[0] > WINDOW:
                asked.popleft()
            if len(asked) >= rate.amount:
                return False
            asked.append(now)
            return True

    def _clear(self, now: float) -> None:
        """Forget visitors who asked nothing for a minute."""
        self._cleared = now
        for key in [key for key, asked in self._asked.items() if not asked or now - asked[-1] > WINDOW]:
            del self._asked[key]
