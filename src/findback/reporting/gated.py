"""A gate's verdict laid out: in a sentence, as tables of ids, types and counts, and how it came about."""

from collections.abc import Iterator, Sequence

from findback.model.gated import GateComparison, Gated, GatedCase, GatedFloor
from findback.reporting.blocks import Block, Column, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    NONE,
    Cell,
    Reach,
    count_cell,
    figure,
    interval,
    number_cell,
    plural,
    text_cell,
    whole,
)
from findback.reporting.inert import inert

EXAMPLES = 10
"""Cases shown unless all are asked for."""
_NAMED = 8
_AXES = (0.02, 0.04, 0.06, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
_SEVERITY = ("fail", "undecided", "pass")


def gate_report(result: Gated, *, examples: int | None = EXAMPLES) -> Report:
    """Lay a verdict out.

    Args:
        result: What the gate found.
        examples: Changed cases shown of each comparison; None shows all.
    """
    sections = (
        Section("headline", f"Verdict: {result.verdict}", headline_blocks(result)),
        Section("comparisons", "Against what was before", comparison_blocks(result)),
        Section("floors", "Floors", floor_blocks(result)),
        Section("cases", "Cases that changed", case_blocks(result, examples=examples)),
        Section("types", "By type (counts, no verdict)", type_blocks(result)),
        Section("left-out", "Not compared", left_out_blocks(result)),
        Section("method", "How it was decided", (Points(result.method),)),
    )
    kept = tuple(section for section in sections if section.blocks)
    return Report("Gate", f"{result.retriever} on {result.heading}", kept, result.workspace)


def headline_blocks(result: Gated) -> tuple[Block, ...]:
    """Return what happened in sentences: the comparisons, floors that do not hold, notes."""
    held = [(one.verdict, say_comparison(result, one)) for one in result.comparisons]
    held += [(one.verdict, say_floor(one)) for one in result.floors if one.verdict != "pass"]
    several = len(result.comparisons) + len(result.floors) > 1
    held.sort(key=lambda one: _SEVERITY.index(one[0]))
    said = [f"{verdict}: {words}" if several else words for verdict, words in held]
    if result.failed:
        said.append(f"{plural(result.failed, 'search', 'searches')} failed: that is an error, not a loss.")
    notes = [*result.notes]
    if result.missing:
        notes.append(f"{plural(result.missing, 'case')} not in the run, counted as missed")
    if result.comparisons[0].verdict == "fail" and result.nightly is None:
        notes.append("if the loss is meant: findback evaluate NAME --publish NAME writes a new baseline to commit")
    blocks: list[Block] = [Prose(said[0], "headline")]
    if said[1:] or notes:
        blocks.append(Points((*said[1:], *notes)))
    return tuple(blocks)


def say_comparison(result: Gated, one: GateComparison) -> str:
    """Return one comparison in a sentence or three."""
    parts = [_say_bounds(result, one, say_against(one))]
    if one.lost or one.won:
        parts.append(f"{whole(one.lost)} of {plural(one.cases, 'case')} lost, {whole(one.won)} won.")
    if one.verdict == "undecided":
        parts.append(_say_needed(one))
    if result.policy == "significance":
        parts.append(_say_detectable(one))
    return " ".join(part for part in parts if part)


def say_against(one: GateComparison) -> str:
    """Return how a baseline is called."""
    return {"baseline": one.name, "anchor": f"the anchor {one.name}", "last night": "last night"}[one.role]


def _say_bounds(result: Gated, one: GateComparison, against: str) -> str:
    label, accepted = result.label, f"the {figure(result.margin, digits=2)} that is accepted"
    if one.difference is None or one.lower is None or one.upper is None:
        ends = interval(one.lowest, one.highest, signed=True)
        moved = f" moved by {ends}" if ends else " cannot be bounded"
        return f"{label}{moved} against {against}, {one.why}."
    if one.verdict == "fail":
        least = f"by {figure(max(-one.upper, 0.0), digits=2)} at least"
        return f"{label} fell by {figure(-one.difference)} against {against}, {least}."
    moved = f"{label} changed by {figure(one.difference, signed=True)} against {against}"
    worst = f"may have fallen by {figure(max(-one.lower, 0.0), digits=2)}"
    if one.why.startswith("identical"):
        tail = f"; others {worst}, more than {accepted}" if one.verdict == "undecided" else ""
        return f"{label} is {one.why}, against {against}{tail}."
    if one.verdict == "undecided":
        why = f" ({one.why})" if one.why else ""
        return f"{moved} and {worst}, more than {accepted}{why}."
    return f"{moved}: {_say_pass(result, one.lower)}."


def _say_pass(result: Gated, lower: float) -> str:
    if lower >= 0:
        return "it surely did not fall"
    least = figure(-lower, digits=2)
    if result.policy == "significance":
        return f"no loss is proven, though it may have fallen by {least}"
    return f"a fall of more than {least} is unlikely, and one of {figure(result.margin, digits=2)} is accepted"


def _say_needed(one: GateComparison) -> str:
    if one.errors:
        return "Ask again: failed searches leave no more than bounds."
    if one.needed is None:
        return ""
    if one.needed <= one.cases:
        return ""
    return f"The margin needs about {plural(one.needed, 'case')}; {whole(one.cases)} could be compared."


def _say_detectable(one: GateComparison) -> str:
    if one.detectable is None:
        return "No loss, however large, would surely have been caught with so few."
    return f"The smallest loss it would have caught in 8 of 10 such sets: {figure(one.detectable)}."


def say_floor(one: GatedFloor) -> str:
    """Return a floor in a sentence."""
    held = {"pass": "holds", "fail": "is below", "undecided": "may be below"}[one.verdict]
    mean = NONE if one.mean is None else figure(one.mean)
    ends = interval(one.lower, one.upper)
    why = f" ({one.why})" if one.why else ""
    figures = " ".join(part for part in (mean, ends) if part)
    floor = figure(one.floor, digits=2)
    return f"{one.axis} {one.value} {held} its floor of {floor}: {figures}, n = {whole(one.cases)}{why}."


def comparison_blocks(result: Gated) -> tuple[Block, ...]:
    """Return the table of comparisons."""
    cells = [_difference_cell(one) for one in result.comparisons]
    widest = max((max(abs(cell.reach.low), abs(cell.reach.high)) for cell in cells if cell.reach), default=1.0)
    end = next((mark for mark in _AXES if mark >= widest), 1.0)
    rows = tuple(
        (
            text_cell(say_against(one)),
            number_cell(one.before, reason="a search of the baseline failed"),
            number_cell(one.now, reason="a search failed"),
            cell,
            text_cell(f"{whole(one.lost)}–{whole(one.won)}"),
            count_cell(one.cases),
            number_cell(one.detectable, reason="no loss would surely be seen"),
            text_cell(one.verdict),
        )
        for one, cell in zip(result.comparisons, cells, strict=True)
    )
    columns = (
        Column("Against", numeric=False, flexible=True),
        Column("before"),
        Column("now"),
        Column("difference", bar=True),
        Column("lost–won"),
        Column("cases"),
        Column("detectable"),
        Column("verdict", numeric=False, flexible=True),
    )
    title = f"{result.label} of {result.retriever}, now minus before, with one-sided bounds"
    return (Table(title, columns, rows, axis=(-end, end)),)


def _difference_cell(one: GateComparison) -> Cell:
    ends = interval(one.lower, one.upper, signed=True) or "[too few]"
    left, right = (one.difference, one.difference) if one.difference is not None else (one.lowest, one.highest)
    if left is None or right is None:
        return Cell(NONE, note=one.why or "no pair")
    reach = Reach(left if one.lower is None else one.lower, left, right, right if one.upper is None else one.upper)
    if one.difference is not None:
        return Cell(figure(left, signed=True), ends, value=left, reach=reach)
    text = f"{figure(left, digits=2, signed=True)} to {figure(right, digits=2, signed=True)}"
    return Cell(text, ends, note=one.why, reach=reach)


def floor_blocks(result: Gated) -> tuple[Block, ...]:
    """Return the table of floors; nothing without any."""
    if not result.floors:
        return ()
    rows = tuple(
        (
            text_cell(f"{one.axis} {one.value}"),
            number_cell(one.floor, reason=None, digits=2),
            number_cell(one.mean, reason=one.why)._replace(extra=interval(one.lower, one.upper)),
            count_cell(one.cases),
            text_cell(one.verdict)._replace(note=one.why or None),
        )
        for one in result.floors
    )
    columns = (
        Column("Type", numeric=False, flexible=True),
        Column("floor"),
        Column(result.label),
        Column("cases"),
        Column("verdict", numeric=False, flexible=True),
    )
    return (Table(f"One-sided bounds, adjusted for {plural(len(rows), 'floor')} together", columns, rows),)


def case_blocks(result: Gated, *, examples: int | None = EXAMPLES) -> tuple[Block, ...]:
    """Return a table of changed cases for each comparison that has any."""
    return tuple(case_table(result, one, examples) for one in result.comparisons if one.changed)


def case_table(result: Gated, one: GateComparison, examples: int | None) -> Table:
    """Return the cases that changed, the largest losses first; ids and types, words only where they are there."""
    shown = one.changed[:examples]
    worded = any(case.query for case in shown)
    rows = tuple(_case_row(case, worded=worded) for case in shown)
    columns = [
        Column("Case", numeric=False, flexible=True),
        Column("wording", numeric=False),
        Column("answer", numeric=False),
        Column("stratum", numeric=False),
        Column("rank before"),
        Column("rank now"),
        Column(result.label),
    ]
    if worded:
        columns.append(Column("query", numeric=False, flexible=True))
    counted = f"{whole(one.lost)} lost, {whole(one.won)} won"
    more = f"; the first {whole(len(shown))}" if len(shown) < len(one.changed) else ""
    return Table(f"Against {say_against(one)}: {counted}{more}", tuple(columns), rows)


def _case_row(case: GatedCase, *, worded: bool) -> tuple[Cell, ...]:
    cells = [
        text_cell(case.question),
        text_cell(case.wording),
        text_cell(case.answer),
        text_cell(case.stratum),
        text_cell(say_rank(case.before, case.rank_before)),
        text_cell(say_rank(case.now, case.rank_now)),
        number_cell(case.gap, reason="a search failed", signed=True),
    ]
    return (*cells, text_cell(case.query)) if worded else tuple(cells)


def say_rank(score: float | None, rank: int | None) -> str:
    """Return where the best right document stood.

    >>> say_rank(0.5, 2), say_rank(0.0, None), say_rank(None, None)
    ('2', 'none', 'error')
    """
    return "error" if score is None else "none" if rank is None else whole(rank)


def say_types(case: GatedCase) -> str:
    """Return a case's types in a few words; empty where none is known."""
    return ", ".join(name for name in (case.wording, case.answer, case.stratum) if name)


def type_blocks(result: Gated) -> tuple[Block, ...]:
    """Return how each type fared against the first baseline; nothing where all cases are of one type."""
    first = result.comparisons[0]
    if not first.types:
        return ()
    rows = tuple(
        (text_cell(f"{one.axis} {one.value}"), count_cell(one.cases), count_cell(one.lost), count_cell(one.won))
        for one in first.types
    )
    columns = (Column("Type", numeric=False, flexible=True), Column("cases"), Column("lost"), Column("won"))
    return (Table(f"Against {say_against(first)}", columns, rows),)


def left_out_blocks(result: Gated) -> tuple[Block, ...]:
    """Return which cases could not be paired, and which were scored again; nothing where there are none."""
    said = tuple(line for one in result.comparisons for line in _left_out(one))
    return (Points(said),) if said else ()


def _left_out(one: GateComparison) -> Iterator[str]:
    for left in one.left_out:
        yield f"{say_against(one)}: {plural(len(left.cases), 'case')} left out, {left.why}: {list_ids(left.cases)}"
    if one.rescored:
        counted = plural(len(one.rescored), "case")
        yield f"{say_against(one)}: {counted} relabelled since, scored again on both sides: {list_ids(one.rescored)}"


def list_ids(ids: Sequence[str]) -> str:
    """Return ids as they stand in a sentence, not too many.

    >>> list_ids(["a", "b"]), list_ids("abcdefghij")
    ('a, b', 'a, b, c, d, e, f, g, h and 2 more')
    """
    if len(ids) <= _NAMED:
        return ", ".join(ids)
    return f"{', '.join(ids[:_NAMED])} and {whole(len(ids) - _NAMED)} more"


def say_result(result: Gated) -> str:
    """Return a whole verdict as lines of plain text: what happened, and the cases that lost most, by id and type."""
    lines = [inert(words) for block in headline_blocks(result) for words in _words(block)]
    for one in result.comparisons:
        if one.verdict != "pass":
            lines += [f"  {inert(say_case(case))}" for case in one.changed[:EXAMPLES]]
    return "\n".join(lines)


def _words(block: Block) -> tuple[str, ...]:
    return block.items if isinstance(block, Points) else (block.text,) if isinstance(block, Prose) else ()


def say_case(case: GatedCase) -> str:
    """Return how one case changed, in a line; its words only where the record holds them."""
    types = f" ({say_types(case)})" if say_types(case) else ""
    gap = "error" if case.gap is None else figure(case.gap, signed=True)
    ranks = f"rank {say_rank(case.before, case.rank_before)} to {say_rank(case.now, case.rank_now)}"
    return f"{case.question}{types} {gap}, {ranks}" + (f": {case.query}" if case.query else "")
