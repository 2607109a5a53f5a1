"""What is wrong with an export, collected while it is read and said once."""

from findback.errors import DataError, Fault
from findback.model.thread import Place, Skipped

KEPT = 10_000
"""Most faults that are kept of one export; further ones are only counted."""

UNREADABLE = "records that cannot be read"


class Faults:
    """Everything found wrong while one export is read."""

    def __init__(self, *, rows: bool = False) -> None:
        """Begin with nothing.

        Args:
            rows: Whether the export is the answer to a query, whose places are rows and not lines.
        """
        self.rows = rows
        self.found: list[Fault] = []
        self.count = 0

    def add(self, where: str, line: int | None, message: str) -> None:
        """Remember a fault.

        Args:
            where: File as the user named it, or `archive!member`.
            line: 1-based; None where there are no lines.
            message: What is wrong, without quoting texts.
        """
        self.count += 1
        if self.rows and line is not None:
            where, line = f"row {line} of the {where}", None
        if len(self.found) < KEPT:
            self.found.append(Fault(where, line, message))

    def at(self, place: Place, message: str) -> None:
        """Remember what is wrong with the message at a place; its words follow "the message"."""
        if self.rows:
            self.add(place.file, place.offset, f"the message {message}")
        else:
            self.add(place.file, None, f"the message at {place.offset} {message}")

    def settle(self, what: str, skipped: Skipped, notes: list[str], *, skip_bad: bool) -> None:
        """Count what was left out where the user asked to skip bad records.

        Raises:
            DataError: If there are faults and nobody asked to skip them.
        """
        if not self.count:
            return
        if not skip_bad:
            raise DataError(
                f"{what} has {self.count:,} fault{'s' if self.count > 1 else ''}",
                faults=self.found,
                hint="mend them, or read the good records only with --skip-bad",
            )
        skipped.add(UNREADABLE, self.count)
        notes += [f"left out: {fault}" for fault in self.found[:5]]
