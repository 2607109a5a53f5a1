"""Searches that wait a moment for each other, to be sent in one request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

WAIT = 0.005
"""Seconds a search waits for others; those that were answered together ask again within that time."""

Send = Callable[[list[bytes]], Awaitable[list[Any]]]


class Batches:
    """Gathers what is asked within a moment; nobody waits long for a search that may never come."""

    def __init__(self, send: Send, most: int) -> None:
        """Take what sends several bodies and returns as many answers, and how many it takes at once."""
        self._send, self._most = send, most
        self._waiting: list[tuple[bytes, asyncio.Future[Any]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def ask(self, body: bytes) -> Any:
        """Return the answer to one body; an error of the whole request is raised for each of its searches."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((body, future))
        if len(self._waiting) >= self._most:
            self._start()
        elif len(self._waiting) == 1:
            loop.call_later(WAIT, self._start)
        return await future

    def _start(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            task = asyncio.get_running_loop().create_task(self._ask(waiting))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _ask(self, waiting: list[tuple[bytes, asyncio.Future[Any]]]) -> None:
        try:
            answers = await self._send([body for body, _ in waiting])
        except Exception as error:  # noqa: BLE001 (handed to whoever waits)
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)
