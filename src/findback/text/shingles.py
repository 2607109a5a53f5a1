"""Shingles: overlapping pieces that tell how alike two texts are."""

from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findback.text.words import fold, words

Hashes = NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)


def word_shingles(text: str, size: int = 8) -> frozenset[str]:
    """Return every run of `size` words; a shorter text gives itself, one without words nothing.

    >>> sorted(word_shingles("where is the form", 3))
    ['is the form', 'where is the']
    """
    found = words(text)
    if not found:
        return frozenset()
    last = max(len(found) - size, 0)
    return frozenset(" ".join(found[at : at + size]) for at in range(last + 1))


def containment(part: AbstractSet[Any], whole: AbstractSet[Any]) -> float | None:
    """Return the share of `part` that is in `whole`; None for an empty part.

    >>> containment({"a", "b"}, {"b", "c"})
    0.5
    """
    return len(part & whole) / len(part) if part else None


def shingle_hashes(text: str, size: int = 5) -> Hashes:
    """Return the distinct hashes of every run of `size` characters, in rising order.

    Case, compatibility forms and runs of white space make no difference. Equal runs have equal hashes in
    every process and on every machine; the hash is fast, not cryptographic.

    Returns:
        Shape (k,). A text shorter than `size` gives the one hash of all of it, an empty one none.

    >>> len(shingle_hashes("abcdef", 5)), len(shingle_hashes("aaaaaaaa", 5)), len(shingle_hashes("", 5))
    (2, 1, 0)
    """
    folded = " ".join(fold(text).split())
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    if len(codes) == 0:
        return np.empty(0, dtype=np.uint64)
    size = min(size, len(codes))
    runs = len(codes) - size + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for offset in range(size):
        hashes *= _BASE
        hashes += codes[offset : offset + runs] + np.uint64(1)
    return np.unique(_mix(hashes))


def _mix(values: Hashes) -> Hashes:
    """Spread the bits (the finaliser of splitmix64), so that any part of a hash can be used."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)
