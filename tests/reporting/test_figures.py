"""Numbers as they are printed."""

import pytest

from builders import results
from findback.model.estimate import Estimate
from findback.reporting.figures import (
    estimate_cell,
    figure,
    interval,
    milliseconds,
    number_cell,
    score_cell,
    spoken,
)


def test_the_articles_example_reads_as_agreed() -> None:
    """21 of 39 prints as .538 [.37, .70]."""
    cell = estimate_cell(Estimate(value=21 / 39, low=0.3718, high=0.6991, n=39, clusters=39))
    assert (cell.text, cell.extra) == (".538", "[.37, .70]")
    assert cell.value == 21 / 39


@pytest.mark.parametrize(
    ("value", "digits", "signed", "printed"),
    [
        (0.0, 3, False, ".000"),
        (1.0, 3, False, "1.000"),
        (0.99961, 3, False, ".9996"),
        (0.00049, 3, False, ".0005"),
        (0.00001, 3, False, "<.0001"),
        (-0.00001, 3, False, ">−.0001"),
        (0.99999, 3, False, ">.9999"),
        (-0.004, 2, True, "−.004"),
        (0.05, 2, True, "+.05"),
        (0.0, 2, True, ".00"),
        (1.21, 2, False, "1.21"),
        (-0.5, 3, False, "−.500"),
    ],
)
def test_a_figure_never_rounds_to_a_limit_it_does_not_reach(
    value: float, digits: int, signed: bool, printed: str
) -> None:
    """What is not 0 or 1 never prints as 0 or 1, and signs survive."""
    assert figure(value, digits=digits, signed=signed) == printed


def test_an_interval_that_excludes_zero_shows_it() -> None:
    """A lower end of .004 is not rounded onto zero."""
    assert interval(0.004, 0.11, signed=True) == "[+.004, +.11]"
    assert interval(-0.004, 0.11, signed=True) == "[−.004, +.11]"


def test_an_undefined_figure_is_a_dash_with_its_reason() -> None:
    """None prints as a dash, never as 0 or nan, and says why."""
    cell = estimate_cell(Estimate(value=None, reason="no gold"))
    assert (cell.text, cell.extra, cell.note, cell.value, cell.reach) == ("–", "", "no gold", None, None)
    assert number_cell(None, reason="no gold").text == "–"
    assert milliseconds(None).text == "–"
    assert estimate_cell(None, reason="no sample").note == "no sample"


def test_too_few_clusters_say_so() -> None:
    """A value without an interval says too few, and the reason becomes a footnote."""
    cell = estimate_cell(Estimate(value=0.5, n=6, clusters=6, reason="6 clusters: fewer than 8"))
    assert (cell.text, cell.extra, cell.note) == (".500", "[too few]", "6 clusters: fewer than 8")


def test_errors_leave_bounds_and_no_mean() -> None:
    """A score with failed queries shows its bounds, the outer interval and how many failed."""
    cell = score_cell(results.bounded("RR@10", 0.41, 0.52))
    assert spoken(cell).replace("\N{NO-BREAK SPACE}", " ") == ".41–.52 (3 errors) [.29, .64]"
    assert cell.value is None
    assert cell.reach is not None
    assert tuple(cell.reach) == pytest.approx((0.29, 0.41, 0.52, 0.64))


def test_a_gold_clustered_interval_says_so() -> None:
    """An interval over shared golds carries its design effect."""
    cell = estimate_cell(results.estimate(0.25, method="gold-clustered", design_effect=2.47))
    assert cell.note == "interval over questions that share a gold document (design effect 2.47)"
