"""What people looked for and no document answers."""

from typing import Literal

from findback.model.case import Asked
from findback.model.record import Record


class Nearby(Record):
    """A document that comes nearest to a question it does not answer."""

    document: str
    title: str | None = None


class Gap(Record):
    """One question that no document answers."""

    case: str
    """Id of the case."""
    query: str
    reason: str
    """Why nothing answers it, in the words of whoever said so."""
    asked: Asked
    """How often it was asked, as far as the sources say."""
    wanted: bool
    """Whether the reviewer said that a document should be written."""
    seen_on: str
    """Month in which it was last seen."""
    nearest: tuple[Nearby, ...] | None = None
    """None where nothing was searched."""


class Theme(Record):
    """Questions about the same thing."""

    words: tuple[str, ...]
    """Rare words that all of them share; empty for a question that stands alone."""
    gaps: tuple[Gap, ...]
    times: int
    """How often they were asked in all, at least."""

    @property
    def wanted(self) -> int:
        """Return for how many of them a document should be written."""
        return sum(gap.wanted for gap in self.gaps)


class Gaps(Record):
    """The pages nobody has written, most asked first."""

    format: Literal[1] = 1
    workspace: str
    themes: tuple[Theme, ...]
    held_out: int
    """Such cases that are held out; they are counted and not shown."""
    documents: int | None
    """Documents that were searched for the nearest ones; None where none were."""

    @property
    def count(self) -> int:
        """Return how many questions are shown."""
        return sum(len(theme.gaps) for theme in self.themes)
