"""Which cases of a set count as one: those that share a root, a thread, or a near-duplicate query."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil, inf

import numpy as np

from findback.measure.clusters import join_by_gold
from findback.model.case import Case
from findback.text.shingles import shingle_hashes
from findback.text.words import words

ALIKE = 0.8
"""Share of distinct character runs two queries have in common, from which they are near-duplicates."""


def settle_clusters(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the cases with the cluster each belongs to, in the order given.

    Cases come with the cluster their thread gave them. Clusters that share a near-duplicate query, or a root and
    its paraphrase, become one; it is called as its oldest case called it. Withdrawn cases stand alone.
    """
    living = [case for case in cases if case.status != "withdrawn"]
    near = dict[int, list[str]]()
    for number, pair in enumerate(find_alike([case.query for case in living])):
        for place in pair:
            near.setdefault(place, []).append(f"near {number}")
    keys = [
        (f"cluster {case.cluster}", f"root {case.root or case.id}", *near.get(place, ()))
        for place, case in enumerate(living)
    ]
    groups = join_by_gold(np.arange(len(living), dtype=np.int64), keys).tolist() if living else []
    oldest: dict[int, Case] = {}
    for group, case in zip(groups, living, strict=True):
        if group not in oldest or _age(case) < _age(oldest[group]):
            oldest[group] = case
    names = {case.id: oldest[group].cluster for group, case in zip(groups, living, strict=True)}
    settled = []
    for case in cases:
        name = names.get(case.id, case.cluster)
        settled.append(case if name == case.cluster else case.model_copy(update={"cluster": name}))
    return tuple(settled)


def _age(case: Case) -> tuple[float, str]:
    return (inf if case.added_in is None else case.added_in, case.id)


def find_alike(queries: Sequence[str], threshold: float = ALIKE) -> Iterator[tuple[int, int]]:
    """Yield pairs of places whose queries are alike enough to join all that are, each with an earlier place.

    Placeholders, case and punctuation make no difference. Queries without words are like no other.

    Source:
        Chaudhuri, Ganti and Kaushik 2006: two sets this alike share an element among the rarest few of each.

    >>> list(find_alike(["rotate the signing key", "Rotate the signing key?", "book leave"]))
    [(0, 1)]
    """
    first: dict[str, int] = {}
    hashes: dict[int, frozenset[int]] = {}
    for place, query in enumerate(queries):
        plain = " ".join(words(query))
        if not plain:
            continue
        if plain in first:
            yield first[plain], place
            continue
        first[plain] = place
        hashes[place] = frozenset(shingle_hashes(plain).tolist())
    frequency = Counter(value for held in hashes.values() for value in held)
    holders: dict[int, list[int]] = defaultdict(list)
    for place, held in hashes.items():
        rarest = sorted(held, key=lambda value: (frequency[value], value))
        prefix = rarest[: len(held) - ceil(threshold * len(held)) + 1]
        for other in sorted({one for value in prefix for one in holders[value]}):
            shared = len(held & hashes[other])
            if shared >= threshold * (len(held) + len(hashes[other]) - shared):
                yield other, place
        for value in prefix:
            holders[value].append(place)
