"""Texts as integer codes, cut into words once, so that large sets can be measured quickly."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from findback.measure.comparable import Reading, assume_languages, read
from findback.measure.rarity import DocumentFrequencies
from findback.measure.wordtable import LONGEST_TEXT, WordTable, cut_batches
from findback.text.stems import stem_all
from findback.text.words import words

Codes = NDArray[np.int32]


class Vocabulary(dict[str, int]):
    """Numbers words in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._stems: dict[str | None, list[str]] = {}

    def __missing__(self, word: str) -> int:
        """Give a new word the next number."""
        number = self[word] = len(self)
        return number

    def stems(self, language: str | None) -> list[str]:
        """Return the stem of every word so far, by its number; found once for each language."""
        known = self._stems.setdefault(language, [])
        if len(known) < len(self):
            known += stem_all(list(islice(self, len(known), None)), language)
        return known


class CodedTexts:
    """Texts as word codes.

    Several collections may share a vocabulary; equal words then have equal codes in all of them.

    >>> texts = CodedTexts(["the form", "form the"])
    >>> texts.codes(1).tolist(), texts.word_counts().tolist(), len(texts)
    ([1, 0], [2, 2], 2)
    """

    def __init__(
        self,
        texts: Iterable[str] = (),
        languages: Iterable[str | None] | None = None,
        *,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Cut texts into words.

        Args:
            texts: Any number, read once.
            languages: One a text, None where unknown; guessed when left out.
            vocabulary: To be shared with other collections.
        """
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self._table = WordTable(self.vocabulary.__getitem__)
        self.readings: list[Reading] = []
        self.lengths: list[int] = []
        """Code points of each text."""
        self._flat = array("i")
        self._starts = array("q", [0])
        listed = list(texts)
        known = [None] * len(listed) if languages is None else list(languages)
        if len(known) != len(listed):
            raise ValueError(f"{len(known)} languages for {len(listed)} texts")
        start = 0
        for end in cut_batches([len(text) for text in listed]):
            self._add_batch(listed[start:end], known[start:end])
            start = end

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, text: str, language: str | None = None) -> int:
        """Add a text and return its position."""
        self._append(self._code(text), text, language)
        return len(self.lengths) - 1

    def _add_batch(self, texts: Sequence[str], languages: Sequence[str | None]) -> None:
        together = [text for text in texts if text.isascii() and len(text) <= LONGEST_TEXT]
        coded = self._table.code(together) if len(together) > 1 else None
        pieces = iter(np.split(coded.codes, np.cumsum(coded.counts)[:-1])) if coded is not None else None
        for text, language in zip(texts, languages, strict=True):
            batched = pieces is not None and text.isascii() and len(text) <= LONGEST_TEXT
            self._append(next(pieces) if batched and pieces is not None else self._code(text), text, language)

    def _code(self, text: str) -> Codes:
        tokens = words(text)
        return np.fromiter(map(self.vocabulary.__getitem__, tokens), dtype=np.int32, count=len(tokens))

    def _append(self, codes: Codes, text: str, language: str | None) -> None:
        self._flat.frombytes(codes.tobytes())
        self._starts.append(len(self._flat))
        self.lengths.append(len(text))
        self.readings.append(read(text, language))

    def flat(self) -> Codes:
        """Return the codes of all texts behind each other; no text can be added while this is held."""
        return np.asarray(self._flat, dtype=np.int32)

    def starts(self) -> NDArray[np.int64]:
        """Return where in `flat` each text starts, and, last, where the last one ends."""
        return np.array(self._starts, dtype=np.int64)

    def codes(self, position: int) -> Codes:
        """Return a copy of the word codes of one text."""
        return np.array(self._flat[self._starts[position] : self._starts[position + 1]], dtype=np.int32)

    def word_counts(self) -> NDArray[np.int64]:
        """Return the number of words of each text."""
        return np.diff(self.starts())

    def count_documents(self) -> DocumentFrequencies:
        """Return the document frequencies of these texts, each in the language it reads as."""
        frequencies = DocumentFrequencies()
        by_language: dict[str | None, list[int]] = {}
        for position, reading in enumerate(assume_languages(self.readings)):
            by_language.setdefault(reading.language, []).append(position)
        for language, positions in by_language.items():
            stems = Vocabulary()
            stem_codes = np.fromiter(
                map(stems.__getitem__, self.vocabulary.stems(language)), dtype=np.int32, count=len(self.vocabulary)
            )
            counts = self._count_in(positions, stem_codes, len(stems))
            present = np.flatnonzero(counts)
            names = list(stems)
            frequencies.add_counts(len(positions), {names[code]: int(counts[code]) for code in present}, language)
        return frequencies

    def _count_in(self, positions: Sequence[int], stem_codes: Codes, size: int) -> NDArray[np.int64]:
        flat, starts = self.flat(), self._starts
        counts = np.zeros(size, dtype=np.int64)
        stamp = np.zeros(size, dtype=np.int32)
        order = np.arange(int(self.word_counts().max(initial=0)), dtype=np.int32)
        for position in positions:
            coded = stem_codes[flat[starts[position] : starts[position + 1]]]
            places = order[: len(coded)]
            # The last writer of each stem is the only one that finds its own place again: one for each stem.
            stamp[coded] = places
            counts[coded[stamp[coded] == places]] += 1
        return counts
