"""Metrics over the parts of a question, where one document per part is enough."""

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.measure.metrics.name import Metric
from findback.measure.metrics.success import first_blocks
from findback.measure.ranks import Int64s, Placed
from findback.measure.ties import chance_all_within, chance_any_within, places_within

MOST_SHARED = 12
"""Parts that may share documents inside one block of equal scores: 2 to this power sets are looked at."""


def count_parts(placed: Placed) -> Int64s:
    """Return how many parts each question has."""
    first = np.unique(placed.part, return_index=True)[1]
    return np.bincount(placed.part_query[first], minlength=placed.questions)


def _chances(placed: Placed, cutoff: int) -> tuple[Int64s, NDArray[np.float64]]:
    """Return the question of each part that was returned at all, and its chance to be within the cut-off."""
    kept = np.flatnonzero(placed.part_above >= 0)
    part, above, tied, count = first_blocks(placed.part[kept], placed.part_above[kept], placed.part_tied[kept])
    owner = np.zeros(int(placed.part.max(initial=-1)) + 1, dtype=np.int64)
    owner[placed.part] = placed.part_query
    return owner[part], chance_any_within(above, tied, count, cutoff)


def score_part_recall(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the share of parts that have a right document among the first k."""
    reached = placed.total(*_chances(placed, metric.cutoff or 0))
    return np.asarray(reached / np.maximum(count_parts(placed), 1), dtype=np.float64)


def score_complete(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return 1 where every part has a right document among the first k; the chance of it under ties.

    Raises:
        UsageError: If more than twelve parts share documents inside one block of equal scores.
    """
    query, chance = _chances(placed, metric.cutoff or 0)
    parts = count_parts(placed)
    sure = np.bincount(query[chance >= 1], minlength=placed.questions)
    possible = np.bincount(query[chance > 0], minlength=placed.questions)
    values = np.asarray((parts > 0) & (sure == parts), dtype=np.float64)
    for at in np.flatnonzero((possible == parts) & (sure < parts)):
        values[at] = _chance_complete(placed, int(at), metric.cutoff or 0)
    return values


def _chance_complete(placed: Placed, question: int, cutoff: int) -> float:
    rows = np.flatnonzero((placed.part_query == question) & (placed.part_above >= 0))
    above, tied, part = placed.part_above[rows], placed.part_tied[rows], placed.part[rows]
    places = places_within(above, tied, cutoff)
    # One block at most is cut in two; parts reached further up are settled.
    open_ = (places < tied) & (places > 0) & ~np.isin(part, part[places == tied])
    groups = [set(placed.part_document[rows[open_ & (part == p)]].tolist()) for p in np.unique(part[open_])]
    size, room = int(tied[open_][0]), int(places[open_][0])
    if sum(map(len, groups)) == len(set().union(*groups)):
        return chance_all_within([len(group) for group in groups], size, room)
    if len(groups) > MOST_SHARED:
        raise UsageError(f"{len(groups)} parts share documents with equal scores; Complete@{cutoff} cannot be told")
    total = 0.0
    for chosen in range(1 << len(groups)):
        picked = [group for at, group in enumerate(groups) if chosen >> at & 1]
        documents = len(set().union(*picked)) if picked else 0
        missed = 1.0
        if documents:
            one = np.array([1])
            missed -= float(chance_any_within(0 * one, size * one, documents * one, room)[0])
        total += (-1) ** len(picked) * missed
    return total


def _reachable_parts(placed: Placed, cutoff: int) -> Int64s:
    """Return how many parts a perfect answer reaches within the cut-off, at most."""
    parts = count_parts(placed)
    order = np.lexsort((placed.part_document, placed.part_query))
    query, document = placed.part_query[order], placed.part_document[order]
    again = np.zeros(len(order), dtype=np.bool_)
    again[1:] = (np.diff(query) == 0) & (np.diff(document) == 0)
    # One document may answer several parts: then no bound under their number is certain.
    shared = np.bincount(query[again], minlength=placed.questions) > 0
    return np.where(shared, parts, np.minimum(parts, cutoff))


def best_part_recall(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the highest share of parts possible within the cut-off."""
    reachable = _reachable_parts(placed, metric.cutoff or 0)
    return np.asarray(reachable / np.maximum(count_parts(placed), 1), dtype=np.float64)


def best_complete(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return 1 where every part fits within the cut-off, else 0."""
    return np.asarray(_reachable_parts(placed, metric.cutoff or 0) == count_parts(placed), dtype=np.float64)
