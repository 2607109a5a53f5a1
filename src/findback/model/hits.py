"""What a search returns."""

from typing import NamedTuple


class Span(NamedTuple):
    """Characters of a document, as code points: start included, end excluded."""

    start: int
    end: int


class Hit(NamedTuple):
    """One result, in the engine's order."""

    document: str
    """Document id."""
    score: float | None = None
    """The engine's own score; its direction is the retriever's to declare."""
    passage: str | None = None
    """Text of the returned passage, where the engine gives it."""
    span: Span | None = None
    """Where the passage stands in its document, where known."""


class Answer(NamedTuple):
    """What one search gave."""

    hits: tuple[Hit, ...]
    """In the engine's order; may hold several passages of one document."""
    exhausted: bool = False
    """True when the engine has no more results than these."""
    abstained: bool = False
    """True when the engine said that it has no answer."""
