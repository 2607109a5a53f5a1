"""Counts of what leaves, by where it goes and what it is: kept at the door, so that nothing slips past them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Literal, NamedTuple

from findback.model.settings import EgressLevel

TextState = Literal["document", "unreviewed", "reviewed"]
"""What a text that is sent is: a document or its id, or a question before or after a person reviewed it."""
_carried: ContextVar[TextState] = ContextVar("findback_carried", default="unreviewed")


class Departure(NamedTuple):
    """Where something was sent, and what it was."""

    endpoint: str
    """Scheme, host and port; or the name of the program or function that was handed it."""
    level: EgressLevel
    state: TextState


class Departures:
    """Counts what is sent where, and holds nothing of it."""

    def __init__(self, keep: Callable[[Mapping[Departure, int]], None]) -> None:
        """Begin at nothing.

        Args:
            keep: Takes the counts when a connection closes.
        """
        self._keep = keep
        self._counts: Counter[Departure] = Counter()
        self._lock = Lock()

    def add(self, endpoint: str, level: EgressLevel) -> None:
        """Count one text of the state that `carrying` says; unreviewed where nothing does."""
        with self._lock:
            self._counts[Departure(endpoint, level, _carried.get())] += 1

    def flush(self) -> None:
        """Hand over what was counted, and begin anew."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if counts:
            self._keep(counts)


@contextmanager
def carrying(state: TextState) -> Iterator[None]:
    """Say what is sent while the block runs."""
    token = _carried.set(state)
    try:
        yield
    finally:
        _carried.reset(token)
