"""Tables in a terminal: cut into parts that fit, or a row on several lines."""

from collections.abc import Iterator

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from findback.reporting.bars import WIDTH, interval_bar
from findback.reporting.blocks import Table
from findback.reporting.figures import Cell, axis_mark
from findback.reporting.inert import QUERY_LIMIT
from findback.reporting.pen import NAME_WIDTH, Pen, hanging

_WIDE_NAME_WIDTH = 40
_ROOMY = 100
_GAP = 2
_PLAIN_RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


class TableView:
    """A table that is stacked, stripped of its bars or cut into parts until it fits the width."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table and its footnotes."""
        pen = Pen(options)
        notes: dict[str, int] = {}
        yield pen.write(self.table.title, "italic")
        for part in _parts(self.table, pen):
            yield _grid(part, pen, notes)
        for note, number in notes.items():
            yield hanging(f"{pen.footnote(number)} ", pen.write(note, "dim"))


def _name_width(pen: Pen) -> int:
    return _WIDE_NAME_WIDTH if pen.width >= _ROOMY else NAME_WIDTH


def _lines(cell: Cell, *, stacked: bool) -> list[str]:
    tails = [f"({tail})" for tail in cell.tail.split("; ") if tail]
    parts = [part for part in (cell.text, cell.extra, *tails) if part]
    return parts if stacked else [" ".join(parts)]


def _width(table: Table, at: int, pen: Pen, *, stacked: bool) -> int:
    column = table.columns[at]
    limit = _name_width(pen)
    sign = len(pen.footnote(1))
    if column.flexible or not column.numeric:
        longest = max(
            (cell_len(pen.plain(row[at].text, limit=limit)) + sign * bool(row[at].note) for row in table.rows),
            default=0,
        )
        return min(limit, max(longest, min(12, cell_len(column.head)))) + _GAP
    head = min(cell_len(pen.plain(column.head, limit=limit)), 10 if stacked else 16)
    lines = [
        cell_len(line) + (sign if row[at].note and not place else 0)
        for row in table.rows
        for place, line in enumerate(_lines(row[at], stacked=stacked))
    ]
    return max([head, *lines]) + _GAP


class _Part:
    """Columns of a table that fit side by side."""

    def __init__(self, table: Table, *, stacked: bool, bar: bool) -> None:
        self.table, self.stacked, self.bar = table, stacked, bar


def _parts(table: Table, pen: Pen) -> Iterator[_Part]:
    width = pen.width + _GAP
    room = sum(WIDTH + _GAP for column in table.columns if column.bar)
    for bar in (True, False) if room else (False,):
        for stacked in (False, True):
            used = sum(_width(table, at, pen, stacked=stacked) for at in range(len(table.columns)))
            if used + room * bar <= width:
                yield _Part(table, stacked=stacked, bar=bar)
                return
    first = _width(table, 0, pen, stacked=True)
    chunk: list[int] = []
    used = first
    for at in range(1, len(table.columns)):
        wide = _width(table, at, pen, stacked=True)
        if chunk and used + wide > width:
            yield _Part(_cut(table, chunk), stacked=True, bar=False)
            chunk, used = [], first
        chunk.append(at)
        used += wide
    yield _Part(_cut(table, chunk), stacked=True, bar=False)


def _cut(table: Table, chunk: list[int]) -> Table:
    keep = [0, *chunk]
    return table._replace(
        columns=tuple(table.columns[at] for at in keep),
        rows=tuple(tuple(row[at] for at in keep) for row in table.rows),
    )


def _grid(part: _Part, pen: Pen, notes: dict[str, int]) -> Grid:
    table = part.table
    grid = Grid(
        box=_PLAIN_RULE if pen.ascii_only else box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, _GAP - 1, 0, 0),
    )
    limit = _name_width(pen)
    for at, column in enumerate(table.columns):
        head = pen.write(column.head, limit=limit)
        grid.add_column(
            head,
            justify="right" if column.numeric else "left",
            width=max(1, _width(table, at, pen, stacked=part.stacked) - _GAP),
            overflow="fold",
        )
        if column.bar and part.bar:
            grid.add_column(pen.write(_scale(table.axis), "dim"), no_wrap=True, width=WIDTH)
    for row in table.rows:
        cells: list[RenderableType] = []
        for column, cell in zip(table.columns, row, strict=True):
            cells.append(
                _cell(
                    cell,
                    pen,
                    notes,
                    stacked=part.stacked,
                    limit=limit if not (column.flexible or column.numeric) else QUERY_LIMIT,
                )
            )
            if column.bar and part.bar:
                cells.append(Text(interval_bar(cell.reach, axis=table.axis, ascii_only=pen.ascii_only), style="blue"))
        grid.add_row(*cells)
    return grid


def _scale(axis: tuple[float, float]) -> str:
    left, middle, right = (axis_mark(value) for value in (axis[0], sum(axis) / 2, axis[1]))
    half = WIDTH // 2
    return (left + " " * (half - len(left)) + middle + " " * (WIDTH - half - len(middle) - len(right)) + right)[:WIDTH]


def _cell(cell: Cell, pen: Pen, notes: dict[str, int], *, stacked: bool, limit: int) -> Text:
    lines = [pen.plain(line, limit=limit) for line in _lines(cell, stacked=stacked)]
    if cell.note:
        number = notes.setdefault(cell.note, len(notes) + 1)
        lines[0] += pen.footnote(number)
    return Text("\n".join(lines))
