"""Words that were read again from an export: in memory alone, for whoever asked, shown once."""

import threading
from datetime import datetime, timedelta
from typing import NamedTuple

from findback.steps.reviewspans import SpanPlace

KEPT = timedelta(minutes=10)
"""How long words wait to be shown, and then to be given back."""
MOST = 200


class Original(NamedTuple):
    """What stood behind one placeholder."""

    reviewer: str
    key: str
    """Of the candidate."""
    at: SpanPlace
    words: str
    until: datetime
    shown: bool = False


class Originals:
    """Keeps words by the number of the job that read them."""

    def __init__(self) -> None:
        self._kept: dict[int, Original] = {}
        self._lock = threading.Lock()

    def put(self, number: int, reviewer: str, key: str, at: SpanPlace, words: str, *, now: datetime) -> None:
        """Keep words for whoever asked for them."""
        with self._lock:
            self._clear(now)
            self._kept[number] = Original(reviewer, key, at, words, now + KEPT)
            while len(self._kept) > MOST:
                self._kept.pop(next(iter(self._kept)))

    def show(self, number: int, reviewer: str, key: str, *, now: datetime) -> Original | None:
        """Return the words, this once; None where they are somebody else's, were shown, or are gone."""
        with self._lock:
            found = self._find(number, reviewer, key, now)
            if found is None or found.shown:
                return None
            self._kept[number] = found._replace(shown=True)
            return found

    def shown(self, number: int, reviewer: str, key: str, *, now: datetime) -> Original | None:
        """Return words that were shown, to be given back; None where they are not there."""
        with self._lock:
            found = self._find(number, reviewer, key, now)
            return found if found is not None and found.shown else None

    def _find(self, number: int, reviewer: str, key: str, now: datetime) -> Original | None:
        self._clear(now)
        found = self._kept.get(number)
        return found if found is not None and (found.reviewer, found.key) == (reviewer, key) else None

    def _clear(self, now: datetime) -> None:
        for number in [number for number, one in self._kept.items() if one.until <= now]:
            del self._kept[number]
