"""Where the texts and quotes of golds that changed stand now: every document is looked at once."""

from collections.abc import Sequence
from heapq import heappush, heappushpop
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.model.document import Document
from findback.model.protocols import Progress
from findback.steps.refresh_scope import Scope
from findback.text.reattach import GONE
from findback.text.runs import RUN, Hashes, RunIndex, WordHashes, join_runs
from findback.text.words import words

MOST_PLACES = 10
"""Documents that are kept for each text that is looked for."""


class Place(NamedTuple):
    """A document that holds some of a text that was looked for."""

    share: float
    """Share of the text's runs, in (0, 1]."""
    document: str


class Looked(NamedTuple):
    """What one look through the documents gave."""

    places: tuple[tuple[Place, ...], ...]
    """For each text that was looked for, the fullest first."""
    words: WordHashes
    """Every word that was met, with its number."""


def look_through(documents: Corpus, sought: Sequence[Hashes], scope: Scope, *, progress: Progress) -> Looked:
    """Return for each text the documents that hold a fifth of its runs or more, each document read once."""
    index, hashes = RunIndex(sought), WordHashes()
    found: list[list[Place]] = [[] for _ in sought]
    progress.start("Looking through documents", len(documents))
    for document in documents:
        progress.advance()
        if not scope.holds(document):
            continue
        runs = hashes.hash_runs(document.text)
        for one in index.find_shared(runs):
            if one.share >= GONE:
                _keep(found[one.owner], Place(one.share, document.id))
    progress.finish()
    return Looked(tuple(tuple(sorted(places, reverse=True)) for places in found), hashes)


def weigh(runs: Hashes, document: Document, hashes: WordHashes) -> tuple[float, float]:
    """Return which share of a text's runs a document holds, and which share of its own, repeats counted, they are.

    Repeats count, so that a page made of two nearly equal ones is not taken for one of them.
    """
    numbers = hashes.hash_words(words(document.text))
    own = join_runs(numbers)
    shared = len(np.intersect1d(runs, own, assume_unique=True))
    return shared / max(len(runs), 1), shared / max(len(numbers) - RUN + 1, 1)


def weigh_together(runs: Hashes, documents: Sequence[Document], hashes: WordHashes) -> float:
    """Return which share of a text's runs some documents hold together."""
    own = [hashes.hash_runs(document.text) for document in documents]
    return float(np.isin(runs, np.concatenate([*own, np.empty(0, np.uint64)])).mean()) if len(runs) else 0.0


def _keep(places: list[Place], new: Place) -> None:
    if len(places) < MOST_PLACES:
        heappush(places, new)
    else:
        heappushpop(places, new)
