"""Rules for tickets and questions: what closed them, what the system attached, what they repeat, what was accepted."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from findback.mining.links import LinkResolver
from findback.mining.ticketview import Evidence, TicketView, in_utc
from findback.model.candidate import DocumentLink, RoleInThread, RuleHit, Strength
from findback.model.found import Found, FoundLine
from findback.model.protocols import RawText
from findback.model.thread import Audience, Thread

TICKET_RULES = ("ticket-link", "attach", "duplicate", "accepted", "no-answer")

ANSWERED_LATER = "a document linked here was written after the question was asked"
"""Hint that nothing answered the question when it was asked."""

_LEVELS: tuple[Strength, ...] = ("weak", "medium", "strong")
_AUDIENCES: tuple[Audience, ...] = ("public", "internal", "private", "direct")
_ISSUE = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})/(issues|discussions)/(\d{1,10})$")


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
        view = TicketView(thread, self._resolver)
        hits: list[RuleHit] = []
        evidence: list[Evidence] = []
        for rule, apply in (
            ("attach", self._attached),
            ("accepted", self._accepted),
            ("ticket-link", self._closed_with_link),
            ("duplicate", self._repeated),
        ):
            if rule in self.mining.rules and (result := apply(view)) is not None:
                hits.append(result[0])
                evidence += result[1]
        if "no-answer" in self.mining.rules and not hits and (unanswered := self._unanswered(view)) is not None:
            hits.append(unanswered)
        for hit in hits:
            self.counts[hit.rule] += 1
        if not hits:
            return None
        query = view.query(self.mining.question)
        if query is None:
            self.dropped["tickets without a message of the asker"] += 1
            return None
        if evidence and self._is_worn(view, evidence):
            self.dropped[f"tickets answered by a canned reply that counted {self.mining.macro_cap} times before"] += 1
            return None
        gold = tuple(dict.fromkeys(found.document for found in evidence))
        if gold:
            self._led_to[thread.id] = gold
        return self._build(view, hits, evidence, query)

    def _attached(self, view: TicketView) -> tuple[RuleHit, list[Evidence]] | None:
        found = [link for link in view.attached if link.kind == "structured-attach"]
        self.counts["threads with an attached document"] += bool(found)
        usable = [link for link in found if link.before is not False]
        if not usable:
            return None
        reopened = view.closing is not None and view.closing.open_again
        strength = _lower("strong", int(reopened))
        evidence = f"{len(usable)} attached" + ("; open again afterwards" if reopened else "")
        return RuleHit(rule="attach", strength=strength, evidence=evidence + _age(usable)), usable

    def _accepted(self, view: TicketView) -> tuple[RuleHit, list[Evidence]] | None:
        line = view.accepted
        if line is None:
            return None
        message = view.messages[line]
        self.counts["accepted answers"] += 1
        self.counts["accepted answers with a link"] += bool(message.links)
        usable = [found._replace(kind="accepted-answer") for found in view.by_line(line) if found.before is not False]
        if not usable:
            return None
        own = view.role(line) == "asker"
        machine = message.actor in ("bot", "system", "agent")
        note = "; the asker's own answer" if own else "; written by a program" if machine else ""
        strength = _lower("strong", 2 if own or machine else 0)
        return RuleHit(rule="accepted", strength=strength, evidence=f"{len(usable)} linked{note}{_age(usable)}"), usable

    def _closed_with_link(self, view: TicketView) -> tuple[RuleHit, list[Evidence]] | None:
        closing = view.closing
        if closing is None:
            return None
        self.counts["closed threads"] += 1
        replies = [line for line in view.replies() if view.is_until(line, closing.change.at)]
        linking = [line for line in replies if any(found.before is not False for found in view.by_line(line))]
        if not linking:
            return None
        line = linking[-1]
        usable = [found for found in view.by_line(line) if found.before is not False]
        reasons = []
        down = 0
        if line != replies[-1]:
            down, reasons = 1, [f"{len(replies) - replies.index(line) - 1} replies later than the link"]
        if any(found.before is None for found in usable):
            down = max(down, 1)
        written = view.messages[line].at
        if closing.open_again or any(at is None or written is None or at > written for at in closing.reopened):
            down, reasons = 2, [*reasons, "reopened after the link"]
        if closing.change.actor in ("bot", "system"):
            down, reasons = 2, [*reasons, "closed by itself"]
        cited = {found.document for found in view.attached if found.kind == "citation"}
        if cited and not cited & {found.document for found in usable}:
            reasons.append("an assistant had cited other documents")
        evidence = "; ".join([f"{len(usable)} linked before it was closed", *reasons]) + _age(usable)
        return RuleHit(rule="ticket-link", strength=_lower("strong", down), evidence=evidence), usable

    def _repeated(self, view: TicketView) -> tuple[RuleHit, list[Evidence]] | None:
        original = view.thread.duplicate_of
        if original is None:
            return None
        self.counts["duplicates"] += 1
        document = self._resolver.resolve(original)
        if document is not None:
            found = Evidence(document, -1, "duplicate-of", view.existed(document))
            if found.before is not False:
                return RuleHit(rule="duplicate", strength="strong", evidence="the question it repeats is known"), [
                    found
                ]
        led_to = self._led_to.get(_thread_id(original), ())
        inherited = [Evidence(name, -1, "duplicate-of", view.existed(name)) for name in led_to]
        usable = [found for found in inherited if found.before is not False]
        if not usable:
            self.dropped["duplicates of questions that led to no known document"] += 1
            return None
        evidence = f"the question it repeats led to {len(usable)}{_age(usable)}"
        return RuleHit(rule="duplicate", strength="medium", evidence=evidence), usable

    def _unanswered(self, view: TicketView) -> RuleHit | None:
        later = view.later()
        if later is not None:
            evidence = f"answered later: the document was written {later} days after the question"
            return RuleHit(rule="no-answer", strength="medium", evidence=evidence)
        now, opened, thread = self.mining.now, view.opened, view.thread
        if now is None or opened is None or thread.accepted is not None or thread.duplicate_of is not None:
            return None
        if view.attached or any(True for _ in view.replies()) or thread.parent_missing:
            return None
        if in_utc(now) - opened < timedelta(days=self.mining.quiet_days):
            return None
        return RuleHit(rule="no-answer", strength="weak", evidence=f"no reply within {self.mining.quiet_days} days")

    def _is_worn(self, view: TicketView, evidence: list[Evidence]) -> bool:
        """Return whether every document was named by a canned reply that has counted often enough."""
        worn = []
        for found in evidence:
            macros = set(view.thread.macros) if found.line >= 0 else set()
            if not macros and found.line >= 0:
                macros = set(view.wording(found.line, found.document))
            keys = [(found.document, macro) for macro in macros]
            worn.append(bool(keys) and all(self._canned[key] >= self.mining.macro_cap for key in keys))
            self._canned.update(keys)
        return all(worn)

    def _build(
        self, view: TicketView, hits: list[RuleHit], evidence: list[Evidence], query: tuple[int, RawText]
    ) -> Found:
        thread = view.thread
        resolving = frozenset(found.line for found in evidence if found.line >= 0)
        proof = {(found.document, found.line): found for found in reversed(evidence)}
        every = [proof.get((found.document, found.line), found) for found in view.links()]
        every += [found for found in evidence if found.line < 0 and found not in every]
        links = tuple(
            DocumentLink(
                document=found.document,
                line=found.line,
                by=view.role(found.line, resolving) if found.line >= 0 else _by_system(found),
                kind=found.kind,
                created_before=found.before,
            )
            for found in every
        )
        cited = any(found.kind == "citation" for found in view.attached)
        line, wording = query
        return Found(
            source=thread.source,
            id=thread.id,
            container=thread.container,
            audience=max((thread.audience, *(m.audience for m in view.messages)), key=_AUDIENCES.index),
            query=wording,
            query_line=line,
            lines=tuple(
                FoundLine(
                    id=message.id,
                    role=view.role(index, resolving),
                    author=message.author,
                    at=message.at,
                    body=RawText("\n".join((message.text, *message.extras)), message.marks),
                    edited=message.edited,
                )
                for index, message in enumerate(view.messages)
            ),
            title=RawText(thread.title) if thread.title and line >= 0 else None,
            rules=tuple(hits),
            links=links,
            asker=view.asker,
            at=view.opened,
            selected_on=f"{thread.source}-assistant" if cited else None,
            no_answer_hint=ANSWERED_LATER if any(hit.evidence.startswith("answered later") for hit in hits) else None,
            place=view.messages[0].place,
        )


def _by_system(found: Evidence) -> RoleInThread:
    return "agent" if found.kind == "citation" else "other"


def _age(found: list[Evidence]) -> str:
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
