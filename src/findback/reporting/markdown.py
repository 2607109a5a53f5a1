"""Reports as Markdown: texts of users and documents stand in code spans, where nothing is markup."""

import re
from collections.abc import Iterable, Iterator

from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation, Shown
from findback.model.generated import Generated
from findback.model.hits import Span
from findback.reporting.audit import audit_report
from findback.reporting.blocks import Block, Copied, Facts, Missed, Mixes, Points, Prose, Report, Table
from findback.reporting.compared import comparison_report
from findback.reporting.evaluation import evaluation_report
from findback.reporting.figures import NONE, Cell, figure, whole
from findback.reporting.inert import EXTRACT_LIMIT, NAME_LIMIT, QUERY_LIMIT, inert, judge_command, pieces
from findback.reporting.written import written_report

_MARKUP = re.compile(r"([\\`*_\[~$])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_LINK = re.compile(r"(?i)(?<!\w)@(?=\w)|@(?=[\w-]+\.\w)|://|www\.|mailto:|xmpp:")
_TICKS = re.compile(r"`+")
_LINE_START = re.compile(r"^(\s*\d*)([-+=:#]|(?<=\d)[.)](?=\s|$))")


def render_markdown(
    record: Audit | Comparison | Evaluation | Generated, *, by: Iterable[str] = (), examples: int = 10
) -> str:
    """Return an audit, evaluation, comparison or what a model wrote as Markdown (GitHub's dialect: tables).

    Args:
        record: What to render.
        by: Axes of types to show, of an evaluation or comparison.
        examples: How many worst cases, misses of each retriever, or wins and losses of each pair, to show.
    """
    if isinstance(record, Audit):
        report = audit_report(record, examples=examples, histograms=True)
    elif isinstance(record, Generated):
        report = written_report(record)
    elif isinstance(record, Comparison):
        report = comparison_report(record, types=by, examples=examples)
    else:
        report = evaluation_report(record, by=by, examples=examples)
    return lay_out(report)


def lay_out(report: Report) -> str:
    """Return a report as Markdown."""
    return "\n".join(_lines(report)).rstrip("\n") + "\n"


def prose(text: str, *, limit: int = 2_000) -> str:
    r"""Return text as Markdown that shows it literally: no emphasis, links, mentions or HTML.

    >>> print(prose("a *b* | <c> @d"))
    a \*b\* &#124; &lt;c&gt; @<!-- -->d
    """
    safe = inert(text, limit=limit)
    escaped = "".join(_ENTITIES.get(letter) or _MARKUP.sub(r"\\\1", letter) for letter in safe)
    started = _LINE_START.sub(r"\1\\\2", escaped)
    return _LINK.sub(lambda found: f"{found[0][0]}<!-- -->{found[0][1:]}", started)


def code(text: str, *, limit: int = NAME_LIMIT) -> str:
    """Return text as a code span, whatever backticks it holds.

    >>> code("a`b"), code("")
    ('`` a`b ``', '–')
    """
    safe = inert(text, limit=limit).strip()
    if not safe:
        return NONE
    fence = "`" * (max((len(run) for run in _TICKS.findall(safe)), default=0) + 1)
    gap = " " if "`" in safe else ""
    return f"{fence}{gap}{safe}{gap}{fence}"


def render_block(block: Block) -> Iterator[str]:
    """Yield the lines of one block, for Markdown that is put together elsewhere."""
    yield from _block(block)


def _marked(text: str, marks: Iterable[Span], *, limit: int) -> str:
    shown = "".join(f"[{p.text}]" if p.marked else p.text for p in pieces(text, marks, limit=limit))
    return code(shown, limit=2 * limit)


def _lines(report: Report) -> Iterator[str]:
    yield f"# {prose(report.title)}: {prose(report.heading)}"
    for section in report.sections:
        yield ""
        yield f"## {prose(section.title)}"
        for block in section.blocks:
            yield ""
            yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Prose(text, tone):
            yield f"**{prose(text)}**" if tone == "headline" else prose(text)
        case Points(items):
            yield from (f"- {prose(item)}" for item in items)
        case Facts(items):
            yield from (
                f"- {prose(name, limit=NAME_LIMIT)}: {prose(value, limit=QUERY_LIMIT)}" for name, value in items
            )
        case Mixes(_, mixes):
            for mix in mixes:
                total = sum(count.count for count in mix.counts)
                yield _item(mix.axis, ", ".join(_counted(c.name, c.count, total) for c in mix.counts))
        case Table():
            yield from _table(block)
        case Copied(example):
            leak = NONE if example.leak is None else figure(example.leak)
            overlap = NONE if example.overlap is None else figure(example.overlap)
            facts = f"leak {leak}, overlap {overlap}, rare words {example.rare_words}"
            yield f"- {code(example.question)}: {facts}"
            yield f"  - asked: {_marked(example.query, example.query_marks, limit=QUERY_LIMIT)}"
            yield f"  - gold: {_named(example.document, example.title)}"
            yield f"  - extract: {_marked(example.extract, example.extract_marks, limit=EXTRACT_LIMIT)}"
        case Missed():
            yield from _missed(block)


def _item(name: str, shown: str) -> str:
    return f"- {prose(name, limit=NAME_LIMIT)}: {shown}"


def _counted(name: str, count: int, total: int) -> str:
    return f"{prose(name, limit=NAME_LIMIT)} {whole(count)} ({figure(count / total) if total else NONE})"


def _table(table: Table) -> Iterator[str]:
    notes: dict[str, int] = {}
    yield f"**{prose(table.title)}**"
    yield ""
    yield _row(prose(column.head, limit=NAME_LIMIT) for column in table.columns)
    yield _row("---:" if column.numeric else "---" for column in table.columns)
    for row in table.rows:
        yield _row(_cell(cell, notes) for cell in row)
    if notes:
        yield ""
        yield from (f"({number}) {prose(note)}  " for note, number in notes.items())


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, notes: dict[str, int]) -> str:
    tail = f"({cell.tail})" if cell.tail else ""
    shown = " ".join(prose(part, limit=QUERY_LIMIT) for part in (cell.text, tail, cell.extra) if part)
    if not cell.note:
        return shown
    return f"{shown} ({notes.setdefault(cell.note, len(notes) + 1)})"


def _named(document: str, title: str | None) -> str:
    return f"{code(title)}, {code(document)}" if title else code(document)


def _shown(shown: Shown) -> str:
    rank = "not returned" if shown.rank is None else f"rank {shown.rank}"
    extract = f": {code(shown.extract, limit=EXTRACT_LIMIT)}" if shown.extract else ""
    return f"{_named(shown.document, shown.title)}, {rank}{extract}"


def _missed(missed: Missed) -> Iterator[str]:
    miss = missed.miss
    wording = f", {prose(miss.wording, limit=NAME_LIMIT)}" if miss.wording else ""
    others = f" ({prose(missed.others, limit=QUERY_LIMIT)})" if missed.others else ""
    kind = f"{prose(miss.kind)}{others}{wording}"
    yield f"- {prose(missed.names, limit=QUERY_LIMIT)}, {code(miss.question)}: {kind}"
    yield f"  - asked: {code(miss.query, limit=QUERY_LIMIT)}"
    instead = "instead" if len(missed.retrievers) == 1 else f"instead, of {prose(missed.best, limit=NAME_LIMIT)}"
    for label, shown, grade, remark in (
        *(("gold", gold, 0, "gold is wrong") for gold in miss.gold),
        *((instead, other, 3, "also right") for other in miss.instead),
    ):
        yield f"  - {label}: {_shown(shown)}"
        command = judge_command(miss.question, shown.document, grade, missed.place)
        if command is not None:
            yield f"    - {remark}? {code(command, limit=len(command) + 1)}"
    yield f"  - why: {prose(miss.why)}"
