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
from findback.model.mined import Mined
from findback.reporting.audit import audit_report
from findback.reporting.bars import WIDTH, share_bar
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
from findback.reporting.figures import figure, text_cell, whole
from findback.reporting.inert import EXTRACT_LIMIT, NAME_LIMIT, QUERY_LIMIT, judge_command
from findback.reporting.mined import mined_report
from findback.reporting.pen import NAME_WIDTH, Pen, hanging
from findback.reporting.terminaltable import TableView
from findback.reporting.written import written_report

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


def rows_view(title: str, heads: Sequence[str], rows: Iterable[Sequence[str | None]]) -> TableView:
    """Return a small list as a table; None is a dash."""
    columns = tuple(Column(head, numeric=False, flexible=True) for head in heads)
    return TableView(Table(title, columns, tuple(tuple(text_cell(value) for value in row) for row in rows)))


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
                yield hanging(mark, pen.paragraph(item, less=len(mark)))
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
    grid.add_column(max_width=NAME_WIDTH, overflow="fold", min_width=16)
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
