"""From every earlier format, on every database: nothing that was there is lost, and it works."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders.candidates import NOON, candidate, digest
from builders.oldbenches import content_of, make_old_bench, rows_of
from findback.workbench.migration import FORMAT
from findback.workbench.open import open_workbench

ADDED: dict[int, dict[str, set[str]]] = {4: {"findback_candidates": {"root", "written"}}}
"""Columns that a format brought."""


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "private" / "workbench.sqlite")
    return request.getfixturevalue("postgresql_url")


def wanted(format_: int) -> dict[str, list[dict[str, Any]]]:
    return {f"findback_{name}": rows for name, rows in rows_of(format_).items()}


@pytest.mark.parametrize("format_", range(1, FORMAT + 1))
def test_a_workbench_of_an_earlier_format_is_brought_up_whole(place: str, format_: int) -> None:
    """Every row and value that the SQL of that time put in is there afterwards; what came later is empty."""
    make_old_bench(place, format_)
    with open_workbench(place, key_check="c0ffee") as bench:
        assert (bench.backup is not None) == (bench.path is not None and format_ < FORMAT)
    found = content_of(place)
    for table, rows in wanted(format_).items():
        there = found.pop(table)
        assert len(there) == len(rows), table
        for row in rows:
            assert any(row.items() <= one.items() for one in there), (table, row)
    assert all(rows == [] for rows in found.values()), "a format that brings rows of its own"


@pytest.mark.parametrize("format_", range(1, FORMAT + 1))
def test_a_workbench_of_an_earlier_format_works(place: str, format_: int) -> None:
    """It lists, decides, keeps out who objected then, and erases whom it knew then."""
    make_old_bench(place, format_)
    moment = datetime(2024, 5, 7, tzinfo=UTC)
    with open_workbench(place, key_check="c0ffee") as bench:
        first, second = bench.list_candidates()
        assert (first.candidate.query.text, second.state) == ("where is it, ⟦PERSON_1⟧?", "ready")
        assert first.candidate.query.spans[0].value_hmac == digest("cy")
        again = bench.put([candidate("gone"), candidate("d", "dee"), candidate("new", "eve")], now=moment)
        assert (again.purged, again.excluded, again.new) == (1, 1, 1)
        assert bench.decide(second.candidate.key, "rejected", reviewer="noor", version=2, now=moment) == 3
        assert bench.purge(person_hmac=digest("ana"), now=moment).candidates == 1
        assert bench.sweep_retention(datetime(2025, 5, 7, tzinfo=UTC)).candidates == 2
        assert bench.list_candidates() == []
        kinds = [one.kind for one in bench.events()]
        assert kinds == ["put", "decide", "put", "decide", "purge", "retention"]
        assert bench.events()[1].reviewer == "noor"
        assert bench.watermark("help").reached == NOON
