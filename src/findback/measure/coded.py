"""Texts as integer codes, cut into words once, so that large sets can be measured quickly."""

from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.measure.comparable import Reading, assume_languages, read, read_ascii
from findback.measure.evidence import guess_languages
from findback.measure.rarity import DocumentFrequencies
from findback.measure.wordtable import LONGEST_TEXT, WordTable, cut_batches
from findback.text.stems import stem_all
from findback.text.words import words

Codes = NDArray[np.int32]
_COUNTED = 512
"""Texts whose stems are counted together."""
_READ = 4096
"""Texts whose languages are guessed together."""


class Stems(NamedTuple):
    """The stems of a vocabulary's words in one language."""

    names: Mapping[str, int]
    """Each stem with its number, in rising order."""
    numbers: Codes
    """Number of the stem of each word, by the word's code."""


class Vocabulary(dict[str, int]):
    """Numbers words in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._stems: dict[str | None, tuple[Vocabulary, Codes]] = {}

    def __missing__(self, word: str) -> int:
        """Give a new word the next number."""
        number = self[word] = len(self)
        return number

    def stems(self, language: str | None) -> Stems:
        """Return the stems of all words so far; each word's is found once for each language."""
        names, numbers = self._stems.get(language) or (Vocabulary(), np.empty(0, dtype=np.int32))
        if len(numbers) < len(self):
            new = stem_all(list(islice(self, len(numbers), None)), language)
            numbers = np.append(numbers, np.fromiter(map(names.__getitem__, new), dtype=np.int32, count=len(new)))
            self._stems[language] = names, numbers
        return Stems(names, numbers)


class CodedTexts:
    """Texts as word codes.

    Collections beside each other share a vocabulary; equal words then have equal codes in all of them.

    >>> texts = CodedTexts(["the form", "form the"])
    >>> texts.codes(1).tolist(), texts.word_counts().tolist(), len(texts)
    ([1, 0], [2, 2], 2)
    """

    def __init__(
        self,
        texts: Sequence[str],
        languages: Sequence[str | None] | None = None,
        *,
        beside: "CodedTexts | None" = None,
    ) -> None:
        """Cut texts into words.

        Args:
            texts: Any number.
            languages: One a text, None where unknown; guessed when left out.
            beside: Texts to share a vocabulary with.
        """
        self.vocabulary: Vocabulary = Vocabulary() if beside is None else beside.vocabulary
        self.table: WordTable = WordTable(self.vocabulary.__getitem__) if beside is None else beside.table
        """Finds the codes of the vocabulary's words by their hashes."""
        self.readings: list[Reading] = []
        self._flat = array("i")
        self._starts = array("q", [0])
        known = [None] * len(texts) if languages is None else languages
        if len(known) != len(texts):
            raise ValueError(f"{len(known)} languages for {len(texts)} texts")
        first: list[int | None] = []
        start = 0
        for end in cut_batches([len(text) for text in texts]):
            first += self._add_batch(texts[start:end])
            start = end
        for start in range(0, len(texts), _READ):
            until = start + _READ
            self._read(start, texts[start:until], known[start:until], first[start:until])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _add_batch(self, texts: Sequence[str]) -> Sequence[int | None]:
        """Add texts, most of them at once; say of those how many words to tell the language by."""
        fits = [text.isascii() and len(text) <= LONGEST_TEXT for text in texts]
        coded = self.table.code(list(compress(texts, fits))) if sum(fits) > 1 else None
        if coded is None:
            for text in texts:
                self._append(self._code(text))
            return [None] * len(texts)
        if all(fits):
            self._flat.frombytes(coded.codes.tobytes())
            self._starts.extend((self._starts[-1] + np.cumsum(coded.counts)).tolist())
            return list(map(int, coded.first))
        pieces = iter(np.split(coded.codes, np.cumsum(coded.counts)[:-1]))
        first = iter(coded.first.tolist())
        for text, fit in zip(texts, fits, strict=True):
            self._append(next(pieces) if fit else self._code(text))
        return [next(first) if fit else None for fit in fits]

    def _append(self, codes: Codes) -> None:
        self._flat.frombytes(codes.tobytes())
        self._starts.append(len(self._flat))

    def _code(self, text: str) -> Codes:
        tokens = words(text)
        return np.fromiter(map(self.vocabulary.__getitem__, tokens), dtype=np.int32, count=len(tokens))

    def _read(
        self, at: int, texts: Sequence[str], languages: Sequence[str | None], first: Sequence[int | None]
    ) -> None:
        """Find out how texts from position `at` on read, by the codes of their first words where they are known."""
        counts = np.array([count or 0 for count in first], dtype=np.int64)
        begins = np.array(self._starts[at : at + len(texts)], dtype=np.int64)
        guessed = guess_languages(self.flat()[join_ranges(begins, begins + counts)], counts, self.vocabulary)
        self.readings += [
            read(text, language) if count is None else read_ascii(text, language or guess)
            for text, language, count, guess in zip(texts, languages, first, guessed, strict=True)
        ]

    @cached_property
    def assumed(self) -> list[Reading]:
        """Return how the texts read, with languages filled in as `assume_languages` does."""
        return assume_languages(self.readings)

    def flat(self) -> Codes:
        """Return the codes of all texts behind each other."""
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
        for position, reading in enumerate(self.assumed):
            by_language.setdefault(reading.language, []).append(position)
        for language, positions in by_language.items():
            stems = self.vocabulary.stems(language)
            counts = self._count_in(positions, stems).tolist()
            frequencies.add_counts(
                len(positions),
                {name: count for name, count in zip(stems.names, counts, strict=True) if count},
                language,
            )
        return frequencies

    def _count_in(self, positions: Sequence[int], stems: Stems) -> NDArray[np.int64]:
        """Return how many of the texts hold each stem."""
        flat, starts = self.flat(), self.starts()
        counts = np.zeros(len(stems.names), dtype=np.int64)
        stamp = np.zeros(len(stems.names), dtype=np.int32)
        order = np.arange(int(self.word_counts().max(initial=0)), dtype=np.int32)
        for start in range(0, len(positions), _COUNTED):
            texts = positions[start : start + _COUNTED]
            coded = stems.numbers.take(np.concatenate([flat[starts[text] : starts[text + 1]] for text in texts]))
            once = np.empty(len(coded), dtype=np.bool_)
            at = 0
            for size in (starts[np.add(texts, 1)] - starts[texts]).tolist():
                own, places = coded[at : at + size], order[:size]
                # The last writer of each stem is the only one that finds its own place again: one for each stem.
                stamp[own] = places
                np.equal(stamp.take(own), places, out=once[at : at + size])
                at += size
            counts += np.bincount(coded[once], minlength=len(counts))
        return counts


def join_ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of several ranges behind each other.

    >>> join_ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
