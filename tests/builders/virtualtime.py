"""An event loop whose clock jumps ahead when there is nothing to do: hours pass at once, always in the same way."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.SelectSelector):
    """Waits for nothing; tells the loop how long it would have waited."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout:
            self.loop.passed += timeout
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """Keeps its own time, which begins at nothing."""

    def __init__(self) -> None:
        self.passed = 0.0
        selector = _Jumping()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self.passed


def run_virtually(work: Coroutine[Any, Any, Result]) -> tuple[Result, float]:
    """Return what the work returns, and the seconds it would have taken."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        result = runner.run(work)
        loop = runner.get_loop()
        return result, loop.time()
