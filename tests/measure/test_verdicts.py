"""From intervals to verdicts."""

import numpy as np
import pytest

from findback.measure.paired import PairDifference, bound_constant, compare_all
from findback.measure.verdicts import Judged, join_extremes, judge_difference
from findback.model.estimate import Estimate


def pair(low: float | None, high: float | None, **more: object) -> PairDifference:
    fields: dict[str, object] = {
        "first": 0,
        "second": 1,
        "estimate": Estimate(value=0.0, n=100, clusters=100),
        "low": low,
        "high": high,
        "p": 0.01,
        "seed": 1,
        "error": 0.01,
        "units": 100,
        "differing": 40,
        "critical": 2.0,
    }
    return PairDifference.model_validate(fields | more)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "better"),
        (-0.2, -0.01, "worse"),
        (-0.02, 0.02, "tied"),
        (-0.021, 0.01, "cannot tell"),
        (0.0, 0.2, "cannot tell"),
        (None, None, "cannot tell"),
    ],
)
def test_the_interval_decides(low: float | None, high: float | None, verdict: str) -> None:
    """Better and worse exclude 0, tied lies inside the margin, everything else cannot be told."""
    assert judge_difference(pair(low, high), 0.01, margin=0.02).verdict == verdict


def test_a_sure_difference_inside_the_margin_says_how_small_it_is() -> None:
    """Better by less than the margin is better, and says so."""
    assert judge_difference(pair(0.001, 0.015), 0.01, margin=0.02) == Judged("better", "by less than the margin of .02")


def test_few_differing_clusters_need_p_as_well() -> None:
    """On seven differing clusters better needs p, and tied is not given however narrow the interval."""
    assert judge_difference(pair(0.01, 0.2, differing=7), 0.016, margin=0.02).verdict == "better"
    assert judge_difference(pair(0.01, 0.2, differing=5), 0.0625, margin=0.02).verdict == "cannot tell"
    told = judge_difference(pair(-0.01, 0.01, differing=1), 1.0, margin=0.02)
    assert told == Judged("cannot tell", "they differ on 1 of 100 only")


def test_identical_and_too_few() -> None:
    """Agreement everywhere is identical, even on a handful of cases; else fewer than eight clusters are too few."""
    (same,) = compare_all(np.full((5, 2), 0.5))
    assert judge_difference(same, same.p, margin=0.02) == Judged("identical", "identical on these 5")
    assert same.p == 1
    (few,) = compare_all(np.random.default_rng(1).random((7, 2)))
    assert judge_difference(few, few.p, margin=0.02).verdict == "too few"


def test_always_the_same_difference_is_no_proof_of_itself() -> None:
    """Rank 1 against rank 2 on all of 20 cases is better, by Markov's bound; on eight it cannot be told."""
    (sure,) = compare_all(np.tile([1.0, 0.5], (20, 1)))
    assert (sure.low, sure.high) == (pytest.approx(0.2474, abs=1e-4), pytest.approx(0.5842, abs=1e-4))
    assert judge_difference(sure, sure.p, margin=0.02).verdict == "better"
    (open_,) = compare_all(np.tile([1.0, 0.5], (8, 1)))
    assert judge_difference(open_, open_.p, margin=0.02).verdict == "cannot tell"


def test_the_bound_of_a_constant_misses_rarely() -> None:
    """Where a rare large loss is behind many equal wins, the bound leaves the truth out in at most 5 % of samples."""
    rng = np.random.default_rng(2)
    for share in (0.02, 0.1, 0.3):
        truth = 0.5 * (1 - share) - share
        constant = (rng.random((4_000, 20)) >= share).all(axis=1)
        low, _ = bound_constant(0.5, 20)
        assert low is not None
        assert np.mean(constant & (truth < low)) <= 0.05


def test_failed_searches_leave_a_verdict_only_where_both_bounds_agree() -> None:
    """Both bounds better is better, whatever the failed search would have found; else it cannot be told."""
    assert join_extremes(Judged("better"), Judged("better"), 1) == Judged(
        "better", "whatever 1 failed search would have found"
    )
    assert join_extremes(Judged("cannot tell"), Judged("better"), 2) == Judged(
        "cannot tell", "2 failed searches could turn it either way"
    )
