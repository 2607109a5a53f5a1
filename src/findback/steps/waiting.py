"""Waiting for asynchronous work where nothing else runs."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Return what the work gives.

    At its end the event loop writes out the representation of what it ran, result included, which takes seconds
    for a large set; so the result goes past it.
    """
    results: list[Result] = []

    async def finish() -> None:
        results.append(await work)

    asyncio.run(finish())
    return results[0]
