"""What the event log says about the keeping of a set."""

from datetime import timedelta

from builders.candidates import NOON, candidate, digest
from findback.workbench.listing import CandidateFilters
from findback.workbench.queue import Turn
from findback.workbench.store import Workbench

HOUR = timedelta(hours=1)


def test_searches_add_up_where_a_source_goes_on(workbench: Workbench) -> None:
    """Of exports the fullest account of a day counts; a source that is read on from where it came to is added up."""
    workbench.log_searches("ubi", {"2026-02-01": 10, "2026-02-02": 4}, overlaps=True, now=NOON)
    workbench.log_searches("ubi", {"2026-02-02": 9}, overlaps=True, now=NOON)
    workbench.log_searches("portal", {"2026-02-02": 5}, overlaps=False, now=NOON)
    workbench.log_searches("portal", {"2026-02-02": 6}, overlaps=False, now=NOON)
    assert workbench.searches() == {"2026-02-01": 10, "2026-02-02": 9 + 5 + 6}


def test_work_and_waiting_are_told_without_names(workbench: Workbench) -> None:
    """A decision is work; what is decided waited until then, what is not still does."""
    workbench.put([candidate("a"), candidate("b")], now=NOON)
    workbench.reject(digest("a"), "no question", reviewer="ana", version=1, now=NOON + HOUR)
    assert workbench.worked() == [NOON + HOUR]
    assert [(one.since, one.until) for one in workbench.stays()] == [(NOON, NOON + HOUR), (NOON, None)]
    assert (workbench.flag_times(), workbench.wordings()) == ([], {})


def test_what_is_asked_most_is_weighed_first(workbench: Workbench) -> None:
    """Out of a pool as large as the session, what was asked often comes before what has waited longest."""
    workbench.put([candidate("old")], now=NOON)
    workbench.put([candidate("often", asked="20+"), candidate("young")], now=NOON + HOUR)
    workbench.put([candidate("flag", origin="flagged")], now=NOON + 2 * HOUR)
    found = workbench.week(CandidateFilters(), Turn("ana", NOON + 3 * HOUR), limit=3)
    assert [one.candidate.key for one in found] == [digest(name) for name in ("flag", "often", "old", "young")]
