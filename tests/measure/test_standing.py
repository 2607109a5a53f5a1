"""Groups of systems and the ranks they may have."""

from itertools import combinations

import numpy as np
import pytest

from findback.measure.standing import bound_ranks, group_alike


def apart(count: int, *pairs: tuple[int, int]) -> np.ndarray:
    table = np.zeros((count, count), dtype=bool)
    for one, other in pairs:
        table[one, other] = table[other, one] = True
    return table


def test_letters_of_a_worked_example() -> None:
    """Five systems of which 0 differs from 2, 3, 4 and 1 from 4 make the groups 0 1, 1 2 3 and 2 3 4."""
    found = group_alike(apart(5, (0, 2), (0, 3), (0, 4), (1, 4)), [0, 1, 2, 3, 4])
    assert found == ((0, 1), (1, 2, 3), (2, 3, 4))


@pytest.mark.parametrize("seed", range(8))
def test_groups_say_exactly_who_is_told_apart(seed: int) -> None:
    """Two systems share a group if and only if they cannot be told apart, and no group holds another."""
    rng = np.random.default_rng(seed)
    told = [pair for pair in combinations(range(7), 2) if rng.random() < 0.5]
    order = rng.permutation(7).tolist()
    table = apart(7, *told)
    groups = group_alike(table, order)
    for one, other in combinations(range(7), 2):
        assert any({one, other} <= set(group) for group in groups) == (not table[one, other])
    assert not any(set(one) < set(other) for one in groups for other in groups)
    assert {system for group in groups for system in group} == set(range(7))
    place = {system: at for at, system in enumerate(order)}
    assert all(list(group) == sorted(group, key=place.__getitem__) for group in groups)


def test_all_alike_and_all_apart() -> None:
    """Without any difference there is one group, with every difference one for each system."""
    assert group_alike(apart(3), [2, 0, 1]) == ((2, 0, 1),)
    assert group_alike(apart(3, (0, 1), (0, 2), (1, 2)), [2, 0, 1]) == ((2,), (0,), (1,))


def test_too_many_groups_are_none() -> None:
    """Sixty systems in pairs that are told apart would make 2 ** 30 groups: none are listed, and quickly."""
    table = apart(60, *((at, at + 1) for at in range(0, 60, 2)))
    assert group_alike(table, list(range(60))) == ()


def test_ranks_by_hand() -> None:
    """A system better than two of four ranks 1 to 2; one that two are better than ranks 3 to 4."""
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    assert bound_ranks(better) == ((1, 2), (1, 3), (2, 4), (3, 4))
