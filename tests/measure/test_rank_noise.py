"""Kendall's tau-b, and its noise."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from findback.measure.clusters import Units
from findback.measure.rank_noise import keep_order, permute_sets, rate_order

scores = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7]), min_size=5, max_size=5)


def units(rows: np.ndarray) -> Units:
    return Units(rows, np.ones_like(rows))


@settings(max_examples=60, deadline=None)
@given(scores, scores)
def test_tau_is_scipys(first: list[float], second: list[float]) -> None:
    """Tau-b equals scipy's, ties included, and is undefined where one side has no order."""
    mine = float(rate_order(np.array(first), np.array(second)))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert np.isnan(mine)
    else:
        assert mine == pytest.approx(float(stats.kendalltau(first, second).statistic))


def test_rows_are_rated_at_once() -> None:
    """Many pairs of orders give what each gives alone."""
    rng = np.random.default_rng(0)
    first, second = rng.random((7, 6)), rng.random((7, 6))
    oracle = [stats.kendalltau(one, other).statistic for one, other in zip(first, second, strict=True)]
    assert rate_order(first, second) == pytest.approx(oracle)


def test_all_divisions_of_few_units_are_tried() -> None:
    """Six and three clusters have 84 divisions; p and floor are those counted over each of them with scipy."""
    rng = np.random.default_rng(1)
    first, second = rng.random((6, 5)), rng.random((3, 5))
    pool = np.vstack([first, second])
    pool = pool - pool.mean(axis=1, keepdims=True)
    taus = []
    for chosen in combinations(range(9), 3):
        there = np.isin(np.arange(9), chosen)
        taus.append(stats.kendalltau(pool[~there].mean(axis=0), pool[there].mean(axis=0)).statistic)
    found = permute_sets(units(first), units(second), 0.2, seed=1, draws=100)
    assert (found.draws, found.exhaustive) == (84, True)
    assert found.p == pytest.approx(np.mean(np.array(taus) <= 0.2 + 1e-9))
    assert found.floor == pytest.approx(np.quantile(taus, 0.05))
    drawn = permute_sets(units(first), units(second), 0.2, seed=1, draws=83)
    assert (drawn.draws, drawn.exhaustive) == (83, False)


def test_drawn_divisions_agree_with_all_of_them() -> None:
    """4,000 random divisions of eight and five clusters have the distribution of all 1,287."""
    rng = np.random.default_rng(2)
    first, second = rng.random((8, 6)), rng.random((5, 6))
    every = permute_sets(units(first), units(second), 0.1, seed=1, draws=2_000)
    assert every.exhaustive
    drawn = permute_sets(units(first), units(second), 0.1, seed=1, draws=1_286)
    assert drawn.p == pytest.approx(every.p, abs=0.05)
    assert drawn.median == pytest.approx(every.median, abs=0.07)


def test_levels_play_no_role() -> None:
    """A set on which every system scores .4 higher has the same noise."""
    rng = np.random.default_rng(3)
    first, second = rng.random((12, 5)), rng.random((9, 5))
    plain = permute_sets(units(first), units(second), 0.0, seed=1, draws=300)
    assert permute_sets(units(first), units(second + 0.4), 0.0, seed=1, draws=300) == plain


def test_unequal_units_weigh_what_they_hold() -> None:
    """Gold groups of several clusters move as one, with all their weight."""
    first = Units(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 2.0], [1.0, 1.0]]))
    second = Units(np.array([[0.0, 1.0]]), np.ones((1, 2)))
    # Moved there: either of the two light units leaves 2 clusters against 1 behind, the heavy one none of them.
    found = permute_sets(first, second, -1.0, seed=1, draws=10)
    assert (found.draws, found.p) == (3, 1.0)


def test_one_order_may_have_two_spreads() -> None:
    """A second set of 40 that sets systems a quarter as far apart keeps the order, though it is no such sample.

    In 20 draws two samples of one population would nearly always agree better; sets of one order would not.
    """
    rng = np.random.default_rng(4)
    levels = np.linspace(0, 0.35, 8)
    below = {permute_sets: 0, keep_order: 0}
    for _ in range(20):
        first = units(levels + rng.normal(0, 0.3, (1_000, 8)))
        second = units(levels / 4 + rng.normal(0, 0.3, (40, 8)))
        tau = float(rate_order(first.means(), second.means()))
        for measure in below:
            below[measure] += measure(first, second, tau, seed=1, draws=200).p <= 0.05
    assert below[permute_sets] >= 14
    assert below[keep_order] <= 2


def test_a_reversed_order_is_no_noise() -> None:
    """Levels that run the other way agree less than any order kept."""
    rng = np.random.default_rng(5)
    levels = np.linspace(0, 0.5, 6)
    first = units(levels + rng.normal(0, 0.2, (80, 6)))
    second = units(levels[::-1] + rng.normal(0, 0.2, (80, 6)))
    found = keep_order(first, second, float(rate_order(first.means(), second.means())), seed=1, draws=500)
    assert found.p < 0.01
    assert found.floor < 0


def test_noise_depends_on_the_seed_alone() -> None:
    """The same seed gives the same noise, another one another."""
    rng = np.random.default_rng(6)
    first, second = units(rng.random((30, 5))), units(rng.random((20, 5)))
    for measure in (permute_sets, keep_order):
        one, again, other = (measure(first, second, 0.1, seed=seed, draws=200) for seed in (1, 1, 2))
        assert one == again
        assert (one.median, one.p) != (other.median, other.p)
