"""What a reader noticed on its way: faults that stop the reading, notes that only say."""

from collections import Counter
from typing import ClassVar

from findback.errors import DataError, Fault


class Findings:
    """Collects the faults and notes of one reading."""

    most: ClassVar[int] = 1_000
    """Faults that are kept; a file of another kind would otherwise give one a line."""

    def __init__(self, *, skip_bad: bool = False) -> None:
        self.skip_bad = skip_bad
        """Whether bad documents are left out and counted instead of stopping the reading."""
        self.faults: list[Fault] = []
        self.dropped = 0
        """Faults beyond the most that are kept."""
        self.place: tuple[str, int | None] | None = None
        """Where the document last handed out stands, so that a second one of its id can be told from it."""
        self._counts: Counter[str] = Counter()
        self._remarks: dict[str, None] = {}

    def fault(self, path: str, line: int | None, message: str) -> None:
        """Record one fault.

        Raises:
            DataError: At the most faults that are kept, unless bad documents are skipped.
        """
        if len(self.faults) < self.most:
            self.faults.append(Fault(path, line, message))
        else:
            self.dropped += 1
        if not self.skip_bad and len(self.faults) >= self.most:
            raise self.error(f"gave up after {self.most:,} faults")

    def count(self, what: str, times: int = 1) -> None:
        """Count something that was left out or taken differently."""
        self._counts[what] += times

    def remark(self, text: str) -> None:
        """Note a thing once, however often it happens."""
        self._remarks[text] = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks, then counts, in the order they first came up."""
        return (*self._remarks, *(f"{what}: {times:,}" for what, times in self._counts.items()))

    def error(self, message: str) -> DataError:
        """Return the error that lists every fault."""
        return DataError(
            message,
            faults=self.faults,
            hint="correct these places, exclude the files, or leave them out with --skip-bad",
        )

    def raise_faults(self, message: str) -> None:
        """Raise all faults at once, unless bad documents are skipped.

        Raises:
            DataError: If there is any fault.
        """
        if self.faults and not self.skip_bad:
            raise self.error(message)
