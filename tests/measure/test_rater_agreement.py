"""Agreement of two opinions, by hand and by its own rules."""

import pytest

from findback.measure.rater_agreement import rate_agreement


def test_kappa_by_hand() -> None:
    """20 yes both, 5 and 10 apart, 15 no both: 0.7 seen, 0.5 by chance, kappa 0.4 (Cohen's textbook table)."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = rate_agreement(first, second)
    assert found.kappa == pytest.approx(0.4)
    assert (found.agreed, found.doubles, found.pairs) == (0.7, 50, 50)
    assert found.prevalence == pytest.approx(0.55)
    assert found.low is not None
    assert found.high is not None
    # Large-sample interval of this table: 0.4 ± 1.96 · 0.127.
    assert found.low == pytest.approx(0.15, abs=0.06)
    assert found.high == pytest.approx(0.65, abs=0.06)


def test_nothing_is_said_below_twenty_items() -> None:
    """Nineteen items give no figure and the reason, however many documents were graded on them."""
    found = rate_agreement([3] * 38, [3] * 38, [n % 19 for n in range(38)])
    assert (found.kappa, found.agreed, found.prevalence, found.low) == (None, None, None, None)
    assert found.reason == "fewer than 20 items were judged twice: 19"
    assert (found.doubles, found.pairs) == (19, 38)
    assert rate_agreement([], []).kappa is None


def test_saying_always_the_same_is_no_agreement() -> None:
    """With one category chance agrees fully: None and why, not 1 and not 0."""
    found = rate_agreement(["yes"] * 30, ["yes"] * 30)
    assert (found.kappa, found.agreed, found.prevalence) == (None, 1.0, 1.0)
    assert found.reason == "both opinions always say the same one thing"


def test_full_agreement_has_no_spread() -> None:
    """Kappa 1 in every resample: the figure without an interval, and why."""
    found = rate_agreement(["a", "b"] * 15, ["a", "b"] * 15)
    assert (found.kappa, found.low, found.high) == (1.0, None, None)
    assert found.reason is not None


def test_near_misses_weigh_less() -> None:
    """Linear weights by hand: costs 1, 2 and 3 for grades apart; off by one on half of the items."""
    first = [0, 1, 2, 3] * 10
    second = [1, 1, 2, 2] * 10
    # Seen: half the pairs cost 1. Expected: mean |a - b| over grades 0-3 against 1 and 2 evenly: 1.0.
    assert rate_agreement(first, second, weights="linear").kappa == pytest.approx(0.5)
    # Without weights: half equal; by chance a quarter of 1 and of 2 each, halved: 0.25.
    assert rate_agreement(first, second).kappa == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="whole numbers"):
        rate_agreement(["a"] * 20, ["b"] * 20, weights="linear")


def test_the_interval_resamples_whole_items() -> None:
    """Ten copies of each item's pair make no more of them: the interval stays as wide as with one."""
    first = ["yes", "no", "yes", "no", "yes"] * 6
    second = ["yes", "no", "no", "no", "yes"] * 6
    one = rate_agreement(first, second)
    many = rate_agreement(first * 10, second * 10, list(range(30)) * 10)
    assert (many.kappa, many.doubles, many.pairs) == (pytest.approx(one.kappa), 30, 300)
    assert many.low == pytest.approx(one.low)
    assert many.high == pytest.approx(one.high)
    alone = rate_agreement(first * 10, second * 10)
    assert alone.high is not None
    assert alone.low is not None
    assert one.high is not None
    assert one.low is not None
    assert alone.high - alone.low < (one.high - one.low) / 2


def test_one_deviating_item_among_many_still_has_an_interval() -> None:
    """Left out, the table would be undefined; the figure stands, and it is low although nearly all agree."""
    found = rate_agreement(["yes"] * 40 + ["no"], ["yes"] * 41)
    assert found.kappa == pytest.approx(0.0)
    assert found.agreed == pytest.approx(40 / 41)


def test_lengths_must_fit() -> None:
    """Each thing has two opinions and an item."""
    with pytest.raises(ValueError, match="2 first opinions, 1 second"):
        rate_agreement(["a", "b"], ["a"])
