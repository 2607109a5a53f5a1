"""A body of a message as text, with the marks and links its markup gave.

Every reading is linear in the length of the body, whatever stands in it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from findback.model.hits import Span
from findback.model.thread import Link, Mark, MarkKind
from findback.text.wrappers import unwrap_link

MOST_LABEL = 500
"""Longest label of a link that is kept."""
MOST_URL = 2_000
"""Longest address that is taken for one."""

_INNER: tuple[tuple[MarkKind, ...], ...] = (("user", "group", "channel", "mail", "link"), ("code",), ("quote",))
"""Which marks win where they overlap: what names somebody, then code, then quotes."""

_URL = re.compile(r"https?://[^\s<>\"`\x00-\x1f\x7f]{1,2000}", re.IGNORECASE)
_LOOSE_END = ".,;:!?'*_~|]}"


class Marked(NamedTuple):
    """A body as text, with what its markup said."""

    text: str
    marks: tuple[Mark, ...] = ()
    """In order, not overlapping."""
    links: tuple[Link, ...] = ()
    """The author's own: what stands in quoted words of others is left out."""
    starts: tuple[int, ...] = ()
    """Where in the text each link stands."""
    extras: tuple[str, ...] = ()
    """Other texts: what images show, names of attached files."""


def settle_marks(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return marks in order and without overlaps; the inner kinds cut the outer ones into pieces.

    >>> settle_marks([Mark(Span(0, 9), "quote"), Mark(Span(2, 4), "user", "u1")])[0]
    Mark(span=Span(start=0, end=2), kind='quote', value=None)
    """
    given = [mark for mark in marks if mark.span.end > mark.span.start]
    settled: list[Mark] = []
    for kinds in _INNER:
        layer = sorted((mark for mark in given if mark.kind in kinds), key=lambda mark: mark.span)
        if layer:
            settled = sorted([*settled, *_around(layer, settled)], key=lambda mark: mark.span)
    return tuple(settled)


def _around(layer: list[Mark], taken: list[Mark]) -> Iterator[Mark]:
    starts = [mark.span.start for mark in taken]
    free_from = 0
    for mark in layer:
        at = max(mark.span.start, free_from)
        following = max(bisect_right(starts, at) - 1, 0)
        while at < mark.span.end:
            while following < len(taken) and taken[following].span.end <= at:
                following += 1
            stop = min(taken[following].span.start, mark.span.end) if following < len(taken) else mark.span.end
            if stop > at:
                yield Mark(Span(at, stop), mark.kind, mark.value)
            at = taken[following].span.end if following < len(taken) else mark.span.end
        free_from = max(free_from, mark.span.end)


def find_urls(text: str, *, outside: Iterable[Span] = ()) -> Iterator[Mark]:
    """Yield a mark for each web address written out in a text.

    Punctuation after it and a bracket that closes around it are not taken for part of it.

    Args:
        text: Any text.
        outside: Stretches that are not looked at, in order.

    >>> [mark.value for mark in find_urls("see (https://docs.example.org/a_(b)), or http://example.org.")]
    ['https://docs.example.org/a_(b)', 'http://example.org']
    """
    closed = list(outside)
    starts = [span.start for span in closed]
    for match in _URL.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        if before >= 0 and match.start() < closed[before].end:
            continue
        url = _trim_url(match[0])
        if "://" in url and not url.endswith("://"):
            yield Mark(Span(match.start(), match.start() + len(url)), "link", unwrap_link(url))


def _trim_url(url: str) -> str:
    end, open_round = len(url), url.count(")") - url.count("(")
    while end:
        last = url[end - 1]
        if last == ")" and open_round > 0:
            open_round -= 1
        elif last not in _LOOSE_END:
            break
        end -= 1
    return url[:end]


def read_plain(text: str, *, quotes: Iterable[Span] = ()) -> Marked:
    """Return a plain text with its web addresses marked.

    Args:
        text: As written; comes back unchanged.
        quotes: Words of others in it, in order: marked, and their links are not the author's.
    """
    quoted = list(quotes)
    urls = list(find_urls(text))
    return mark_links(text, [*urls, *(Mark(span, "quote") for span in quoted)], urls, quoted)


def mark_links(
    text: str, marks: Iterable[Mark], urls: Iterable[Mark], quoted: list[Span], labels: Mapping[int, str] | None = None
) -> Marked:
    """Return a text with its marks, and as links those of the addresses that are not in quoted words.

    Args:
        text: The body.
        marks: Everything that is marked, in any order.
        urls: The marks of addresses, in order.
        quoted: Words of others, in order.
        labels: What a link shows, by where it starts.
    """
    starts = [span.start for span in quoted]
    links: list[Link] = []
    places: list[int] = []
    for mark in urls:
        before = bisect_right(starts, mark.span.start) - 1
        if before >= 0 and mark.span.start < quoted[before].end:
            continue
        if mark.value:
            links.append(Link(mark.value, label=(labels or {}).get(mark.span.start)))
            places.append(mark.span.start)
    return Marked(text, settle_marks(marks), tuple(links), tuple(places))


def drop_quoted(marked: Marked, quotes: Iterable[Span]) -> Marked:
    """Return a body with further stretches marked as words of others, their links left out."""
    quoted = list(quotes)
    if not quoted:
        return marked
    starts = [span.start for span in quoted]
    kept = [
        (link, start)
        for link, start in zip(marked.links, marked.starts, strict=True)
        if (before := bisect_right(starts, start) - 1) < 0 or start >= quoted[before].end
    ]
    return marked._replace(
        marks=settle_marks([*marked.marks, *(Mark(span, "quote") for span in quoted)]),
        links=tuple(link for link, _ in kept),
        starts=tuple(start for _, start in kept),
    )
