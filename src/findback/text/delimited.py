"""Delimited text (CSV, TSV): one writer and one reader for everything findback exchanges.

A spreadsheet runs a cell that starts with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula.
The writer puts an apostrophe before such a text, the reader takes it away again, and a text that already
starts like a guarded one gets one more apostrophe, so that every text comes back as it was.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from findback.text.safe import show_in_place

Cell = str | int | float | None

DELIMITERS = (",", ";", "\t", "|")
"""Delimiters that are recognised, most likely first."""

CELL_LIMIT = 16_000_000
"""Most characters one cell may have."""

# The writer quotes a cell that holds any of these, and a bare carriage return needs that as much as a line feed.
_END = "\r\n"
_RISKY = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


class DelimitedRow(NamedTuple):
    """One record of a delimited file."""

    line: int
    """1-based line on which it starts; a quoted cell may run over several."""
    last: int
    """Line on which it ends."""
    cells: tuple[str, ...]
    fault: str | None = None
    """Why the record could not be read, or None; it then has no cells."""


class DelimitedRecord(NamedTuple):
    """One record below a header."""

    line: int
    """1-based line on which it starts."""
    values: dict[str, str]
    """Its cells by the names of the header."""
    fault: str | None = None
    """Why it could not be read, or None; it then has no values."""


def guard_cell(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula.

    >>> guard_cell("=1+1"), guard_cell("'=1+1"), guard_cell("a=b")
    ("'=1+1", "''=1+1", 'a=b')
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguard_cell(text: str) -> str:
    """Return the text a guarded cell stands for.

    >>> unguard_cell("'=1+1"), unguard_cell("''=1+1"), unguard_cell("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return text[1:] if _GUARDED.match(text) else text


def delimited_lines(
    rows: Iterable[Sequence[Cell]], *, delimiter: str = ",", guarded: bool = True, shown: bool = False
) -> Iterator[str]:
    r"""Yield each row as text that ends in a line feed; None is an empty cell, numbers are not guarded.

    Args:
        rows: Header first.
        delimiter: One character.
        guarded: Guard texts against being run as formulas; off only for formats with rules of their own.
        shown: Make what could steer a terminal or reorder a line visible, for files that people read and no program
            reads back.

    >>> list(delimited_lines([["query", "rating"], ["-h prints nothing", -1]]))
    ['query,rating\n', "'-h prints nothing,-1\n"]
    >>> list(delimited_lines([["\x1b[2J=1"]], shown=True))
    ['␛[2J=1\n']
    """

    def written(cell: Cell) -> Cell:
        if not isinstance(cell, str):
            return cell
        text = show_in_place(cell) if shown else cell
        return guard_cell(text) if guarded else text

    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=_END)
    for row in rows:
        writer.writerow([written(cell) for cell in row])
        yield buffer.getvalue().removesuffix(_END) + "\n"
        buffer.seek(0)
        buffer.truncate()


def guess_delimiter(header: str) -> str:
    r"""Return the delimiter that cuts a header line into most cells; a comma when nothing cuts it.

    >>> guess_delimiter('query;"doc, id";rating'), guess_delimiter("query")
    (';', ',')
    >>> guess_delimiter("query;gold\rlost badge;a.md")
    ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _count_cells(header, delimiter))


def _count_cells(header: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([header], delimiter=delimiter), []))
    except csv.Error:
        # A lone carriage return or an endless cell: what is wrong is said by whoever reads the rows.
        return header.count(delimiter) + 1


def delimited_rows(lines: Iterable[str], *, delimiter: str, guarded: bool = True) -> Iterator[DelimitedRow]:
    r"""Yield each record, header included; blank lines are passed over.

    A record that breaks the quoting rules comes with its fault instead of cells; reading goes on after it.

    Args:
        lines: Lines with their line ends, so that a quoted cell keeps its own.
        delimiter: One character.
        guarded: Take the formula guard away.

    >>> [row.cells for row in delimited_rows(["a,b\n", "1,'=2\n"], delimiter=",")]
    [('a', 'b'), ('1', '=2')]
    """
    # The module's own limit of 131,072 characters is process-wide and only ever raised here.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield DelimitedRow(start, reader.line_num, (), _explain(str(error)))
            continue
        if cells:
            yield DelimitedRow(start, reader.line_num, tuple(map(unguard_cell, cells) if guarded else cells))


def delimited_records(lines: Iterable[str], *, delimiter: str | None = None) -> Iterator[DelimitedRecord]:
    r"""Yield each record below the header, which is the first that can be read.

    Args:
        lines: Lines with their line ends.
        delimiter: One character; guessed from the first line when None.

    >>> [record.values or record.fault for record in delimited_records(["id;a\n", "7;x;y\n", "8;z\n"])]
    ['3 cells, and the header has 2', {'id': '8', 'a': 'z'}]
    """
    rest = iter(lines)
    first = next(rest, "")
    header: tuple[str, ...] | None = None
    for row in delimited_rows(chain([first], rest), delimiter=delimiter or guess_delimiter(first)):
        if row.fault is not None:
            yield DelimitedRecord(row.line, {}, row.fault)
        elif header is None:
            header = tuple(cell.strip() for cell in row.cells)
        elif len(row.cells) != len(header):
            yield DelimitedRecord(row.line, {}, f"{len(row.cells)} cells, and the header has {len(header)}")
        else:
            yield DelimitedRecord(row.line, dict(zip(header, row.cells, strict=True)))


def _explain(message: str) -> str:
    if "unexpected end of data" in message:
        return "a quotation mark opens a cell here and nothing closes it before the file ends"
    if "field larger" in message:
        return f"a cell has more than {CELL_LIMIT:,} characters"
    if "new-line character" in message:
        return "a carriage return stands inside an unquoted cell (line ends must be LF or CRLF)"
    return "a quoted cell goes on after its closing quotation mark"
