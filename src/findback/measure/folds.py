"""Folds: questions that could have learned from each other stay on one side."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from findback.measure.clusters import Codes, Golds, code_clusters, join_by_gold


def join_questions(clusters: Sequence[str | None], golds: Golds) -> list[int]:
    """Return the group of each question: a cluster or gold document in common joins, also by way of others.

    >>> join_questions(["a", "b", "b", "c"], [{"x"}, {"x"}, {"y"}, {"z"}])
    [0, 0, 0, 1]
    """
    codes: Codes = code_clusters(clusters, len(clusters))
    by_cluster = join_by_gold(codes, golds)
    joined: list[int] = by_cluster[codes].tolist() if len(codes) else []
    return joined


def split_folds(groups: Sequence[int], folds: int, *, seed: int) -> list[int]:
    """Return the fold of each question, from 0; a group is never split, and folds are about equally large.

    Groups are put, the largest first and equal ones in an order drawn with the seed, into the fold that has the
    fewest questions so far.

    Raises:
        ValueError: If there are fewer groups than folds.

    >>> split_folds([0, 0, 0, 1, 2, 3], 2, seed=1)
    [0, 0, 0, 1, 1, 1]
    """
    sizes = Counter(groups)
    if len(sizes) < folds:
        raise ValueError(f"{len(sizes)} groups make no {folds} folds")
    order = sorted(sizes)
    Random(seed).shuffle(order)  # noqa: S311 (a draw, not a secret)
    held = [0] * folds
    fold_of: dict[int, int] = {}
    for group in sorted(order, key=lambda one: -sizes[one]):
        smallest = held.index(min(held))
        fold_of[group] = smallest
        held[smallest] += sizes[group]
    return [fold_of[group] for group in groups]
