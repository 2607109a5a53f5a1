"""How often one person may flag: counted by digests, in memory, gone with the process."""

import threading
from collections import deque
from datetime import datetime, timedelta

WINDOW = timedelta(hours=1)
MOST_PEOPLE = 100_000


class Turns:
    """Counts the flags of each person over the last hour."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[str, deque[datetime]] = {}
        self._lock = threading.Lock()

    def take(self, person: str, now: datetime) -> bool:
        """Return whether a person may flag once more, and count it."""
        with self._lock:
            if person not in self._taken and len(self._taken) >= MOST_PEOPLE:
                self._taken = {who: turns for who, turns in self._taken.items() if now - turns[-1] < WINDOW}
            turns = self._taken.setdefault(person, deque())
            while turns and now - turns[0] >= WINDOW:
                turns.popleft()
            if len(turns) >= self._most:
                return False
            turns.append(now)
            return True
