"""Asking the resolver: a link for one item with one question; findback makes it, a person sends it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from findback.errors import UsageError
from findback.model.candidate import RedactedText
from findback.model.reviewer import Reviewer
from findback.steps.review import visible
from findback.steps.reviewdesk import Desk
from findback.steps.reviewitem import Segment, TextView, mask_text
from findback.workbench.asks import Ask, AskAnswer

LONGEST_DAYS = 30
MOST_DOCUMENTS = 20


class AskView(NamedTuple):
    """What a resolver sees."""

    query: TextView
    """Masked: what redaction suggests and what any reviewer redacts."""
    title: TextView | None
    seen_on: str | None
    until: datetime


def make_ask(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime, days: int = 7) -> str:
    """Return the token of a new link; it is shown this once, and the lead sends it.

    Raises:
        RefusedError: If they are no lead.
        MissingError: If there is no such candidate for them.
        UsageError: If the time is no time, or it was asked too often.
    """
    reviewer.require("lead")
    visible(desk, reviewer, key)
    if not 0 < days <= LONGEST_DAYS:
        raise UsageError(f"a link is good for 1 to {LONGEST_DAYS} days")
    return desk.bench.add_ask(key, reviewer=reviewer.subject, now=now, until=now + timedelta(days=days))


def open_ask(desk: Desk, token: str, *, now: datetime) -> AskView:
    """Return what the link's holder is asked about: the question alone, masked; not the thread, not what others said.

    Raises:
        MissingError: If the link is not valid, used, or over.
    """
    ask = desk.bench.ask(token, now=now)
    stored = desk.bench.get(ask.candidate)
    candidate = stored.candidate
    redacted = desk.bench.redactions_of([stored])[candidate.key]

    def masked(place: str, text: RedactedText) -> TextView:
        shown = mask_text(text, (one for one in redacted if one.place == place))
        return TextView(place, 0, (Segment(shown, "plain", 0, len(shown)),), 0, len(shown))

    title = None if candidate.title is None else masked("title", candidate.title)
    return AskView(masked("query", candidate.query), title, candidate.seen_on, ask.until)


def answer_ask(desk: Desk, token: str, documents: Sequence[str], note: str | None, *, now: datetime) -> None:
    """Keep which documents helped, or that none did; a link is good for one answer.

    Args:
        desk: Where the candidate is.
        token: The link's.
        documents: Ids, paths or addresses; none where nothing helped.
        note: In the resolver's words; redacted before it is kept.
        now: When it happens.

    Raises:
        MissingError: If the link is not valid, used, or over.
        UsageError: If a document is not in the corpus.
    """
    desk.bench.ask(token, now=now)
    if len(documents) > MOST_DOCUMENTS:
        raise UsageError(f"at most {MOST_DOCUMENTS} documents")
    corpus = desk.documents
    named = [one.strip() for one in documents if one.strip()]
    found = [corpus.resolve(one[:4_000]) if corpus is not None else one[:4_000] for one in named]
    if None in found:
        raise UsageError("one of these is no document of the corpus", hint="paste its address, or leave it out")
    said = None if note is None or not note.strip() else desk.redactor.redact(note.strip()[:2_000]).text[:2_000]
    known = tuple(dict.fromkeys(one for one in found if one is not None))
    desk.bench.answer_ask(token, AskAnswer(documents=known, note=said), now=now)


def answers_of(desk: Desk, reviewer: Reviewer, key: str) -> list[Ask]:
    """Return the links made for a candidate and what came back; who answered is not kept.

    Raises:
        MissingError: If there is no such candidate for them.
    """
    visible(desk, reviewer, key)
    return desk.bench.asks_of(key)
