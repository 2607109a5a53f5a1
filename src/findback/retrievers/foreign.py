"""Other people's code, run so that it can neither end findback nor write into its output."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from findback.errors import EngineError
from findback.model.hits import Answer
from findback.model.protocols import Query, Retriever
from findback.retrievers.returned import read_answer

Result = TypeVar("Result")


class _Apart:
    """How many blocks keep output apart at the moment, and what standard output was before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._kept: TextIO | None = None

    def enter(self) -> None:
        with self._lock:
            if self._blocks == 0:
                self._kept, sys.stdout = sys.stdout, sys.stderr
            self._blocks += 1

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0 and self._kept is not None:
                sys.stdout, self._kept = self._kept, None


_apart = _Apart()


@contextmanager
def output_apart() -> Iterator[None]:
    """Send what is printed to standard error while the block runs: standard output holds findback's results alone.

    Blocks may lie within each other and run in several threads at once; the last one to end restores the output.
    """
    _apart.enter()
    try:
        yield
    finally:
        _apart.leave()


def is_ours(retriever: Retriever) -> bool:
    """Return whether a retriever's own code comes with findback."""
    return type(retriever).__module__.startswith("findback.")


def is_being_cancelled() -> bool:
    """Return whether somebody cancels the running task; else a CancelledError is the foreign code's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def contain(start: Callable[[], Awaitable[Result]]) -> Result:
    """Return what foreign code returns; an attempt to end the program or the task is an error like any other.

    Raises:
        EngineError: In place of SystemExit, and of a CancelledError that nobody asked for.
    """
    try:
        return await start()
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
            raise
        raise EngineError(f"the retriever raised {type(error).__name__}") from None


async def search_contained(retriever: Retriever, query: Query, k: int) -> Answer:
    """Return a retriever's answer; what code that is not ours returns is looked at hit by hit.

    Raises:
        EngineError: If it tries to end the program, or returns what is no answer.
    """
    found = await contain(lambda: retriever.search(query, k))
    return found if is_ours(retriever) else read_answer(found, k)
