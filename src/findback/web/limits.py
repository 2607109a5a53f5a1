"""How often one visitor may ask: in memory, gone with the process."""

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

READS = RateLimitItemPerMinute(1_200)
WRITES = RateLimitItemPerMinute(600)
ENTRIES = RateLimitItemPerMinute(30)
"""Log-ins and other things strangers can do."""


class Limits:
    """Counts requests of each visitor over the last minute."""

    def __init__(self) -> None:
        self._windows = MovingWindowRateLimiter(MemoryStorage())

    def allow(self, item: RateLimitItemPerMinute, who: str) -> bool:
        """Return whether one more is allowed, and count it."""
        return self._windows.hit(item, who)
