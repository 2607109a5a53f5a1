"""What search returns and labels point at."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from findback.model.hits import Span


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a corpus."""

    id: str
    """Stable id: a path, URL or key."""
    text: str
    """Its text, as a reader of the page would see it."""
    title: str | None = None
    url: str | None = None
    """Canonical address, where one is known."""
    aliases: tuple[str, ...] = ()
    """Other ids it answers to: old paths, redirects, addresses."""
    subject: str | None = None
    """What it is about, in the corpus' own coarse terms (a folder, a field)."""
    language: str | None = None
    """ISO 639-1 code; None when unknown."""
    created: datetime | None = None
    """When it was first written, in UTC; None when unknown."""
    modified: datetime | None = None
    """When it was last changed, in UTC; None when unknown."""
    audience: tuple[str, ...] = ()
    """Roles that may read it; everybody when empty."""
    metadata: dict[str, str] = field(default_factory=dict)
    """Other fields of the source, as text."""


class Passage(NamedTuple):
    """A piece of a document made by a chunker; never a label's identity."""

    document: str
    """Document id."""
    span: Span
    """Its characters in the document's text."""
    text: str
