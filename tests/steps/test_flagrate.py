"""How often people flag, counted by hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.ready import portal
from builders.searchlog import UbiLog
from findback.reporting.incoming import say_flags
from findback.steps.bench import open_bench
from findback.steps.flagrate import count_flags
from findback.steps.mine import MineRequest, mine

NOW = datetime(2026, 3, 15, 8, tzinfo=UTC)
FIRST = datetime(2026, 1, 31, 22, tzinfo=UTC)


def on(month: int, day: int, count: int = 1) -> list[datetime]:
    return [datetime(2026, month, day, 10, minute, tzinfo=UTC) for minute in range(count)]


def test_the_count_begins_the_day_after_the_first_flag() -> None:
    """28 days of February with 8 flags and 14 whole days of March with 6: 2 and 3 a week; today is not over."""
    found = count_flags([FIRST, *on(2, 3, 8), *on(3, 10, 6), *on(3, 15, 5)], {}, now=NOW)
    assert found is not None
    assert (found.unit, found.since, found.until) == ("week", "2026-02-01", "2026-03-14")
    assert [(one.month, one.rate.events, one.rate.value) for one in found.months] == [
        ("2026-02", 8, pytest.approx(2.0)),
        ("2026-03", 6, pytest.approx(3.0)),
    ]
    assert (found.overall.events, found.overall.exposure) == (14, pytest.approx(6.0))
    assert found.change == "cannot tell"
    assert say_flags(found).startswith("People flagged 2.33 [")
    assert "times a week since 2026-02-01 (14 flags)" in say_flags(found)


def test_searches_are_what_flags_are_counted_on_where_a_log_was_mined() -> None:
    """Flags of days that the log does not cover are left out, and counted as left out."""
    searches = {f"2026-02-{day:02}": 500 for day in range(1, 11)}
    found = count_flags([FIRST, *on(2, 3, 4), *on(2, 20, 7)], searches, now=NOW)
    assert found is not None
    assert (found.unit, found.overall.events, found.overall.exposure, found.uncounted) == ("search", 4, 5_000.0, 7)
    assert found.overall.value == pytest.approx(4 / 5_000)
    assert "0.80 [" in say_flags(found)
    assert "on 1,000 searches" in say_flags(found)


def test_a_log_from_before_the_first_flag_is_no_denominator() -> None:
    """Searches of last year say nothing about flags of today: weeks are counted."""
    found = count_flags([FIRST, *on(2, 3)], {"2025-12-01": 9_000}, now=NOW)
    assert found is not None
    assert found.unit == "week"


def test_a_month_with_many_more_flags_is_told() -> None:
    """After a quiet year, forty flags in two weeks are higher than before at every look."""
    quiet = [FIRST.replace(year=2025) + timedelta(days=14 * at) for at in range(28)]
    found = count_flags([*quiet, *on(3, 10, 40)], {}, now=NOW)
    assert found is not None
    assert found.change == "higher"
    assert "higher than that of the time before" in say_flags(found)


def test_there_is_no_rate_before_a_day_has_passed() -> None:
    """Neither without flags, nor on the day of the first one and the day after it."""
    assert count_flags([], {}, now=NOW) is None
    assert count_flags(on(3, 15), {}, now=NOW) is None
    assert count_flags(on(3, 14), {}, now=NOW) is None


def test_a_mined_log_says_how_many_searches_each_day_had(tmp_path: Path) -> None:
    """Three searches of one day and one of the next; mined twice they are counted once."""
    workspace = portal(tmp_path, "[mining]\nnames = false\n")
    log = UbiLog()
    for at, words in enumerate(("badge", "train", "leave")):
        log.search(600 * at, f"{words} for visitors", [], client=f"c{at}")
    log.search(86_400, "night tunnel", ["howto/vpn.md"], client="c9")
    file = log.write(tmp_path / "log.ndjson")
    for _ in range(2):
        mine(workspace, MineRequest(exports=(file,)))
        with open_bench(workspace) as bench:
            assert sorted(bench.searches().values()) == [1, 3]
