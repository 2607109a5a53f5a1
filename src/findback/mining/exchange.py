"""One person's question in a thread: who answered, what was linked, and which message is the question."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from findback.mining.cues import Cue, Cues
from findback.mining.folding import fold_message
from findback.mining.links import LinkResolver
from findback.model.candidate import RoleInThread
from findback.model.thread import LinkKind, Message, Thread
from findback.text.words import words

ACCEPTING = frozenset(
    ("white_check_mark", "heavy_check_mark", "ballot_box_with_check", "100", "pray", "raised_hands", "tada", "heart")
)
"""Reactions by which an asker accepts an answer, without skin tone."""
EMOJI = {
    "✅": "white_check_mark",
    "✔": "heavy_check_mark",
    "☑": "ballot_box_with_check",
    "💯": "100",
    "🙏": "pray",
    "🙌": "raised_hands",
    "❤": "heart",
    "🎉": "tada",
}
"""The same reactions where a source writes them as characters."""
_GROUPS = frozenset(("here", "channel", "everyone", "all"))
_FEWEST_WORDS = 3
"""Words of a reply that may tell somebody something: "done", "me too" and "not yet" do not."""


class Linked(NamedTuple):
    """A document that a message links."""

    line: int
    """Place of the message among the thread's."""
    document: str
    kind: LinkKind


@dataclass(slots=True)
class Exchange:
    """A question and what became of it. Lines are places in `messages`."""

    thread: Thread
    messages: Sequence[Message]
    """Without deleted ones and notices, oldest first."""
    asker: str | None
    query: int
    """Line of the question."""
    linked: list[Linked]
    """Every known document that any message links, etiquette left out."""
    etiquette: frozenset[int]
    """Lines that link a document which is no knowledge."""
    thanks: int | None = None
    """Line by which, or after which, the asker accepted a link; -1 for a reaction."""
    reaction: str | None = None
    answers: list[Linked] = field(default_factory=list)
    """Links by others to what the asker had not linked, after the question; the one that was accepted first."""
    resolver: str | None = None
    language: str | None = None
    """Language of the question, where it is plain and there are cues for it."""
    cues: list[tuple[int, Cue]] = field(default_factory=list)
    """The asker's lines that say they look for something, with the strongest cue of each."""

    def is_asker(self, message: Message) -> bool:
        """Return whether the asker wrote a message."""
        return message.author is not None and message.author == self.asker

    def replies(self) -> Iterator[tuple[int, Message]]:
        """Yield what other people wrote after the question."""
        for line in range(self.query + 1, len(self.messages)):
            message = self.messages[line]
            if message.actor in ("human", "unknown") and not self.is_asker(message):
                yield line, message

    def role_of(self, message: Message) -> RoleInThread:
        """Return the part somebody plays here."""
        if message.actor in ("bot", "system"):
            return "bot"
        if self.is_asker(message):
            return "asker"
        if message.author is not None and message.author == self.resolver:
            return "resolver"
        return "agent" if message.actor == "agent" else "other"


def spoken(thread: Thread) -> list[Message]:
    """Return the messages of a thread that somebody or some program wrote, without deleted ones."""
    return [message for message in thread.messages if not message.deleted and message.actor != "system"]


def find_linked(messages: Sequence[Message], resolver: LinkResolver) -> tuple[list[Linked], frozenset[int]]:
    """Return the known documents that messages link, and the lines that link one which is no knowledge."""
    linked: dict[tuple[int, str], Linked] = {}
    etiquette: set[int] = set()
    for line, message in enumerate(messages):
        for link in message.links:
            document = resolver.resolve(link.url)
            if document is None:
                continue
            if resolver.is_knowledge(document):
                linked.setdefault((line, document), Linked(line, document, link.kind))
            else:
                etiquette.add(line)
    return list(linked.values()), frozenset(etiquette)


def settle_exchange(exchange: Exchange, cues: Cues) -> Exchange:
    """Return a question with its answers, its resolver and whether it was accepted."""
    messages, query = exchange.messages, exchange.query
    own = {found.document for found in exchange.linked if exchange.is_asker(messages[found.line])}
    by_others = [
        found
        for found in exchange.linked
        if found.line > query
        and found.document not in own
        and messages[found.line].actor in ("human", "unknown")
        and messages[found.line].author is not None
        and not exchange.is_asker(messages[found.line])
    ]
    if by_others:
        _find_thanks(exchange, by_others, cues)
        before = [
            found
            for found in by_others
            if exchange.thanks is None or exchange.thanks < 0 or found.line < exchange.thanks
        ]
        last = (before or by_others)[-1]
        # What the accepted message links comes first, then the others from the last to the first.
        same = [found for found in by_others if found.line == last.line]
        exchange.answers = [*same, *(found for found in reversed(by_others) if found.line != last.line)]
        exchange.resolver = messages[last.line].author
    else:
        repliers = Counter(message.author for _, message in exchange.replies() if message.author is not None)
        exchange.resolver = max(repliers, key=lambda author: repliers[author]) if repliers else None
    return exchange


def _find_thanks(exchange: Exchange, by_others: Sequence[Linked], cues: Cues) -> None:
    first = by_others[0].line
    for line in range(len(exchange.messages) - 1, first, -1):
        message = exchange.messages[line]
        if exchange.is_asker(message) and cues.say("thanks", fold_message(message)) is not None:
            exchange.thanks = line
    if exchange.thanks is not None:
        return
    for found in by_others:
        for reaction in exchange.messages[found.line].reactions:
            name = reaction.name.rstrip("\ufe0f").partition("::")[0]
            name = EMOJI.get(name, name)
            if name in ACCEPTING and exchange.asker is not None and exchange.asker in reaction.authors:
                exchange.thanks, exchange.reaction = -1, name
                return


def find_query(messages: Sequence[Message], asker: str | None, cues: Cues, *, upto: int | None = None) -> int | None:
    """Return the line of somebody's question: their first message with words that is not a bare greeting.

    Returns:
        A line, or None where the person wrote nothing but greetings, or is a program.
    """
    greeting = None
    for line, message in enumerate(messages[:upto]):
        if message.author != asker or message.actor not in ("human", "unknown") or not message.text.strip():
            continue
        folded = fold_message(message)
        if cues.say("greeting", folded) is None:
            return line
        greeting = line if greeting is None else greeting
    return greeting


def find_explaining(exchange: Exchange) -> list[int]:
    """Return the lines of others' replies that may tell the asker something: words enough, or a link or code."""
    return [
        line
        for line, message in exchange.replies()
        if line not in exchange.etiquette
        and (message.links or message.extras or len(words(message.text)) >= _FEWEST_WORDS)
    ]


def is_in_jest(exchange: Exchange, cues: Cues) -> bool:
    """Return whether somebody's reply laughs, and the asker laughs back."""
    after = exchange.messages[exchange.query + 1 :]
    own = [line for line, message in enumerate(after) if exchange.is_asker(message)]
    laughed = False
    # Nobody laughs back after the asker's last word, and most askers say nothing more.
    for message in after[: own[-1] + 1] if own else ():
        if laughed != exchange.is_asker(message):
            continue
        if cues.say("laughs", fold_message(message)) is not None:
            if laughed:
                return True
            laughed = True
    return False


def calls_everybody(message: Message) -> bool:
    """Return whether a message calls a whole channel."""
    return any(mark.kind == "group" and mark.value in _GROUPS for mark in message.marks)
