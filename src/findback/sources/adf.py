"""Atlassian Document Format to text, with its marks and links."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from findback.model.hits import Span
from findback.model.thread import Link, Mark, MarkKind
from findback.sources.marked import MOST_LABEL, Marked, find_urls, settle_marks
from findback.text.wrappers import unwrap_link

MOST_NODES = 200_000
"""Most nodes of one document that are looked at."""

_BLOCKS = frozenset(
    (
        *("paragraph", "heading", "codeBlock", "blockquote", "rule", "panel", "bulletList", "orderedList", "listItem"),
        *("taskList", "taskItem", "decisionList", "decisionItem", "table", "tableRow", "mediaGroup", "mediaSingle"),
        *("expand", "nestedExpand", "blockCard", "embedCard", "layoutSection", "layoutColumn"),
    )
)
_CARDS = frozenset(("inlineCard", "blockCard", "embedCard"))


def read_adf(document: Mapping[str, Any]) -> Marked:
    """Return the text of a document, one line a block.

    Mentions are marked with the account they name, cards and link marks become links.

    >>> read_adf({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hi"}]}]}).text
    'Hi'
    """
    writer = _Writer()
    waiting: list[tuple[Any, int | None]] = [(document, None)]
    looked_at = 0
    # A stack of its own, so that depth is bounded by memory and not by Python's calls; the second of a pair is
    # where a stretch began that ends when the pair comes up again.
    while waiting and looked_at < MOST_NODES:
        node, began = waiting.pop()
        looked_at += 1
        if not isinstance(node, dict):
            continue
        if began is not None:
            writer.leave(node, began)
            continue
        writer.enter(node)
        waiting.append((node, writer.length))
        content = node.get("content")
        if isinstance(content, list):
            waiting += [(child, None) for child in reversed(content)]
    return writer.finish()


@dataclass(slots=True)
class _Writer:
    parts: list[str] = field(default_factory=list)
    length: int = 0
    broken: bool = False
    marks: list[Mark] = field(default_factory=list)
    links: list[tuple[int, Link]] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)

    def enter(self, node: Mapping[str, Any]) -> None:
        kind, given = node.get("type"), node.get("attrs")
        attributes: Mapping[str, Any] = given if isinstance(given, dict) else {}
        if kind in _BLOCKS:
            self.broken = True
        elif kind == "tableCell" and self.length and not self.broken:
            self.put(" ")
        if kind == "text":
            self.write_text(node)
        elif kind == "hardBreak":
            self.put("\n")
        else:
            self.enter_named(kind, attributes)

    def enter_named(self, kind: object, attributes: Mapping[str, Any]) -> None:
        if kind == "mention":
            self.write_marked(_text(attributes, "text") or "@", "user", _text(attributes, "id"))
        elif kind in ("emoji", "status", "placeholder"):
            self.put(_text(attributes, "text") or _text(attributes, "shortName") or "")
        elif kind == "date":
            self.put(_text(attributes, "timestamp") or "")
        elif kind in _CARDS:
            self.write_card(_text(attributes, "url"))
        elif kind == "media" and (shown := _text(attributes, "alt")):
            self.extras.append(shown[:MOST_LABEL])
        elif kind in ("expand", "nestedExpand") and (title := _text(attributes, "title")):
            self.put(title)
            self.broken = True

    def leave(self, node: Mapping[str, Any], began: int) -> None:
        kind = node.get("type")
        if kind in _BLOCKS:
            self.broken = True
        if kind in ("codeBlock", "blockquote") and self.length > began:
            start = began + (1 if began and self.at_break(began) else 0)
            self.marks.append(Mark(Span(start, self.length), "code" if kind == "codeBlock" else "quote"))

    def at_break(self, began: int) -> bool:
        """Return whether the line feed that ends the block before stands at this place."""
        left = self.length
        for part in reversed(self.parts):
            left -= len(part)
            if left <= began:
                return part[began - left : began - left + 1] == "\n"
        return False

    def write_text(self, node: Mapping[str, Any]) -> None:
        text = node.get("text")
        if not isinstance(text, str) or not text:
            return
        start = self.put(text)
        span = Span(start, self.length)
        given = node.get("marks")
        for mark in given if isinstance(given, list) else ():
            if not isinstance(mark, dict):
                continue
            attributes = mark.get("attrs")
            address = _text(attributes, "href") if isinstance(attributes, dict) else None
            if mark.get("type") == "code":
                self.marks.append(Mark(span, "code"))
            elif mark.get("type") == "link" and address:
                self.take_address(address, span, text)

    def take_address(self, address: str, span: Span, label: str | None) -> None:
        if address[:7].casefold() == "mailto:":
            self.marks.append(Mark(span, "mail", address[7:].partition("?")[0]))
        elif address.startswith("/") or address[:8].casefold().startswith(("http://", "https://")):
            url = unwrap_link(address)
            self.marks.append(Mark(span, "link", url))
            self.links.append((span.start, Link(url, label=label[:MOST_LABEL] if label else None)))

    def write_card(self, address: str | None) -> None:
        if address:
            start = self.put(address)
            self.take_address(address, Span(start, self.length), None)

    def write_marked(self, text: str, kind: MarkKind, value: str | None) -> None:
        start = self.put(text)
        self.marks.append(Mark(Span(start, self.length), kind, value))

    def put(self, text: str) -> int:
        """Write a text and return where it starts."""
        if self.broken and self.length and text:
            self.parts.append("\n")
            self.length += 1
        if text:
            self.broken = False
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        return start

    def finish(self) -> Marked:
        text = "".join(self.parts)
        settled = settle_marks(self.marks)
        bare = list(find_urls(text, outside=[mark.span for mark in settled if mark.kind != "quote"]))
        found = [(mark.span.start, Link(mark.value)) for mark in bare if mark.value]
        links = sorted([*self.links, *found], key=lambda pair: pair[0])
        return Marked(
            text,
            settle_marks([*settled, *bare]),
            tuple(link for _, link in links),
            tuple(start for start, _ in links),
            tuple(self.extras),
        )


def _text(attributes: Mapping[str, Any], name: str) -> str | None:
    value = attributes.get(name)
    return value if isinstance(value, str) and value else None
