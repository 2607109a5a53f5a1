"""The best of many, and luck."""

from itertools import permutations, product

import numpy as np
import pytest

from findback.measure.best_of import rate_best
from findback.measure.contrasts import take_sample
from findback.measure.paired import compare_pair


def test_the_best_of_two_is_a_sign_flip() -> None:
    """With two systems scores change hands as signs do: p is that of the pair."""
    rng = np.random.default_rng(1)
    table = rng.random((40, 2)) + np.array([0.0, 0.1])
    found = rate_best(take_sample(table), draws=4_000)
    assert (found.best, found.runner_up) == (1, 0)
    assert found.ahead == pytest.approx(found.lead / 2)
    assert found.p == pytest.approx(compare_pair(table[:, 1], table[:, 0], span=None).p, abs=0.02)


def test_dealing_at_random_agrees_with_every_deal() -> None:
    """Eight cases of which four tell three systems apart have 1,296 deals; luck, noise and p are those of them all."""
    rows = np.array([[0.9, 0.2, 0.1], [0.8, 0.3, 0.0], [0.1, 0.5, 0.2], [0.6, 0.1, 0.4]])
    table = np.vstack([rows, np.full((4, 3), 0.5)])
    ahead = []
    for deal in product(permutations(range(3)), repeat=4):
        means = (sum(row[list(order)] for row, order in zip(rows, deal, strict=True)) + 2.0) / 8
        ahead.append(means.max() - means.mean())
    found = rate_best(take_sample(table), draws=20_000)
    assert found.ahead == pytest.approx(table.mean(axis=0).max() - table.mean())
    assert found.luck == pytest.approx(np.mean(ahead), abs=0.002)
    assert found.noise == pytest.approx(np.quantile(ahead, 0.95), abs=0.01)
    assert found.p == pytest.approx(np.mean(np.array(ahead) >= found.ahead - 1e-12), abs=0.01)


def test_luck_grows_with_how_many_are_picked_from() -> None:
    """The best of 20 equal systems is further ahead than the best of 3, by about the expected normal maxima."""
    table = np.random.default_rng(2).normal(0, 1, (400, 20))
    twenty, three = (rate_best(take_sample(table[:, :count]), draws=500).luck for count in (20, 3))
    # Expected maxima of 20 and of 3 standard normals, over the standard error of a mean of 400.
    assert twenty * 20 == pytest.approx(1.867, abs=0.1)
    assert three * 20 == pytest.approx(0.846, abs=0.1)


def test_equal_systems_are_warned_of() -> None:
    """The best of ten equal systems is within the noise; the warning gives both figures."""
    found = rate_best(take_sample(np.random.default_rng(3).random((60, 10))))
    assert found.p > 0.05
    for figure in (f"{found.ahead:.3f} ahead", f"{found.noise:.3f} ahead"):
        assert figure.removeprefix("0") in found.warning


def test_a_clear_winner_is_not_warned_of() -> None:
    """A system .3 above nine others on 100 cases has no rival."""
    table = np.random.default_rng(4).random((100, 10)) * 0.5
    table[:, 3] += 0.3
    found = rate_best(take_sample(table))
    assert (found.best, found.rivals, found.warning) == (3, (), None)
    assert found.p == pytest.approx(1 / 1_001)


def test_rivals_are_named() -> None:
    """Two good systems among bad ones are ahead of the field, not of each other; a copy is a rival too."""
    table = np.random.default_rng(5).random((100, 6)) * 0.4
    table[:, [1, 4]] += 0.5
    table[:, 2] = table[:, 1]
    found = rate_best(take_sample(table))
    assert {found.best, *found.rivals} == {1, 2, 4}
    assert "cannot be told apart from 2 others of 6 systems" in found.warning


def test_clusters_change_hands_whole() -> None:
    """Five copies of each case leave luck and noise where they were."""
    table = np.random.default_rng(6).random((30, 4))
    once = rate_best(take_sample(table))
    again = rate_best(take_sample(np.repeat(table, 5, axis=0), np.arange(150) // 5))
    assert (again.luck, again.noise, again.p) == pytest.approx((once.luck, once.noise, once.p))


def test_too_little_is_said() -> None:
    """Seven cases give a winner and no noise; none give nothing; one system has no lead."""
    few = rate_best(take_sample(np.random.default_rng(7).random((7, 3))))
    assert (few.p, few.reason) == (None, "too few: 7 clusters, 8 needed")
    assert few.warning == "how much of its lead is luck cannot be told (too few: 7 clusters, 8 needed)"
    nothing = rate_best(take_sample([[None, 1.0]]))
    assert (nothing.best, nothing.warning) == (None, "no case has a value from every system")
    with pytest.raises(ValueError, match="fewer than two"):
        rate_best(take_sample([[1.0]]))
