"""What a mining rule found, still raw: lives in memory between rules and redaction, and is never stored."""

from dataclasses import dataclass
from datetime import datetime

from findback.model.candidate import DocumentLink, RewriteCount, RoleInThread, RuleHit
from findback.model.case import Stratum
from findback.model.protocols import RawText
from findback.model.thread import Audience, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLine:
    """One message around a found question."""

    id: str
    """The source's id of the message."""
    role: RoleInThread
    author: str | None
    at: datetime | None
    body: RawText
    """Text and marks; extras (file names, attachments, labels) are joined to it by line breaks."""
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A question that search seems to have failed, or one drawn as control."""

    source: str
    id: str
    """The source's id of the query message or search, unique within the source."""
    container: str
    audience: Audience
    query: RawText
    """A person's first wording."""
    query_line: int = -1
    cue_line: int | None = None
    lines: tuple[FoundLine, ...] = ()
    title: RawText | None = None
    rules: tuple[RuleHit, ...]
    links: tuple[DocumentLink, ...] = ()
    asker: str | None = None
    """The source's id of the asker."""
    at: datetime | None = None
    asked: int = 1
    """How often the same question was asked."""
    stratum: Stratum = "failure"
    selected_on: str | None = None
    language: str | None = None
    outcome: bool | None = None
    rewrites: RewriteCount | None = None
    macros: frozenset[str] = frozenset()
    """Ids of canned replies used in the thread."""
    no_answer_hint: str | None = None
    place: Place | None = None
