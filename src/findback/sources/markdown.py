"""Markdown bodies of messages: unchanged text, with what their markup says."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from urllib.parse import urlsplit

from findback.model.hits import Span
from findback.model.thread import Mark, MarkKind
from findback.sources.marked import MOST_LABEL, MOST_URL, Marked, find_urls, mark_links
from findback.text.wrappers import unwrap_link

_FENCE = re.compile(r" {0,3}(`{3,200}|~{3,200})")
_TICKS = re.compile(r"`+")
_QUOTED_LINE = re.compile(r" {0,3}>")
_MENTION = re.compile(r"(?<![\w/`@.\-])@([A-Za-z0-9][A-Za-z0-9-]{0,38})(/[A-Za-z0-9][\w.-]{0,99})?(?![\w@])")
_COMMENT = "<!--", "-->"


def read_markdown(source: str) -> Marked:
    """Return a Markdown body unchanged, with its links, code, quotes and mentions marked.

    Lines that start with `>` repeat others' words, and comments a template's: marked as quote, their links
    left out. Relative targets of inline links are links too.

    >>> marked = read_markdown("see [the guide](docs/vpn.md), @bo")
    >>> marked.links[0], [mark.kind for mark in marked.marks]
    (Link(url='docs/vpn.md', kind='url-in-text', label='the guide'), ['link', 'user'])
    """
    code, quoted = _code_and_quotes(source)
    closed = sorted(code)
    urls: list[Mark] = []
    labels: dict[int, str] = {}
    for mark, label in _inline_links(source, closed):
        urls.append(mark)
        labels[mark.span.start] = label
    urls = [*urls, *find_urls(source, outside=sorted([*closed, *(mark.span for mark in urls)]))]
    urls.sort(key=lambda mark: mark.span)
    taken = sorted([*closed, *(mark.span for mark in urls)])
    named = list(_mentions(source, taken))
    marks = [*urls, *named, *(Mark(span, "code") for span in code), *(Mark(span, "quote") for span in quoted)]
    return mark_links(source, marks, urls, quoted, labels)


def _code_and_quotes(source: str) -> tuple[list[Span], list[Span]]:
    code: list[Span] = []
    quoted: list[Span] = []
    fence, fenced_from, at = "", 0, 0
    for line in source.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line[opened.end() :].strip():
                code.append(Span(fenced_from, at + len(line)))
                fence = ""
        elif opened:
            fence, fenced_from = opened[1], at
        else:
            if _QUOTED_LINE.match(line):
                _extend(quoted, Span(at, at + len(line)))
            code.extend(_inline_code(line, at))
        at += len(line)
    if fence:
        code.append(Span(fenced_from, len(source)))
    quoted.extend(_comments(source, sorted(code)))
    return code, _merge(quoted)


def _extend(spans: list[Span], span: Span) -> None:
    if spans and spans[-1].end == span.start:
        spans[-1] = Span(spans[-1].start, span.end)
    else:
        spans.append(span)


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _inline_code(line: str, at: int) -> Iterator[Span]:
    runs = list(_TICKS.finditer(line))
    following: dict[int, int] = {}
    partner: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        width = len(runs[index][0])
        partner[index] = following.get(width)
        following[width] = index
    index = 0
    while index < len(runs):
        closing = partner[index]
        if closing is None:
            index += 1
            continue
        yield Span(at + runs[index].start(), at + runs[closing].end())
        index = closing + 1


def _comments(source: str, code: list[Span]) -> Iterator[Span]:
    starts = [span.start for span in code]
    at = source.find(_COMMENT[0])
    while at >= 0:
        before = bisect_right(starts, at) - 1
        if before >= 0 and at < code[before].end:
            at = source.find(_COMMENT[0], code[before].end)
            continue
        end = source.find(_COMMENT[1], at + 4)
        if end < 0:
            return
        yield Span(at, end + 3)
        at = source.find(_COMMENT[0], end + 3)


def _inline_links(source: str, code: list[Span]) -> Iterator[tuple[Mark, str]]:
    starts = [span.start for span in code]
    at = source.find("](")
    last = 0
    while at >= 0:
        before = bisect_right(starts, at) - 1
        if before < 0 or at >= code[before].end:
            opening = source.rfind("[", max(last, at - MOST_LABEL), at)
            target, end = _target(source, at + 2)
            if target and opening >= 0 and not source.startswith("!", opening - 1 if opening else len(source)):
                yield Mark(Span(opening, end), "link", unwrap_link(target)), source[opening + 1 : at]
                last = end
        at = source.find("](", at + 2)


def _target(source: str, start: int) -> tuple[str | None, int]:
    end, depth = start, 0
    stop = min(len(source), start + MOST_URL)
    while end < stop:
        character = source[end]
        if character == "(":
            depth += 1
        elif character == ")":
            if not depth:
                break
            depth -= 1
        elif character in "\n]":
            return None, start
        end += 1
    if end >= stop:
        return None, start
    inside = source[start:end].strip()
    target = inside[1:].partition(">")[0] if inside.startswith("<") else inside.partition(" ")[0]
    if not target or target.startswith("#"):
        return None, start
    try:
        scheme = urlsplit(target).scheme
    except ValueError:
        return None, start
    return (target, end + 1) if scheme in ("", "http", "https") else (None, start)


def _mentions(source: str, taken: list[Span]) -> Iterator[Mark]:
    starts = [span.start for span in taken]
    for match in _MENTION.finditer(source):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= taken[before].end:
            kind: MarkKind = "group" if match[2] else "user"
            yield Mark(Span(*match.span()), kind, match[0][1:])
