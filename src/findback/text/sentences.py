"""Sentences of a text, for anchors and for marking."""

import re

from findback.model.hits import Span

# A full stop ends a sentence only before white space that a capital, digit or letter without case follows:
# "e.g. this" goes on.
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]{0,3}(?=\s++[\"'“‘«(\[]{0,3}(?![a-zà-öø-ÿа-я])\S)"
    r"|[。！？｡]+[」』）”]{0,3}"
    r"|\n(?=[ \t]*\n)"
    r"|\n(?=[ \t]*(?:[-*+#>|]|\d{1,3}[.)])[ \t])"
)


def find_sentences(text: str) -> list[Span]:
    r"""Return the sentences of a text in order, without the white space around them.

    Sentences end at Latin or CJK end marks, at blank lines, and before list items and headings.

    >>> text = "It waits, e.g. two seconds. Then it stops!\n\nNext"
    >>> [text[start:end] for start, end in find_sentences(text)]
    ['It waits, e.g. two seconds.', 'Then it stops!', 'Next']
    """
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        _add_trimmed(spans, text, start, match.end())
        start = match.end()
    _add_trimmed(spans, text, start, len(text))
    return spans


def find_sentence_at(text: str, place: int) -> Span | None:
    """Return the sentence that covers a place, or None between sentences."""
    return next((span for span in find_sentences(text) if span.start <= place < span.end), None)


def _add_trimmed(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    last = start + len(piece.rstrip())
    if first < last:
        spans.append(Span(first, last))
