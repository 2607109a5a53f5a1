"""Slack's own markup: what it names, and the text with its entities decoded."""

import re
from collections.abc import Iterator

from findback.model.hits import Span
from findback.model.thread import Link, Mark
from findback.sources.marked import MOST_LABEL, MOST_URL, Marked, drop_quoted, settle_marks

_TOKEN = re.compile(r"<([^<>\n]{1,4000})>|&(amp|lt|gt);")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_ID = re.compile(r"[A-Z0-9]{2,30}")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_QUOTED_LINE = re.compile(r"^>(?:>>(?s:.*)\Z|.*$)", re.MULTILINE)


def read_slack_text(source: str) -> Marked:
    """Return a message's text with `&amp;`, `&lt;` and `&gt;` decoded once, and what its markup says.

    Mentions and links stay as they are written, in angle brackets: `<@U…>`, `<@U…|name>`, `<https://…|label>`.

    >>> marked = read_slack_text("<@U012AB|bo> see <https://docs.example.org/a?b&amp;c|the page> &lt;here&gt;")
    >>> marked.text
    '<@U012AB|bo> see <https://docs.example.org/a?b&c|the page> <here>'
    >>> [mark.value for mark in marked.marks], marked.links[0].label
    (['U012AB', 'https://docs.example.org/a?b&c'], 'the page')
    """
    if not ("<" in source or "&" in source or "`" in source):
        return Marked(source)
    text, marks, links, starts = _decode(source)
    if "`" in text:
        marks += [Mark(Span(*match.span()), "code") for match in _CODE.finditer(text)]
    marked = Marked(text, settle_marks(marks), tuple(links), tuple(starts))
    if ">" not in text:
        return marked
    return drop_quoted(marked, [Span(*match.span()) for match in _QUOTED_LINE.finditer(text)])


def escape_slack_text(text: str) -> str:
    """Return a plain text as Slack would write it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _decode(source: str) -> tuple[str, list[Mark], list[Link], list[int]]:
    pieces: list[str] = []
    marks: list[Mark] = []
    links: list[Link] = []
    starts: list[int] = []
    read = written = 0
    for match in _TOKEN.finditer(source):
        before = source[read : match.start()]
        read = match.end()
        written += len(before)
        inner = match[1]
        token = _ENTITIES[match[2]] if inner is None else f"<{_ENTITY.sub(_entity, inner)}>"
        pieces += (before, token)
        if inner is not None:
            for mark, link in _name(token[1:-1], written, written + len(token)):
                marks.append(mark)
                if link is not None:
                    links.append(link)
                    starts.append(written)
        written += len(token)
    pieces.append(source[read:])
    return "".join(pieces), marks, links, starts


def _name(inner: str, start: int, end: int) -> Iterator[tuple[Mark, Link | None]]:
    """Yield what one token in angle brackets stands for; nothing for words somebody put in brackets."""
    target, _, label = inner.partition("|")
    span = Span(start, end)
    if target.startswith("@") and _ID.fullmatch(target[1:]):
        yield Mark(span, "user", target[1:]), None
    elif target.startswith("#") and _ID.fullmatch(target[1:]):
        yield Mark(span, "channel", target[1:]), None
    elif target.startswith("!subteam^"):
        yield Mark(span, "group", target[9:]), None
    elif target in ("!here", "!channel", "!everyone"):
        yield Mark(span, "group", target[1:]), None
    elif target.startswith("mailto:"):
        yield Mark(span, "mail", target[7:]), None
    elif target.startswith(("http://", "https://")) and len(target) <= MOST_URL:
        yield Mark(span, "link", target), Link(target, label=label[:MOST_LABEL] or None)


def _entity(match: re.Match[str]) -> str:
    return _ENTITIES[match[1]]
