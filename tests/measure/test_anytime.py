"""An interval of a rate that may be looked at as often as one likes."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import poisson

from findback.measure import anytime
from findback.measure.anytime import bound_rate, compare_rates
from findback.measure.intervals import exact_interval


def ends(most: int, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Expected numbers that each count up to `most` does not speak against."""
    found = [bound_rate(count, 1.0, level=level) for count in range(most + 1)]
    return np.array([one.low for one in found]), np.array([one.high for one in found])


def test_the_evidence_against_the_truth_is_one_on_average() -> None:
    """Whatever the expected number is, the mixture's mean over Poisson counts is exactly 1: Ville's bound applies."""
    for expected in (0.3, 4.0, 40.0):
        counts, a = np.arange(4_000), anytime.PRIOR
        log = a * np.log(a) - gammaln(a) + gammaln(a + counts) - (a + counts) * np.log(a + expected) + expected
        assert float(np.exp(poisson.logpmf(counts, expected) + log).sum()) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("weekly", [0.2, 2.0, 9.0])
def test_the_truth_is_left_out_at_any_of_many_looks_in_at_most_one_of_twenty(weekly: float) -> None:
    """Exactly, week by week for three years: the chance that one of 156 intervals misses the true rate is under 5 %."""
    looks = 156
    most = int(weekly * looks * 2 + 60)
    low, high = ends(most)
    still = np.zeros(most + 1)
    still[0] = 1.0
    step = poisson.pmf(np.arange(most + 1), weekly)
    missed = 0.0
    for look in range(1, looks + 1):
        still = np.convolve(still, step)[: most + 1]
        out = (low > weekly * look) | (high < weekly * look)
        missed += float(still[out].sum())
        still[out] = 0.0
    assert 0.0 < missed < 0.05


def test_an_interval_for_one_look_would_not_hold() -> None:
    """The same count with a fixed-sample interval at each look misses the truth far more often than 5 %."""
    rng = np.random.default_rng(3)
    searches, rate, looks = 200, 0.05, 60
    totals = rng.binomial(searches, rate, size=(400, looks)).cumsum(axis=1)
    known: dict[tuple[int, int], tuple[float, float]] = {}

    def misses(total: int, seen: int) -> bool:
        low, high = known.setdefault((total, seen), exact_interval(total, seen))
        return not low <= rate <= high

    fixed = [any(misses(int(total), searches * (at + 1)) for at, total in enumerate(row)) for row in totals]
    assert np.mean(fixed) > 0.12


def test_flags_of_searches_are_covered_at_every_look() -> None:
    """Simulated: one flag at most a search, looked at daily, over 400 histories: at most 5 % are ever missed."""
    rng = np.random.default_rng(4)
    searches, rate, looks = 200, 0.05, 100
    totals = rng.binomial(searches, rate, size=(400, looks)).cumsum(axis=1)
    low, high = ends(int(totals.max()))
    expected = searches * rate * np.arange(1, looks + 1)
    missed = ((low[totals] > expected) | (high[totals] < expected)).any(axis=1)
    assert missed.mean() <= 0.05


def test_a_rate_that_changes_is_covered_too() -> None:
    """Simulated: where the rate rises with what was seen, the interval holds the mean rate so far at every look."""
    rng = np.random.default_rng(5)
    missed = 0
    low, high = ends(2_000)
    for _ in range(300):
        total, expected = 0, 0.0
        for week in range(80):
            rate = 1.0 + 3.0 * (total % 3 == 0) + 0.02 * week
            total += int(rng.poisson(rate))
            expected += rate
            if low[total] > expected or high[total] < expected:
                missed += 1
                break
    assert missed / 300 <= 0.05


def test_a_change_that_is_not_there_is_rarely_found() -> None:
    """Looking every week for two years at the same rate finds a change in at most one of twenty histories."""
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(150):
        before, now = int(rng.poisson(2.0 * 30)), rng.poisson(2.0, size=100).cumsum()
        found += any(
            compare_rates((before, 30.0), (int(total), at + 1.0)) != "cannot tell" for at, total in enumerate(now)
        )
    assert found / 150 <= 0.05


def test_a_change_that_is_there_is_found() -> None:
    """Four times as many flags are told from before within a month; a sixteenth as many within two."""
    assert compare_rates((60, 30.0), (32, 4.0)) == "higher"
    assert compare_rates((60, 30.0), (1, 8.0)) == "lower"


def test_figures_are_those_of_the_count() -> None:
    """12 flags in 4 weeks are 3 a week; nothing passed is no rate, none seen has an upper end, nonsense is refused."""
    rate = bound_rate(12, 4.0)
    assert rate.value == 3.0
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low < 3.0 < rate.high
    assert bound_rate(0, 0.0).value is None
    none = bound_rate(0, 10.0)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(0.41, abs=0.01)
    for events, exposure, level in ((-1, 1.0, 0.95), (1, -1.0, 0.95), (1, float("nan"), 0.95), (1, 1.0, 1.0)):
        with pytest.raises(ValueError, match=r"rate|level"):
            bound_rate(events, exposure, level=level)
