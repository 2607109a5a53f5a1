"""Which document a gold text comes from: exactly, or by the runs of words they share.

The runs of the gold texts make an inverted index; each document is then looked at once. So the work grows
with texts plus documents, never with their product.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from findback.model.document import Document
from findback.model.hits import Span
from findback.text.words import words

RUN = 5
"""Words in a run; a shorter text is one run."""
CONTAINMENT = 0.8
"""Least share of a text's runs that its document must hold."""
FEWEST_WORDS = 3
"""A shorter text is in too many places to say where it is from."""
MOST_DOCUMENTS = 10
"""A text that as many documents or more hold is from no one of them."""

_SHARED_RUN = 200
_FLEXIBLE_WORDS = 2_000

_Run = tuple[str, ...]


class TextMatch(NamedTuple):
    """A document that holds a gold text."""

    document: str
    way: Literal["text", "shingles"]
    """Word for word (save white space and case), or by runs of words."""
    share: float
    """Share of the text's runs that the document holds, in (0, 1]."""
    quote: str | None
    """The text as the document has it, where it can be pointed at."""


class Place(NamedTuple):
    """What was found for one text."""

    matches: tuple[TextMatch, ...]
    reason: str | None
    """Why there is none, or None."""


def place_texts(
    texts: Sequence[str], documents: Iterable[Document], *, containment: float = CONTAINMENT
) -> dict[str, Place]:
    """Return for each text the documents it is from: all that hold it exactly, else the best by shared runs.

    Args:
        texts: Gold texts; equal ones are looked for once.
        documents: The corpus; read once.
        containment: Least share of a text's runs, in (0, 1].
    """
    distinct = list(dict.fromkeys(texts))
    totals, index = _index_runs(distinct)
    sizes = sorted({len(run) for run in index})
    best: dict[int, list[TextMatch]] = defaultdict(list)
    exact_counts: dict[int, int] = defaultdict(int)
    for document in documents if index else ():
        for number, held in _count_runs(document.text, index, sizes).items():
            share = held / totals[number]
            if share < containment:
                continue
            span = find_quote(document.text, distinct[number])
            quote = document.text[span.start : span.end] if span else None
            match = TextMatch(document.id, "text" if span else "shingles", share, quote)
            exact_counts[number] += span is not None
            _keep(best[number], match)
    return {text: _decide(number, totals, best, exact_counts) for number, text in enumerate(distinct)}


def find_quote(text: str, quote: str) -> Span | None:
    r"""Return where a document holds a quote, white space and case aside; None where it does not.

    >>> find_quote("Retries cap\nat 5 minutes.", "retries cap at 5")
    Span(start=0, end=16)
    """
    wanted = quote.strip()
    if not wanted:
        return None
    start = text.find(wanted)
    if start >= 0:
        return Span(start, start + len(wanted))
    pieces = wanted.split()
    if len(pieces) > _FLEXIBLE_WORDS or " ".join(pieces).casefold() not in " ".join(text.split()).casefold():
        return None
    found = re.search(r"\s+".join(map(re.escape, pieces)), text, re.IGNORECASE)
    return Span(*found.span()) if found else None


def _index_runs(texts: Sequence[str]) -> tuple[list[int], dict[_Run, list[int]]]:
    totals: list[int] = []
    index: dict[_Run, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        runs = _runs(words(text))
        totals.append(len(runs))
        for run in runs:
            index[run].append(number)
    # Runs that very many texts share (boilerplate) would make the work grow with their product.
    for run in [run for run, numbers in index.items() if len(numbers) > _SHARED_RUN]:
        for number in index.pop(run):
            totals[number] -= 1
    return totals, dict(index)


def _runs(tokens: Sequence[str]) -> set[_Run]:
    if len(tokens) < FEWEST_WORDS:
        return set()
    size = min(RUN, len(tokens))
    return {tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)}


def _count_runs(text: str, index: dict[_Run, list[int]], sizes: Sequence[int]) -> dict[int, int]:
    tokens = words(text)
    counts: dict[int, int] = defaultdict(int)
    seen: set[_Run] = set()
    for size in sizes:
        for run in zip(*(tokens[offset:] for offset in range(size)), strict=False):
            if run in index and run not in seen:
                seen.add(run)
                for number in index[run]:
                    counts[number] += 1
    return counts


def _keep(matches: list[TextMatch], new: TextMatch) -> None:
    """Keep the exact matches, or else those with the highest share."""
    if matches:
        rank_old = (matches[0].way == "text", matches[0].share if matches[0].way != "text" else 1.0)
        rank_new = (new.way == "text", new.share if new.way != "text" else 1.0)
        if rank_new < rank_old:
            return
        if rank_new > rank_old:
            matches.clear()
    if len(matches) < MOST_DOCUMENTS:
        matches.append(new)


def _decide(
    number: int, totals: Sequence[int], best: dict[int, list[TextMatch]], exact_counts: dict[int, int]
) -> Place:
    matches = best.get(number, [])
    if len(matches) >= MOST_DOCUMENTS:
        count = max(exact_counts[number], len(matches))
        return Place((), f"{count} documents or more hold it")
    if matches:
        return Place(tuple(matches), None)
    if totals[number] <= 0:
        return Place((), "it is too short, or shared by too many questions, to say where it is from")
    return Place((), f"no document holds {CONTAINMENT:.0%} of it")
