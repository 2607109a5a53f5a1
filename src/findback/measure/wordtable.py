"""Words of many ASCII texts numbered at once, by hash instead of one by one.

A word's hash is a polynomial over its bytes, read off running sums over a whole batch. Words over 100 bytes, for
which such sums can be made to collide on purpose, are left to the plain way; among shorter ones two of a million
words share one of 2^64 hashes with a chance of 1 in 10^7.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.text.languages import SAMPLED
from findback.text.words import space_out

LONGEST_TEXT = 1 << 16
"""Code points of a text that is worth batching."""
_LONGEST_WORD = 100
_BATCH = 1 << 17
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_FIRST_BITS = 16
_PROBES = 24

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]
Numbering = Callable[[str], int]
"""Gives a word its number."""
_Spelling = Callable[[int], str]


class Coded(NamedTuple):
    """Texts as word codes."""

    codes: NDArray[np.int32]
    """All words behind each other."""
    counts: Places
    """How many of them each text has."""
    first: Places
    """How many of them end within the first 400 characters of each text."""


class WordTable:
    """Finds the numbers of words by their hashes, and gives new words the next ones of a vocabulary.

    >>> numbers = {}
    >>> table = WordTable(lambda word: numbers.setdefault(word, len(numbers)))
    >>> coded = table.code(["see the form", "the API"])
    >>> coded.codes.tolist(), coded.counts.tolist(), list(numbers)
    ([0, 1, 2, 1, 3], [3, 2], ['see', 'the', 'form', 'api'])
    """

    def __init__(self, number: Numbering) -> None:
        self._number = number
        self._powers = _list_powers(_BASE)
        self._inverses = _list_powers(_INVERSE)
        self._bits = _FIRST_BITS
        self._used = 0
        self._hashes = np.zeros(1 << self._bits, dtype=np.uint64)
        self._numbers = np.zeros(1 << self._bits, dtype=np.int32)

    def code(self, texts: Sequence[str]) -> Coded | None:
        """Return ASCII texts as word codes, words as in `words`.

        Args:
            texts: At most as many as make 131,072 code points, with one between each two.

        Returns:
            None where a word is too long to be hashed safely.
        """
        spaced = space_out("\n".join(texts))
        read = np.frombuffer(spaced.encode(), dtype=np.uint8)
        inside = np.zeros(len(read) + 2, dtype=np.bool_)
        np.not_equal(read, 32, out=inside[1:-1])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        starts, ends = edges[0::2], edges[1::2]
        sizes = np.array([len(text) + 1 for text in texts])
        ends_of_texts = np.cumsum(sizes)
        until = np.searchsorted(starts, ends_of_texts)
        counts = np.diff(until, prepend=0)
        begins = ends_of_texts - sizes
        first = np.minimum(np.searchsorted(ends, begins + SAMPLED, side="right") - until + counts, counts)
        if len(starts) == 0:
            return Coded(np.empty(0, dtype=np.int32), counts, first)
        if int((ends - starts).max()) > _LONGEST_WORD:
            return None
        sums = np.zeros(len(read) + 1, dtype=np.uint64)
        np.cumsum(read * self._powers[: len(read)], out=sums[1:])
        hashes = _mix((sums[ends] - sums[starts]) * self._inverses[starts])
        numbers, missing = self._find(hashes)
        if len(missing):
            self._learn(hashes, missing, lambda place: spaced[starts[place] : ends[place]])
            numbers[missing] = self._find(hashes[missing])[0]
        return Coded(numbers, counts, first)

    def _find(self, hashes: Hashes) -> tuple[NDArray[np.int32], Places]:
        """Return the numbers of words, and which of the words are not in the table."""
        slot = self._find_slots(hashes)
        numbers = self._numbers.take(slot)
        seeking = np.flatnonzero(self._hashes.take(slot) != hashes)
        lost = []
        for probe in range(1, _PROBES):
            if len(seeking) == 0:
                break
            # An empty slot before it means that the word was never put in.
            before = self._hashes[(slot[seeking] + probe - 1) & (len(self._hashes) - 1)]
            lost.append(seeking[before == 0])
            seeking = seeking[before != 0]
            there = (slot[seeking] + probe) & (len(self._hashes) - 1)
            found = self._hashes[there] == hashes[seeking]
            numbers[seeking[found]] = self._numbers[there[found]]
            seeking = seeking[~found]
        return numbers, np.concatenate([*lost, seeking]) if lost else seeking

    def _learn(self, hashes: Hashes, missing: Places, spell: _Spelling) -> None:
        """Number the missing words in the order in which they first occur."""
        new, first = np.unique(hashes[np.sort(missing)], return_index=True)
        places = np.sort(missing)[first]
        while (self._used + len(new)) * 4 > len(self._hashes):
            self._grow()
        places = np.sort(places)
        numbers = np.array([self._number(spell(place)) for place in places.tolist()], dtype=np.int32)
        self._insert(hashes[places], numbers)
        self._used += len(places)

    def _insert(self, hashes: Hashes, numbers: NDArray[np.int32]) -> None:
        """Put each hash into the first free slot from its own on."""
        slot = self._find_slots(hashes)
        seeking = np.arange(len(hashes))
        while len(seeking):
            here = slot[seeking]
            free = self._hashes[here] == 0
            self._hashes[here[free]] = hashes[seeking[free]]
            # Where several wanted a slot, the last one has it.
            there = self._hashes[here] == hashes[seeking]
            self._numbers[here[there]] = numbers[seeking[there]]
            seeking = seeking[~there]
            slot[seeking] = (slot[seeking] + 1) & (len(self._hashes) - 1)

    def _find_slots(self, hashes: Hashes) -> Places:
        return (hashes >> np.uint64(64 - self._bits)).astype(np.int64)

    def _grow(self) -> None:
        full = np.flatnonzero(self._hashes)
        hashes, numbers = self._hashes[full], self._numbers[full]
        self._bits += 2
        self._hashes = np.zeros(1 << self._bits, dtype=np.uint64)
        self._numbers = np.zeros(1 << self._bits, dtype=np.int32)
        self._insert(hashes, numbers)


def cut_batches(lengths: Sequence[int]) -> list[int]:
    """Return where to cut a sequence of texts into batches the table takes: the end of each.

    >>> cut_batches([100_000, 20_000, 60_000])
    [2, 3]
    """
    cuts, size = [], 0
    for place, length in enumerate(lengths):
        if size and size + length + 1 > _BATCH:
            cuts.append(place)
            size = 0
        size += length + 1
    return [*cuts, len(lengths)] if lengths else []


def _list_powers(base: int) -> Hashes:
    powers = np.full(_BATCH + LONGEST_TEXT, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)


def _mix(hashes: Hashes) -> Hashes:
    """Spread the bits, because the upper ones choose the slot; 0 stands for an empty one and is avoided."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.asarray((mixed ^ (mixed >> np.uint64(32))) | np.uint64(1), dtype=np.uint64)
