"""Errors as bounds."""

import numpy as np
import pytest

from findback.measure.bounds import bound_errors
from findback.measure.intervals import estimate_mean


def test_failed_cases_make_bounds() -> None:
    """30 hits, 10 misses and 10 errors of 50: between .6 and .8, and .75 of those answered."""
    values = [1.0] * 30 + [0.0] * 10 + [None] * 10
    found = bound_errors(values, [False] * 40 + [True] * 10)
    assert (found.worst.value, found.best.value, found.answered.value) == (0.6, 0.8, 0.75)
    assert (found.worst.n, found.answered.n, found.answered.left_out, found.errors) == (50, 40, 10, 10)
    assert found.worst == estimate_mean([1.0] * 30 + [0.0] * 20)
    assert not found.exact


def test_without_errors_all_figures_are_one() -> None:
    """No error: worst, best and answered are the same estimate."""
    found = bound_errors(np.linspace(0, 1, 20), [False] * 20)
    assert found.worst == found.best == found.answered
    assert found.exact


def test_undefined_cases_are_no_errors() -> None:
    """A case without a value that did not fail stays left out of both bounds."""
    found = bound_errors([None, 1.0, None], [False, False, True])
    assert (found.worst.value, found.best.value) == (0.5, 1.0)
    assert (found.worst.left_out, found.errors) == (1, 1)


def test_a_value_at_a_failed_case_is_ignored() -> None:
    """What a failed search scored by chance does not count."""
    assert bound_errors([1.0, 0.5], [True, False]).worst.value == 0.25


def test_where_lower_is_better_the_ends_are_swapped() -> None:
    """For a rank error in 0 … 10 the worst is 10."""
    found = bound_errors([2.0, None], [False, True], worst=10.0, best=0.0)
    assert (found.worst.value, found.best.value) == (6.0, 1.0)


def test_all_failed() -> None:
    """Everything failed: anything from 0 to 1, and no mean of answered cases."""
    found = bound_errors([None] * 9, [True] * 9)
    assert (found.worst.value, found.best.value, found.answered.value) == (0.0, 1.0, None)


def test_lengths_must_agree() -> None:
    """Marks for other cases are refused."""
    with pytest.raises(ValueError, match="1 marks of failure"):
        bound_errors([1.0, 0.0], [True])
