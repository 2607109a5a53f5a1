"""The exam's subjects against the index's."""

import pytest
from scipy import stats

from findback.measure.coverage import compare_mix


def test_distance_by_hand() -> None:
    """Shares .5 .5 0 against .2 .3 .5 are .5 apart, which no sample of 20 reaches by chance."""
    mix = compare_mix([10, 10, 0], [20, 30, 50])
    assert mix.distance == pytest.approx(0.5)
    assert (mix.exam, mix.index, mix.more_than_chance) == (20, 100, True)
    assert mix.p == pytest.approx(1 / 10_001, abs=2e-4)


def test_the_same_mix_is_no_distance() -> None:
    """Proportional counts are 0 apart, which every sample reaches."""
    mix = compare_mix([1, 2], [10, 20])
    assert (mix.distance, mix.p, mix.more_than_chance) == (0.0, 1.0, False)


def test_chance_is_that_of_the_binomial() -> None:
    """For two subjects the chance of being 2 or more of 10 off centre is the binomial tails', .344."""
    mix = compare_mix([7, 3], [1, 1])
    assert mix.p == pytest.approx(stats.binomtest(7, 10).pvalue, abs=0.015)
    assert mix.typical == pytest.approx(0.1)
    assert mix.expected == pytest.approx(0.3)


def test_a_small_exam_is_far_off_by_chance() -> None:
    """Twelve questions over twenty equal subjects are .5 away, which is what chance gives."""
    mix = compare_mix([1] * 8 + [2] * 2 + [0] * 10, [10] * 20)
    assert mix.distance == pytest.approx(0.5)
    assert mix.more_than_chance is False


def test_subjects_the_index_lacks_count() -> None:
    """An exam about something else altogether is 1 away."""
    assert compare_mix([5, 0], [0, 5]).distance == 1.0


@pytest.mark.parametrize(("exam", "index", "side"), [([0], [1], "exam"), ([1], [0], "index"), ([], [], "exam")])
def test_nothing_to_compare_is_undefined(exam: list[int], index: list[int], side: str) -> None:
    """Without counts on one side there is no distance, and the side is named."""
    mix = compare_mix(exam, index)
    assert (mix.distance, mix.expected, mix.more_than_chance) == (None, None, None)
    assert mix.reason == f"no subject is known in the {side}"


def test_unlike_or_negative_counts_are_refused() -> None:
    """A count below 0, or another number of subjects, is an error."""
    with pytest.raises(ValueError, match="negative"):
        compare_mix([-1], [1])
    with pytest.raises(ValueError, match="1 subjects and the index 2"):
        compare_mix([1], [1, 2])


def test_the_same_seed_gives_the_same_mix() -> None:
    """Repeating with the recorded seed repeats every figure."""
    assert compare_mix([6, 1], [3, 4], seed=3) == compare_mix([6, 1], [3, 4], seed=3)
