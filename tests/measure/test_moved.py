"""How far a mean moves between two states of a set."""

import numpy as np
import pytest
from scipy import stats

from findback.measure.moved import State, estimate_move


def test_the_same_cases_with_other_scores_are_paired() -> None:
    """Where both states have the same cases the interval is the paired t one."""
    rng = np.random.default_rng(1)
    before = rng.random(30) * 0.5
    after = before + rng.uniform(-0.05, 0.15, 30)
    names = list(range(30))
    found = estimate_move(State(before, names), State(after, names))
    oracle = stats.ttest_1samp(after - before, 0).confidence_interval()
    assert found.value == pytest.approx((after - before).mean())
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert (found.n, found.clusters, found.method) == (60, 30, "t")


def test_states_without_a_common_case_are_two_samples() -> None:
    """Where no case is in both, the spread is that of two independent means."""
    rng = np.random.default_rng(2)
    before, after = rng.random(400), rng.random(300)
    found = estimate_move(State(before, [f"b{at}" for at in range(400)]), State(after, [f"a{at}" for at in range(300)]))
    error = (before.var(ddof=1) / 400 + after.var(ddof=1) / 300) ** 0.5
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 / error == pytest.approx(1.96, rel=0.05)
    assert found.value == pytest.approx(after.mean() - before.mean())


def test_added_cases_move_less_than_two_samples_would() -> None:
    """Thirty cases and fifteen more of the same make: the interval leaves out 0, the truth, in about 5 % of 600."""
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(600):
        scores = rng.beta(0.5, 0.8, 45)
        found = estimate_move(State(scores[:30], range(30)), State(scores, range(45)))
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0 <= found.high
    assert 0.02 <= missed / 600 <= 0.09


def test_an_exam_that_did_not_change_moves_nothing() -> None:
    """The same values on the same cases move by 0, without an interval."""
    found = estimate_move(State([0.5, 1.0] * 5, range(10)), State([0.5, 1.0] * 5, range(10)))
    assert (found.value, found.low, found.reason) == (0.0, None, "no case moves it")


def test_shared_golds_widen_it() -> None:
    """Forty cases added about four documents, alike within each, count as few."""
    rng = np.random.default_rng(4)
    base = rng.random(40)
    added = np.repeat(rng.random(10), 8)
    golds = [*range(40), *(100 + at // 8 for at in range(80))]
    values = [*base, *added]
    names = list(range(120))
    plain = estimate_move(State(base, names[:40]), State(values, names))
    grouped = estimate_move(State(base, names[:40], golds[:40]), State(values, names, golds))
    assert grouped.method == "gold-clustered"
    assert plain.low is not None
    assert plain.high is not None
    assert grouped.low is not None
    assert grouped.high is not None
    assert grouped.high - grouped.low > plain.high - plain.low


def test_too_few_and_none() -> None:
    """Seven clusters give no interval; a state without values gives no figure."""
    assert (
        estimate_move(State([1.0] * 7, range(7)), State([0.5] * 7, range(7))).reason == "too few: 7 clusters, 8 needed"
    )
    assert estimate_move(State([], []), State([1.0], ["a"])).value is None
