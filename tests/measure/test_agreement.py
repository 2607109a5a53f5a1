"""Two sets' rankings of the same retrievers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from findback.measure.agreement import compare_rankings, rank_together

STEPS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def _set(rng: np.random.Generator, cases: int, means: np.ndarray, noise: float = 0.1) -> np.ndarray:
    ease = rng.uniform(0, 0.2, (cases, 1))
    return np.clip(means + ease + rng.normal(0, noise, (cases, len(means))), 0, 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_tau_is_scipys(scores: list[tuple[int, int]]) -> None:
    """With ties or without, tau-b equals scipy's; all ties are undefined."""
    left, right = np.array(scores, dtype=float).T
    oracle = stats.kendalltau(left, right).statistic
    assert rank_together(left[None], right[None])[0] == pytest.approx(oracle, nan_ok=True)


def test_sets_that_measure_the_same_are_within_the_noise() -> None:
    """Two draws of one population agree as well as chance allows, whatever their difficulty."""
    rng = np.random.default_rng(1)
    first, second = _set(rng, 60, STEPS), _set(rng, 25, STEPS) - 0.1
    found = compare_rankings(first, np.clip(second, 0, 1))
    assert found.tau == pytest.approx(1.0)
    assert found.p > 0.05
    assert (found.systems, found.first_clusters, found.second_clusters) == (6, 60, 25)
    assert {pair.order for pair in found.pairs} <= {"same", "cannot tell"}
    assert next(pair for pair in found.pairs if (pair.first, pair.second) == (0, 5)).order == "same"


def test_opposite_sets_are_reversed() -> None:
    """A set that ranks the other way round is beyond the noise, and every clear pair is reversed."""
    rng = np.random.default_rng(2)
    found = compare_rankings(_set(rng, 60, STEPS), _set(rng, 60, STEPS[::-1]))
    assert found.tau == pytest.approx(-1.0)
    assert found.tau < found.floor <= found.expected
    assert found.p < 0.02
    assert {pair.order for pair in found.pairs} == {"reversed"}
    assert all(pair.differs for pair in found.pairs)


def test_alike_retrievers_cannot_be_ordered() -> None:
    """Six equal retrievers have some tau, but neither p nor any pair claims anything."""
    rng = np.random.default_rng(3)
    found = compare_rankings(_set(rng, 40, np.full(6, 0.4)), _set(rng, 40, np.full(6, 0.4)))
    assert found.p > 0.05
    assert {pair.order for pair in found.pairs} == {"cannot tell"}
    assert not any(pair.differs for pair in found.pairs)


def test_same_order_may_differ_in_size() -> None:
    """A lead of .1 on one set and .5 on the other is the same order and a difference."""
    rng = np.random.default_rng(4)
    found = compare_rankings(_set(rng, 80, np.array([0.3, 0.2]), 0.05), _set(rng, 80, np.array([0.7, 0.2]), 0.05))
    (pair,) = found.pairs
    assert (pair.order, pair.differs) == ("same", True)
    assert pair.change == pytest.approx(-0.4, abs=0.03)
    assert pair.change_low < pair.change < pair.change_high < 0
    assert (found.tau, found.reason) == (None, "too few: 2 retrievers, 5 needed")


def test_one_pairs_change_is_welchs() -> None:
    """With a single pair the interval of the change is scipy's Welch interval of the differences."""
    rng = np.random.default_rng(5)
    first, second = rng.random((20, 2)), rng.random((15, 2))
    (pair,) = compare_rankings(first, second).pairs
    oracle = stats.ttest_ind(
        first[:, 0] - first[:, 1], second[:, 0] - second[:, 1], equal_var=False
    ).confidence_interval()
    assert (pair.change_low, pair.change_high) == pytest.approx((oracle.low, oracle.high))


def test_false_alarms_stay_near_five_percent() -> None:
    """Of 40 pairs of equally made sets with close retrievers at most 6 are called different."""
    rng = np.random.default_rng(6)
    means = np.linspace(0.4, 0.46, 6)
    ps = [compare_rankings(_set(rng, 30, means), _set(rng, 40, means), permutations=200).p for _ in range(40)]
    assert sum(p <= 0.05 for p in ps) <= 6


def test_incomplete_cases_are_left_out() -> None:
    """A case without a value for some retriever ranks nothing and is counted."""
    rng = np.random.default_rng(7)
    first = _set(rng, 20, STEPS)
    first[0, 3] = np.nan
    found = compare_rankings(first, _set(rng, 20, STEPS), np.arange(20) // 2)
    assert (found.left_out, found.first_clusters) == (1, 10)


def test_undefined_with_a_reason() -> None:
    """Seven clusters, or a set on which all retrievers tie, have no tau; other retrievers are refused."""
    rng = np.random.default_rng(8)
    few = compare_rankings(_set(rng, 7, STEPS), _set(rng, 20, STEPS))
    assert few.reason == "too few: 7 clusters on one side, 8 needed"
    assert few.pairs[0].change_low is None
    assert compare_rankings(np.ones((9, 5)), np.ones((9, 5))).reason == "a set ranks all retrievers alike"
    with pytest.raises(ValueError, match="6 and 5 retrievers"):
        compare_rankings(np.ones((9, 6)), np.ones((9, 5)))
