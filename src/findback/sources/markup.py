"""HTML bodies of messages to text, with what their markup says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urljoin, urlsplit

from findback.model.hits import Span
from findback.model.thread import Link, Mark, MarkKind
from findback.sources.marked import MOST_LABEL, MOST_URL, Marked, find_urls, mark_links, settle_marks
from findback.text.tags import BLOCKS, Token, decode_entities, read_attributes, read_tokens
from findback.text.wrappers import unwrap_link

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_DROPPED = frozenset(
    ("attachment", "datalist", "head", "iframe", "math", "noscript", "object", "select", "svg", "template")
)
_CODE = frozenset(("code", "pre", "tt", "kbd", "samp"))
_OTHERS_WORDS = frozenset(("gmail_quote", "gmail_quote_container", "yahoo_quoted", "moz-cite-prefix", "gmail_attr"))
_REST_IS_OTHERS = frozenset(("divrplyfwdmsg", "appendonsend", "mail-editor-reference-message-container"))


def read_html(source: str, *, base_url: str | None = None, mentions: Mapping[str, str] | None = None) -> Marked:
    r"""Return the text a reader of an HTML body sees, one line a block, with marks and links.

    White space is folded as a browser does outside `<pre>`. Quotes and code are marked; the words of an
    earlier mail that a mail program put below an answer are marked as quote, and their links left out.

    Args:
        source: HTML, entities not decoded.
        base_url: What relative addresses are relative to; without it those that start with a slash are kept
            as they are and others are no links.
        mentions: User ids by the `id` of Teams' `<at>` element.

    >>> read_html('<p>Ask&nbsp;<b>bo</b></p>\n<p>or see <a href="/kb/vpn">the page</a>').text
    'Ask\xa0bo\nor see the page'
    """
    writer = _Writer(base_url=base_url, mentions=mentions or {})
    for token in read_tokens(source):
        writer.take(token)
    return writer.finish()


@dataclass(slots=True)
class _Open:
    """A stretch that has begun: where, once something of it was written."""

    kind: MarkKind
    value: str | None
    start: int | None = None
    depth: int = 1


@dataclass(slots=True)
class _Writer:
    """Lays tokens out as text and remembers the stretches."""

    base_url: str | None
    mentions: Mapping[str, str]
    parts: list[str] = field(default_factory=list)
    length: int = 0
    breaks: int = 0
    space: bool = False
    verbatim: int = 0
    dropped: int = 0
    divisions: int = 0
    others_from: int | None = None
    """How deep in divisions the words of others began; 0 when all the rest is theirs."""
    anchor: _Open | None = None
    code: _Open | None = None
    quote: _Open | None = None
    others: _Open | None = None
    marks: list[Mark] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)

    def take(self, token: Token) -> None:
        name, opens = token.value, token.kind == "open"
        if token.kind == "text":
            if not self.dropped:
                self.write(decode_entities(token.value))
        elif token.kind != "raw":
            if name in _DROPPED and not (opens and token.attributes.endswith("/>")):
                self.dropped = max(self.dropped + (1 if opens else -1), 0)
            if not self.dropped:
                self.take_tag(token, name, opens=opens)

    def take_tag(self, token: Token, name: str, *, opens: bool) -> None:
        if name in BLOCKS:
            self.breaks = max(self.breaks, 1) if self.length else 0
            self.space = False
            self.take_block(token)
        elif name == "br":
            self.breaks += 1 if self.length else 0
            self.space = False
        elif name in ("td", "th"):
            self.space = True
        elif name in ("a", "at"):
            self.take_anchor(token)
        elif name == "img" and opens:
            self.take_image(token)
        if name in _CODE:
            self.code = self.nest(self.code, "code", opens=opens)

    def take_block(self, token: Token) -> None:
        name, opens = token.value, token.kind == "open"
        if name == "pre":
            self.verbatim = max(self.verbatim + (1 if opens else -1), 0)
        if name not in ("blockquote", "div", "aside", "hr", "body", "html"):
            return
        given = read_attributes(token) if opens else {}
        cited = (
            given.get("type", "").casefold() == "cite"
            or "schema.skype.com/reply" in given.get("itemtype", "").casefold()
        )
        classes = set(given.get("class", "").casefold().split())
        if name == "blockquote" and not cited and not (classes & _OTHERS_WORDS):
            self.quote = self.nest(self.quote, "quote", opens=opens)
        if name == "hr" and given.get("id") == "stopSpelling":
            self.begin_others(0)
        elif name in ("blockquote", "div", "aside"):
            self.divisions = max(self.divisions + (1 if opens else -1), 0)
            if not opens and self.others_from is not None and self.divisions < self.others_from:
                self.end_others()
            elif opens and given.get("id", "").casefold().removeprefix("x_") in _REST_IS_OTHERS:
                self.begin_others(0)
            elif opens and (cited or classes & _OTHERS_WORDS or (name == "aside" and "quote" in classes)):
                self.begin_others(self.divisions)

    def begin_others(self, depth: int) -> None:
        if self.others is None:
            self.others, self.others_from = _Open("quote", None), depth

    def end_others(self) -> None:
        self.close(self.others)
        self.others = self.others_from = None

    def nest(self, current: _Open | None, kind: MarkKind, *, opens: bool) -> _Open | None:
        if opens:
            if current is None:
                return _Open(kind, None)
            current.depth += 1
            return current
        if current is None:
            return None
        current.depth -= 1
        if current.depth:
            return current
        self.close(current)
        return None

    def take_anchor(self, token: Token) -> None:
        self.end_anchor()
        if token.kind == "close":
            return
        given = read_attributes(token)
        if token.value == "at":
            self.anchor = _Open("user", self.mentions.get(given.get("id", ""), given.get("id")))
            return
        classes = given.get("class", "").split()
        address = given.get("href", "").strip()
        if "mention" in classes or "user-mention" in classes:
            self.anchor = _Open("user", address.rstrip("/").rpartition("/")[2] or None)
        elif "mention-group" in classes:
            self.anchor = _Open("group", address.rstrip("/").rpartition("/")[2] or None)
        elif address[:7].casefold() == "mailto:":
            self.anchor = _Open("mail", unquote(address[7:].partition("?")[0]))
        else:
            url = self.whole(address)
            self.anchor = _Open("link", url) if url else None

    def whole(self, address: str) -> str | None:
        """Return a whole web address, or a path; None for what leads to no page."""
        if not address or len(address) > MOST_URL or address.startswith("#"):
            return None
        if address.startswith("//"):
            address = "https:" + address
        try:
            scheme = urlsplit(address).scheme
            if scheme in ("http", "https"):
                return unwrap_link(address)
            if not scheme and self.base_url:
                return urljoin(self.base_url, address)
        except ValueError:
            return None
        return address if not scheme and address.startswith("/") else None

    def end_anchor(self) -> None:
        anchor, self.anchor = self.anchor, None
        if anchor is None:
            return
        start = self.length if anchor.start is None else anchor.start
        self.close(anchor)
        if anchor.kind == "link" and anchor.value and self.others is None:
            label = self.since(start)
            self.links.append(Link(anchor.value, label=label[:MOST_LABEL] or None))
            self.starts.append(start)

    def since(self, start: int) -> str:
        pieces: list[str] = []
        left = self.length - start
        for part in reversed(self.parts):
            if left <= 0:
                break
            pieces.append(part[-left:])
            left -= len(part)
        return "".join(reversed(pieces))

    def take_image(self, token: Token) -> None:
        given = read_attributes(token)
        shown = given.get("alt", "").strip()
        if not shown:
            return
        if "emoji" in given.get("class", "").casefold() or given.get("itemtype", "").endswith("/Emoji"):
            self.write(shown)
        else:
            self.extras.append(shown[:MOST_LABEL])

    def write(self, text: str) -> None:
        if not self.verbatim:
            folded = _BLANKS.sub(" ", text)
            if folded.startswith(" "):
                self.space, folded = True, folded[1:]
            trailing = folded.endswith(" ")
            if trailing:
                folded = folded[:-1]
        else:
            folded, trailing = text.replace("\r\n", "\n"), False
            if self.breaks and not self.at_line_start():
                folded = folded.removeprefix("\n")
        if not folded:
            self.space = self.space or trailing
            return
        if self.breaks:
            self.put("\n" * self.breaks)
        elif self.space and self.length:
            self.put(" ")
        self.breaks, self.space = 0, trailing
        for stretch in (self.anchor, self.code, self.quote, self.others):
            if stretch is not None and stretch.start is None:
                stretch.start = self.length
        self.put(folded)

    def at_line_start(self) -> bool:
        return not self.length or self.parts[-1].endswith("\n")

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def close(self, stretch: _Open | None) -> None:
        if stretch is not None and stretch.start is not None and self.length > stretch.start:
            self.marks.append(Mark(Span(stretch.start, self.length), stretch.kind, stretch.value))

    def finish(self) -> Marked:
        self.end_anchor()
        for stretch in (self.code, self.quote, self.others):
            self.close(stretch)
        text = "".join(self.parts)
        settled = settle_marks(self.marks)
        taken = [mark.span for mark in settled if mark.kind != "quote"]
        bare = list(find_urls(text, outside=taken))
        own = mark_links(text, (), bare, [mark.span for mark in self.marks if mark.kind == "quote"])
        pairs = sorted(
            [*zip(self.starts, self.links, strict=True), *zip(own.starts, own.links, strict=True)],
            key=lambda pair: pair[0],
        )
        return Marked(
            text,
            settle_marks([*settled, *bare]) if bare else settled,
            tuple(link for _, link in pairs),
            tuple(start for start, _ in pairs),
            tuple(self.extras),
        )
