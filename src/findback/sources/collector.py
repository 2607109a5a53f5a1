"""Python's cyclic collector, paused while JSON is taken apart."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Keep the collector from looking at what a parser just made; it goes on as it was afterwards.

    JSON has no cycles, and all of it is let go of by reference counts; looking for cycles in it again and again
    costs as much time as parsing does.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
