"""Many things asked of a model at the same time, each begun in order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

AT_ONCE = 256
"""Most items under way; how many calls really run, the model decides."""


async def handle_all(items: Sequence[Item], handle: Callable[[Item], Awaitable[None]]) -> None:
    """Handle every item, so many at a time, and leave nothing running when one of them raises."""
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await handle(item)

    workers = [asyncio.create_task(work()) for _ in range(min(AT_ONCE, len(items)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
