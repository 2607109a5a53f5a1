"""The part of a document that fits a query best, short enough for a report."""

import re

from findback.text.sentences import find_sentences
from findback.text.stems import stem
from findback.text.words import words

LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
MARKS = re.compile(r"[|`*]+|(?<!\S)#{1,6}(?!\S)|(?<!\S)>(?!\S)")
RULE = re.compile(r"[-=:]{2,}")
LONGEST = 280
"""Characters of an extract."""
LOOKED_AT = 50_000
"""Characters of a document that are looked at."""


def extract_matching(text: str, query: str, language: str | None, *, longest: int = LONGEST) -> str:
    """Return the sentence with most of the query's words and what follows it, clipped; the start without any.

    Args:
        text: The document.
        query: What its part is to fit.
        language: The document's, for stems.
        longest: Most characters.
    """
    looked = text[:LOOKED_AT]
    wanted = {stem(word, language) for word in words(query)}
    spans = find_sentences(looked)
    if not spans:
        return looked[:longest].strip()

    def shared(position: int) -> int:
        start, end = spans[position]
        return len(wanted & {stem(word, language) for word in words(looked[start:end])})

    best = max(range(len(spans)), key=lambda position: (shared(position), -position))
    begin = spans[best][0] if shared(best) else 0
    piece = looked[begin : begin + longest]
    clipped = piece if begin + longest >= len(looked) else piece.rsplit(" ", 1)[0] + " …"
    return without_markup(" ".join(clipped.split()))


def without_markup(text: str) -> str:
    """Return a stretch of Markdown as a reader of the page would see it, roughly: links by their label, no marks.

    >>> without_markup("## Setting up | a | b | see [the guide](guide.md) and **mind** `x`")
    'Setting up a b see the guide and mind x'
    """
    plain = LINK.sub(r"\1", text)
    return " ".join(word for word in MARKS.sub(" ", plain).split() if not RULE.fullmatch(word))
