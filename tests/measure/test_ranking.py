"""Whether two sets order systems alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback.measure.contrasts import Sample, take_sample
from findback.measure.paired import compare_all
from findback.measure.ranking import compare_orders


def draw(levels: list[float], size: int, seed: int, noise: float = 0.2) -> Sample:
    """Scores around each system's level, with an ease of the case that all share."""
    rng = np.random.default_rng(seed)
    ease = rng.uniform(-0.1, 0.1, (size, 1))
    return take_sample(np.clip(np.array(levels) + ease + rng.normal(0, noise, (size, len(levels))), 0, 1))


APART = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]


def test_the_same_order_is_said() -> None:
    """Six systems a tenth apart are ordered alike by 300 and 60 cases, whatever the level of the second set."""
    found = compare_orders(draw(APART, 300, 1), draw([level + 0.15 for level in APART], 60, 2), resamples=500)
    assert (found.verdict, found.tau) == ("same order", 1.0)
    assert found.order.floor >= 0.5
    assert (found.equal_clusters, [side.n for side in found.sets]) == (60, [300, 60])
    assert not any(pair.reversed for pair in found.pairs)


def test_a_reversed_order_is_said() -> None:
    """Where the second set has them the other way round, every pair that it tells apart is reversed."""
    found = compare_orders(draw(APART, 100, 1), draw(APART[::-1], 100, 2), resamples=500)
    assert found.verdict == "changed"
    assert found.tau == -1.0
    assert (found.population.p, found.order.p) == (pytest.approx(1 / 501), pytest.approx(1 / 501))
    assert all(pair.differs for pair in found.pairs if pair.reversed)
    assert sum(pair.reversed for pair in found.pairs) >= 10


def test_one_pair_may_be_reversed_where_tau_hardly_moves() -> None:
    """Two systems that change places by .15 among others far away are named, with both intervals."""
    levels = [0.1, 0.125, 0.425, 0.575, 0.85, 0.875]
    turned = [0.1, 0.125, 0.575, 0.425, 0.85, 0.875]
    found = compare_orders(draw(levels, 200, 3), draw(turned, 200, 4), resamples=500)
    assert (found.verdict, found.why) == ("changed", "1 of 15 pairs is reversed")
    assert found.population.p > 0.05
    (pair,) = [pair for pair in found.pairs if pair.reversed]
    assert (pair.first, pair.second) == (2, 3)
    assert pair.here.high < 0 < pair.there.low


def test_a_pair_that_differs_need_not_be_reversed() -> None:
    """A lead of .4 on one set and .1 on the other differs, and is the same way round on both."""
    found = compare_orders(draw([0.3, 0.7], 150, 5), draw([0.45, 0.55], 150, 6), resamples=500)
    (pair,) = found.pairs
    assert (pair.differs, pair.opposed, pair.reversed) == (True, False, False)
    assert pair.between.value == pytest.approx(-0.3, abs=0.07)
    assert (found.verdict, found.tau, found.reason) == ("same order", None, "fewer than 5 systems: pairs only")


def test_a_pair_that_may_be_reversed_forbids_the_same_order() -> None:
    """A pair that leads by .2 on 1,000 cases and is seen behind on 40 leaves the order open, however large tau-b is."""
    levels = [0.1, 0.13, 0.4, 0.6, 0.85, 0.88]
    turned = [0.1, 0.13, 0.54, 0.46, 0.85, 0.88]
    found = compare_orders(draw(levels, 1_000, 3), draw(turned, 40, 1), resamples=500)
    assert [(pair.first, pair.second) for pair in found.pairs if pair.opposed] == [(2, 3)]
    assert (found.verdict, found.why) == ("cannot tell", "1 pair may be reversed")


def test_alike_systems_have_no_order_to_share() -> None:
    """Six systems of one level cannot be said to keep their order, nor to change it."""
    found = compare_orders(draw([0.5] * 6, 100, 7), draw([0.5] * 6, 100, 8), resamples=500)
    assert found.verdict == "cannot tell"
    assert found.order.floor < 0.5


def test_within_a_set_the_intervals_are_those_of_a_comparison() -> None:
    """Each side of a pair is what `compare_all` says about that set."""
    first, second = draw(APART, 60, 1), draw(APART, 40, 2)
    found = compare_orders(first, second, seed=5, resamples=400)
    for side, sample in (("here", first), ("there", second)):
        alone = compare_all(sample.matrix, sample.codes, seed=5, resamples=400)
        assert tuple(getattr(pair, side) for pair in found.pairs) == alone


def test_shares_told_apart_are_those_at_equal_n() -> None:
    """A set of 400 tells more pairs apart than one of 30, but not on 30 of its own."""
    close = [0.4, 0.44, 0.48, 0.52, 0.56]
    found = compare_orders(draw(close, 400, 1), draw(close, 30, 2), resamples=400)
    large, small = found.sets
    assert large.apart >= 7 > small.apart
    assert large.apart_at_equal_n < 0.5 < large.apart / 10
    assert small.apart_at_equal_n == pytest.approx(small.apart / 10, abs=0.1)
    again = compare_orders(draw(close, 400, 1), draw(close, 30, 2), resamples=400)
    assert again == found


def test_too_few_clusters_tell_nothing() -> None:
    """Seven cases on one side, or seven roots of ten, give tau-b and no verdict."""
    rng = np.random.default_rng(1)
    few = take_sample(rng.random((70, 5)), np.arange(70) // 10)
    found = compare_orders(draw(APART[:5], 50, 1), few, resamples=200)
    assert (found.verdict, found.why) == ("cannot tell", "too few: 7 clusters on one side, 8 needed")
    assert found.tau is not None
    assert (found.population, found.order, found.sets[0].apart_at_equal_n) == (None, None, None)


def test_a_set_without_order_has_no_tau() -> None:
    """Where every system scores alike, tau-b is undefined and says why; so it is without cases."""
    alike = take_sample(np.full((20, 5), 0.5))
    found = compare_orders(draw(APART[:5], 50, 1), alike, resamples=200)
    assert (found.verdict, found.tau, found.reason) == ("cannot tell", None, "all systems score alike on one set")
    nothing = compare_orders(draw(APART[:5], 50, 1), take_sample(np.full((3, 5), np.nan)), resamples=200)
    assert nothing.reason == "no case of one set has a value from every system"
    assert nothing.sets[1].left_out == 3


def test_both_sets_need_the_same_systems() -> None:
    """Sets of other systems are refused."""
    with pytest.raises(ValueError, match="two or more systems"):
        compare_orders(draw([0.1, 0.2], 20, 1), draw([0.1, 0.2, 0.3], 20, 1))


def test_one_population_is_rarely_called_changed() -> None:
    """Of 40 pairs of sets of 45 and 20 from one population, at most 6 are called changed; 6 % of them would be 2."""
    levels = np.linspace(0.4, 0.55, 6).tolist()
    changed = 0
    for seed in range(40):
        first, second = draw(levels, 45, 2 * seed), draw(levels, 20, 2 * seed + 1)
        changed += compare_orders(first, second, seed=seed, resamples=200).verdict == "changed"
    assert changed <= 6


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 20), st.integers(8, 20))
def test_sides_may_change_places(seed: int, here: int, there: int) -> None:
    """Seen from the other side the order agrees as much, and differences between the sides change sign."""
    rng = np.random.default_rng(seed)
    first, second = take_sample(rng.random((here, 5))), take_sample(rng.random((there, 5)))
    one = compare_orders(first, second, resamples=100)
    other = compare_orders(second, first, resamples=100)
    assert one.tau == pytest.approx(other.tau)
    assert (one.population is None) == (other.population is None)
    for pair, turned in zip(one.pairs, other.pairs, strict=True):
        assert (pair.here, pair.there) == (turned.there, turned.here)
        assert pair.between.value == pytest.approx(-turned.between.value)
        assert pair.reversed == turned.reversed


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.3, 0.3))
def test_harder_cases_change_no_order(seed: int, shift: float) -> None:
    """What every system scores more or less on each case of one set leaves tau-b and its noise as they are."""
    rng = np.random.default_rng(seed)
    first, table = take_sample(rng.random((20, 5))), rng.uniform(0.3, 0.7, (12, 5))
    moved = table + shift * rng.random((12, 1))
    plain, harder = (compare_orders(first, take_sample(one), resamples=100) for one in (table, moved))
    assert plain.tau == pytest.approx(harder.tau)
    assert plain.population == harder.population
