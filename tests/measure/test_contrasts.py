"""Contrasts of means on one set and between two."""

import numpy as np
import pytest
from scipy import stats

from findback.measure.contrasts import estimate_contrasts, take_sample, weigh_pairs
from findback.measure.paired import compare_all


def test_only_cases_with_every_value_enter() -> None:
    """A case that one system has no value for is left out for all, and counted; its cluster goes with it."""
    sample = take_sample([[1.0, 0.0], [None, 1.0], [0.0, 0.5]], ["a", "b", "c"], ["x", "y", "z"])
    assert sample.matrix.tolist() == [[1.0, 0.0], [0.0, 0.5]]
    assert (sample.clusters, sample.left_out, sample.golds) == (2, 1, ["x", "z"])


def test_pairs_on_one_set_have_the_widths_of_compare_all() -> None:
    """The simultaneous intervals of all pairs are those `compare_all` gives before its own bootstrap bends them."""
    table = np.random.default_rng(1).normal(size=(40, 5))
    _, weights = weigh_pairs(5)
    mine = estimate_contrasts([take_sample(table)], [weights], seed=3, resamples=5_000)
    for contrast, pair in zip(mine, compare_all(table, span=None, seed=3, resamples=5_000), strict=True):
        assert contrast.value == pytest.approx(pair.estimate.value)
        assert (contrast.low, contrast.high) == pytest.approx((pair.low, pair.high), rel=0.02)
        assert contrast.p == pytest.approx(pair.p, abs=0.02)


def test_one_contrast_between_two_sets_is_welchs() -> None:
    """A single difference of differences has Welch's t interval, or one wider by what flipping finds."""
    rng = np.random.default_rng(2)
    first, second = rng.random((30, 2)), rng.random((60, 2)) * 0.3
    weights = weigh_pairs(2)[1]
    (found,) = estimate_contrasts([take_sample(first), take_sample(second)], [weights, -weights], resamples=5_000)
    oracle = stats.ttest_ind(first[:, 0] - first[:, 1], second[:, 0] - second[:, 1], equal_var=False)
    ends = oracle.confidence_interval()
    assert found.value == pytest.approx((ends.low + ends.high) / 2)
    assert found.high - found.low == pytest.approx(ends.high - ends.low, rel=0.06)
    assert found.high - found.low >= (ends.high - ends.low) * (1 - 1e-9)
    assert found.p == pytest.approx(oracle.pvalue, abs=0.03)


def test_clusters_count_once() -> None:
    """Five copies of every case change nothing but the number of cases."""
    table = np.random.default_rng(3).random((20, 3))
    _, weights = weigh_pairs(3)
    once = estimate_contrasts([take_sample(table)], [weights])
    again = estimate_contrasts([take_sample(np.repeat(table, 5, axis=0), np.arange(100) // 5)], [weights])
    for one, other in zip(once, again, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_shared_golds_widen() -> None:
    """Ten documents asked for four times each, always with the same result, are ten units."""
    rng = np.random.default_rng(4)
    table = np.repeat(rng.random((10, 2)), 4, axis=0)
    _, weights = weigh_pairs(2)
    plain = estimate_contrasts([take_sample(table)], [weights])[0]
    shared = estimate_contrasts([take_sample(table, golds=(np.arange(40) // 4).tolist())], [weights])[0]
    by_document = estimate_contrasts([take_sample(table[::4])], [weights])[0]
    assert shared.high - shared.low > 1.5 * (plain.high - plain.low)
    assert (shared.low, shared.high) == pytest.approx((by_document.low, by_document.high))


def test_what_does_not_vary_has_no_interval() -> None:
    """Equal systems are said to be identical, a constant difference to be the same everywhere, few cases too few."""
    rows = np.tile([0.5, 0.5, 0.25], (10, 1))
    same, constant, _ = estimate_contrasts([take_sample(rows)], [weigh_pairs(3)[1]])
    assert (same.value, same.low, same.reason) == (0.0, None, "identical on every case")
    assert (constant.value, constant.excludes_zero, constant.reason) == (0.25, False, "the same on every case")
    few = estimate_contrasts([take_sample(np.eye(7))], [weigh_pairs(7)[1]])[0]
    assert (few.low, few.reason) == (None, "too few: 7 clusters, 8 needed")
    (nothing,) = estimate_contrasts([take_sample([[None, 1.0]])], [weigh_pairs(2)[1]])
    assert (nothing.value, nothing.reason) == (None, "no case has a value from every system")


def test_intervals_between_sets_hold_together() -> None:
    """Over 200 draws of two alike sets of 60 and 20, any of ten differences of differences is off in 5 % or so."""
    rng = np.random.default_rng(5)
    _, weights = weigh_pairs(5)
    off = 0
    for _ in range(200):
        samples = [take_sample(rng.exponential(size=(size, 5))) for size in (60, 20)]
        off += any(one.excludes_zero for one in estimate_contrasts(samples, [weights, -weights], resamples=300))
    # 200 draws at 5 % give 3 to 17 in 99 of 100 runs.
    assert off <= 17
