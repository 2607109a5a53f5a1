"""Two independent samples side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from findback.measure.gap import measure_gap, measure_spread, rate_superiority

FEW = [0.0, 0.2, 0.3, 0.3, 0.5, 0.6, 0.7, 0.7, 0.8, 1.0]
LESS = [0.0, 0.0, 0.1, 0.1, 0.3, 0.3, 0.2, 0.4, 0.5]


def test_difference_of_small_samples_is_welchs() -> None:
    """Ten and nine single cases get scipy's Welch interval; medians are those of the cases."""
    gap = measure_gap(FEW, LESS)
    oracle = stats.ttest_ind(FEW, LESS, equal_var=False).confidence_interval()
    assert gap.difference.value == pytest.approx(np.mean(FEW) - np.mean(LESS))
    assert (gap.difference.low, gap.difference.high) == pytest.approx((oracle.low, oracle.high))
    assert (gap.difference.method, gap.difference.n, gap.difference.clusters) == ("t", 19, 19)
    assert (gap.first_median, gap.second_median) == pytest.approx((0.55, 0.2))
    assert gap.first.value == pytest.approx(np.mean(FEW))


def test_superiority_is_mann_whitneys() -> None:
    """The probability is U / (n m), and its test on the untransformed scale is Brunner and Munzel's."""
    found = measure_gap(FEW, LESS).superiority
    assert found.value == pytest.approx(stats.mannwhitneyu(FEW, LESS).statistic / 90)
    # Their statistic gives the standard error and degrees of freedom, from which the logit interval follows.
    test = stats.brunnermunzel(LESS, FEW)
    error = abs((found.value - 0.5) / test.statistic)
    half = np.log(found.high / (1 - found.high)) - np.log(found.value / (1 - found.value))
    freedom = _freedom(FEW, LESS)
    assert half * found.value * (1 - found.value) == pytest.approx(error * stats.t.ppf(0.975, freedom))


def _freedom(first: list[float], second: list[float]) -> float:
    one = [np.mean([(b < a) + (b == a) / 2 for b in second]) for a in first]
    two = [np.mean([(a < b) + (a == b) / 2 for a in first]) for b in second]
    parts = [np.var(side, ddof=1) / len(side) for side in (one, two)]
    return sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (one, two), strict=True))


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=15),
    st.lists(st.integers(0, 5), min_size=1, max_size=15),
)
def test_superiority_counts_pairs(first: list[int], second: list[int]) -> None:
    """Over any two samples it equals the pairs counted one by one, and both directions add up to 1."""
    counted = np.mean([(a > b) + (a == b) / 2 for a in first for b in second])
    assert rate_superiority(first, second).value == pytest.approx(counted)
    assert rate_superiority(second, first).value == pytest.approx(1 - counted)


def test_each_cluster_counts_once_on_both_sides() -> None:
    """Three paraphrases above and one below are one cluster each: .5, not .75."""
    assert rate_superiority([2, 2, 2, 0], [1], [0, 0, 0, 1]).value == pytest.approx(0.5)
    assert rate_superiority([1], [2, 2, 2, 0], None, [0, 0, 0, 1]).value == pytest.approx(0.5)
    gap = measure_gap([1, 1, 1, 0], [0, 0, 1], [0, 0, 0, 1], [0, 0, 1])
    assert gap.difference.value == pytest.approx(0.0)


def test_paraphrases_do_not_narrow_the_gap() -> None:
    """Writing every case five times changes neither difference nor interval."""
    once = measure_gap(FEW, LESS)
    five = measure_gap(np.repeat(FEW, 5), LESS, np.repeat(np.arange(10), 5))
    for figure in ("difference", "superiority"):
        one, many = getattr(once, figure), getattr(five, figure)
        assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))


def test_shared_golds_widen_the_gap() -> None:
    """Ten documents asked for twice each are ten observations."""
    once = measure_gap(FEW, LESS).difference
    twice = measure_gap(np.repeat(FEW, 2), LESS, first_golds=np.repeat(np.arange(10), 2).tolist()).difference
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
    assert (twice.method, twice.golds) == ("gold-clustered", 10)


def test_large_samples_are_bootstrapped() -> None:
    """From 50 on both sides the ends are within a twentieth of the width of scipy's two-sample BCa."""
    rng = np.random.default_rng(1)
    first, second = rng.beta(1, 3, 80), rng.beta(2, 2, 60)
    found = measure_gap(first, second, seed=5).difference
    oracle = stats.bootstrap(
        (first, second),
        lambda a, b, axis: a.mean(axis) - b.mean(axis),
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (found.method, found.seed) == ("bca", 5)
    assert (found.low, found.high) == pytest.approx(tuple(oracle), abs=(oracle.high - oracle.low) / 20)


def test_complete_separation_is_not_certainty() -> None:
    """Ten above nine: superiority 1, lower end that of nine wins of nine."""
    found = rate_superiority(np.arange(10) + 100, np.arange(9))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 9))
    mirrored = rate_superiority(np.arange(9), np.arange(10) + 100)
    assert (mirrored.low, mirrored.high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 9)))


def test_few_on_one_side_have_no_interval() -> None:
    """Seven against a hundred are too few, and the reason says so."""
    gap = measure_gap([0.5] * 4 + [0.1] * 3, np.linspace(0, 1, 100))
    for figure in (gap.difference, gap.superiority):
        assert figure.value is not None
        assert (figure.low, figure.reason) == (None, "too few: 7 clusters on one side, 8 needed")


def test_an_empty_side_is_undefined() -> None:
    """Without a value on one side there is no gap, and what was left out is counted."""
    gap = measure_gap([None, None], [0.1])
    assert (gap.difference.value, gap.superiority.value, gap.first_median) == (None, None, None)
    assert gap.difference.reason == "no case has a value on the first side"
    assert gap.difference.left_out == 2


def test_constant_sides_have_no_interval() -> None:
    """All zeros against all zeros: superiority .5 and no claim of certainty."""
    gap = measure_gap([0.0] * 10, [0.0] * 10)
    assert gap.superiority.value == pytest.approx(0.5)
    assert (gap.superiority.low, gap.difference.low) == (None, None)
    assert gap.superiority.reason == "all cases of each side have the same value"


def test_spread_is_best_minus_worst() -> None:
    """Means .9, .5 and .1 spread by .8, and the interval excludes 0."""
    table = np.zeros((40, 3))
    table[:36, 0] = table[:20, 1] = table[:4, 2] = 1
    spread = measure_spread(table)
    assert spread.value == pytest.approx(0.8)
    assert (spread.best, spread.worst, spread.n, spread.clusters) == (0, 2, 40, 40)
    assert 0 < spread.low < 0.8 < spread.high


def test_alike_retrievers_may_have_no_spread() -> None:
    """Eight retrievers that differ by chance: the low end is 0 although the observed spread is not."""
    table = (np.random.default_rng(2).random((60, 8)) < 0.5).astype(float)
    spread = measure_spread(table)
    assert spread.value > 0.1
    assert spread.low == 0


def test_spread_of_two_is_their_paired_interval() -> None:
    """For two retrievers the reach is that of the mean difference, within 3 %."""
    table = np.random.default_rng(3).random((100, 2))
    spread = measure_spread(table)
    error = np.std(table[:, 0] - table[:, 1], ddof=1) / 10
    assert spread.high - spread.value == pytest.approx(1.96 * error, rel=0.03)


def test_spread_needs_two_retrievers_and_eight_clusters() -> None:
    """One retriever has no spread; seven clusters no interval."""
    assert measure_spread(np.ones((9, 1))).reason == "fewer than two retrievers"
    few = measure_spread(np.random.default_rng(1).random((7, 2)))
    assert (few.low, few.reason) == (None, "too few: 7 clusters, 8 needed")
    short = measure_spread(np.random.default_rng(1).random((20, 2)))
    assert short.high > short.value
