"""Bounds of a loss, and what follows from them."""

import importlib.util
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from findback.measure.gating import (
    LEVEL,
    Bounds,
    Decision,
    bound_difference,
    count_needed,
    detect_loss,
    join_extremes,
    judge_loss,
    spend_alarms,
    unseen_share,
)

MARGIN = 0.05
BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "gate_nights.py"


def spread(mean: float, size: float, count: int) -> np.ndarray:
    """Differences of one mean that scatter by ± size."""
    return mean + size * np.where(np.arange(count) % 2, 1.0, -1.0)


def judged(gaps: np.ndarray, **options: object) -> Decision:
    return judge_loss(bound_difference(gaps), margin=MARGIN, **options)  # type: ignore[arg-type]


def test_bounds_are_one_sided_t_bounds_below_50() -> None:
    """30 differences: each bound is that of scipy's one-sided t interval, or as far off as 30 cases can show."""
    gaps = np.random.default_rng(3).uniform(-0.6, 0.3, 30)
    found = bound_difference(gaps)
    below = stats.ttest_1samp(gaps, 0, alternative="greater").confidence_interval(0.95).low
    above = stats.ttest_1samp(gaps, 0, alternative="less").confidence_interval(0.95).high
    assert found.upper == pytest.approx(above)
    assert found.lower == pytest.approx(min(below, gaps.mean() - unseen_share(30)))
    assert (found.interval, found.units, found.cases) == ("t", 30, 30)


def test_the_upper_bound_has_a_level_of_its_own() -> None:
    """With fewer false alarms allowed only the upper bound moves."""
    gaps = np.random.default_rng(3).uniform(-0.6, 0.3, 30)
    plain, strict = bound_difference(gaps), bound_difference(gaps, alarm=0.001)
    assert strict.upper == pytest.approx(stats.ttest_1samp(gaps, 0, alternative="less").confidence_interval(0.999).high)
    assert strict.lower == plain.lower


def test_probability_is_that_of_every_sign_pattern() -> None:
    """Nine differing units: p is the share of the 512 sign patterns with a sum as low, half of the two-sided one."""
    sums = np.array([-0.5, -0.3, -1.0, 0.2, -0.25, -0.4, -0.1, 0.05, -0.6])
    patterns = np.array(list(product((-1, 1), repeat=9))) @ sums
    assert bound_difference(sums).p == pytest.approx(float((patterns <= sums.sum() + 1e-9).mean()))


def test_paraphrases_count_once() -> None:
    """Each case five times under one cluster gives the bounds of the cases alone."""
    gaps = np.random.default_rng(5).uniform(-0.5, 0.4, 40)
    once = bound_difference(gaps)
    five = bound_difference(np.repeat(gaps, 5), np.repeat(np.arange(40), 5))
    assert (five.lower, five.upper, five.p, five.units) == pytest.approx((once.lower, once.upper, once.p, 40))
    assert five.cases == 200


@pytest.mark.parametrize(("units", "verdict"), [(12, "undecided"), (58, "undecided"), (59, "pass"), (200, "pass")])
def test_identical_runs_pass_from_59(units: int, verdict: str) -> None:
    """Nothing differs: from 59 cases on a share above the margin would have shown, with 12 it need not have."""
    found = judged(np.zeros(units))
    assert found.verdict == verdict
    few = ", too few to show it for others" if verdict == "undecided" else ""
    assert found.why == f"identical on these {units} cases{few}"


def test_what_cannot_be_seen_is_the_exact_bound() -> None:
    """The unseen share is Clopper and Pearson's one-sided bound at no hit."""
    for units in (8, 12, 59, 300):
        exact = stats.binomtest(0, units, alternative="less").proportion_ci(0.95, method="exact").high
        assert unseen_share(units) == pytest.approx(exact)


@pytest.mark.parametrize("size", [0.001, 0.02, 0.2])
def test_twelve_cases_never_pass(size: float) -> None:
    """However little twelve cases scatter around no difference, they show no margin of .05."""
    assert judged(spread(0.0, size, 12)).verdict == "undecided"


def test_pass_fail_and_undecided() -> None:
    """A hundred cases: no loss passes, a small and sure one passes, a large one fails, a scattered one is undecided."""
    assert judged(spread(0.0, 0.1, 100)).verdict == "pass"
    assert judged(spread(-0.02, 0.05, 100)) == Decision("pass")
    assert judged(spread(-0.1, 0.2, 100)) == Decision("fail")
    assert judged(spread(-0.01, 0.5, 100)).verdict == "undecided"


def test_a_loss_rests_on_sign_flips_too() -> None:
    """Four of 60 lost everything: the interval excludes 0, four signs do not, and nothing is proven."""
    gaps = np.zeros(60)
    gaps[:4] = -1
    found = bound_difference(gaps)
    assert found.upper is not None
    assert found.upper < 0
    assert found.p == 1 / 16
    assert judge_loss(found, margin=MARGIN) == Decision("undecided", "only 4 of 60 differ")
    gaps[:5] = -1
    assert judged(gaps).verdict == "fail"


def test_significance_fails_on_a_proven_loss_alone() -> None:
    """What is undecided by the margin passes; what is surely a loss fails, be it smaller than the margin."""
    assert judged(spread(-0.01, 0.5, 100), policy="significance").verdict == "pass"
    assert judged(spread(-0.02, 0.05, 100), policy="significance").verdict == "fail"
    assert judged(np.zeros(12), policy="significance").verdict == "pass"
    assert judged(np.full(5, -1.0), policy="significance").verdict == "undecided"


def test_fewer_than_eight_units_are_undecided() -> None:
    """Seven cases that all lost everything are too few for any bound."""
    found = judged(np.full(7, -1.0))
    assert found.verdict == "undecided"
    assert "too few: 7" in found.why


def test_the_same_loss_everywhere_is_bounded() -> None:
    """Differences without scatter have bounds too: all of 20 lost a half, or everything."""
    half, whole = bound_difference(np.full(20, -0.5)), bound_difference(np.full(20, -1.0))
    assert half.upper == pytest.approx(1 - 1.5 * 0.05 ** (1 / 20))
    assert whole.upper is not None
    assert whole.upper < half.upper < 0  # type: ignore[operator]
    assert judge_loss(half, margin=MARGIN).verdict == "fail"


def test_errors_leave_undecided_at_best() -> None:
    """Bounds that both pass are undecided; those that both fail are a loss whatever was missed."""
    good, bad, open_ = Decision("pass"), Decision("fail"), Decision("undecided")
    assert join_extremes(good, good, 2) == Decision("undecided", "2 failed searches: bounds only")
    assert join_extremes(bad, open_, 1).verdict == "undecided"
    assert join_extremes(bad, bad, 1) == Decision("fail", "whatever 1 failed search would have found")


def test_needed_cases_let_an_equal_system_pass() -> None:
    """So many cases as are said to be needed pass in 8 of 10 draws from the same spread; half as many do not."""
    rng = np.random.default_rng(11)
    found = bound_difference(rng.normal(0, 0.25, 60).clip(-1, 1))
    needed = count_needed(found, MARGIN)
    assert needed is not None

    def passes(count: int) -> float:
        size = (found.error or 0) * 60**0.5
        draws = (bound_difference(rng.normal(0, size, count).clip(-1, 1)) for _ in range(150))
        return float(np.mean([judge_loss(one, margin=MARGIN).verdict == "pass" for one in draws]))

    assert 0.7 <= passes(needed) <= 0.9
    assert passes(needed // 2) < 0.65


def test_needed_cases_count_paraphrases() -> None:
    """59 clusters of two cases are 118 cases."""
    assert count_needed(bound_difference(np.zeros(24), np.repeat(np.arange(12), 2)), MARGIN) == 118


@pytest.mark.parametrize(("cases", "alarm", "margin"), [(60, 0.05, 0.05), (200, 0.05, 0.0), (200, 0.00137, 0.0)])
def test_detectable_loss_is_found(cases: int, alarm: float, margin: float) -> None:
    """A loss of the printed size fails in 8 of 10 sets or more, be it a few cases that lose all."""
    rng = np.random.default_rng(12)
    size = detect_loss(bound_difference(np.zeros(cases), alarm=alarm), margin=margin)
    assert size is not None
    failed = 0
    for _ in range(100):
        found = bound_difference(-(rng.random(cases) < size).astype(float), alarm=alarm)
        failed += judge_loss(found, margin=MARGIN, policy="margin" if margin else "significance").verdict == "fail"
    assert failed >= 72


def test_nothing_is_detectable_on_a_handful() -> None:
    """Five cases, and eight with alarms that eight signs cannot reach, have no detectable loss."""
    assert detect_loss(bound_difference(np.zeros(5)), margin=MARGIN) is None
    assert detect_loss(bound_difference(np.zeros(8), alarm=0.001), margin=MARGIN) is None


def test_alarms_are_shared_out() -> None:
    """One alarm a year over 365 looks and two tests; never above the usual level."""
    assert spend_alarms(1, 365, 2) == pytest.approx(1 / 730)
    assert spend_alarms(300, 365, 1) == pytest.approx(1 - LEVEL)


def test_an_empty_pairing_has_no_bounds() -> None:
    """Without a pair there is no difference, and a reason instead."""
    found = bound_difference(np.full(3, np.nan))
    assert isinstance(found, Bounds)
    assert (found.value, found.lower, judge_loss(found, margin=MARGIN).verdict) == (None, None, "undecided")
    assert found.reason


@pytest.fixture(scope="module")
def nights() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gate_nights", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_year_without_change_raises_few_alarms(nights: ModuleType) -> None:
    """Sixty years of an engine that scatters, without any change: at most 1.5 false alarms a year, by either rule."""
    found = nights.count_alarms(60, 80, 0.3, np.random.default_rng(20))
    assert np.mean(found["significance"]) <= 1.5
    assert np.mean(found["margin"]) <= 1.5
    assert sum(found["significance"]) > 0, "nothing scattered: the simulation shows nothing"


def test_losses_are_caught_at_once_and_step_by_step(nights: ModuleType) -> None:
    """The detectable loss is caught within 3 nights in 8 of 10 sets, ten small ones against the anchor alone."""
    found = nights.catch_losses(12, 80, 0.2, "margin", np.random.default_rng(21))
    assert found["within 3 nights"] >= 0.8
    assert found["20 steps, anchor"] >= 0.8
    assert found["20 steps, last night alone"] < 0.5
