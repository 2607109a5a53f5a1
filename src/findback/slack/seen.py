"""What came in already, so that nothing counts twice because it is sent twice."""

import threading
from collections.abc import Callable

MOST = 100_000


class Seen:
    """Remembers names for a while, in memory."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """Begin with nothing.

        Args:
            seconds: How long a name is remembered.
            clock: Returns seconds that only grow.
        """
        self._seconds, self._clock = seconds, clock
        self._names: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, name: str) -> bool:
        """Remember a name and return whether it is new."""
        now = self._clock()
        with self._lock:
            for old, at in list(self._names.items()):
                # In the order they came: the first that is young enough ends the search.
                if now - at < self._seconds and len(self._names) < MOST:
                    break
                del self._names[old]
            if name in self._names:
                return False
            self._names[name] = now
            return True
