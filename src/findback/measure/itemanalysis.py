"""Which cases, golds and documents of a set look wrong, by how systems answer it."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED
from findback.measure.clusters import Codes, Floats
from findback.measure.contrasts import Sample
from findback.model.record import Record

FEWEST_SYSTEMS = 5
"""Below this many systems nothing is said about how a case goes with the others."""
SHUFFLES = 100
"""Shuffles of each case's scores, for how many cases chance would pick out."""
FEWEST_ANSWERED = 5
"""Clusters a document has to answer at least, to be called suspicious."""
RISK = 0.05
"""Chance that any document is called suspicious although golds are spread evenly."""

_NEAR = 1e-9


class Item(NamedTuple):
    """How one case goes with the others."""

    row: int
    correlation: float
    """Pearson's, over systems, between the case's score and the mean on all other clusters, in [-1, 1]."""
    low: float
    high: float


class Items(Record):
    """Cases that tell systems apart, that do not, and that do it the wrong way round."""

    everybody: tuple[int, ...]
    """Rows of the cases that every system solves."""
    nobody: tuple[int, ...]
    """Rows of those that none solves."""
    against: tuple[Item, ...]
    """Cases that weak systems answer better than strong ones, the whole interval below 0; the worst first."""
    by_chance: float | None
    """How many such cases there would be if no case had to do with the others; None below five systems."""
    rated: int
    """Cases on which systems differ, whose correlation was looked at."""
    reason: str | None = None
    """Why no correlation was."""


class HeavyGold(NamedTuple):
    """A document that answers more cases than an even spread over the gold documents would give any."""

    document: str
    clusters: int
    """Clusters it answers."""
    expected: float
    """Clusters each gold document answers on average."""


class SecondGold(NamedTuple):
    """A document nobody judged that several systems rank first."""

    row: int
    document: str
    systems: tuple[int, ...]
    """Columns of those that do."""


def rate_items(sample: Sample, *, level: float = 0.95, seed: int = DEFAULT_SEED) -> Items:
    """Return the cases that everybody or nobody solves, and those that go against the others.

    A case is solved by a system whose score on it is above 0. A case that goes against the others is missed by the
    systems that are good at the rest and solved by those that are not: its gold may be wrong. Its interval is
    Fisher's, over the systems, for each case by itself: see `by_chance` for how many that picks out anyway.

    Args:
        sample: Scores of the systems, columns, on the cases; rows are counted in it.
        level: Confidence level of each case's interval, in (0, 1).
        seed: Of the shuffles.

    Source:
        Item-rest correlation of classical test theory: Lord and Novick 1968; Fisher 1921.

    >>> from findback.measure.contrasts import take_sample
    >>> rate_items(take_sample([[1, 1], [0, 0], [1, 0]])).everybody
    (0,)
    """
    solved = sample.matrix > _NEAR
    everybody, nobody = (np.flatnonzero(marks).tolist() for marks in (solved.all(axis=1), ~solved.any(axis=1)))
    systems = sample.matrix.shape[1]
    found = Items(everybody=tuple(everybody), nobody=tuple(nobody), against=(), by_chance=None, rated=0)
    if systems < FEWEST_SYSTEMS:
        return found.model_copy(update={"reason": f"fewer than {FEWEST_SYSTEMS} systems"})
    if sample.clusters < 2:
        return found.model_copy(update={"reason": "no other cases to compare a case with"})
    cases, rest = _standardise(sample.matrix), _standardise(_rest(sample))
    rated = np.flatnonzero(cases.any(axis=1) & rest.any(axis=1))
    cases, rest = cases[rated], rest[rated]
    reach = NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(systems - 3)
    correlations = np.clip((cases * rest).sum(axis=1), -1.0, 1.0)
    bar = math.tanh(-reach)
    picked = sorted((float(correlations[at]), int(rated[at])) for at in np.flatnonzero(correlations < bar))
    return found.model_copy(
        update={
            "against": tuple(Item(row, value, *_fisher(value, reach)) for value, row in picked),
            "by_chance": _count_by_chance(cases, rest, bar, seed),
            "rated": len(rated),
        }
    )


def find_heavy_golds(golds: Sequence[Collection[str]], clusters: Codes) -> tuple[HeavyGold, ...]:
    """Return the documents that answer suspiciously many cases, the heaviest first.

    Suspicious is a number of clusters that, were answers spread evenly over the gold documents, no document would
    reach in 19 of 20 sets. Real sets are never quite even: such a document wants a look, no more.

    Args:
        golds: The gold documents of each case.
        clusters: The cluster of each case.

    >>> [heavy.document for heavy in find_heavy_golds([["faq"]] * 8 + [[str(n)] for n in range(40)], np.arange(48))]
    ['faq']
    """
    answered: dict[str, set[int]] = defaultdict(set)
    for documents, cluster in zip(golds, clusters.tolist(), strict=True):
        for document in documents:
            answered[document].add(cluster)
    if not answered:
        return ()
    expected = sum(map(len, answered.values())) / len(answered)
    heavy = [
        HeavyGold(document, len(found), expected)
        for document, found in answered.items()
        if len(found) >= FEWEST_ANSWERED and _poisson_tail(len(found), expected) * len(answered) < RISK
    ]
    return tuple(sorted(heavy, key=lambda one: (-one.clusters, one.document)))


def find_second_golds(
    firsts: Sequence[Sequence[str | None]], judged: Sequence[Collection[str]], *, several: int = 2
) -> tuple[SecondGold, ...]:
    """Return the documents that several systems rank first and nobody judged: perhaps answers as well.

    Args:
        firsts: For each case, the document each system ranks first; None where it returned nothing.
        judged: For each case, the documents somebody judged, whatever the grade.
        several: Systems that have to agree.

    Returns:
        Those most systems agree on first.

    >>> find_second_golds([["a", "b", "b"]], [{"a"}])
    (SecondGold(row=0, document='b', systems=(1, 2)),)
    """
    found = []
    for row, (ranked, known) in enumerate(zip(firsts, judged, strict=True)):
        counted = Counter(document for document in ranked if document is not None and document not in known)
        for document, systems in counted.items():
            if systems >= several:
                found.append(SecondGold(row, document, tuple(at for at, one in enumerate(ranked) if one == document)))
    return tuple(sorted(found, key=lambda one: -len(one.systems)))


def rank_popular(golds: Sequence[Collection[str]], clusters: Codes, depth: int) -> tuple[tuple[str, ...], ...]:
    """Return for each case the gold documents of all other clusters, those that answer most of them first.

    A system that returned these whatever it is asked would be a floor: no search is worse than not searching.

    Args:
        golds: The gold documents of each case.
        clusters: The cluster of each case; what answers only it is not known outside.
        depth: Most documents to return.

    >>> rank_popular([["a"], ["a"], ["b"]], np.arange(3), 10)
    (('a', 'b'), ('a', 'b'), ('a',))
    """
    inside: dict[int, set[str]] = defaultdict(set)
    for documents, cluster in zip(golds, clusters.tolist(), strict=True):
        inside[cluster].update(documents)
    counted = Counter(document for documents in inside.values() for document in documents)
    order = sorted(counted, key=lambda document: (-counted[document], document))
    ranked = {}
    for cluster, own in inside.items():
        # Only what the cluster itself holds moves, and by one: the head of the order is all that can matter.
        head = order[: depth + len(own)]
        less = {document: counted[document] - (document in own) for document in {*head, *own}}
        kept = sorted((document for document in less if less[document]), key=lambda one: (-less[one], one))
        ranked[cluster] = tuple(kept[:depth])
    return tuple(ranked[cluster] for cluster in clusters.tolist())


def _rest(sample: Sample) -> Floats:
    """Return each system's sum over all clusters but the case's own; shape (cases, systems)."""
    means = sample.by_cluster().sums
    return np.asarray(means.sum(axis=0) - means[sample.codes], dtype=np.float64)


def _standardise(rows: Floats) -> Floats:
    """Return rows with mean 0 and length 1; zeros where a row does not vary."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt(np.square(centred).sum(axis=1, keepdims=True))
    return np.where(length > _NEAR, centred / np.maximum(length, _NEAR), 0.0)


def _fisher(correlation: float, reach: float) -> tuple[float, float]:
    middle = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, correlation)))
    return math.tanh(middle - reach), math.tanh(middle + reach)


def _count_by_chance(cases: Floats, rest: Floats, bar: float, seed: int) -> float:
    """Return how many cases are picked out where each one's scores are dealt to the systems at random."""
    bits = np.random.PCG64(seed)
    picked = 0
    for _ in range(SHUFFLES):
        dealt = np.argsort(bits.random_raw(cases.size).reshape(cases.shape), axis=1)
        picked += int(np.count_nonzero((np.take_along_axis(cases, dealt, axis=1) * rest).sum(axis=1) < bar))
    return picked / SHUFFLES


def _poisson_tail(count: int, expected: float) -> float:
    """Return the chance of so many or more."""
    below = math.fsum(math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(count))
    return max(0.0, 1.0 - below)
