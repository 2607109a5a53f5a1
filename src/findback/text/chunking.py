"""Chunkers: a text to the spans of its passages.

The spans of a chunker cover the text from its first to its last character; an empty text has none.
"""

import re

from findback.errors import UsageError
from findback.model.hits import Span
from findback.text.boundaries import step_back, step_on

_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_BORDERS = (
    re.compile(r"\n[ \t]*\n+"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}[ \t]+|(?<=[。！？｡])[」』）”]{0,3}|\n"),
    re.compile(r"\s"),
)
"""From the best place to cut to the worst: paragraph, sentence or line, word."""


def whole(text: str) -> list[Span]:
    """Return the text as one span.

    >>> whole("abc")
    [Span(start=0, end=3)]
    """
    return [Span(0, len(text))] if text else []


def by_size(text: str, size: int, overlap: int = 0) -> list[Span]:
    """Return spans of at most `size` code points that share about `overlap` with the one before.

    A span ends at a paragraph's end, else a sentence's or line's, else a word's, where one lies in its last
    third; else where the size is reached. Characters made of several code points are never cut, so a span
    is longer than `size` where a single character is.

    Raises:
        UsageError: If `size` is below 1, or `overlap` is negative or more than half of `size`.

    >>> by_size("One two. Three four.", 12)
    [Span(start=0, end=9), Span(start=9, end=20)]
    """
    _check(size, overlap)
    return _cut(text, 0, len(text), size, overlap)


def by_heading(text: str, size: int, overlap: int = 0) -> list[Span]:
    r"""Return one span for each section of a Markdown text; sections over `size` are cut like `by_size`.

    A section begins with an ATX heading (`# …`) outside fenced code; what stands before the first is one too.
    A heading followed by nothing but blank lines is kept with the section after it.

    Raises:
        UsageError: As in `by_size`.

    >>> by_heading("# A\none\n# B\ntwo\n", 100)
    [Span(start=0, end=8), Span(start=8, end=16)]
    """
    _check(size, overlap)
    starts = _find_sections(text)
    spans: list[Span] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        spans += _cut(text, start, end, size, overlap)
    return spans


def _check(size: int, overlap: int) -> None:
    if size < 1:
        raise UsageError(f"a passage cannot hold {size} characters", hint="give a size of 1 or more")
    if overlap < 0 or overlap > size // 2:
        raise UsageError(
            f"passages of {size} characters cannot share {overlap}",
            hint=f"give an overlap between 0 and {size // 2}",
        )


def _cut(text: str, start: int, end: int, size: int, overlap: int) -> list[Span]:
    spans: list[Span] = []
    while start < end:
        if end - start <= size:
            spans.append(Span(start, end))
            break
        # A span must reach beyond the one before, or the overlap would never be left.
        lowest = max(start, spans[-1].end if spans else start)
        stop = min(_find_end(text, start, start + size, lowest), end)
        spans.append(Span(start, stop))
        if stop >= end:
            break
        start = _find_start(text, start, stop, overlap)
    return spans


def _find_end(text: str, start: int, limit: int, lowest: int) -> int:
    """Return where a span that starts at `start`, may reach `limit` and must pass `lowest` best ends."""
    earliest = limit - max((limit - start) // 3, 1)
    for border in _BORDERS:
        last = None
        # One character beyond, so that a border that ends exactly at the limit is seen.
        for match in border.finditer(text, earliest, limit):
            if match.end() > lowest:
                last = match.end()
        if last is not None:
            return step_back(text, last, lowest)
    return step_back(text, limit, lowest)


def _find_start(text: str, start: int, stop: int, overlap: int) -> int:
    """Return where the span after the one from `start` to `stop` begins."""
    if overlap == 0:
        return stop
    earliest = max(stop - overlap, start + 1)
    # From one character before, so that a word that begins there is seen.
    blank = _BORDERS[-1].search(text, earliest - 1, stop)
    place = blank.end() if blank and blank.end() < stop else earliest
    return min(step_on(text, place), stop)


def _find_sections(text: str) -> list[int]:
    starts = [0]
    fence: str | None = None
    empty_since_heading = False
    at = 0
    for line in text.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if opened and fence is None:
            fence = opened[1]
        elif opened and fence is not None and opened[1].startswith(fence) and not line[opened.end() :].strip():
            fence = None
        heading = fence is None and _HEADING.match(line) is not None
        if heading and at > 0 and not empty_since_heading:
            starts.append(at)
        if heading:
            empty_since_heading = True
        elif line.strip():
            empty_since_heading = False
        at += len(line)
    return starts
