"""The one CSV writer: nothing runs as a formula, and everything comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.text.delimited import (
    DelimitedRecord,
    delimited_lines,
    delimited_records,
    delimited_rows,
    guard_cell,
    guess_delimiter,
    unguard_cell,
)

CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["=1+1", "'=1", "''-x", "'", "\t", "\r\n", "@a", "+", '"', "-1"]
)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=1+1"])
def test_risky_cells_are_guarded(cell: str) -> None:
    """Each start that a spreadsheet could run gets an apostrophe before it."""
    assert guard_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=b", "'tis", "1-2", " =1"])
def test_harmless_cells_stay(cell: str) -> None:
    """Cells that nothing runs are written as they are."""
    assert guard_cell(cell) == cell


@given(CELLS)
def test_guard_is_undone(cell: str) -> None:
    """Whatever the text, taking the guard away gives it back."""
    assert unguard_cell(guard_cell(cell)) == cell


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_rows_come_back(rows: list[list[str]], delimiter: str) -> None:
    """Rows of any text come back as they were, and none of their cells starts like a formula in between."""
    lines = list(delimited_lines(rows, delimiter=delimiter))
    assert [list(row.cells) for row in delimited_rows(lines, delimiter=delimiter)] == rows


def test_numbers_are_not_guarded() -> None:
    """A negative number stays a number; nothing is an empty cell."""
    assert list(delimited_lines([["a", -1, 0.5, None]])) == ["a,-1,0.5,\n"]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [("a,b;c,d", ","), ("a;b;c", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a", ","), ('"a;b;c",d', ","), ("", ",")],
)
def test_delimiter_is_guessed_from_the_header(header: str, delimiter: str) -> None:
    """The delimiter that makes most columns is taken, quoted ones left aside."""
    assert guess_delimiter(header) == delimiter


def test_faults_have_lines_and_reading_goes_on() -> None:
    """A cell that goes on after its quotes is a fault on its line; rows after it are read, to an open quote."""
    lines = ["a,b\n", '"x"y,1\n', '"two\n', 'lines",2\n', '"open,3\n', "never closed\n"]
    rows = list(delimited_rows(lines, delimiter=","))
    assert [(row.line, row.last, row.fault is None) for row in rows] == [
        (1, 1, True),
        (2, 2, False),
        (3, 4, True),
        (5, 6, False),
    ]
    assert rows[2].cells == ("two\nlines", "2")
    assert "opens a cell here" in (rows[3].fault or "")


def test_records_stand_below_the_first_header_that_can_be_read() -> None:
    """Names are trimmed, cells are not; a row with other cells than the header is a fault, and reading goes on."""
    lines = [" id ; text \n", "\n", '7;" a;b"\n', "8\n", "9;\n"]
    assert list(delimited_records(lines)) == [
        DelimitedRecord(3, {"id": "7", "text": " a;b"}),
        DelimitedRecord(4, {}, "1 cells, and the header has 2"),
        DelimitedRecord(5, {"id": "9", "text": ""}),
    ]
    assert [record.values for record in delimited_records(["a,b\tc\n", "1\t2\n"], delimiter="\t")] == [
        {"a,b": "1", "c": "2"}
    ]
    assert list(delimited_records([])) == []


def test_long_cells_are_read() -> None:
    """A cell of a million characters is within bounds."""
    assert len(next(delimited_rows(["x" * 1_000_000], delimiter=",")).cells[0]) == 1_000_000


@pytest.mark.parametrize("header", ["query,gold\rlost badge,a.md\r", "\r", "a;b\rc", "x" * 17_000_000 + ",y"])
def test_no_header_is_beyond_guessing(header: str) -> None:
    """Old line ends and endless cells are told by the reader as a fault of a row; guessing never fails."""
    assert guess_delimiter(header) in (",", ";")
    if len(header) < 100:
        faults = [row.fault for row in delimited_rows([header], delimiter=",") if row.fault]
        assert all("carriage return" in fault for fault in faults)
