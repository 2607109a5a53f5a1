"""A ticket or question with what the rules ask of it: who wrote what, what was linked, how it was closed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

from findback.mining.folding import fold, own_words
from findback.mining.links import LinkResolver
from findback.model.candidate import RoleInThread
from findback.model.protocols import RawText
from findback.model.thread import LinkKind, Mark, StatusChange, Thread

_CANNED_LINE = 20
_CANNED_MESSAGE = 40


class Evidence(NamedTuple):
    """A document that somebody linked, before it is judged."""

    document: str
    line: int
    kind: LinkKind
    before: bool | None
    """Whether the document existed before the question."""


class Closing(NamedTuple):
    """How a ticket was closed for the last time."""

    change: StatusChange
    reopened: tuple[datetime | None, ...]
    """When it was opened again, each time."""
    open_again: bool


class TicketView:
    """A thread with what the rules ask of it."""

    def __init__(self, thread: Thread, resolver: LinkResolver) -> None:
        self.thread = thread
        self.messages = thread.messages
        self._resolver = resolver
        first = thread.messages[0] if thread.messages else None
        self.asker = thread.asker
        if self.asker is None and first is not None and not thread.parent_missing:
            self.asker = first.author
        times = [in_utc(message.at) for message in thread.messages if message.at is not None]
        self.opened = min(times, default=None)
        self.accepted = next((i for i, m in enumerate(thread.messages) if m.id == thread.accepted), None)
        self.closing = _last_closing(thread.changes)
        self.attached = [
            Evidence(document, -1, link.kind, self.existed(document))
            for link in thread.attached
            if (document := self._document(link.url)) is not None
        ]
        self._linked: dict[int, list[Evidence]] = {}
        for line, message in enumerate(thread.messages):
            documents = dict.fromkeys(d for link in message.links if (d := self._document(link.url)) is not None)
            if documents:
                self._linked[line] = [Evidence(d, line, "url-in-text", self.existed(d)) for d in documents]

    def _document(self, url: str) -> str | None:
        document = self._resolver.resolve(url)
        return document if document is not None and self._resolver.is_knowledge(document) else None

    def existed(self, document: str) -> bool | None:
        """Return whether a document was there when the question was asked; None when that is unknown."""
        found = self._resolver.documents.get(document)
        if found is None or found.created is None or self.opened is None:
            return None
        return in_utc(found.created) <= self.opened

    def by_line(self, line: int) -> list[Evidence]:
        """Return the documents that a message links."""
        return self._linked.get(line, [])

    def links(self) -> Iterator[Evidence]:
        """Yield every document linked in the thread, then what the system attached."""
        for line in sorted(self._linked):
            yield from self._linked[line]
        yield from self.attached

    def role(self, line: int, resolving: frozenset[int] = frozenset()) -> RoleInThread:
        """Return whose a message is."""
        message = self.messages[line]
        if message.actor in ("bot", "system"):
            return "bot"
        if message.actor == "agent":
            return "agent"
        if message.author == self.asker and (message.author is not None or line == 0):
            return "asker"
        solved = {self.messages[index].author for index in resolving}
        return "resolver" if line in resolving or (message.author is not None and message.author in solved) else "other"

    def replies(self) -> Iterator[int]:
        """Yield the messages by people who answer: neither the asker nor a program nor another customer."""
        for line, message in enumerate(self.messages):
            # Who opens a thread without being the asker did so on somebody's behalf.
            answers = message.staff is not False if line else message.staff is True and self.asker is not None
            if answers and self.role(line) == "other":
                yield line

    def is_until(self, line: int, time: datetime | None) -> bool:
        """Return whether a message was written by a time; true where either is unknown."""
        written = self.messages[line].at
        return time is None or written is None or in_utc(written) <= in_utc(time)

    def later(self) -> int | None:
        """Return after how many days the first document was written that somebody else linked, if all came later."""
        replies = set(self.replies())
        linked = [found for found in self.links() if found.line in replies or found.kind == "structured-attach"]
        if not linked or any(found.before is not False for found in linked) or self.opened is None:
            return None
        written = [d.created for f in linked if (d := self._resolver.documents.get(f.document)) and d.created]
        return min((in_utc(created) - self.opened).days for created in written) if written else None

    def query(self, prefer: str) -> tuple[int, RawText] | None:
        """Return the line and the text of the query: the first wording of whoever asked."""
        title = self.thread.title
        if self.thread.kind == "question" and prefer == "title" and title and title.strip():
            return -1, RawText(title)
        for line, message in enumerate(self.messages):
            if (
                self.role(line) == "asker"
                and message.audience == "public"
                and own_words(message.text, message.marks).strip()
            ):
                return line, RawText(message.text, message.marks)
        if self.thread.kind == "question" and title and title.strip():
            return -1, RawText(title)
        return None

    def wording(self, line: int, document: str) -> Iterator[str]:
        """Yield the fingerprint by which a canned reply shows: the line around the link, or the whole message."""
        message = self.messages[line]
        around = next((mark for mark in message.marks if self._leads_to(mark, document)), None)
        text = ""
        if around is not None:
            start = message.text.rfind("\n", 0, around.span.start) + 1
            end = message.text.find("\n", around.span.end)
            text = message.text[start : end if end >= 0 else len(message.text)]
            own = len(text) - (around.span.end - around.span.start if "://" in text else 0)
            text = text if own >= _CANNED_LINE else ""
        if not text and len(message.text) >= _CANNED_MESSAGE:
            text = message.text
        if text:
            yield blake2b(fold(text).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def _leads_to(self, mark: Mark, document: str) -> bool:
        return mark.kind == "link" and mark.value is not None and self._resolver.resolve(mark.value) == document


def _last_closing(changes: tuple[StatusChange, ...]) -> Closing | None:
    closing: StatusChange | None = None
    reopened: list[datetime | None] = []
    closed = False
    for change in changes:
        if change.closed and not closed:
            closing = change
        elif closed and not change.closed:
            reopened.append(in_utc(change.at) if change.at else None)
        closed = change.closed
    return None if closing is None else Closing(closing, tuple(reopened), not closed)


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC, which it is taken for where it does not say."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
