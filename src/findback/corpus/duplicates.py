"""Near-duplicate documents, found by MinHash and confirmed by their shingles."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.corpus.groups import Groups
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.text.shingles import shingle_hashes

BANDS = 16
ROWS = 4
"""Bands × rows values make a signature. Texts as alike as .8 share a band in 99.98 % of cases, as alike as
.5 in 64 %."""
MOST_LEADERS = 8
"""Most documents of one bucket that others are compared with, so that a crowded bucket stays linear."""
MOST_SHINGLES = 20_000
"""Shingles of a longer document are sampled evenly by hash; both sides of a comparison by the same rule."""
_BATCH = 200_000

_Hashes = NDArray[np.uint64]


class Pair(NamedTuple):
    """Two documents found alike."""

    first: str
    second: str
    jaccard: float
    """Share of their distinct shingles they have in common, in [0, 1]."""


class Duplicates(NamedTuple):
    """Near-duplicates of a corpus."""

    groups: Mapping[str, str]
    """Id to the id that stands for its group (the first one); documents without near-duplicate are absent."""
    pairs: tuple[Pair, ...]
    """Confirmed pairs that join the groups: enough to join each, not every pair within."""


def find_duplicates(
    documents: Iterable[Document],
    *,
    threshold: float = 0.8,
    size: int = 5,
    seed: int = 20_251,
    progress: Progress = SILENT,
) -> Duplicates:
    """Return groups of documents whose character shingles overlap by the threshold or more.

    Groups are joined by chains: two of a group may be less alike than the threshold. Work and memory grow
    linearly with the texts, also where very many are alike. Texts without words have no near-duplicates.

    Args:
        documents: In the order in which they may stand for a group.
        threshold: Jaccard index in (0, 1]; below .5 most pairs would be missed.
        size: Characters of a shingle.
        seed: Of the hash functions.
        progress: Told of each document.

    Source:
        Broder, "On the resemblance and containment of documents" (1997); candidates by banding, each
        confirmed by its exact index, so that only misses are left to chance.
    """
    names: list[str] = []
    shingles: list[_Hashes] = []
    signatures: list[NDArray[np.uint32]] = []
    multipliers, offsets = _hash_functions(seed)
    batch: list[_Hashes] = []
    filled = 0
    progress.start("Looking for near-duplicates", None)
    for document in documents:
        hashes = _sample(shingle_hashes(document.text, size))
        progress.advance()
        if len(hashes) == 0:
            continue
        names.append(document.id)
        shingles.append(hashes)
        batch.append(hashes)
        filled += len(hashes)
        if filled >= _BATCH:
            signatures.append(_sign(batch, multipliers, offsets))
            batch, filled = [], 0
    if batch:
        signatures.append(_sign(batch, multipliers, offsets))
    progress.finish()
    if not names:
        return Duplicates({}, ())
    return _join(names, shingles, np.concatenate(signatures), threshold)


def jaccard_index(one: _Hashes, other: _Hashes) -> float:
    """Return the share of distinct hashes two sorted sets have in common; 0 when both are empty.

    >>> jaccard_index(np.array([1, 2, 3], dtype=np.uint64), np.array([2, 3, 4], dtype=np.uint64))
    0.5
    """
    shared = len(np.intersect1d(one, other, assume_unique=True))
    total = len(one) + len(other) - shared
    return shared / total if total else 0.0


def _hash_functions(seed: int) -> tuple[_Hashes, _Hashes]:
    drawn = np.random.default_rng(seed).integers(0, 2**63, size=(2, BANDS * ROWS), dtype=np.uint64)
    return drawn[0] * np.uint64(2) + np.uint64(1), drawn[1]


def _sample(hashes: _Hashes) -> _Hashes:
    # Which hashes stay depends on their value alone, so that like texts keep like samples.
    step = 1
    kept = hashes
    while len(kept) > MOST_SHINGLES:
        step *= 2
        kept = hashes[hashes % np.uint64(step) == 0]
    return kept


def _sign(batch: Sequence[_Hashes], multipliers: _Hashes, offsets: _Hashes) -> NDArray[np.uint32]:
    joined = np.concatenate(batch)
    starts = np.cumsum([0, *(len(hashes) for hashes in batch[:-1])])
    signature = np.empty((len(batch), len(multipliers)), dtype=np.uint32)
    mixed = np.empty_like(joined)
    for place, (multiplier, offset) in enumerate(zip(multipliers, offsets, strict=True)):
        np.multiply(joined, multiplier, out=mixed)
        np.add(mixed, offset, out=mixed)
        np.right_shift(mixed, np.uint64(32), out=mixed)
        signature[:, place] = np.minimum.reduceat(mixed, starts)
    return signature


def _join(names: list[str], shingles: list[_Hashes], signatures: NDArray[np.uint32], threshold: float) -> Duplicates:
    groups = Groups()
    pairs: list[Pair] = []
    refused: set[tuple[int, int]] = set()
    # Estimates from 64 values err by .06 at one standard deviation; what is three below is not looked at.
    least = threshold - 0.18
    for bucket in _buckets(signatures):
        leaders: list[int] = []
        for member in bucket:
            lead = False
            for leader in leaders:
                pair = (leader, member)
                if pair in refused:
                    continue
                if groups.find(names[leader]) == groups.find(names[member]):
                    lead = True
                    break
                estimate = float(np.mean(signatures[leader] == signatures[member]))
                index = jaccard_index(shingles[leader], shingles[member]) if estimate >= least else 0.0
                if index >= threshold:
                    groups.join(names[leader], names[member])
                    pairs.append(Pair(names[leader], names[member], index))
                    lead = True
                    break
                refused.add(pair)
            if not lead and len(leaders) < MOST_LEADERS:
                leaders.append(member)
    order = {name: place for place, name in enumerate(names)}
    return Duplicates(_by_first(groups, order), tuple(sorted(pairs, key=lambda pair: order[pair.first])))


def _buckets(signatures: NDArray[np.uint32]) -> Iterator[list[int]]:
    """Yield the documents that share a band, in order, where there are two or more."""
    for band in range(BANDS):
        rows = np.ascontiguousarray(signatures[:, band * ROWS : (band + 1) * ROWS])
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * ROWS))).ravel()
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        ends = np.cumsum(counts)
        for bucket in np.flatnonzero(counts > 1):
            yield order[ends[bucket] - counts[bucket] : ends[bucket]].tolist()


def _by_first(groups: Groups, order: Mapping[str, int]) -> dict[str, str]:
    mapping = groups.mapping()
    first: dict[str, str] = {}
    for name, stands in mapping.items():
        if stands not in first or order[name] < order[first[stands]]:
            first[stands] = name
    return {name: first[mapping[name]] for name in sorted(mapping, key=order.__getitem__)}
