"""The protocols through which parts meet; a step hands one part to another."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from findback.model.candidate import RedactedText
from findback.model.case import Context
from findback.model.document import Document, Passage
from findback.model.hits import Answer
from findback.model.thread import Mark

ScoreDirection = Literal["higher", "lower"]


class Query(NamedTuple):
    """What a retriever is asked."""

    text: str
    """The words, as asked."""
    context: Context | None = None


class Documents(Protocol):
    """A corpus that has been read."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    @property
    def digest(self) -> str:
        """Digest over ids and texts."""
        ...

    def __len__(self) -> int:
        """Return how many documents there are."""
        ...

    def __iter__(self) -> Iterator[Document]:
        """Yield every document in a stable order."""
        ...

    def get(self, document: str) -> Document | None:
        """Return the document with this id, or None."""
        ...

    def resolve(self, reference: str) -> str | None:
        """Return the id of the document that an id, path, URL or alias means, or None."""
        ...


class Passages(Protocol):
    """The passages of a corpus under one chunker's settings."""

    @property
    def digest(self) -> str:
        """Digest over the corpus snapshot and the chunker's settings."""
        ...

    def __len__(self) -> int:
        """Return how many passages there are."""
        ...

    def __getitem__(self, index: int) -> Passage:
        """Return one passage by its position."""
        ...

    def __iter__(self) -> Iterator[Passage]:
        """Yield every passage in order."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A configured system under test."""

    @property
    def name(self) -> str:
        """Its name in findback.toml, or the one a caller gave."""
        ...

    @property
    def kind(self) -> str:
        """The registry's name for what it is."""
        ...

    @property
    def score_direction(self) -> ScoreDirection | None:
        """Which scores are better; None when it gives none, or none that can be compared."""
        ...

    @property
    def honours(self) -> frozenset[str]:
        """Fields of `Context` it can honour."""
        ...

    @property
    def egress(self) -> Literal["local", "internal", "external"]:
        """Where a query goes."""
        ...

    def settings(self) -> Mapping[str, object]:
        """Return the settings that change results, without secrets, for the config digest."""
        ...

    async def search(self, query: Query, k: int) -> Answer:
        """Return at least `k` results where there are so many; passages or documents, best first.

        Raises:
            EngineError: If the system failed on this query.
        """
        ...

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the system holds the document, for whoever asks in the context; None when it cannot say."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


class Redactor(Protocol):
    """Finds and replaces what must not be shown or written."""

    @property
    def version(self) -> str:
        """Version of the rules."""
        ...

    def redact(self, text: str) -> "Redacted":
        """Return the text with placeholders, and what they replaced by type."""
        ...


class RawText(NamedTuple):
    """A text of a source with what its markup says about it."""

    text: str
    marks: tuple[Mark, ...] = ()


class ThreadRedactor(Protocol):
    """Redacts the texts of one thread together, so that one person has one placeholder in all of them."""

    @property
    def version(self) -> str:
        """Version of the rules."""
        ...

    def redact_all(self, texts: Sequence[RawText], *, people: Collection[str] = ()) -> list[RedactedText]:
        """Return the texts redacted, placeholders numbered by first appearance over all of them.

        Args:
            texts: The texts of one thread, in order.
            people: The source's ids of those who wrote in it, to tell which of two namesakes is meant.

        Raises:
            RefusedError: If one of them cannot be looked at whole; then none of them may be kept.
        """
        ...

    def hmac(self, value: str) -> str:
        """Return the keyed digest of a value, in hexadecimal."""
        ...


class Redacted(NamedTuple):
    """A text after redaction."""

    text: str
    types: tuple[str, ...]
    """Type of each placeholder put in, in order of appearance."""


class Progress(Protocol):
    """Shows how far a long work has come."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a stretch of work of `total` units, or of unknown length."""
        ...

    def advance(self, units: int = 1) -> None:
        """Say that so many units are done."""
        ...

    def finish(self) -> None:
        """End the current stretch."""
        ...


class Silent:
    """Progress nobody watches."""

    def start(self, label: str, total: int | None) -> None:
        """Do nothing."""

    def advance(self, units: int = 1) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


SILENT: Progress = Silent()


class Judge(Protocol):
    """Says which of several documents a description is about."""

    def choose(self, description: str, documents: Sequence[Document]) -> int | None:
        """Return the position of the document described, or None for none of them."""
        ...
