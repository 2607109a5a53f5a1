"""Reports in a terminal: rich renderables that fit 80 columns and never mean anything by colour alone."""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from findback.model.audit import Audit, CopiedExample
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation, Shown
from findback.model.generated import Generated
from findback.model.hits import Span
from findback.model.mined import Mined
from findback.reporting.audit import audit_report
from findback.reporting.bars import WIDTH, interval_bar, share_bar
from findback.reporting.blocks import (
    Block,
    Column,
    Copied,
    Facts,
    Missed,
    Mixes,
    Points,
    Prose,
    Report,
    Table,
)
from findback.reporting.compared import comparison_report
from findback.reporting.evaluation import evaluation_report
from findback.reporting.figures import NO_BREAK, Cell, axis_mark, figure, text_cell, whole
from findback.reporting.inert import EXTRACT_LIMIT, NAME_LIMIT, QUERY_LIMIT, inert, judge_command, pieces
from findback.reporting.mined import mined_report
from findback.reporting.written import written_report

_ASCII = str.maketrans(
    {
        "–": "-",
        "−": "-",
        "…": "...",
        "≥": ">=",
        "·": "|",
        "�": "?",
        "’": "'",
        "⚑": "*",
        "•": "*",
        "→": "->",
        NO_BREAK: " ",
    }
)
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NAME_WIDTH = 24
_WIDE_NAME_WIDTH = 40
_ROOMY = 100
_GAP = 2
_PLAIN_RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def audit_view(audit: Audit, *, examples: int = 5) -> "ReportView":
    """Return an audit as a rich renderable."""
    return ReportView(audit_report(audit, examples=examples))


def evaluation_view(evaluation: Evaluation, *, by: Iterable[str] = (), examples: int = 3) -> "ReportView":
    """Return an evaluation as a rich renderable.

    Args:
        evaluation: What to show.
        by: Axes of types to show besides what always stands apart; `all` shows every one.
        examples: Missed questions shown for each retriever.
    """
    return ReportView(evaluation_report(evaluation, by=by, examples=examples))


def comparison_view(result: Comparison, *, types: Iterable[str] = (), every: bool = False) -> "ReportView":
    """Return a comparison as a rich renderable.

    Args:
        result: What to show.
        types: Axes of types to show; `all` shows every one.
        every: Show every pair with every case that differs, not the most telling ones.
    """
    return ReportView(comparison_report(result, types=types, examples=None if every else 3, every=every))


def generated_view(result: Generated) -> "ReportView":
    """Return what a model wrote as a rich renderable."""
    return ReportView(written_report(result))


def mined_view(mined: Mined) -> "ReportView":
    """Return what mining gave as a rich renderable."""
    return ReportView(mined_report(mined))


def rows_view(title: str, heads: Sequence[str], rows: Iterable[Sequence[str | None]]) -> "TableView":
    """Return a small list as a table; None is a dash."""
    columns = tuple(Column(head, numeric=False, flexible=True) for head in heads)
    return TableView(Table(title, columns, tuple(tuple(text_cell(value) for value in row) for row in rows)))


class Pen:
    """Writes text for one console: inert, and in ASCII where the terminal has no more."""

    def __init__(self, options: ConsoleOptions) -> None:
        self.ascii_only = options.ascii_only
        self.width = options.max_width

    def write(self, text: str, style: str = "", *, limit: int = 2_000) -> Text:
        """Return text that cannot command the terminal."""
        return Text(self.plain(text, limit=limit), style=style)

    def plain(self, text: str, *, limit: int = 2_000) -> str:
        """Return the characters `write` would show."""
        safe = inert(text, limit=limit)
        if not self.ascii_only:
            return safe
        return safe.translate(_ASCII).encode("ascii", "replace").decode("ascii")

    def paragraph(self, text: str, style: str = "", *, less: int = 0) -> Text:
        """Return text wrapped at its plain spaces, so that an interval stays on one line."""
        lines = [""]
        for word in inert(text).split(" "):
            grown = f"{lines[-1]} {word}" if lines[-1] else word
            if cell_len(grown) > self.width - less and lines[-1]:
                lines.append(word)
            else:
                lines[-1] = grown
        return Text("\n".join(self.plain(line, limit=len(line) + 1) for line in lines), style=style)

    def footnote(self, number: int) -> str:
        """Return the sign of a footnote."""
        return f"({number})" if self.ascii_only else str(number).translate(_SUPERSCRIPT)

    def marked(self, text: str, marks: Iterable[Span], *, limit: int) -> Text:
        """Return text with its marks in brackets and bold, so that they are seen without colour too."""
        shown = Text()
        for piece in pieces(text, marks, limit=limit):
            if piece.marked:
                shown.append(f"[{self.plain(piece.text)}]", style="bold underline")
            else:
                shown.append(self.plain(piece.text))
        return shown


class ReportView:
    """A whole report."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield title and sections, without blanks at the ends of lines."""
        for shown in self._shown(Pen(options)):
            for line in console.render_lines(shown, options, pad=False):
                yield from _trimmed(line)
                yield Segment.line()

    def _shown(self, pen: Pen) -> Iterator[RenderableType]:
        yield Text.assemble(pen.write(self.report.title, "bold"), "  ", pen.write(self.report.heading))
        for section in self.report.sections:
            yield Text()
            title = pen.write(section.title, "bold")
            yield title
            yield Text(("-" if pen.ascii_only else "─") * min(pen.width, cell_len(title.plain)), style="dim")
            for at, block in enumerate(section.blocks):
                if at and isinstance(block, Table | Copied | Missed | Mixes):
                    yield Text()
                yield from _block(block, pen)


def _trimmed(line: list[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.rstrip(" "):
        kept.pop()
    if kept:
        kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip(" "))
    return kept


def _block(block: Block, pen: Pen) -> Iterator[RenderableType]:
    match block:
        case Prose(text, tone):
            yield pen.paragraph(text, {"headline": "bold", "aside": "dim"}.get(tone, ""))
        case Points(items):
            mark = "* " if pen.ascii_only else "• "
            for item in items:
                yield _hanging(mark, pen.paragraph(item, less=len(mark)))
        case Facts(items):
            yield _facts(items, pen)
        case Mixes(_, mixes):
            for mix in mixes:
                yield _mix(mix.axis, [(count.name, count.count) for count in mix.counts], pen)
        case Table():
            yield TableView(block)
        case Copied(example):
            yield from _copied(example, pen)
        case Missed():
            yield from _missed(block, pen)


def _hanging(mark: str, text: Text) -> Grid:
    grid = Grid.grid(padding=0)
    grid.add_column(width=len(mark), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), text)
    return grid


def _facts(items: tuple[tuple[str, str], ...], pen: Pen) -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(max_width=26, overflow="fold")
    grid.add_column(overflow="fold")
    for name, value in items:
        grid.add_row(pen.write(name, "dim", limit=NAME_LIMIT), pen.write(value, limit=QUERY_LIMIT))
    return grid


def _mix(axis: str, counts: list[tuple[str, int]], pen: Pen) -> Grid:
    total = sum(count for _, count in counts)
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=12, overflow="fold")
    grid.add_column(max_width=_NAME_WIDTH, overflow="fold", min_width=16)
    grid.add_column(justify="right", no_wrap=True, min_width=5)
    grid.add_column(justify="right", no_wrap=True, min_width=5)
    grid.add_column(no_wrap=True)
    for at, (name, count) in enumerate(counts):
        share = count / total if total else 0.0
        grid.add_row(
            pen.write(axis if at == 0 else "", "dim", limit=NAME_LIMIT),
            pen.write(name, limit=NAME_LIMIT),
            whole(count),
            figure(share) if total else pen.plain("–"),
            Text(share_bar(share, width=WIDTH, ascii_only=pen.ascii_only), style="blue"),
        )
    return grid


def _copied(example: CopiedExample, pen: Pen) -> Iterator[RenderableType]:
    leak = "–" if example.leak is None else figure(example.leak)
    overlap = "–" if example.overlap is None else figure(example.overlap)
    facts = f"leak {leak}, overlap {overlap}, rare words {example.rare_words}"
    yield Text.assemble(pen.write(example.question, "bold", limit=NAME_LIMIT), "  ", pen.write(facts, "dim"))
    yield _indented("asked", pen.marked(example.query, example.query_marks, limit=QUERY_LIMIT), pen)
    yield _indented("gold", _named(example.document, example.title, pen), pen)
    yield _indented("", pen.marked(example.extract, example.extract_marks, limit=EXTRACT_LIMIT), pen)


def _missed(missed: Missed, pen: Pen) -> Iterator[RenderableType]:
    miss, place = missed.miss, missed.place
    kind = ", ".join(filter(None, (miss.kind, missed.others and f"({missed.others})", miss.wording)))
    yield Text.assemble(
        pen.write(missed.names, "bold", limit=QUERY_LIMIT),
        "  ",
        pen.write(miss.question, limit=NAME_LIMIT),
        "  ",
        pen.write(kind, "dim", limit=QUERY_LIMIT),
    )
    yield _indented("asked", pen.write(miss.query, limit=QUERY_LIMIT), pen)
    for gold in miss.gold:
        yield _indented("gold", _shown(gold, pen), pen)
    if len(missed.retrievers) > 1 and miss.instead:
        yield _indented("instead", pen.write(f"of {missed.best}:", "dim", limit=NAME_LIMIT), pen)
    for other in miss.instead:
        yield _indented("instead" if len(missed.retrievers) == 1 else "", _shown(other, pen), pen)
        command = judge_command(miss.question, other.document, 3, place)
        if command is not None and other is miss.instead[0]:
            yield _indented("also right", pen.write(command, "dim", limit=4_000), pen)
    for gold in miss.gold[:1]:
        command = judge_command(miss.question, gold.document, 0, place)
        if command is not None:
            yield _indented("gold wrong", pen.write(command, "dim", limit=4_000), pen)
    yield _indented("why", pen.write(miss.why), pen)


def _named(document: str, title: str | None, pen: Pen) -> Text:
    name = pen.write(document, limit=NAME_LIMIT)
    return (
        name
        if not title
        else Text.assemble(pen.write(title, limit=NAME_LIMIT), "  ", pen.write(document, "dim", limit=NAME_LIMIT))
    )


def _shown(shown: Shown, pen: Pen) -> Text:
    rank = "not returned" if shown.rank is None else f"rank {shown.rank}"
    return Text.assemble(_named(shown.document, shown.title, pen), "  ", pen.write(rank, "dim"))


def _indented(label: str, text: Text, pen: Pen) -> Padding:
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=10, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(pen.write(label, "dim"), text)
    return Padding(grid, (0, 0, 0, 2))


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
            yield _hanging(f"{pen.footnote(number)} ", pen.write(note, "dim"))


def _name_width(pen: Pen) -> int:
    return _WIDE_NAME_WIDTH if pen.width >= _ROOMY else _NAME_WIDTH


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
