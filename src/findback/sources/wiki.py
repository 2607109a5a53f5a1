"""Jira's older wiki markup: unchanged text, with what its markup says."""

import re
from bisect import bisect_right

from findback.model.hits import Span
from findback.model.thread import Mark
from findback.sources.marked import Marked, find_urls, mark_links
from findback.text.wrappers import unwrap_link

_FENCE = re.compile(r"\{(code|noformat|quote)(?::[^}\n]{0,200})?\}")
_QUOTED_LINE = re.compile(r"^bq\. .*$", re.MULTILINE)
_LINK = re.compile(r"\[(?:([^\]\[|\n]{1,300})\|)?(https?://[^\]\[|\s]{1,2000})(?:\|[^\]\[\n]{0,100})?\]")
_PERSON = re.compile(r"\[~(?:accountid:)?([^\]\s\[]{1,128})\]")


def read_wiki(text: str) -> Marked:
    """Return a body in Jira's wiki markup unchanged, with its links, people, code and quotes marked.

    >>> marked = read_wiki("ask [~bo], see [the guide|https://docs.example.org/vpn]")
    >>> [(mark.kind, mark.value) for mark in marked.marks]
    [('user', 'bo'), ('link', 'https://docs.example.org/vpn')]
    """
    code, quoted = _fences(text)
    quoted += [Span(*match.span()) for match in _QUOTED_LINE.finditer(text) if not _inside(match.start(), code)]
    urls: list[Mark] = []
    labels: dict[int, str] = {}
    for match in _LINK.finditer(text):
        if not _inside(match.start(), code):
            urls.append(Mark(Span(*match.span()), "link", unwrap_link(match[2])))
            if match[1]:
                labels[match.start()] = match[1]
    urls += find_urls(text, outside=sorted([*code, *(mark.span for mark in urls)]))
    urls.sort(key=lambda mark: mark.span)
    people = [
        Mark(Span(*match.span()), "user", match[1])
        for match in _PERSON.finditer(text)
        if not _inside(match.start(), code)
    ]
    marks = [*urls, *people, *(Mark(span, "code") for span in code), *(Mark(span, "quote") for span in quoted)]
    return mark_links(text, marks, urls, sorted(quoted), labels)


def _fences(text: str) -> tuple[list[Span], list[Span]]:
    code: list[Span] = []
    quoted: list[Span] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[1] == opened[1]:
            (quoted if match[1] == "quote" else code).append(Span(opened.start(), match.end()))
            opened = None
    return code, quoted


def _inside(at: int, spans: list[Span]) -> bool:
    before = bisect_right(spans, at, key=lambda span: span.start) - 1
    return before >= 0 and at < spans[before].end
