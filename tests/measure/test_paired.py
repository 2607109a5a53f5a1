"""Differences between retrievers on the same cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from findback.measure.paired import adjust_holm, compare_all, compare_pair, flip_signs


def _oracle(gaps: list[float]) -> float:
    found = stats.permutation_test(
        (np.array(gaps),), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    return float(found.pvalue)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=10))
def test_exhaustive_flips_equal_scipys(gaps: list[float]) -> None:
    """Up to 12 differing units every pattern is tried, with scipy's probability."""
    p, _, exhaustive = flip_signs(np.array(gaps))
    assert exhaustive
    # scipy doubles the smaller tail, which by symmetry is the two-sided share, cut at 1.
    assert p == pytest.approx(_oracle(gaps), abs=1e-12)


def test_random_flips_agree_with_all_of_them() -> None:
    """At 13 units the random probability is near the exact one counted over 8,192 patterns."""
    gaps = [0.5, -0.2, 0.3, 0.4, 0.1, -0.1, 0.25, 0.6, -0.3, 0.2, 0.15, 0.05, -0.05]
    p, flips, exhaustive = flip_signs(np.array(gaps), seed=2)
    assert (flips, exhaustive) == (10_000, False)
    assert p == pytest.approx(_oracle(gaps), abs=0.012)


def test_random_flips_are_never_zero() -> None:
    """40 wins in a row: p is (0 + 1) / (10,000 + 1)."""
    assert flip_signs(np.ones(40))[0] == pytest.approx(1 / 10_001)


def test_a_pair_is_compared_by_cluster() -> None:
    """Twelve roots of three paraphrases are twelve differences, with scipy's t interval."""
    rng = np.random.default_rng(1)
    first, second = rng.random(36), rng.random(36)
    found = compare_pair(first, second, np.arange(36) // 3)
    means = (first - second).reshape(12, 3).mean(axis=1)
    oracle = stats.ttest_1samp(means, 0).confidence_interval()
    assert found.estimate.value == pytest.approx(means.mean())
    assert (found.estimate.low, found.estimate.high) == pytest.approx((oracle.low, oracle.high))
    assert (found.flips, found.exhaustive, found.ahead + found.behind) == (4096, True, 12)
    assert found.p == pytest.approx(_oracle(list(means)))


def test_only_common_cases_enter() -> None:
    """A case one of them has no value for is left out of the difference."""
    found = compare_pair([1.0, None, 0.0], [0.0, 1.0, None])
    assert (found.estimate.value, found.estimate.n, found.estimate.left_out) == (1.0, 1, 2)
    nothing = compare_pair([None, 1.0], [1.0, None])
    assert (nothing.estimate.value, nothing.p) == (None, None)


def test_agreement_everywhere_is_said() -> None:
    """Two runs with the same values are identical on these n, not tied within an interval."""
    found = compare_pair([0.5] * 20, [0.5] * 20)
    assert (found.estimate.value, found.p, found.estimate.low) == (0.0, 1.0, None)
    assert found.estimate.reason == "identical on these 20"
    assert compare_pair([0.5], [0.5]).estimate.reason == "identical on this one"


def test_differences_that_cancel_are_not_identical() -> None:
    """One win and one loss in every cluster is no agreement."""
    found = compare_pair([1.0, 0.0] * 10, [0.0, 1.0] * 10, np.arange(20) // 2)
    assert (found.estimate.value, found.ahead, found.behind) == (0.0, 0, 0)
    assert found.estimate.reason == "all 10 clusters have the same value"


def test_shared_golds_flip_together() -> None:
    """20 documents asked for twice: ten differences a side are flipped by document, so p is not squared."""
    first = np.repeat([1.0] * 9 + [0.0] * 11, 2)
    found = compare_pair(first, np.zeros(40), golds=np.repeat(np.arange(20), 2).tolist())
    assert found.estimate.method == "gold-clustered"
    assert (found.p, found.flips) == (pytest.approx(2 / 2**9), 2**9)


def test_lengths_must_agree() -> None:
    """Values of other cases are refused."""
    with pytest.raises(ValueError, match="paired"):
        compare_pair([1.0], [1.0, 0.0])


def test_holm_by_hand() -> None:
    """Three of .01, .04, .03 become .03, .06, .06; nothing exceeds 1; nothing in gives nothing."""
    assert adjust_holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert adjust_holm([0.9, 0.8]) == (1.0, 1.0)
    assert adjust_holm([]) == ()


def test_one_pair_at_once_is_the_pair_alone() -> None:
    """With a single pair nothing is adjusted: p and interval are those of the pair."""
    rng = np.random.default_rng(5)
    table = rng.random((60, 2))
    (together,) = compare_all(table)
    alone = compare_pair(table[:, 0], table[:, 1])
    assert together.estimate == alone.estimate
    assert together.p == pytest.approx(alone.p, abs=0.02)
    assert together.high - together.low == pytest.approx(alone.estimate.high - alone.estimate.low, rel=0.1)


def test_simultaneous_intervals_are_near_tukeys() -> None:
    """For five alike, independent retrievers the half-width is that of the studentised range, within 4 %."""
    table = np.random.default_rng(6).normal(size=(200, 5))
    pairs = compare_all(table, span=None, seed=3)
    assert len(pairs) == 10
    widths = [(pair.high - pair.low) / 2 for pair in pairs]
    errors = [np.std(table[:, p.first] - table[:, p.second], ddof=1) / 200**0.5 for p in pairs]
    tukey = stats.studentized_range.ppf(0.95, 5, 4 * 199) / 2**0.5
    assert np.array(widths) / np.array(errors) == pytest.approx(tukey, rel=0.04)


def test_adjusted_probabilities_lie_between_raw_and_bonferroni() -> None:
    """Each adjusted probability is at least the raw one and at most ten times it."""
    rng = np.random.default_rng(8)
    table = np.clip(rng.random((80, 5)) + np.array([0, 0, 0, 0.05, 0.15]), 0, 1)
    for pair in compare_all(table):
        raw = compare_pair(table[:, pair.first], table[:, pair.second]).p
        assert raw - 0.01 <= pair.p <= 10 * raw + 0.02
        assert pair.low <= pair.estimate.low
        assert pair.high >= pair.estimate.high


def test_named_pairs_only() -> None:
    """A baseline against the others is compared as asked, first minus second; a copy of it is identical."""
    table = np.random.default_rng(9).random((30, 3))
    table[:, 2] = table[:, 0]
    better, same = compare_all(table, pairs=[(1, 0), (2, 0)])
    assert (better.first, better.second) == (1, 0)
    assert better.estimate.value == pytest.approx((table[:, 1] - table[:, 0]).mean())
    assert (same.p, same.low, same.estimate.reason) == (1.0, None, "identical on these 30")
    assert compare_all(table[:, :1]) == ()


def test_few_clusters_have_no_simultaneous_interval() -> None:
    """Seven clusters give a value and a probability, no interval."""
    (pair,) = compare_all(np.random.default_rng(1).random((7, 2)))
    assert (pair.low, pair.high) == (None, None)
    assert pair.estimate.reason == "too few: 7 clusters, 8 needed"
    assert 0 < pair.p <= 1


@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8]])
def test_flipping_systems_is_flipping_pairs(clusters: list[int] | None) -> None:
    """With and without an undefined value, which forbids the short way over systems, all figures are the same."""
    table = np.random.default_rng(4).random((11, 5)).round(2)
    short = compare_all(table, clusters)
    undefined = np.vstack([table, np.full(5, np.nan)])
    long = compare_all(undefined, None if clusters is None else [*clusters, 99])
    for one, other in zip(short, long, strict=True):
        assert one.p == pytest.approx(other.p)
        # Twice as many patterns, each of them twice, move a quantile a little.
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.005)


def test_a_pair_says_what_its_interval_rests_on() -> None:
    """Error, units and the number of those that differ are those of the differences; identical pairs have no error."""
    table = np.random.default_rng(3).random((40, 3))
    table[:10, 1] = table[:10, 0]
    table[:, 2] = table[:, 0]
    first, same, _ = compare_all(table)
    gaps = table[:, 0] - table[:, 1]
    assert first.error == pytest.approx(gaps.std(ddof=1) / 40**0.5)
    assert (first.units, first.differing) == (40, 30)
    assert first.critical == pytest.approx((first.high - first.low) / 2 / first.error)
    assert (same.error, same.differing, same.critical) == (None, 0, None)
