"""An anchor in a text that may have changed: where it stands now, told by the runs of words they share."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from findback.model.hits import Span
from findback.text.words import Word, locate_words, words

RUN = 3
"""Words in a run; a shorter anchor is one run."""
HELD = 0.6
"""Share of an anchor's runs from which it counts as standing there."""
GONE = 0.2
"""Share below which nothing of it is left."""
PIECE = 2
"""Fewest runs that make a piece of a split anchor."""
MOST_PIECES = 8
"""Places an anchor may be torn into."""
SLACK = 6
"""Words that an edit may put into an anchor, besides as many as it has."""

Fit = Literal["exact", "edited", "split", "weak", "gone"]
HOLDS: frozenset[Fit] = frozenset({"exact", "edited", "split"})
"""The ways in which an anchor is attached."""


class Attached(NamedTuple):
    """How a text holds an anchor."""

    fit: Fit
    """exact: word for word, case and punctuation aside. edited: most of its runs, in one place. split: most of its
    runs, in several. weak: some. gone: hardly any."""
    share: float
    """Share of the anchor's distinct runs that the text holds, in [0, 1]."""
    spans: tuple[Span, ...] = ()
    """Where, the fullest place first; one place save for split, none for gone."""

    @property
    def holds(self) -> bool:
        """Return whether the anchor is attached."""
        return self.fit in HOLDS


_NOWHERE = Attached("gone", 0.0)
_Run = tuple[str, ...]


class _Hit(NamedTuple):
    """A run of the anchor in the text."""

    place: int
    run: _Run


class _Piece(NamedTuple):
    """A stretch of the text that holds some of the anchor."""

    first: int
    """Number of its first hit."""
    last: int
    fresh: int
    """Distinct runs that no fuller piece holds."""


def attach_anchor(anchor: str, text: str) -> Attached:
    r"""Return how a text holds an anchor, by the containment of its runs of three words.

    Work grows with anchor and text, not with their product. An anchor without words is held by no text.

    >>> attach_anchor("Retries stop after five tries.", "Note: retries stop after five\ntries, then wait.").fit
    'exact'
    >>> attach_anchor("Retries stop after five tries.", "The lanes open at dawn.").fit
    'gone'

    Source:
        Containment as in Broder, "On the resemblance and containment of documents" (1997), over words.
    """
    wanted = words(anchor)
    located = locate_words(text) if wanted else []
    if not located:
        return _NOWHERE
    tokens = [one.word for one in located]
    start = _find_run(wanted, tokens)
    if start is not None:
        return Attached("exact", 1.0, (_span(located, start, start + len(wanted)),))
    size = min(RUN, len(wanted))
    runs = {tuple(wanted[at : at + size]) for at in range(len(wanted) - size + 1)}
    passing = enumerate(zip(*(tokens[by:] for by in range(size)), strict=False))
    hits = [_Hit(at, run) for at, run in passing if run in runs]
    share = len({hit.run for hit in hits}) / len(runs)
    if share < GONE:
        return Attached("gone", share)
    pieces = _gather(hits, reach=2 * len(wanted) + SLACK - size)
    spans = tuple(_span(located, hits[one.first].place, hits[one.last].place + size) for one in pieces)
    if pieces[0].fresh >= HELD * len(runs):
        return Attached("edited", share, spans[:1])
    whole = [at for at, one in enumerate(pieces) if one.fresh >= PIECE]
    if sum(pieces[at].fresh for at in whole) >= HELD * len(runs):
        return Attached("split", share, tuple(spans[at] for at in whole))
    return Attached("weak", share, spans[:1])


def _find_run(wanted: Sequence[str], tokens: Sequence[str]) -> int | None:
    """Return where some words follow each other in others; None where they do not."""
    text = f" {' '.join(tokens)} "
    found = text.find(f" {' '.join(wanted)} ")
    return None if found < 0 else text.count(" ", 0, found)


def _span(located: Sequence[Word], first: int, end: int) -> Span:
    return Span(located[first].start, located[end - 1].end)


def _gather(hits: Sequence[_Hit], *, reach: int) -> list[_Piece]:
    """Return the stretches that hold most runs not yet held, the fullest first.

    Args:
        hits: In the order of places.
        reach: Most words from the first hit of a stretch to its last.
    """
    held: set[_Run] = set()
    pieces: list[_Piece] = []
    while len(pieces) < MOST_PIECES:
        best = _find_fullest([hit for hit in enumerate(hits) if hit[1].run not in held], reach)
        if best is None:
            break
        pieces.append(best)
        held.update(hit.run for hit in hits[best.first : best.last + 1])
    return pieces


def _find_fullest(fresh: Sequence[tuple[int, _Hit]], reach: int) -> _Piece | None:
    """Return the stretch with most distinct runs; the shortest, then the first of equals."""
    counts: Counter[_Run] = Counter()
    best: tuple[int, int] | None = None
    found: _Piece | None = None
    first = 0
    for number, hit in fresh:
        counts[hit.run] += 1
        # What stands again further on, or too far back, leaves the stretch at its start.
        while hit.place - fresh[first][1].place > reach or counts[fresh[first][1].run] > 1:
            gone = fresh[first][1].run
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        rank = (len(counts), fresh[first][1].place - hit.place)
        if best is None or rank > best:
            best, found = rank, _Piece(fresh[first][0], number, len(counts))
    return found
