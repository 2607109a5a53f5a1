"""Threads and documents for the rules, in a few words each."""

from datetime import UTC, datetime, timedelta
from typing import Any

from findback.corpus.corpus import Corpus, corpus_of
from findback.model.document import Document
from findback.model.hits import Span
from findback.model.thread import Link, Mark, Message, Reaction, Thread

START = datetime(2026, 9, 1, 9, tzinfo=UTC)
HOST = "https://docs.example.org/"


def documents(*names: str, created: dict[str, datetime] | None = None) -> Corpus:
    """Return a corpus of documents with these ids."""
    return corpus_of(Document(name, f"All about {name}.", created=(created or {}).get(name)) for name in names)


def said(author: str, text: str, *links: str, minute: int = 0, **more: Any) -> Message:
    """Return a message; `links` are ids of documents, `at` people it names come as `mentions`."""
    mentions = more.pop("mentions", ())
    reactions = tuple(Reaction(name, tuple(who)) for name, who in more.pop("reactions", {}).items())
    actor = more.pop("actor", "bot" if author.startswith("bot") else "human")
    return Message(
        id=more.pop("id", f"{minute}-{author}"),
        author=author,
        actor=actor,
        at=START + timedelta(minutes=minute),
        text=text,
        marks=tuple(Mark(Span(0, 0), "user", name) for name in mentions) + tuple(more.pop("marks", ())),
        links=tuple(Link(HOST + name if "://" not in name else name) for name in links),
        reactions=reactions,
        **more,
    )


def thread(*messages: Message, **more: Any) -> Thread:
    """Return a thread of these messages, a minute apart unless they say otherwise."""
    return Thread(**{"id": "C1:1", "source": "slack", "container": "C1", **more}, messages=messages)
