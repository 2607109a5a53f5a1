"""Threads for other people's functions, blocking ones and async ones."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from findback.retrievers.foreign import is_being_cancelled

Call = tuple[Callable[[], Any], asyncio.AbstractEventLoop, asyncio.Future[Any]]

RESPONSE = 0.5
"""Seconds in which a loop that is not blocked answers."""
GRACE = 1.0
"""Seconds that async functions have to clean up after themselves at the end."""


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
            error: Exception | None = None
            try:
                result = call()
            except BaseException as raised:  # noqa: BLE001 (handed to whoever waits)
                error = _as_exception(raised)
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                # The loop has ended; nobody waits any more.
                continue


class Workers:
    """As many workers as there are calls at once; one that still runs a call nobody waits for gets no other."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []

    async def run(self, call: Callable[[], Any]) -> Any:
        """Return what the call returns, or raise what it raises."""
        worker = self._idle.pop() if self._idle else Worker()
        try:
            returned = await worker.run(call)
        except asyncio.CancelledError:
            worker.stop()
            raise
        except BaseException:
            self._idle.append(worker)
            raise
        self._idle.append(worker)
        return returned

    def stop(self) -> None:
        """End the threads."""
        while self._idle:
            self._idle.pop().stop()


class AsyncWorker:
    """One thread with an event loop, so that async functions that block do not block ours.

    All calls share the loop, as clients and locks made in it want; a loop that is found blocked is given up, and
    the next call gets another one.
    """

    def __init__(self) -> None:
        self._lane: _Lane | None = None

    async def run(self, call: Callable[[], Any]) -> Any:
        """Return what the call, or the awaitable it returns, returns, or raise what it raises."""
        if self._lane is None:
            self._lane = _Lane()
        lane = self._lane
        future = asyncio.run_coroutine_threadsafe(_finish(call), lane.loop)
        try:
            returned, error = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not await lane.answers() and self._lane is lane:
                self._lane = None
                lane.stop()
            raise
        if error is not None:
            raise error
        return returned

    async def close(self) -> None:
        """End the thread; a call that never returns is not waited for."""
        lane, self._lane = self._lane, None
        if lane is not None:
            lane.stop()
            await _is_set(lane.ended, GRACE)


class _Lane:
    """A loop and its daemon thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.ended = threading.Event()
        self._stopping = threading.Event()
        threading.Thread(target=self._serve, name="findback-async-search", daemon=True).start()

    async def answers(self) -> bool:
        """Return whether the loop does anything at all at the moment."""
        replied = threading.Event()
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(replied.set)
        return await _is_set(replied, RESPONSE)

    def stop(self) -> None:
        """Let the thread end when it can."""
        self._stopping.set()
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self._stopping.is_set():
            # A task of its own that raises SystemExit ends the loop's turn, but not the loop.
            with suppress(BaseException):
                self.loop.run_forever()
        with suppress(BaseException):
            self.loop.run_until_complete(_clean_up())
        self.loop.close()
        self.ended.set()


async def _finish(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return what a call returns beside what it raises, as a loop lets some exceptions through to its thread."""
    try:
        returned = call()
        return (await returned if inspect.isawaitable(returned) else returned), None
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
            raise
        return None, _as_exception(error)


async def _is_set(event: threading.Event, seconds: float) -> bool:
    """Return whether another thread sets the event in time; neither thread waits for the other's loop."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while not event.is_set() and clock() < until:  # noqa: ASYNC110 (an asyncio event belongs to one loop)
        await asyncio.sleep(0.005)
    return event.is_set()


async def _clean_up() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=GRACE)
    await asyncio.get_running_loop().shutdown_asyncgens()


def _as_exception(error: BaseException) -> Exception:
    """Return what can be handed on: a future cannot carry StopIteration, and SystemExit must end nothing here."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    # Called as it was, so that a message names what was raised.
    stand_in: type[Exception] = type(type(error).__name__, (Exception,), {})
    return stand_in(*error.args)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
