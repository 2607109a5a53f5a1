"""Numbers for ids that stand in a text, without making a string of each."""

import numpy as np
from numpy.typing import NDArray

from findback.evalset.trec_tokens import WORD, keep_first, take_words
from findback.model.names import Names

Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]

LONGEST = 256
"""Bytes an id may have to be numbered here; longer ones are left to the slow reader."""
_FULL = 3
"""The table has at least this many places per id."""
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class CollisionError(Exception):
    """Two ids have the same 64-bit digest: one file in millions of millions, to be read another way."""


class IdCoder:
    """Gives the ids of a text numbers from 0, in the order in which they first appear.

    An open-addressing hash table that takes many ids at once. Every id is compared with the one that
    holds its number, so that equal digests of different ids are noticed. Ids hold no NUL bytes.
    """

    def __init__(self) -> None:
        self._digests = np.zeros(1 << 10, dtype=np.uint64)
        self._numbers = np.zeros(1 << 10, dtype=np.int32)
        self._words = np.zeros((1 << 10, 1), dtype=np.uint64)
        self._lengths = np.zeros(1 << 10, dtype=np.int64)
        self._known = np.zeros(1 << 10, dtype=np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, letters: NDArray[np.uint8], starts: Int64s, ends: Int64s) -> NDArray[np.int32]:
        """Return the number of each id.

        Raises:
            CollisionError: If two ids have one digest.
        """
        lengths = ends - starts
        words = gather_words(letters, starts, lengths)
        digests = _digest(words, lengths)
        numbers, fresh = self._look_up(digests)
        self._remember(words, lengths, digests, fresh)
        for at, column in enumerate(words):
            if not np.array_equal(self._words[numbers, at], column):
                raise CollisionError
        return numbers

    def _look_up(self, digests: UInt64s) -> tuple[NDArray[np.int32], Int64s]:
        """Return numbers, and the places of the ids that were new, in the order of their numbers."""
        self._make_room(len(digests))
        mask = np.uint64(len(self._digests) - 1)
        slots = (digests & mask).astype(np.int64)
        numbers = self._numbers[slots]
        # Most ids are known, and stand where they are looked for first.
        pending = np.flatnonzero(self._digests[slots] != digests)
        slots, mine = slots[pending], digests[pending]
        waiting: list[tuple[Int64s, Int64s]] = []
        while len(pending):
            there = self._digests[slots]
            free = np.flatnonzero(there == 0)
            if len(free):
                # Two ids may want one place: the one written last has it, the other looks further.
                self._digests[slots[free]] = mine[free]
                there[free] = self._digests[slots[free]]
            hit = np.flatnonzero(there == mine)
            found = self._numbers[slots[hit]]
            numbers[pending[hit]] = found
            fresh = hit[found < 0]
            if len(fresh):
                waiting.append((pending[fresh], slots[fresh]))
            left = np.flatnonzero(there != mine)
            pending, mine = pending[left], mine[left]
            slots = (slots[left] + 1) & int(mask)
        return numbers, self._give_numbers(numbers, waiting)

    def _give_numbers(self, numbers: NDArray[np.int32], waiting: list[tuple[Int64s, Int64s]]) -> Int64s:
        if not waiting:
            return np.empty(0, dtype=np.int64)
        at = np.concatenate([pair[0] for pair in waiting])
        slots = np.concatenate([pair[1] for pair in waiting])
        order = np.argsort(at)
        at, slots = at[order], slots[order]
        owner = self._numbers
        # Written from the end, so that each new id's first appearance stays, as -2 - place.
        owner[slots[::-1]] = -2 - at[::-1].astype(np.int32)
        first = owner[slots] == -2 - at
        fresh: Int64s = at[first]
        owner[slots[first]] = np.arange(self._count, self._count + len(fresh), dtype=np.int32)
        numbers[at] = owner[slots]
        return fresh

    def _remember(self, words: list[UInt64s], lengths: Int64s, digests: UInt64s, fresh: Int64s) -> None:
        end = self._count + len(fresh)
        rows, width = self._words.shape
        if end > rows or len(words) > width:
            rows = max(rows, 1 << int(end).bit_length())
            grown = np.zeros((rows, max(width, len(words))), dtype=np.uint64)
            grown[: self._count, :width] = self._words[: self._count]
            self._words = grown
            self._lengths = np.resize(self._lengths, rows)
            self._known = np.resize(self._known, rows)
        for at, column in enumerate(words):
            self._words[self._count : end, at] = column[fresh]
        self._lengths[self._count : end] = lengths[fresh]
        self._known[self._count : end] = digests[fresh]
        self._count = end

    def _make_room(self, more: int) -> None:
        wanted = (self._count + more) * _FULL
        if self._count and wanted <= len(self._digests):
            return
        size = max(len(self._digests), 1 << int(wanted).bit_length())
        self._digests = np.zeros(size, dtype=np.uint64)
        self._numbers = np.full(size, -1, dtype=np.int32)
        pending = np.arange(self._count)
        slots = (self._known[: self._count] & np.uint64(size - 1)).astype(np.int64)
        while len(pending):
            free = self._digests[slots] == 0
            self._digests[slots[free]] = self._known[pending[free]]
            mine = self._digests[slots] == self._known[pending]
            self._numbers[slots[mine]] = pending[mine]
            pending, slots = pending[~mine], (slots[~mine] + 1) & (size - 1)

    def sorted_names(self) -> tuple[Names, NDArray[np.int32]]:
        """Return the ids as a sorted dictionary, and for each number its place there."""
        words, lengths = self._words[: self._count], self._lengths[: self._count]
        # With the first letter in the highest bits, words compare as the letters do.
        keys = [words[:, at].byteswap() for at in range(words.shape[1])]
        order = np.lexsort((lengths, *keys[::-1]))
        places = np.empty(self._count, dtype=np.int32)
        places[order] = np.arange(self._count, dtype=np.int32)
        return _join(words[order], lengths[order]), places

    def names(self) -> tuple[str, ...]:
        """Return the ids in the order of their numbers."""
        return tuple(_join(self._words[: self._count], self._lengths[: self._count]))


def _join(words: UInt64s, lengths: Int64s) -> Names:
    letters = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), words.shape[1] * WORD)
    starts = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return Names(letters[np.arange(letters.shape[1]) < lengths[:, None]], starts)


def gather_words(letters: NDArray[np.uint8], starts: Int64s, lengths: Int64s) -> list[UInt64s]:
    """Return each id as words of eight bytes, filled up with zeros."""
    words: list[UInt64s] = []
    for begin in range(0, max(1, int(lengths.max(initial=0))), WORD):
        left = lengths - begin
        if begin == 0 or (left > 0).all():
            words.append(keep_first(take_words(letters, starts + begin), left))
        else:
            column = np.zeros(len(starts), dtype=np.uint64)
            longer = np.flatnonzero(left > 0)
            column[longer] = keep_first(take_words(letters, starts[longer] + begin), left[longer])
            words.append(column)
    return words


def _digest(words: list[UInt64s], lengths: Int64s) -> UInt64s:
    """Return a 64-bit digest per id, never 0; words that are 0 do not change it."""
    mixed = lengths.astype(np.uint64) * _MIX[0]
    for at, column in enumerate(words):
        turned = column * (_MIX[1] + np.uint64(2 * at))
        mixed = mixed ^ ((turned ^ (turned >> np.uint64(29))) * _MIX[2])
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.where(mixed == 0, np.uint64(1), mixed)
