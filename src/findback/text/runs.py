"""Runs of words as numbers: which of many texts share some with another, without comparing each with each."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.text.words import words

RUN = 3
"""Words in a run; a shorter text is one run."""
MOST_OWNERS = 200
"""A run that more texts share tells nothing, and would make the work grow with their product."""

Hashes = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Shared(NamedTuple):
    """A text of the index that shares runs with another text."""

    owner: int
    """Its place in the index."""
    share: float
    """Share of its runs that the other text holds, in (0, 1]."""


class WordHashes(dict[str, int]):
    """The number of each word, made when first asked for: the same in every process and on every machine."""

    def __missing__(self, word: str) -> int:
        """Return the number of a word not met before."""
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self[word] = number = int.from_bytes(digest, "little")
        return number

    def hash_words(self, tokens: Sequence[str]) -> Hashes:
        """Return the number of each word, in order; shape (n,)."""
        return np.fromiter(map(self.__getitem__, tokens), dtype=np.uint64, count=len(tokens))

    def hash_runs(self, text: str, size: int = RUN) -> Hashes:
        """Return the distinct numbers of every run of words, in rising order; none for a text without words.

        >>> len(WordHashes().hash_runs("one two three four")), len(WordHashes().hash_runs("one two"))
        (2, 1)
        """
        return join_runs(self.hash_words(words(text)), size)


def join_runs(numbers: Hashes, size: int = RUN) -> Hashes:
    """Return the distinct numbers of every run of words, from the numbers of the words in order."""
    if len(numbers) == 0:
        return numbers
    size = min(size, len(numbers))
    runs = len(numbers) - size + 1
    joined = np.zeros(runs, dtype=np.uint64)
    for offset in range(size):
        joined = (joined ^ (joined >> np.uint64(29))) * _STEP + numbers[offset : offset + runs]
    return np.unique(joined)


class RunIndex:
    """The runs of some texts, looked up by those of another: work grows with the texts, never with their product."""

    def __init__(self, texts: Sequence[Hashes]) -> None:
        """Index the runs of each text.

        Args:
            texts: Distinct runs of each, as `hash_runs` gives them.
        """
        self._totals = np.array([len(runs) for runs in texts], dtype=np.int64)
        joined = np.concatenate([*texts, np.empty(0, np.uint64)])
        order = np.argsort(joined, kind="stable")
        owners = np.repeat(np.arange(len(texts)), self._totals)[order]
        self._runs, starts, counts = np.unique(joined[order], return_index=True, return_counts=True)
        self._owners, self._starts = owners, starts
        self._counts = np.where(counts > MOST_OWNERS, 0, counts)
        for place in np.flatnonzero(counts > MOST_OWNERS):
            self._totals[owners[starts[place] : starts[place] + counts[place]]] -= 1

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._totals)

    def find_shared(self, runs: Hashes) -> list[Shared]:
        """Return the indexed texts that share runs with a text, in their order.

        Args:
            runs: The other text's distinct runs, in rising order.
        """
        if len(self._runs) == 0 or len(runs) == 0:
            return []
        nearest = np.minimum(np.searchsorted(self._runs, runs), len(self._runs) - 1)
        places = nearest[self._runs[nearest] == runs]
        if len(places) == 0:
            return []
        ranges = [self._owners[self._starts[at] : self._starts[at] + self._counts[at]] for at in places]
        owners, counts = np.unique(np.concatenate(ranges), return_counts=True)
        return [
            Shared(owner, count / total)
            for owner, count, total in zip(owners.tolist(), counts.tolist(), self._totals[owners].tolist(), strict=True)
        ]
