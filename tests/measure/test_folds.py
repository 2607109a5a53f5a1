"""Folds: questions that could have learned from each other stay on one side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.measure.folds import join_questions, split_folds

QUESTIONS = st.lists(
    st.tuples(st.integers(0, 12), st.frozensets(st.integers(0, 15), min_size=1, max_size=2)), min_size=4, max_size=40
)


@given(QUESTIONS, st.integers(0, 5))
def test_no_cluster_and_no_answer_is_on_two_sides(questions: list[tuple[int, frozenset[int]]], seed: int) -> None:
    """Whatever hangs together by cluster or gold document has one fold."""
    groups = join_questions([f"k{cluster}" for cluster, _ in questions], [golds for _, golds in questions])
    if len(set(groups)) < 2:
        with pytest.raises(ValueError, match="make no 2 folds"):
            split_folds(groups, 2, seed=seed)
        return
    folds = split_folds(groups, 2, seed=seed)
    assert set(folds) == {0, 1}
    for one, (cluster, golds) in zip(folds, questions, strict=True):
        for other, (further, others) in zip(folds, questions, strict=True):
            if cluster == further or golds & others:
                assert one == other


def test_answers_join_by_way_of_others() -> None:
    """The first and the third share nothing, and both share with the second."""
    assert join_questions(["a", "b", "c", "d"], [{1}, {1, 2}, {2}, {3}]) == [0, 0, 0, 1]


def test_folds_are_about_equally_large() -> None:
    """Ten groups of one and one of six go into two halves of eight."""
    folds = split_folds([0] * 6 + list(range(1, 11)), 2, seed=3)
    assert folds.count(0) == folds.count(1) == 8


def test_the_seed_decides_which_equal_groups_go_where() -> None:
    """The same seed gives the same folds, and some other gives others."""
    groups = list(range(20))
    assert split_folds(groups, 4, seed=1) == split_folds(groups, 4, seed=1)
    assert any(split_folds(groups, 4, seed=1) != split_folds(groups, 4, seed=seed) for seed in range(2, 6))
