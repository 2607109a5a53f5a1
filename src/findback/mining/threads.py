"""Threads to found questions: the rules for chat, and for what else people ask in threads."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from findback.mining.control import ControlSample
from findback.mining.crossposts import CrossPosts
from findback.mining.cues import Cue, Cues
from findback.mining.exchange import (
    Exchange,
    find_linked,
    find_query,
    settle_exchange,
    spoken,
)
from findback.mining.exchangerules import ExchangeRules, ThreadSettings
from findback.mining.folding import fold_message
from findback.mining.links import LinkResolver, linked_message
from findback.model.candidate import DocumentLink, RuleHit
from findback.model.found import Found, FoundLine
from findback.model.protocols import RawText
from findback.model.thread import Message, Thread
from findback.text.languages import guess_language

RULES = ("link-thanks", "link", "duplicate", "help-thread", "cue", "no-answer")
"""Strongest first."""
MOST_LINES = 100
"""Most messages of a thread that a candidate keeps."""
_CONTROL = RuleHit(rule="control", strength="weak", evidence="asked and answered; no rule applies")
_FEW_WORDS = 8
_ADDRESSED_WITHIN = 20


@dataclass(slots=True)
class Tally:
    """What happened to the threads, in numbers."""

    threads: int = 0
    found: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    cues: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    """Threads that gave nothing, by reason."""
    repeated: Counter[str] = field(default_factory=Counter)
    """Messages that were only pointed at from elsewhere, by their id: as often as that."""


class ThreadRules:
    """Applies the rules to one thread after another."""

    def __init__(
        self,
        resolver: LinkResolver,
        cues: Cues,
        settings: ThreadSettings | None = None,
        *,
        control: ControlSample | None = None,
    ) -> None:
        self.resolver = resolver
        self.cues = cues
        self.settings = settings or ThreadSettings()
        self.rules = ExchangeRules(resolver, cues, self.settings)
        self.control = control
        self.tally = Tally(cues=self.rules.counted)
        self._crossposts = CrossPosts()

    def find(self, threads: Iterable[Thread]) -> Iterator[Found]:
        """Yield the questions in threads that search seems to have failed, once all have been read.

        What is answered only under a message that points at a question is found with that question.
        """
        found = [one for thread in threads for one in self.find_in(thread)]
        places = {one.id: place for place, one in enumerate(found)}
        for thread in self._crossposts.join():
            self.tally.threads -= 1
            for one in self.find_in(thread):
                if one.id in places:
                    found[places[one.id]] = one
                else:
                    found.append(one)
        yield from found

    def find_in(self, thread: Thread) -> list[Found]:
        """Return the questions in one thread that search seems to have failed."""
        self.tally.threads += 1
        found = []
        answered = False
        for exchange in self.exchanges(thread):
            answered = answered or bool(exchange.answers)
            hits = self.rules.hits(exchange)
            if hits:
                found.append(self.build(exchange, hits))
                self.tally.rules.update(hit.rule for hit in hits)
            else:
                self.tally.skipped["nothing found"] += 1
                self._offer(exchange)
        self.tally.found += len(found)
        self._crossposts.remember(thread, answered=answered)
        return found

    def _offer(self, exchange: Exchange) -> None:
        """Offer a question that somebody answered, and no rule found, to the control sample."""
        if self.control is None:
            return
        query = exchange.messages[exchange.query]
        if not any(True for _ in exchange.replies()) or not self.rules.read_query(exchange)[0]:
            return
        if self.control.wants(exchange.thread.source, f"{exchange.thread.container}:{query.id}"):
            self.control.add(replace(self.build(exchange, [_CONTROL]), stratum="control"))

    def exchanges(self, thread: Thread) -> Iterator[Exchange]:
        """Yield the questions a thread holds: one, or in messages joined by time as many as people asked."""
        messages = spoken(thread)
        reason = self._refuse(thread, messages)
        if reason is not None:
            self.tally.skipped[reason] += 1
            return
        linked = find_linked(messages, self.resolver)
        gap = thread.kind == "gap"
        meant = {found: self._addressed(messages, found.line) for found in linked[0]} if gap else {}
        for asker in self._askers(messages, meant.values()) if gap else [self._asker(thread, messages)]:
            query = find_query(messages, asker, self.cues) if asker is not None else None
            if query is not None:
                own = [found for found in linked[0] if not gap or asker in (meant[found], messages[found.line].author)]
                exchange = settle_exchange(Exchange(thread, messages, asker, query, own, linked[1]), self.cues)
                language = guess_language(messages[query].text)
                exchange.language = language if language in self.cues.languages else None
                exchange.cues = self._cues(exchange)
                yield exchange
            else:
                self.tally.skipped["no question by a person"] += 1

    def _refuse(self, thread: Thread, messages: Sequence[Message]) -> str | None:
        if not messages:
            return "no messages"
        if thread.parent_missing:
            return "the first message is missing"
        first = messages[0]
        original = next(filter(None, (linked_message(link.url) for link in first.links)), None)
        if (
            original is not None
            and original != f"{thread.container}:{first.id}"
            and len(fold_message(first).split()) <= _FEW_WORDS
        ):
            self.tally.repeated[original] += 1
            if any(messages[one.line].author != first.author for one in find_linked(messages, self.resolver)[0]):
                self._crossposts.hold(original, thread)
            return "only points at another message"
        return None

    def _asker(self, thread: Thread, messages: Sequence[Message]) -> str | None:
        if thread.asker is not None:
            return thread.asker
        if messages[0].actor in ("human", "unknown") and messages[0].author is not None:
            return messages[0].author
        # A program opened it; then somebody who says that they look for something may be asking.
        return next((message.author for message in messages if _is_human(message) and self._seek(message)), None)

    def _askers(self, messages: Sequence[Message], addressed: Iterable[str | None]) -> list[str]:
        """Return who asked in messages joined by time: whom a link was for, and who said they look for something."""
        askers = dict.fromkeys(asker for asker in addressed if asker is not None)
        for message in messages:
            if message.author is not None and _is_human(message) and self._seek(message):
                askers[message.author] = None
        if not askers and messages[0].author is not None and _is_human(messages[0]):
            askers[messages[0].author] = None
        return list(askers)

    def _addressed(self, messages: Sequence[Message], line: int) -> str | None:
        """Return whom a message with a link is for: somebody it names, else who asked something last."""
        by = messages[line].author
        if by is None or not _is_human(messages[line]):
            return None
        before = [
            message
            for message in messages[max(line - _ADDRESSED_WITHIN, 0) : line]
            if _is_human(message) and message.author != by
        ]
        named = {mark.value for mark in messages[line].marks if mark.kind == "user"}
        for message in reversed(before):
            if message.author in named:
                return message.author
        return next((m.author for m in reversed(before) if self.cues.asks(fold_message(m))), None)

    def _seek(self, message: Message) -> list[Cue]:
        found = self.cues.seek(fold_message(message))
        if not found:
            return []
        language = guess_language(message.text)
        return [cue for cue in found if language not in self.cues.languages or cue.language == language]

    def _cues(self, exchange: Exchange) -> list[tuple[int, Cue]]:
        """Return the asker's cues with their lines, in thread order."""
        return [
            (line, cue)
            for line, message in enumerate(exchange.messages)
            if exchange.is_asker(message) and _is_human(message)
            for cue in self._seek(message)[:1]
        ]

    def build(self, exchange: Exchange, hits: Sequence[RuleHit]) -> Found:
        """Return what was found as a record, still raw."""
        thread, messages = exchange.thread, exchange.messages
        query = messages[exchange.query]
        cues = exchange.cues
        kept = _kept_lines(exchange)
        places = {line: place for place, line in enumerate(kept)}
        return Found(
            source=thread.source,
            id=f"{thread.container}:{query.id}",
            container=thread.container,
            audience=thread.audience,
            query=RawText(query.text, query.marks),
            query_line=places[exchange.query],
            cue_line=places[cues[0][0]] if cues else None,
            lines=tuple(_line(exchange, messages[line]) for line in kept),
            title=RawText(thread.title) if thread.title else None,
            rules=tuple(hits),
            links=tuple(self._links(exchange, places)),
            asker=exchange.asker,
            at=query.at,
            language=exchange.language or guess_language(query.text),
            macros=thread.macros,
            no_answer_hint=next((hit.evidence for hit in hits if hit.rule == "no-answer"), None),
            place=query.place,
        )

    def _links(self, exchange: Exchange, places: dict[int, int]) -> Iterator[DocumentLink]:
        at = exchange.messages[exchange.query].at
        answers = set(exchange.answers)
        attached = [(self.resolver.resolve(link.url), link.kind) for link in exchange.thread.attached]
        for document, kind in attached:
            if document is not None and self.resolver.is_knowledge(document):
                yield DocumentLink(
                    document=document, line=-1, by="agent", kind=kind, created_before=self.rules.existed(document, at)
                )
        if exchange.thread.duplicate_of is not None:
            document = self.resolver.resolve(exchange.thread.duplicate_of)
            if document is not None:
                yield DocumentLink(document=document, line=-1, by="other", kind="duplicate-of")
        by_bots: set[str] = set()
        for found in (*exchange.answers, *(found for found in exchange.linked if found not in answers)):
            role = exchange.role_of(exchange.messages[found.line])
            if found.line not in places or (role == "bot" and found.document in by_bots):
                continue
            if role == "bot":
                by_bots.add(found.document)
            yield DocumentLink(
                document=found.document,
                line=places[found.line],
                by=role,
                kind=found.kind,
                created_before=self.rules.existed(found.document, at),
            )


def _is_human(message: Message) -> bool:
    return message.actor in ("human", "unknown")


def _kept_lines(exchange: Exchange) -> list[int]:
    """Return the lines a candidate keeps: all, or in a long thread the first ones and those that matter."""
    count = len(exchange.messages)
    if count <= MOST_LINES:
        return list(range(count))
    matter = {exchange.query, *(line for line, _ in exchange.cues), *(found.line for found in exchange.answers)}
    if exchange.thanks is not None and exchange.thanks >= 0:
        matter.add(exchange.thanks)
    start = min(matter)
    needed = sorted(matter)[:MOST_LINES]
    further = [line for line in range(start, count) if line not in matter]
    return sorted({*needed, *further[: MOST_LINES - len(needed)]})


def _line(exchange: Exchange, message: Message) -> FoundLine:
    return FoundLine(
        id=message.id,
        role=exchange.role_of(message),
        author=message.author,
        at=message.at,
        body=RawText("\n".join((message.text, *message.extras)), message.marks),
        edited=message.edited,
    )
