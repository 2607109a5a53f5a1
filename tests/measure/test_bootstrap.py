"""Resampling weights, replicates and the BCa interval."""

import math

import numpy as np
import pytest
from scipy import stats

from findback.measure import bootstrap
from findback.measure.bootstrap import (
    bca_interval,
    draw_signs,
    draw_total_weights,
    draw_weights,
    leave_out,
    resample_means,
)
from findback.measure.clusters import Units


def test_weights_occur_as_often_as_poisson_says() -> None:
    """Over 2 million weights each count is within .1 % of its Poisson(1) chance."""
    weights = np.concatenate(list(draw_weights(200, seed=1)))
    assert weights.shape == (10_000, 200)
    for count in range(5):
        chance = math.exp(-1) / math.factorial(count)
        assert np.mean(weights == count) == pytest.approx(chance, abs=1e-3)


def test_blocks_do_not_change_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights and signs are the same when they are held in blocks of four rows."""
    whole = np.concatenate(list(draw_weights(64, seed=3, resamples=40)))
    signs = np.concatenate(list(draw_signs(64, seed=3, resamples=40)))
    monkeypatch.setattr(bootstrap, "CHUNK_VALUES", 256)
    assert len(list(draw_weights(64, seed=3, resamples=40))) == 10
    assert (np.concatenate(list(draw_weights(64, seed=3, resamples=40))) == whole).all()
    assert (np.concatenate(list(draw_signs(64, seed=3, resamples=40))) == signs).all()


def test_no_block_holds_more_than_agreed() -> None:
    """At 10,000 units a block stays within 16 MB."""
    assert max(block.nbytes for block in draw_weights(10_000, seed=1, resamples=300)) <= 16 * 2**20


def test_signs_are_fair() -> None:
    """Signs are only -1 and 1, and their mean over 1 million is within .005 of 0."""
    signs = np.concatenate(list(draw_signs(100, seed=5)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.005


def test_replicates_spread_like_the_mean() -> None:
    """The replicates' variance is s² / n within 3 %."""
    values = np.random.default_rng(2).exponential(size=80)
    replicates = resample_means(Units(values[:, None], np.ones((80, 1))), seed=4)
    assert replicates.var() == pytest.approx(values.var(ddof=1) / 80, rel=0.03)


def test_columns_share_the_resamples() -> None:
    """A column gives the same replicates alone and beside another."""
    table = np.random.default_rng(3).random((60, 2))
    both = resample_means(Units(table, np.ones((60, 2))), seed=9)
    alone = resample_means(Units(table[:, 1:], np.ones((60, 1))), seed=9)
    assert both[:, 1] == pytest.approx(alone[:, 0], abs=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bca_agrees_with_scipy(seed: int) -> None:
    """On skewed samples of 60 the ends are within a twentieth of the interval's width of scipy's."""
    values = np.random.default_rng(seed).exponential(size=60)
    oracle = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    units = Units(values[:, None], np.ones((60, 1)))
    ends = bca_interval(values.mean(), resample_means(units, seed=seed)[:, 0], units.influence()[:, 0])
    assert ends == pytest.approx(tuple(oracle), abs=(oracle.high - oracle.low) / 20)


def test_bca_of_a_symmetric_statistic_is_the_percentile_interval() -> None:
    """Without bias or skew nothing is corrected: ranks 2.5 % and 97.5 % of 0 … 1000."""
    replicates = np.arange(1001.0)
    assert bca_interval(500.0, replicates, np.array([-1.0, 1.0])) == pytest.approx((25.0, 975.0), abs=0.01)


def test_leaving_out_equals_the_closed_form() -> None:
    """The general jackknife of a mean gives the influence of Units."""
    values = np.array([[0.0], [0.5], [1.0]])
    units = Units(values, np.ones((3, 1)))
    fall = leave_out(lambda weights: weights @ values / weights.sum(axis=1, keepdims=True), 3)
    assert fall == pytest.approx(units.influence())


def test_units_that_are_alike_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicates of 6,000 units with twelve values vary as s² / n says, and as those drawn one by one do."""
    values = np.random.default_rng(6).integers(0, 12, size=(6_000, 1)) / 11
    units = Units(values, np.ones_like(values))
    together = resample_means(units, seed=4)
    monkeypatch.setattr(bootstrap, "MANY_UNITS", 7_000)
    apart = resample_means(units, seed=4)
    for replicates in (together, apart):
        assert replicates.mean() == pytest.approx(values.mean(), abs=2e-4)
        assert replicates.var() == pytest.approx(values.var() / 6_000, rel=0.05)
    assert np.quantile(together, [0.025, 0.975]) == pytest.approx(np.quantile(apart, [0.025, 0.975]), abs=5e-4)


@pytest.mark.parametrize("size", [1, 2, 64, 4096])
def test_total_weights_occur_as_often_as_poisson_says(size: int) -> None:
    """The weights of a group of m have mean and variance m, and their quantiles are Poisson's."""
    totals = np.concatenate(list(draw_total_weights(np.array([size] * 20), seed=2))).ravel()
    assert totals.mean() == pytest.approx(size, rel=0.01)
    assert totals.var() == pytest.approx(size, rel=0.02)
    shares = [0.05, 0.5, 0.95]
    assert np.quantile(totals, shares) == pytest.approx(stats.poisson(size).ppf(shares), abs=max(1, size**0.5 / 20))
