"""Which of several systems can be told apart, and which ranks each may have."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

MOST_GROUPS = 26
"""Beyond this many groups none are listed: letters run out, and so does their use."""


def bound_ranks(better: Bools) -> tuple[tuple[int, int], ...]:
    """Return the first and last rank each system may have.

    Rank 1 is best. A system stands below all that are better than it, and above all that it is better than;
    where "better" holds for all pairs together at a level, so do the ranks.

    Shape:
        `better` is (systems, systems): whether the row's system is better than the column's.

    Source:
        Mogstad, Romano, Shaikh and Wilhelm 2024.

    >>> bound_ranks(np.array([[False, False, True], [False, False, False], [False, False, False]]))
    ((1, 2), (1, 3), (2, 3))
    """
    count = len(better)
    above, below = better.sum(axis=0).tolist(), better.sum(axis=1).tolist()
    return tuple((1 + over, count - under) for over, under in zip(above, below, strict=True))


def group_alike(apart: Bools, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the largest groups within which no two systems can be told apart.

    Groups overlap: a may be like b and b like c where a and c are told apart.

    Args:
        apart: Whether two systems are told apart; symmetrical, shape (systems, systems).
        order: All systems, best first; groups and their members stand in this order.

    Returns:
        Every such group, one of a single system included; none where there would be more than 26.

    Source:
        Piepho 2004 (letters); the groups are maximal cliques: Bron and Kerbosch 1973.

    >>> group_alike(np.array([[False, False, True], [False, False, False], [True, False, False]]), [0, 1, 2])
    ((0, 1), (1, 2))
    """
    place = {system: at for at, system in enumerate(order)}
    like = {one: {other for other in order if other != one and not apart[one, other]} for one in order}
    found: list[tuple[int, ...]] = []

    def grow(group: set[int], waiting: set[int], done: set[int]) -> None:
        if len(found) > MOST_GROUPS:
            return
        if not waiting and not done:
            found.append(tuple(sorted(group, key=place.__getitem__)))
            return
        pivot = max(waiting | done, key=lambda one: len(like[one] & waiting))
        for one in sorted(waiting - like[pivot]):
            grow(group | {one}, waiting & like[one], done & like[one])
            waiting = waiting - {one}
            done = done | {one}

    grow(set(), set(order), set())
    if len(found) > MOST_GROUPS:
        return ()
    return tuple(sorted(found, key=lambda group: [place[one] for one in group]))
