"""Dates that can be read two ways."""

import pytest

from findback.sources.tickets.dates import UNDECIDED, Dates

LAYOUTS = ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")


@pytest.mark.parametrize(
    ("others", "day", "note"),
    [
        (["13/04/2024 08:00"], "2024-04-03", None),
        (["04/13/2024 08:00"], "2024-03-04", None),
        (["05/06/2024 08:00", None, "no date"], "2024-04-03", UNDECIDED),
        ([], "2024-04-03", None),
    ],
)
def test_other_dates_tell_which_of_day_and_month_comes_first(others, day, note):
    """One date beyond the twelfth decides for the whole export; where none does, days come first and a note says so."""
    dates = Dates(LAYOUTS)
    assert dates.are_open
    for written in others:
        dates.learn(written)
    assert dates.settle() == note
    assert dates.read("03/04/2024 08:00").isoformat() == f"{day}T08:00:00+00:00"


def test_other_times_need_no_layout():
    """ISO 8601 and epochs are read whatever the layouts; what is no time is None."""
    dates = Dates(())
    assert not dates.are_open
    assert dates.read("2024-05-03T08:00:00Z") == dates.read(1714723200)
    assert dates.read("soon") is None
    assert dates.read({"at": 1}) is None
