"""What a paired comparison could find."""

import numpy as np
import pytest
from scipy import stats

from findback.measure.power import count_units_to_tell, count_units_to_tie, detectable_difference, power_of


@pytest.mark.parametrize(("freedom", "critical"), [(7, 2.4), (39, 2.023), (99, 2.6), (4_000, 3.1)])
def test_power_is_that_of_the_noncentral_t(freedom: int, critical: float) -> None:
    """Power equals scipy's tail of the noncentral t, and the detectable difference is where it is .8."""
    for difference in (0.01, 0.05, 0.2):
        oracle = stats.nct.sf(critical, freedom, difference / 0.03)
        assert power_of(difference, 0.03, critical, freedom) == pytest.approx(oracle, abs=1e-6)
    size = detectable_difference(0.03, critical, freedom)
    assert stats.nct.sf(critical, freedom, size / 0.03) == pytest.approx(0.8, abs=1e-6)
    assert detectable_difference(0.03, critical, freedom, power=0.5) < size


def test_a_single_t_test_finds_it_in_8_of_10() -> None:
    """Forty normal differences with the detectable mean: scipy's t test finds about 80 % of 4,000 samples."""
    rng = np.random.default_rng(5)
    size = detectable_difference(1 / 40**0.5, stats.t.ppf(0.975, 39), 39)
    found = stats.ttest_1samp(rng.normal(size, 1, (4_000, 40)), 0, axis=1)
    assert np.mean((found.pvalue < 0.05) & (found.statistic > 0)) == pytest.approx(0.8, abs=0.02)


def test_units_to_tell_give_the_power() -> None:
    """With so many units the power is .8, with a tenth fewer it is not."""
    wanted = count_units_to_tell(0.03, 0.02, 100, 2.2)
    assert wanted is not None
    assert power_of(0.03, 0.02 * (100 / wanted) ** 0.5, 2.2, 1e9) == pytest.approx(0.8, abs=0.005)
    assert count_units_to_tell(-0.03, 0.02, 100, 2.2) == wanted
    assert count_units_to_tell(0.0, 0.02, 100, 2.2) is None
    assert count_units_to_tell(1e-9, 0.02, 100, 2.2) is None


@pytest.mark.parametrize("difference", [0.0, 0.01, -0.015])
def test_units_to_tie_put_the_interval_inside(difference: float) -> None:
    """Simulated intervals of so many units lie inside the margin in 80 %."""
    wanted = count_units_to_tie(difference, 0.02, 100, 1.96, 0.02)
    assert wanted is not None
    error = 0.02 * (100 / wanted) ** 0.5
    means = np.random.default_rng(3).normal(difference, error, 50_000)
    inside = np.mean(np.abs(means) + 1.96 * error <= 0.02)
    assert inside == pytest.approx(0.8, abs=0.01)


def test_no_number_of_units_ties_a_difference_beyond_the_margin() -> None:
    """A difference as large as the margin, or larger, is never tied."""
    assert count_units_to_tie(0.02, 0.02, 100, 1.96, 0.02) is None
    assert count_units_to_tie(-0.3, 0.02, 100, 1.96, 0.02) is None
    assert count_units_to_tie(0.0199999, 0.02, 100, 1.96, 0.02) is None
