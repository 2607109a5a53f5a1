"""What a connector gives and what it has to be told: pages by pages, so that a run that is killed goes on."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from findback.model.thread import Person
from findback.sources.format import Reading, SourceOptions


class Position(NamedTuple):
    """How far a place was read."""

    at: datetime | None
    """Moment of the newest thing read, in UTC."""
    cursor: str | None = None
    """The system's own way to say where it was."""


class Line(NamedTuple):
    """A message of a question that waits in the workbench."""

    id: str
    """Digest of the message's id."""
    at: datetime | None


class Waiting(NamedTuple):
    """A question that waits in the workbench for a decision."""

    question: Line | None
    """Its own message, where that is a line of the thread."""
    lines: tuple[Line, ...]


class Memory(Protocol):
    """What the workbench knows of earlier runs."""

    def position(self, place: str) -> Position | None:
        """Return how far a place was read; None where it never was."""
        ...

    def is_kept_out(self, container: str) -> bool:
        """Return whether a channel or queue objected, or was erased."""
        ...

    def waiting(self, container: str) -> Mapping[str, Waiting]:
        """Return the undecided questions of a channel, by their key."""
        ...

    def digest(self, message: str) -> str:
        """Return the digest of a message's id, as `Line.id` has it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What was read in one go; once it is stored, its position is written down."""

    place: str
    """What its position is of: a channel, or the whole system."""
    position: Position | None
    """How far the place is read with this batch; None where nothing changes."""
    read: Callable[[SourceOptions], Reading]
    """Gives its conversations."""
    gone: Mapping[str, Collection[str]]
    """Lines, by their digest, that are no longer there, by the key of the question they belong to."""
    deleted: Collection[str] = ()
    """Ids of questions that were deleted."""


class Connector(Protocol):
    """A system that is read by its API."""

    @property
    def people(self) -> list[Person]:
        """Return everybody known so far; grows while batches come."""
        ...

    def batches(self, memory: Memory) -> Iterator[Batch]:
        """Yield what is new since the last run, oldest first in each place.

        Raises:
            EngineError: If the system fails or refuses.
        """
        ...
