"""Messages without threads, joined by time alone."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

GAP_SECONDS = 3600.0
"""Silence after which another conversation begins."""
MOST_TOGETHER = 200
"""Most messages of one conversation; a channel that never falls silent is cut there."""
THREADED_SHARE = 0.05
"""Share of messages in threads from which a channel is taken to use threads."""

T = TypeVar("T")


def split_at_gaps(
    messages: Sequence[T], at: Callable[[T], float], *, gap: float = GAP_SECONDS, most: int = MOST_TOGETHER
) -> Iterator[list[T]]:
    """Yield runs of messages with no longer silence between them than `gap` seconds.

    Args:
        messages: Oldest first.
        at: POSIX seconds of a message.
        gap: Seconds.
        most: Messages of a run at most.

    >>> list(split_at_gaps([0, 10, 5000], float))
    [[0, 10], [5000]]
    """
    run: list[T] = []
    for message in messages:
        if run and (at(message) - at(run[-1]) > gap or len(run) >= most):
            yield run
            run = []
        run.append(message)
    if run:
        yield run


def uses_threads(in_threads: int, alone: int) -> bool:
    """Return whether a channel is one in which people answer in threads.

    >>> uses_threads(20, 80), uses_threads(0, 80)
    (True, False)
    """
    return in_threads > 0 and in_threads >= THREADED_SHARE * (in_threads + alone)
