"""HTML pages to the text a reader sees, the same under every version of Python."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from findback.text.tags import BLOCKS, Token, decode_entities, read_attributes, read_tokens

_DROPPED = frozenset(
    (
        *("button", "datalist", "dialog", "footer", "iframe", "math", "nav", "noscript", "object", "select", "svg"),
        "template",
    )
)
_BLANKS = re.compile(r"\s+")
_MOST_META = 100


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


def read_html(source: str) -> WebPage:
    r"""Return the text a reader sees, one line a block, and what the head says.

    Headings become Markdown headings, so that passages can follow them; scripts, styles, navigation and
    footers are left out. Where the page marks its main part, only that is kept; so it is of a page of a Confluence
    export, whose head and foot say who wrote it and what space it is in.

    >>> read_html("<title>Refunds</title><nav>Home</nav><h1>Refunds</h1><p>Ask &amp; wait.").text
    '# Refunds\nAsk & wait.'
    """
    whole, main, head = _Writer(), _Writer(), _Head()
    dropped, in_main, wiki = 0, 0, _WikiPage()
    for token in read_tokens(source):
        if token.kind == "raw":
            head.take(token)
            continue
        if token.kind != "text":
            step = -1 if token.kind == "close" else 0 if token.attributes.endswith("/>") else 1
            if token.value in _DROPPED:
                dropped = max(dropped + step, 0)
            elif token.value == "main":
                in_main = max(in_main + step, 0)
            elif token.value == "div":
                wiki.step(token, step)
            head.take(token)
        if dropped == 0:
            whole.take(token)
            if in_main or wiki.inside:
                main.take(token)
    return WebPage(main.text() or whole.text(), wiki.title_of(head.title), head.language, head.url, head.fields)


@dataclass(slots=True)
class _WikiPage:
    """Knows where the content of a page of a Confluence export begins and ends."""

    inside: int = 0
    """How many `<div>` deep."""
    found: bool = False

    def step(self, token: Token, step: int) -> None:
        if self.inside:
            self.inside += step
        elif step > 0 and "wiki-content" in token.attributes and read_attributes(token).get("id") == "main-content":
            self.inside, self.found = step, True

    def title_of(self, title: str | None) -> str | None:
        """Return the page's title without its space's: `IT : Lost badge`."""
        return title.partition(" : ")[2] or title if self.found and title else title


@dataclass(slots=True)
class _Head:
    """Keeps what a page says about itself."""

    title: str | None = None
    language: str | None = None
    url: str | None = None
    fields: dict[str, str] = field(default_factory=dict)

    def take(self, token: Token) -> None:
        name = token.attributes if token.kind == "raw" else token.value
        if token.kind == "raw" and name == "title" and self.title is None:
            self.title = _BLANKS.sub(" ", decode_entities(token.value)).strip() or None
        elif token.kind == "open" and name == "html" and self.language is None:
            self.language = read_attributes(token).get("lang")
        elif token.kind == "open" and name == "link" and self.url is None:
            link = read_attributes(token)
            self.url = link.get("href") if link.get("rel", "").casefold() == "canonical" else None
        elif token.kind == "open" and name == "meta" and len(self.fields) < _MOST_META:
            meta = read_attributes(token)
            if meta.get("name") and meta.get("content"):
                self.fields.setdefault(meta["name"], meta["content"])


@dataclass(slots=True)
class _Writer:
    """Lays tokens out as lines."""

    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    mark: str = ""
    verbatim: int = 0

    def take(self, token: Token) -> None:
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
        elif name in BLOCKS:
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
