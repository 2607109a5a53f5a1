"""Rules for tickets and questions: what closed them, what the system attached, what they repeat, what was accepted."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Literal, NamedTuple

from findback.mining.folding import fold, own_words
from findback.mining.links import LinkResolver
from findback.model.candidate import DocumentLink, RoleInThread, RuleHit, Strength
from findback.model.found import Found, FoundLine
from findback.model.protocols import RawText
from findback.model.thread import Audience, LinkKind, Mark, StatusChange, Thread

TICKET_RULES = ("ticket-link", "attach", "duplicate", "accepted", "no-answer")

ANSWERED_LATER = "a document linked here was written after the question was asked"
"""Hint that nothing answered the question when it was asked."""

_LEVELS: tuple[Strength, ...] = ("weak", "medium", "strong")
_AUDIENCES: tuple[Audience, ...] = ("public", "internal", "private", "direct")
_ISSUE = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})/(issues|discussions)/(\d{1,10})$")
_CANNED_LINE = 20
_CANNED_MESSAGE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketMining:
    """How tickets are mined."""

    rules: frozenset[str] = frozenset(TICKET_RULES)
    question: Literal["title", "body"] = "title"
    """What the query of a forum question is: its title, which its asker wrote to be found by, or its first post.
    A ticket's query is always a message, because titles of tickets are rewritten by others."""
    macro_cap: int = 5
    """How often one canned reply counts for one document; further tickets are dropped and counted."""
    quiet_days: int = 14
    """After how many days without a reply a question counts as not answered."""
    now: datetime | None = None
    """Until when the export goes; without it silence is not judged."""


class _Evidence(NamedTuple):
    """A document that somebody linked, before it is judged."""

    document: str
    line: int
    kind: LinkKind
    before: bool | None
    """Whether the document existed before the question."""


class _Closing(NamedTuple):
    """How a ticket was closed for the last time."""

    change: StatusChange
    reopened: tuple[datetime | None, ...]
    """When it was opened again, each time."""
    open_again: bool


class TicketRules:
    """Finds failed searches in threads of tickets and questions, one thread at a time.

    It remembers which documents earlier threads led to, for questions that repeat them, and how often each
    canned reply named a document.
    """

    def __init__(self, resolver: LinkResolver, mining: TicketMining | None = None) -> None:
        self.mining = mining or TicketMining()
        self.counts: Counter[str] = Counter()
        """What was looked at: threads, accepted answers, those with a link, and so on."""
        self.dropped: Counter[str] = Counter()
        """What was found and left out, by reason."""
        self._resolver = resolver
        self._led_to: dict[str, tuple[str, ...]] = {}
        self._canned: Counter[tuple[str, str]] = Counter()

    def find(self, thread: Thread) -> Found | None:
        """Return what the rules found in a thread, or None."""
        self.counts["threads"] += 1
        looked = _Look(thread, self._resolver)
        hits: list[RuleHit] = []
        evidence: list[_Evidence] = []
        for rule, apply in (
            ("attach", self._attached),
            ("accepted", self._accepted),
            ("ticket-link", self._closed_with_link),
            ("duplicate", self._repeated),
        ):
            if rule in self.mining.rules and (result := apply(looked)) is not None:
                hits.append(result[0])
                evidence += result[1]
        if "no-answer" in self.mining.rules and not hits and (unanswered := self._unanswered(looked)) is not None:
            hits.append(unanswered)
        for hit in hits:
            self.counts[hit.rule] += 1
        if not hits:
            return None
        query = looked.query(self.mining.question)
        if query is None:
            self.dropped["tickets without a message of the asker"] += 1
            return None
        if evidence and self._is_worn(looked, evidence):
            self.dropped[f"tickets answered by a canned reply that counted {self.mining.macro_cap} times before"] += 1
            return None
        gold = tuple(dict.fromkeys(found.document for found in evidence))
        if gold:
            self._led_to[thread.id] = gold
        return self._build(looked, hits, evidence, query)

    def _attached(self, looked: "_Look") -> tuple[RuleHit, list[_Evidence]] | None:
        found = [link for link in looked.attached if link.kind == "structured-attach"]
        self.counts["threads with an attached document"] += bool(found)
        usable = [link for link in found if link.before is not False]
        if not usable:
            return None
        reopened = looked.closing is not None and looked.closing.open_again
        strength = _lower("strong", int(reopened))
        evidence = f"{len(usable)} attached" + ("; open again afterwards" if reopened else "")
        return RuleHit(rule="attach", strength=strength, evidence=evidence + _age(usable)), usable

    def _accepted(self, looked: "_Look") -> tuple[RuleHit, list[_Evidence]] | None:
        line = looked.accepted
        if line is None:
            return None
        message = looked.messages[line]
        self.counts["accepted answers"] += 1
        self.counts["accepted answers with a link"] += bool(message.links)
        usable = [found._replace(kind="accepted-answer") for found in looked.by_line(line) if found.before is not False]
        if not usable:
            return None
        own = looked.role(line) == "asker"
        machine = message.actor in ("bot", "system", "agent")
        note = "; the asker's own answer" if own else "; written by a program" if machine else ""
        strength = _lower("strong", 2 if own or machine else 0)
        return RuleHit(rule="accepted", strength=strength, evidence=f"{len(usable)} linked{note}{_age(usable)}"), usable

    def _closed_with_link(self, looked: "_Look") -> tuple[RuleHit, list[_Evidence]] | None:
        closing = looked.closing
        if closing is None:
            return None
        self.counts["closed threads"] += 1
        replies = [line for line in looked.replies() if looked.is_until(line, closing.change.at)]
        linking = [line for line in replies if any(found.before is not False for found in looked.by_line(line))]
        if not linking:
            return None
        line = linking[-1]
        usable = [found for found in looked.by_line(line) if found.before is not False]
        reasons = []
        down = 0
        if line != replies[-1]:
            down, reasons = 1, [f"{len(replies) - replies.index(line) - 1} replies later than the link"]
        if any(found.before is None for found in usable):
            down = max(down, 1)
        written = looked.messages[line].at
        if closing.open_again or any(at is None or written is None or at > written for at in closing.reopened):
            down, reasons = 2, [*reasons, "reopened after the link"]
        if closing.change.actor in ("bot", "system"):
            down, reasons = 2, [*reasons, "closed by itself"]
        cited = {found.document for found in looked.attached if found.kind == "citation"}
        if cited and not cited & {found.document for found in usable}:
            reasons.append("an assistant had cited other documents")
        evidence = "; ".join([f"{len(usable)} linked before it was closed", *reasons]) + _age(usable)
        return RuleHit(rule="ticket-link", strength=_lower("strong", down), evidence=evidence), usable

    def _repeated(self, looked: "_Look") -> tuple[RuleHit, list[_Evidence]] | None:
        original = looked.thread.duplicate_of
        if original is None:
            return None
        self.counts["duplicates"] += 1
        document = self._resolver.resolve(original)
        if document is not None:
            found = _Evidence(document, -1, "duplicate-of", looked.existed(document))
            if found.before is not False:
                return RuleHit(rule="duplicate", strength="strong", evidence="the question it repeats is known"), [
                    found
                ]
        led_to = self._led_to.get(_thread_id(original), ())
        inherited = [_Evidence(name, -1, "duplicate-of", looked.existed(name)) for name in led_to]
        usable = [found for found in inherited if found.before is not False]
        if not usable:
            self.dropped["duplicates of questions that led to no known document"] += 1
            return None
        evidence = f"the question it repeats led to {len(usable)}{_age(usable)}"
        return RuleHit(rule="duplicate", strength="medium", evidence=evidence), usable

    def _unanswered(self, looked: "_Look") -> RuleHit | None:
        later = looked.later()
        if later is not None:
            evidence = f"answered later: the document was written {later} days after the question"
            return RuleHit(rule="no-answer", strength="medium", evidence=evidence)
        now, opened, thread = self.mining.now, looked.opened, looked.thread
        if now is None or opened is None or thread.accepted is not None or thread.duplicate_of is not None:
            return None
        if looked.attached or any(True for _ in looked.replies()) or thread.parent_missing:
            return None
        if _utc(now) - opened < timedelta(days=self.mining.quiet_days):
            return None
        return RuleHit(rule="no-answer", strength="weak", evidence=f"no reply within {self.mining.quiet_days} days")

    def _is_worn(self, looked: "_Look", evidence: list[_Evidence]) -> bool:
        """Return whether every document was named by a canned reply that has counted often enough."""
        worn = []
        for found in evidence:
            macros = set(looked.thread.macros) if found.line >= 0 else set()
            if not macros and found.line >= 0:
                macros = set(looked.wording(found.line, found.document))
            keys = [(found.document, macro) for macro in macros]
            worn.append(bool(keys) and all(self._canned[key] >= self.mining.macro_cap for key in keys))
            self._canned.update(keys)
        return all(worn)

    def _build(
        self, looked: "_Look", hits: list[RuleHit], evidence: list[_Evidence], query: tuple[int, RawText]
    ) -> Found:
        thread = looked.thread
        resolving = frozenset(found.line for found in evidence if found.line >= 0)
        proof = {(found.document, found.line): found for found in reversed(evidence)}
        every = [proof.get((found.document, found.line), found) for found in looked.links()]
        every += [found for found in evidence if found.line < 0 and found not in every]
        links = tuple(
            DocumentLink(
                document=found.document,
                line=found.line,
                by=looked.role(found.line, resolving) if found.line >= 0 else _by_system(found),
                kind=found.kind,
                created_before=found.before,
            )
            for found in every
        )
        cited = any(found.kind == "citation" for found in looked.attached)
        line, wording = query
        return Found(
            source=thread.source,
            id=thread.id,
            container=thread.container,
            audience=max((thread.audience, *(m.audience for m in looked.messages)), key=_AUDIENCES.index),
            query=wording,
            query_line=line,
            lines=tuple(
                FoundLine(
                    id=message.id,
                    role=looked.role(index, resolving),
                    author=message.author,
                    at=message.at,
                    body=RawText("\n".join((message.text, *message.extras)), message.marks),
                    edited=message.edited,
                )
                for index, message in enumerate(looked.messages)
            ),
            title=RawText(thread.title) if thread.title and line >= 0 else None,
            rules=tuple(hits),
            links=links,
            asker=looked.asker,
            at=looked.opened,
            selected_on=f"{thread.source}-assistant" if cited else None,
            no_answer_hint=ANSWERED_LATER if any(hit.evidence.startswith("answered later") for hit in hits) else None,
            place=looked.messages[0].place,
        )


class _Look:
    """A thread with what the rules ask of it."""

    def __init__(self, thread: Thread, resolver: LinkResolver) -> None:
        self.thread = thread
        self.messages = thread.messages
        self._resolver = resolver
        first = thread.messages[0] if thread.messages else None
        self.asker = thread.asker
        if self.asker is None and first is not None and not thread.parent_missing:
            self.asker = first.author
        times = [_utc(message.at) for message in thread.messages if message.at is not None]
        self.opened = min(times, default=None)
        self.accepted = next((i for i, m in enumerate(thread.messages) if m.id == thread.accepted), None)
        self.closing = _last_closing(thread.changes)
        self.attached = [
            _Evidence(document, -1, link.kind, self.existed(document))
            for link in thread.attached
            if (document := self._document(link.url)) is not None
        ]
        self._linked: dict[int, list[_Evidence]] = {}
        for line, message in enumerate(thread.messages):
            documents = dict.fromkeys(d for link in message.links if (d := self._document(link.url)) is not None)
            if documents:
                self._linked[line] = [_Evidence(d, line, "url-in-text", self.existed(d)) for d in documents]

    def _document(self, url: str) -> str | None:
        document = self._resolver.resolve(url)
        return document if document is not None and self._resolver.is_knowledge(document) else None

    def existed(self, document: str) -> bool | None:
        """Return whether a document was there when the question was asked; None when that is unknown."""
        found = self._resolver.documents.get(document)
        if found is None or found.created is None or self.opened is None:
            return None
        return _utc(found.created) <= self.opened

    def by_line(self, line: int) -> list[_Evidence]:
        """Return the documents that a message links."""
        return self._linked.get(line, [])

    def links(self) -> Iterator[_Evidence]:
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
        return time is None or written is None or _utc(written) <= _utc(time)

    def later(self) -> int | None:
        """Return after how many days the first document was written that somebody else linked, if all came later."""
        replies = set(self.replies())
        linked = [found for found in self.links() if found.line in replies or found.kind == "structured-attach"]
        if not linked or any(found.before is not False for found in linked) or self.opened is None:
            return None
        written = [d.created for f in linked if (d := self._resolver.documents.get(f.document)) and d.created]
        return min((_utc(created) - self.opened).days for created in written) if written else None

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


def _last_closing(changes: tuple[StatusChange, ...]) -> _Closing | None:
    closing: StatusChange | None = None
    reopened: list[datetime | None] = []
    closed = False
    for change in changes:
        if change.closed and not closed:
            closing = change
        elif closed and not change.closed:
            reopened.append(_utc(change.at) if change.at else None)
        closed = change.closed
    return None if closing is None else _Closing(closing, tuple(reopened), not closed)


def _by_system(found: _Evidence) -> RoleInThread:
    return "agent" if found.kind == "citation" else "other"


def _age(found: list[_Evidence]) -> str:
    return "; age of the document unknown" if any(one.before is None for one in found) else ""


def _lower(strength: Strength, steps: int) -> Strength:
    return _LEVELS[max(_LEVELS.index(strength) - steps, 0)]


def _thread_id(original: str) -> str:
    """Return the id that a question has as a thread, from its id or address.

    >>> _thread_id("https://github.com/acme/kb/issues/12"), _thread_id("meta/12")
    ('acme/kb#12', 'meta/12')
    """
    found = _ISSUE.search(original)
    if found is None:
        return original
    return f"{found[1]}#{'d' if found[2] == 'discussions' else ''}{found[3]}"


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
