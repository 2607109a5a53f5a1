"""How many more labels make a share known well enough."""

from itertools import count

import pytest

from findback.measure.intervals import estimate_mean, exact_interval
from findback.measure.sufficiency import count_labels_wanted


@pytest.mark.parametrize(("hits", "trials"), [(20, 20), (0, 9), (30, 40), (7, 10), (1, 30)])
def test_so_many_more_hits_and_misses_make_it_known(hits: int, trials: int) -> None:
    """With so many in all, and the same share, the exact interval reaches no further; with one less it does."""
    wanted = count_labels_wanted([1.0] * hits + [0.0] * (trials - hits))
    assert wanted.more is not None

    def reach(n: int) -> float:
        low, high = exact_interval(round(hits / trials * n), n)
        return max(hits / trials - low, high - hits / trials)

    assert reach(trials + wanted.more) <= 0.05 < reach(trials + wanted.more - 1)


def test_all_right_takes_seventy_two() -> None:
    """By hand: .025 ** (1 / n) is .95 or more from n = 72 on, and 20 are there."""
    assert next(n for n in count(1) if 0.025 ** (1 / n) >= 0.95) == 72
    assert count_labels_wanted([1.0] * 20).more == 52


def test_what_is_known_already_takes_none() -> None:
    """A share whose interval is narrow enough."""
    assert count_labels_wanted([1.0] * 300 + [0.0] * 10).more == 0


def test_documents_of_one_candidate_are_no_labels_apart() -> None:
    """Ten candidates with four documents each: what counts is the spread between candidates."""
    values = [1.0, 1.0, 1.0, 0.0] * 5 + [1.0, 0.0, 0.0, 0.0] * 5
    names = [at // 4 for at in range(40)]
    wanted = count_labels_wanted(values, names)
    assert wanted.more is not None
    # Means of .75 and .25 in turn, spread .264: as many again must bring t · .264 / √n below .05.
    many = estimate_mean(values * ((10 + wanted.more) // 10 + 1), list(range(40 * ((10 + wanted.more) // 10 + 1))))
    assert many.low is not None
    assert 90 <= wanted.more <= 110
    assert count_labels_wanted(values).more != wanted.more


def test_too_few_and_too_alike_are_no_basis() -> None:
    """Below 8 candidates, and where each has the same share inside the range, nothing is claimed."""
    assert count_labels_wanted([1.0] * 7).reason == "too few: 7 clusters, 8 needed"
    assert count_labels_wanted([]).more is None
    halves = count_labels_wanted([1.0, 0.0] * 10, [at // 2 for at in range(20)])
    assert (halves.more, halves.reason) == (None, "every cluster has the same share: no interval")


def test_a_wider_reach_takes_fewer() -> None:
    """± 10 points are known sooner than ± 5."""
    values = [1.0] * 15 + [0.0] * 5
    near, far = (count_labels_wanted(values, within=within).more for within in (0.05, 0.1))
    assert near is not None
    assert far is not None
    assert far < near
