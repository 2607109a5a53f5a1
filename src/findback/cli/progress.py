"""Progress bars on stderr, shown only where somebody can see them."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)


class Bars:
    """Progress as rich bars; silent when stderr is no terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: list[TaskID] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def start(self, label: str, total: int | None) -> None:
        """Begin a bar."""
        # Shown only while something is under way, so that a question in between finds a quiet terminal.
        self._progress.start()
        self._tasks.append(self._progress.add_task(label, total=total))

    def advance(self, units: int = 1) -> None:
        """Move the newest bar."""
        if self._tasks:
            self._progress.advance(self._tasks[-1], units)

    def finish(self) -> None:
        """End the newest bar."""
        if self._tasks:
            self._progress.remove_task(self._tasks.pop())
        if not self._tasks:
            self._progress.stop()
