"""Documents that are like a document, or of its subject; no system under test is asked."""

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

import numpy as np

from findback.model.document import Document
from findback.model.protocols import SILENT, Documents, Progress
from findback.text.languages import guess_language
from findback.text.stems import stem_all
from findback.text.words import words

FREQUENT_SHARE = 0.5
"""Words in more than this share of the documents tell none of them from the others, and cost the most."""
FEWEST_DOCUMENTS = 200
"""Documents from which that is so."""


class Near(NamedTuple):
    """A document and how alike it is."""

    document: str
    similarity: float
    """Cosine of TF-IDF vectors, in (0, 1]."""


class Neighbours:
    """Finds what is like a document by the words they share.

    Words are weighed (1 + ln tf) · ln((N + 1) / (df + ½)) and their vectors scaled to length 1. Only documents
    that share a word with the one asked for are looked at, through an index of words; it is built when first
    needed, in time and memory linear in the texts.
    """

    def __init__(self, corpus: Documents, *, progress: Progress = SILENT) -> None:
        self._documents = sorted(corpus, key=lambda one: one.id)
        self._places = {document.id: place for place, document in enumerate(self._documents)}
        self._progress = progress

    def nearest(self, document_id: str, k: int, *, exclude: Collection[str] = ()) -> tuple[Near, ...]:
        """Return the `k` documents most like a document, the most alike first, equal ones by id.

        Args:
            document_id: The document; it is never among them.
            k: How many; fewer come where fewer share a word with it.
            exclude: Ids to pass over, such as its near-duplicates.

        Raises:
            KeyError: If there is no such document.
        """
        place = self._places[document_id]
        vectors, postings = self._index
        found = vectors[[place]] @ postings
        similarity = found.data
        passed = [place, *(self._places[one] for one in exclude if one in self._places)]
        kept = (similarity > 0) & ~np.isin(found.indices, passed)
        places, similarity = found.indices[kept], similarity[kept]
        if len(places) > k > 0:
            # Everything as alike as the k-th, so that ids decide between equals.
            least = np.partition(similarity, len(similarity) - k)[len(similarity) - k]
            places, similarity = places[similarity >= least], similarity[similarity >= least]
        order = np.lexsort((places, -similarity))[:k]
        return tuple(Near(self._documents[places[at]].id, min(float(similarity[at]), 1.0)) for at in order)

    def same_subject(self, document_id: str, k: int, seed: int, *, exclude: Collection[str] = ()) -> tuple[str, ...]:
        """Return `k` other documents of its subject, drawn with a seed; fewer where there are not so many.

        Documents without a subject count as one.

        Raises:
            KeyError: If there is no such document.
        """
        strata = self._subjects[self._documents[self._places[document_id]].subject]
        key = f"{seed}\0{document_id}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(key, digest_size=8).digest()
        draw = Random(int.from_bytes(digest))  # noqa: S311 (a draw, not a secret)
        passed = {document_id, *exclude}
        # So many that k are left even if all that are passed over are among them.
        wanted = draw.sample(range(len(strata)), min(len(strata), k + len(passed)))
        return tuple(strata[at] for at in wanted if strata[at] not in passed)[:k]

    @cached_property
    def _subjects(self) -> dict[str | None, list[str]]:
        subjects: defaultdict[str | None, list[str]] = defaultdict(list)
        for document in self._documents:
            subjects[document.subject].append(document.id)
        return subjects

    @cached_property
    def _index(self) -> tuple[Any, Any]:
        """Return the documents' vectors as rows, and the same by word."""
        counts = self._count()
        documents, terms = counts.shape
        frequencies = np.bincount(counts.indices, minlength=terms)
        weights = np.log((documents + 1) / (frequencies + 0.5))
        if documents >= FEWEST_DOCUMENTS:
            weights[frequencies > FREQUENT_SHARE * documents] = 0
        counts.data = ((1 + np.log(counts.data)) * weights[counts.indices]).astype(np.float32)
        counts.eliminate_zeros()
        rows = np.repeat(np.arange(documents), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(rows, weights=counts.data.astype(np.float64) ** 2, minlength=documents))
        counts.data = (counts.data / lengths[rows]).astype(np.float32)
        return counts, counts.T.tocsr()

    def _count(self) -> Any:
        """Return how often each document holds each stem, documents as rows."""
        # 0.1 s to import: only where neighbours are asked for.
        from scipy.sparse import csr_array  # noqa: PLC0415

        known: dict[tuple[str | None, str], int] = {}
        ids, times, ends = array("q"), array("d"), array("q", [0])
        self._progress.start("Reading the words of the documents", len(self._documents))
        for document in self._documents:
            language = document.language or guess_language(document.text)
            for word, count in Counter(words(_read(document))).items():
                ids.append(known.setdefault((language, word), len(known)))
                times.append(count)
            ends.append(len(ids))
            self._progress.advance()
        self._progress.finish()
        stems = _number_stems(known)
        places = stems[np.frombuffer(ids, dtype=np.int64)] if ids else np.empty(0, dtype=np.int64)
        counts = csr_array(
            (np.frombuffer(times), places, np.frombuffer(ends, dtype=np.int64)),
            shape=(len(self._documents), int(stems.max(initial=-1)) + 1),
        )
        # Two forms of a word are one stem.
        counts.sum_duplicates()
        return counts


def _read(document: Document) -> str:
    return f"{document.title}\n{document.text}" if document.title else document.text


def _number_stems(known: dict[tuple[str | None, str], int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of each word's stem, by the number of the word."""
    by_language: defaultdict[str | None, list[str]] = defaultdict(list)
    for language, word in known:
        by_language[language].append(word)
    numbers: dict[str, int] = {}
    found = np.empty(len(known), dtype=np.int64)
    for language, listed in by_language.items():
        for word, stemmed in zip(listed, stem_all(listed, language), strict=True):
            found[known[language, word]] = numbers.setdefault(stemmed, len(numbers))
    return found
