"""What every set format offers, and what it is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from findback.errors import UsageError
from findback.evalset.values import TOP_GRADE
from findback.model.question import QuestionSet


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a set is to be read."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column holds what, for mapped files: `{"query": "Question", "gold": "Source page"}`."""
    grades: Mapping[str, int] = field(default_factory=dict)
    """What the file's grades mean on the scale 0 to 3, for files with another scale."""
    skip_bad: bool = False
    """Keep the good rows and count the others, instead of refusing the file."""
    holdout: bool = False
    """Read the cases that are held out, and no others; everything else reads only those that are not."""

    def __post_init__(self) -> None:
        """Refuse grades beyond the scale.

        Raises:
            UsageError: If a grade is to mean something else than 0, 1, 2 or 3.
        """
        for grade, meaning in self.grades.items():
            if not 0 <= meaning <= TOP_GRADE:
                raise UsageError(f"grade {grade!r} cannot mean {meaning}: grades are 0, 1, 2 and 3")


@runtime_checkable
class SetFormat(Protocol):
    """A format questions are read from; a module with these names is one."""

    name: str
    """How users call it."""

    def recognise(self, path: Path) -> str | None:
        """Return a short reason when the path holds this format, or None."""
        ...

    def read(self, path: Path, options: ReadOptions) -> QuestionSet:
        """Return the questions.

        Raises:
            DataError: With every fault found.
        """
        ...


@runtime_checkable
class WritableFormat(SetFormat, Protocol):
    """A format questions can be written to."""

    losses: tuple[str, ...]
    """What the format cannot hold; it goes to the side file."""

    def places(self, target: Path) -> tuple[Path, ...]:
        """Return every file that writing to a target makes or replaces."""
        ...

    def write(self, questions: QuestionSet, target: Path) -> tuple[Path, ...]:
        """Write the questions, and what the format cannot hold into a side file; return what was written.

        Raises:
            StorageError: If the disk refuses.
        """
        ...
