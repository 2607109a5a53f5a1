"""What a question in a thread satisfies: the rules, one method each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from findback.mining.cues import Cues, stronger
from findback.mining.exchange import Exchange, Linked, calls_everybody, find_explaining, is_in_jest
from findback.mining.folding import fold_message
from findback.mining.links import LinkResolver
from findback.model.candidate import RuleHit, Strength
from findback.model.thread import Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSettings:
    """What the rules go by."""

    without: frozenset[str] = frozenset()
    """Rules switched off."""
    days_without_answer: int = 7
    """After how many days nobody is expected to answer any more."""
    until: datetime | None = None
    """When the export ends, UTC; without it nothing is taken for unanswered."""
    every_help_thread: bool = False
    """Whether what asks nothing and reports no trouble counts in a help channel too."""


class ExchangeRules:
    """Says why a question is one that search seems to have failed."""

    def __init__(self, resolver: LinkResolver, cues: Cues, settings: ThreadSettings) -> None:
        self.resolver = resolver
        self.cues = cues
        self.settings = settings
        self.counted: Counter[str] = Counter()
        """Questions in which each cue was found."""

    def hits(self, exchange: Exchange) -> list[RuleHit]:
        """Return the rules that a question satisfies, strongest first."""
        if self._is_banter(exchange):
            return []
        query = exchange.messages[exchange.query]
        asks, news = self.read_query(exchange)
        answers = [found for found in exchange.answers if self.existed(found.document, query.at) is not False]
        hits = [
            *self._link(exchange, answers, news=news),
            *self._duplicate(exchange),
            *self._help(exchange, asks=asks, news=news),
            *self._cue(exchange, asks=asks, news=news),
            *self._no_answer(exchange, asks=asks, news=news),
        ]
        return [hit for hit in hits if hit.rule not in self.settings.without]

    def read_query(self, exchange: Exchange) -> tuple[bool, bool]:
        """Return whether the query asks something or reports trouble, and whether it only tells others something."""
        query = exchange.messages[exchange.query]
        folded = fold_message(query)
        seeks = bool(exchange.cues) and exchange.cues[0][0] == exchange.query
        if seeks or folded.endswith("?"):
            return True, False
        if self.cues.say("announcement", folded, exchange.language) is not None:
            return False, True
        if self.cues.asks(folded, exchange.language):
            return True, False
        own = any(found.line == exchange.query for found in exchange.linked)
        return False, own or calls_everybody(query)

    def _is_banter(self, exchange: Exchange) -> bool:
        """Return whether people only joke: outside help channels, where nobody plainly says what they look for."""
        if exchange.thread.help_channel or not (exchange.answers or exchange.cues):
            return False
        return all(cue.strength == "weak" for _, cue in exchange.cues) and is_in_jest(exchange, self.cues)

    def existed(self, document: str, at: datetime | None) -> bool | None:
        """Return whether a document was there before a question was asked; None where either time is unknown."""
        held = self.resolver.documents.get(document)
        if held is None or held.created is None or at is None:
            return None
        return held.created < at

    def _link(self, exchange: Exchange, answers: Sequence[Linked], *, news: bool) -> Iterator[RuleHit]:
        if news or not answers:
            return
        gap = exchange.thread.kind == "gap"
        if exchange.thanks is None:
            resolved = _is_resolved(exchange.thread)
            strength: Strength = "weak" if gap else "strong" if resolved else "medium"
            evidence = f"linked on line {answers[0].line}{', marked as resolved' if resolved else ''}"
            yield RuleHit(rule="link", strength=strength, evidence=evidence)
            return
        how = f"reaction {exchange.reaction}" if exchange.thanks < 0 else f"thanks on line {exchange.thanks}"
        yield RuleHit(
            rule="link-thanks",
            strength="medium" if gap else "strong",
            evidence=f"linked on line {answers[0].line}, {how}",
        )

    def _duplicate(self, exchange: Exchange) -> Iterator[RuleHit]:
        if exchange.thread.duplicate_of is not None:
            yield RuleHit(rule="duplicate", strength="strong", evidence="closed as a repetition of another question")

    def _help(self, exchange: Exchange, *, asks: bool, news: bool) -> Iterator[RuleHit]:
        if not exchange.thread.help_channel or news or exchange.thread.kind == "gap":
            return
        every = self.settings.every_help_thread
        if not (every or ((asks or self._thanks_later(exchange)) and self._wants_to_know(exchange))):
            return
        replies = [line for line, _ in exchange.replies() if line not in exchange.etiquette]
        if replies and (every or find_explaining(exchange)):
            yield RuleHit(
                rule="help-thread", strength="medium" if asks else "weak", evidence=f"{len(replies)} replies by others"
            )

    def _wants_to_know(self, exchange: Exchange) -> bool:
        """Return whether a question is for knowledge: not for something to be done, nor about a page it links."""
        if exchange.answers or exchange.cues:
            return True
        if any(found.line == exchange.query for found in exchange.linked):
            return False
        return self.cues.say("request", fold_message(exchange.messages[exchange.query])) is None

    def _thanks_later(self, exchange: Exchange) -> bool:
        """Return whether the asker thanks after somebody replied: then it was a question, whatever its words."""
        replied = next((line for line, _ in exchange.replies()), len(exchange.messages))
        return any(
            exchange.is_asker(message) and self.cues.say("thanks", fold_message(message)) is not None
            for message in exchange.messages[replied + 1 :]
        )

    def _cue(self, exchange: Exchange, *, asks: bool, news: bool) -> Iterator[RuleHit]:
        cues = exchange.cues
        if not cues or (news and not asks):
            return
        strength: Strength = "weak"
        for _, cue in cues:
            strength = stronger(strength, cue.strength)
        if strength == "weak" and not find_explaining(exchange):
            return
        self.counted.update({cue.id for _, cue in cues})
        names = ", ".join(dict.fromkeys(f"{cue.id} on line {line}" for line, cue in cues))
        yield RuleHit(rule="cue", strength="weak" if exchange.thread.kind == "gap" else strength, evidence=names[:500])

    def _no_answer(self, exchange: Exchange, *, asks: bool, news: bool) -> Iterator[RuleHit]:
        if news or not (asks and (exchange.thread.help_channel or exchange.cues)):
            return
        if self._says_absent(exchange) is not None:
            yield RuleHit(rule="no-answer", strength="medium", evidence="somebody answered that there is no document")
        elif self._is_unanswered(exchange):
            yield RuleHit(
                rule="no-answer", strength="weak", evidence=f"no answer in {self.settings.days_without_answer} days"
            )
        elif exchange.answers and all(
            self.existed(found.document, exchange.messages[exchange.query].at) is False for found in exchange.answers
        ):
            yield RuleHit(
                rule="no-answer", strength="weak", evidence="the document linked is younger than the question"
            )

    def _says_absent(self, exchange: Exchange) -> int | None:
        if exchange.answers:
            return None
        for line, message in exchange.replies():
            if self.cues.say("absent", fold_message(message)) is not None:
                return line
        return None

    def _is_unanswered(self, exchange: Exchange) -> bool:
        at, until = exchange.messages[exchange.query].at, self.settings.until
        if at is None or until is None or until - at < timedelta(days=self.settings.days_without_answer):
            return False
        if exchange.thread.kind == "gap" or _is_resolved(exchange.thread):
            return False
        return not any(True for _ in exchange.replies()) and not exchange.linked


def _is_resolved(thread: Thread) -> bool:
    """Return whether somebody marked a thread as resolved, and nobody took that back."""
    return bool(thread.changes) and thread.changes[-1].closed
