"""HTML pages to the text a reader sees.

The scanner is our own: it looks at every character a bounded number of times whatever the page, and gives
the same text, and so the same digest, under every version of Python.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from findback.text.tags import decode_entities

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
_DROPPED = frozenset(
    [
        "nav",
        "footer",
        "template",
        "noscript",
        "svg",
        "math",
        "iframe",
        "object",
        "select",
        "button",
        "datalist",
        "dialog",
    ]
)
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "noembed", "noframes")
}
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,63})")
_ATTRIBUTES = re.compile(r"""[^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+>""")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:-]{0,63})\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_BLANKS = re.compile(r"\s+")
_MOST_META = 100
_MOST_TAG = 20_000
"""Longest tag; what looks like a longer one is taken as text."""


class WebPage(NamedTuple):
    """What a page holds."""

    text: str
    title: str | None
    language: str | None
    """The `lang` of the page."""
    url: str | None
    """Its canonical address."""
    fields: dict[str, str]
    """Its named `<meta>` values."""


class _Token(NamedTuple):
    kind: str
    """text, raw, open or close."""
    value: str
    attributes: str = ""


def read_html(source: str) -> WebPage:
    r"""Return the text a reader sees, one line a block, and what the head says.

    Headings become Markdown headings, so that passages can follow them; scripts, styles, navigation and
    footers are left out. Where the page marks its main part, only that is kept.

    >>> read_html("<title>Refunds</title><nav>Home</nav><h1>Refunds</h1><p>Ask &amp; wait.").text
    '# Refunds\nAsk & wait.'
    """
    whole, main, head = _Writer(), _Writer(), _Head()
    dropped, in_main = 0, 0
    for token in _tokens(source):
        if token.kind == "raw":
            head.take(token)
            continue
        if token.kind != "text":
            step = 1 if token.kind == "open" else -1
            if token.value in _DROPPED:
                dropped = max(dropped + step, 0)
            elif token.value == "main":
                in_main = max(in_main + step, 0)
            head.take(token)
        if dropped == 0:
            whole.take(token)
            if in_main:
                main.take(token)
    return WebPage(main.text() or whole.text(), head.title, head.language, head.url, head.fields)


@dataclass(slots=True)
class _Head:
    """Keeps what a page says about itself."""

    title: str | None = None
    language: str | None = None
    url: str | None = None
    fields: dict[str, str] = field(default_factory=dict)

    def take(self, token: _Token) -> None:
        name = token.attributes if token.kind == "raw" else token.value
        if token.kind == "raw" and name == "title" and self.title is None:
            self.title = _BLANKS.sub(" ", decode_entities(token.value)).strip() or None
        elif token.kind == "open" and name == "html" and self.language is None:
            self.language = _read_attributes(token).get("lang")
        elif token.kind == "open" and name == "link" and self.url is None:
            link = _read_attributes(token)
            self.url = link.get("href") if link.get("rel", "").casefold() == "canonical" else None
        elif token.kind == "open" and name == "meta" and len(self.fields) < _MOST_META:
            meta = _read_attributes(token)
            if meta.get("name") and meta.get("content"):
                self.fields.setdefault(meta["name"], meta["content"])


@dataclass(slots=True)
class _Writer:
    """Lays tokens out as lines."""

    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    mark: str = ""
    verbatim: int = 0

    def take(self, token: _Token) -> None:
        if token.kind == "text":
            self.words.append(decode_entities(token.value))
            return
        name, opens = token.value, token.kind == "open"
        if name == "br":
            self.words.append("\n" if self.verbatim else "")
            if not self.verbatim:
                self.end_line()
        elif name in ("td", "th"):
            self.words.append(" ")
        elif name in _BLOCKS:
            self.end_line()
            if name == "pre":
                self.verbatim = max(self.verbatim + (1 if opens else -1), 0)
            elif len(name) == 2 and name[0] == "h" and name[1].isdecimal():
                self.mark = "#" * int(name[1]) + " " if opens else ""

    def end_line(self) -> None:
        joined = "".join(self.words)
        self.words.clear()
        line = joined.strip("\n") if self.verbatim else _BLANKS.sub(" ", joined).strip()
        if line.strip():
            self.lines.append(self.mark + line)
            self.mark = ""

    def text(self) -> str:
        self.end_line()
        return "\n".join(self.lines)


def _tokens(source: str) -> Iterator[_Token]:
    at, length = 0, len(source)
    while at < length:
        found = source.find("<", at)
        if found < 0:
            yield _Token("text", source[at:])
            return
        if found > at:
            yield _Token("text", source[at:found])
        if source.startswith("<!--", found):
            end = source.find("-->", found + 4)
            at = length if end < 0 else end + 3
            continue
        if source.startswith(("<!", "<?"), found):
            end = source.find(">", found)
            at = length if end < 0 else end + 1
            continue
        tag = _TAG.match(source, found)
        if tag is None:
            yield _Token("text", "<")
            at = found + 1
            continue
        rest = _ATTRIBUTES.match(source, tag.end(), min(tag.end() + _MOST_TAG, length))
        if rest is None:
            at = min(tag.end() + _MOST_TAG, length)
            yield _Token("text", source[found:at])
            continue
        name, at = tag[2].casefold(), rest.end()
        yield _Token("close" if tag[1] else "open", name, rest[0])
        if not tag[1] and name in _RAW:
            end_tag = _RAW[name].search(source, at)
            stop = end_tag.start() if end_tag else length
            yield _Token("raw", source[at:stop], name)
            at = stop


def _read_attributes(token: _Token) -> dict[str, str]:
    return {
        name.casefold(): decode_entities(value.strip("\"'")) for name, value in _ATTRIBUTE.findall(token.attributes)
    }
