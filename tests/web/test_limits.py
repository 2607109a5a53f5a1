"""Counting what each visitor asks."""

import threading

from findback.web.limits import ENTRIES, READS, WINDOW, Limits


def test_a_minute_has_so_many_requests_and_no_more() -> None:
    """The window moves: what was asked a minute ago makes room, request by request; refused ones count for nothing."""
    now = [0.0]
    limits = Limits(clock=lambda: now[0])
    for second in range(ENTRIES.amount):
        now[0] = second
        assert limits.allow(ENTRIES, "ana")
    for _ in range(100):
        assert not limits.allow(ENTRIES, "ana")
    assert limits.allow(READS, "ana")
    assert limits.allow(ENTRIES, "bo")
    now[0] = WINDOW + 0.5
    assert limits.allow(ENTRIES, "ana")
    assert not limits.allow(ENTRIES, "ana")
    now[0] = WINDOW + 2.5
    assert [limits.allow(ENTRIES, "ana") for _ in range(3)] == [True, True, False]


def test_strangers_are_forgotten_and_no_thread_is_started() -> None:
    """A visitor from each of many addresses leaves nothing behind after a minute."""
    now = [0.0]
    limits = Limits(clock=lambda: now[0])
    threads = threading.active_count()
    for number in range(5_000):
        assert limits.allow(ENTRIES, f"@10.0.{number}")
    now[0] = WINDOW + 1
    assert limits.allow(ENTRIES, "ana")
    assert len(limits._asked) == 1
    assert threading.active_count() == threads
