"""Messages of a mapped export as records."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC

from findback.model.hits import Span
from findback.model.thread import ActorKind, Audience, Link, Mark, Message, Place, Reaction
from findback.sources.chat.directory import Directory
from findback.sources.chat.mapping import MessageMapping
from findback.sources.chat.slack_text import read_slack_text
from findback.sources.faults import Faults
from findback.sources.format import Reading
from findback.sources.markdown import read_markdown
from findback.sources.marked import Marked, read_plain, settle_marks
from findback.sources.markup import read_html
from findback.sources.paths import Row
from findback.sources.searchlog.times import read_time

MOST_CHARACTERS = 1_000_000
"""Longest text of a message that is read."""
_DISCORD = re.compile(r"<(@!?|@&|#)(\d{1,25})>")
_DISCORD_KINDS = {"@": "user", "@!": "user", "@&": "group", "#": "channel"}


class MessageBuilder:
    """Makes messages of rows, and keeps account of what it meets."""

    def __init__(self, mapping: MessageMapping, directory: Directory, reading: Reading, faults: Faults) -> None:
        self.mapping = mapping
        self.directory = directory
        self.reading = reading
        self.faults = faults

    def build(self, row: Row, place: Place, audience: Audience, fallback: str | None = None) -> Message | None:
        """Return a message as a record; None, counted, where it is too long or says nothing."""
        paths = self.mapping.message
        text = row.text(paths["text"]) or ""
        if len(text) > MOST_CHARACTERS:
            self.reading.skipped.add(f"messages longer than {MOST_CHARACTERS:,} characters")
            return None
        if row.flag(paths.get("deleted")):
            self.reading.skipped.add("deleted messages")
            return None
        at = read_time(row.first(paths["at"]))
        author = row.text(paths["author"])
        identity = row.text(paths.get("id")) or (f"{at.timestamp():.3f}-{author}" if at is not None else fallback)
        if identity is None:
            self.faults.at(place, "has neither id nor time")
            return None
        self.directory.learn(author, row)
        marked = _read_markup(text, paths.get("markup", "plain"))
        known = self.directory.people.get(author) if author is not None else None
        program = row.flag(paths.get("bot")) or (known is not None and known.bot)
        actor: ActorKind = "bot" if program else "unknown" if author is None else "human"
        if at is not None:
            stamp = at.replace(tzinfo=UTC)
            self.reading.until = stamp if self.reading.until is None else max(stamp, self.reading.until)
        seen = {link.url for link in marked.links}
        return Message(
            id=identity,
            author=author,
            actor=actor,
            at=at.replace(tzinfo=UTC) if at is not None else None,
            text=marked.text,
            marks=marked.marks,
            links=(*marked.links, *(Link(url) for url in row.texts(paths.get("links")) if url not in seen)),
            extras=(*marked.extras, *row.texts(paths.get("extras"))),
            reactions=tuple(_reactions(row, paths)),
            audience=audience,
            edited=row.flag(paths.get("edited")),
            place=place,
        )


def _read_markup(text: str, markup: str) -> Marked:
    if markup == "slack":
        return read_slack_text(text)
    if markup == "html":
        return read_html(text)
    if markup == "plain":
        return read_plain(text)
    marked = read_markdown(text)
    if markup != "discord" or "<" not in text:
        return marked
    named = [Mark(Span(*match.span()), _DISCORD_KINDS[match[1]], match[2]) for match in _DISCORD.finditer(text)]  # type: ignore[arg-type]
    return marked._replace(marks=settle_marks([*marked.marks, *named]))


def _reactions(row: Row, paths: Mapping[str, str]) -> Iterator[Reaction]:
    given: dict[str, list[str]] = {}
    for value in row.all(paths.get("reactions")):
        if isinstance(value, Mapping):
            inner = Row(value, row.root)
            kind = inner.text(paths.get("reaction"))
            if kind is not None:
                given.setdefault(kind, []).extend(inner.texts(paths.get("reacting")))
    yield from (Reaction(kind, tuple(who)) for kind, who in given.items())
