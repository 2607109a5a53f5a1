"""Conversations as sources give them: chat threads, tickets, forum questions. Raw text; never stored."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from findback.model.hits import Span

ActorKind = Literal["human", "bot", "agent", "system", "unknown"]
Audience = Literal["public", "internal", "private", "direct"]
"""Who could read it where it was written; `internal` is a note hidden from the asker."""
ThreadKind = Literal["thread", "gap", "ticket", "question"]
"""A real thread, messages joined by time alone (lower confidence), a ticket, a forum or issue question."""
MarkKind = Literal["user", "group", "channel", "mail", "link", "code", "quote"]
LinkKind = Literal["url-in-text", "structured-attach", "accepted-answer", "duplicate-of", "citation"]


class Place(NamedTuple):
    """Where a raw record lies, so that its text need not be copied."""

    file: str
    """File as the user named it, or `archive!member`."""
    offset: int
    """Byte offset of the record in it, or its position where bytes are not known."""


class Mark(NamedTuple):
    """A stretch of a text that the source's own markup says something about."""

    span: Span
    kind: MarkKind
    value: str | None = None
    """Id of the user, group or channel; the address of mail or link."""


class Link(NamedTuple):
    """An address in a message or attached to it."""

    url: str
    kind: LinkKind = "url-in-text"
    label: str | None = None


class Reaction(NamedTuple):
    """An emoji and who gave it."""

    name: str
    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message, ticket comment or post."""

    id: str
    """Id within its container, as the source writes it (Slack's ts stays text)."""
    author: str | None
    """The source's id of the author; None when it does not say."""
    actor: ActorKind
    at: datetime | None
    """UTC; None when unknown."""
    text: str
    """Decoded once (entities, HTML to text), otherwise as written: nothing trimmed or normalised."""
    marks: tuple[Mark, ...] = ()
    """What the source's markup says about `text`, in order, not overlapping."""
    links: tuple[Link, ...] = ()
    extras: tuple[str, ...] = ()
    """Other texts that belong to it: file names, attachment titles and texts, link labels, unfurls."""
    reactions: tuple[Reaction, ...] = ()
    audience: Audience = "public"
    staff: bool | None = None
    """Whether the author belongs to those who answer (a support agent, a maintainer); None when unknown."""
    edited: bool = False
    deleted: bool = False
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """A ticket or question changed its state."""

    at: datetime | None
    status: str
    """As the source names it."""
    closed: bool
    """Whether that state means solved or closed."""
    author: str | None = None
    actor: ActorKind = "unknown"
    """Who changed it; a bot or the system for what closes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One conversation, oldest message first."""

    id: str
    """Id within the source; stable over exports."""
    source: str
    """Registry name of the reader: slack, zendesk, …"""
    container: str
    """Id of the channel, queue, repository or site."""
    container_name: str | None = None
    kind: ThreadKind = "thread"
    audience: Audience = "public"
    title: str | None = None
    asker: str | None = None
    """The source's id of who asked, where it is said apart from the messages; else the first message's author."""
    tags: tuple[str, ...] = ()
    """Labels or tags of a ticket or question."""
    messages: tuple[Message, ...] = ()
    changes: tuple[StatusChange, ...] = ()
    """State changes of a ticket, oldest first."""
    attached: tuple[Link, ...] = ()
    """Documents the system itself records as attached to the ticket."""
    accepted: str | None = None
    """Id of the accepted answer's message."""
    duplicate_of: str | None = None
    """Id or address of the question it repeats."""
    help_channel: bool | None = None
    """Whether the place is meant for questions; None when unknown."""
    parent_missing: bool = False
    """True when replies are there and the first message is not."""
    macros: frozenset[str] = frozenset()
    """Ids of canned replies used in it."""


class Person(NamedTuple):
    """One entry of a source's own list of people: the roster."""

    id: str
    names: tuple[str, ...]
    """Full, first, last, display names and handles, as written."""
    mails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    bot: bool = False
    gone: bool = False
    """True for deleted users, who are talked about all the same."""


@dataclass(slots=True)
class Skipped:
    """What a reader left out, by reason, so that nothing goes missing silently."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """Count something left out."""
        self.counts[reason] = self.counts.get(reason, 0) + count
