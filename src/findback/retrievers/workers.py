"""Threads for other people's blocking functions."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Call = tuple[Callable[[], Any], asyncio.AbstractEventLoop, asyncio.Future[Any]]


class Worker:
    """One thread that runs calls one after the other, so that thread-bound objects (SQLite) work.

    It is a daemon: a call that never returns does not keep the process from ending.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, call: Callable[[], Any]) -> Any:
        """Return what the call returns, or raise what it raises."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="findback-search", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((call, loop, future))
        return await future

    def stop(self) -> None:
        """End the thread after the call it is at."""
        if self._thread is not None:
            self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            call, loop, future = item
            if future.cancelled():
                continue
            result: Any = None
            error: BaseException | None = None
            try:
                result = call()
            except StopIteration:
                # A future cannot carry it.
                error = RuntimeError("StopIteration")
            except Exception as raised:  # noqa: BLE001 (handed to whoever waits)
                error = raised
            except BaseException as raised:  # noqa: BLE001 (SystemExit of foreign code ends nothing here)
                error = RuntimeError(type(raised).__name__)
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                # The loop has ended; nobody waits any more.
                continue


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
