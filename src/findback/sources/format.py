"""What every reader of an export is given, gives back and promises."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from findback.model.thread import Audience, Person, Skipped, Thread
from findback.model.turn import Turn
from findback.sources.answer import Answer

Family = Literal["chat", "tickets", "searchlog", "traces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How much of an export may be read."""

    channels: tuple[str, ...] = ()
    """Names of the channels, queues or projects to read, as glob patterns; all of them when empty."""
    open_audiences: frozenset[Audience] = frozenset({"public"})
    """Audiences that are read; everything else is counted and skipped."""
    exclude: tuple[str, ...] = ()
    """Glob patterns of channel names that are never read: the shipped list and the user's own."""
    skip_bad: bool = False
    """Whether records that cannot be read are counted and left out instead of refusing the file."""
    since: datetime | None = None
    """Threads with no message at or after this time are skipped."""
    mapping: Mapping[str, str] | None = None
    """Where a mapped reader finds its fields."""
    actions: Mapping[str, str] | None = None
    """Search logs: what a named action means (search, click, impression, other), over the shipped list."""
    scratch: Path | None = None
    """Private folder for what does not fit in memory; None forbids spilling."""
    memory: str = "2GB"
    """Search logs: most memory the local engine uses before it spills."""
    retrieval_tools: tuple[str, ...] = ()
    """Traces: glob patterns of tools that count as search besides those a trace marks itself; `!` takes away."""
    exam_queries: frozenset[str] = frozenset()
    """Texts of the exam's own queries; bursts of them are evaluation traffic."""
    threads: int = 2
    """Search logs: most threads of the local engine."""
    help_channels: tuple[str, ...] = ()
    """Glob patterns of further channels that are meant for questions, besides those whose name says so."""
    processes: int = 1
    """From 2, that many child processes share a large export between them; what comes out is the same, and in the
    same order, where `screen` always answers the same."""
    screen: Callable[[Sequence[str]], Iterable[int]] | None = None
    """A quick test of messages' texts as the source has them: the places of those that may matter. Where it is given,
    a reader may leave out, and count, threads outside help channels that hold none of them."""


@dataclass(slots=True)
class Reading:
    """An export being read: exactly one of `threads`, `turns` and `table` is there."""

    threads: Iterator[Thread] | None = None
    turns: Iterator[Turn] | None = None
    table: Any | None = None
    """An Ibis table of search events."""
    people: list[Person] = field(default_factory=list)
    """The roster; for chat complete before the first thread comes."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was left out and why; fills while the reading goes on."""
    until: datetime | None = None
    """Time up to which the export is likely whole, where it says so: what got no answer until then got none."""
    notes: list[str] = field(default_factory=list)
    """What a person should know about this export; fills while the reading goes on."""


@runtime_checkable
class Source(Protocol):
    """A reader of one kind of export."""

    @property
    def name(self) -> str:
        """Name in the registry, such as slack or zendesk."""
        ...

    @property
    def family(self) -> Family:
        """What it gives: threads of chat or tickets, a table of searches, turns of an agent."""
        ...

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules that this format can support."""
        ...

    def recognise(self, path: Path) -> str | None:
        """Return why the path is one of its exports, or None; reads little and never raises on rubbish."""
        ...

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading the export.

        Raises:
            DataError: If it cannot be read, now or while it is iterated.
            RefusedError: If it is larger or deeper than a reader may go into.
        """
        ...


@runtime_checkable
class RowSource(Source, Protocol):
    """A mapped reader, which also takes rows that a database gives."""

    def expect(self, answer: Answer, options: SourceOptions) -> None:
        """Check that the columns are there which the mapping needs; no row is read.

        Raises:
            SettingsError: If they are not, or there is no such mapping.
            EngineError: If the database does not answer.
        """
        ...

    def read_answer(self, answer: Answer, options: SourceOptions) -> Reading:
        """Begin reading the rows, after `expect`.

        Raises:
            DataError: If they make no sense, now or while they are iterated.
            RefusedError: If there are more than may be read, or the query does more than read.
            EngineError: If the database fails.
        """
        ...
