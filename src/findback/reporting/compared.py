"""A comparison laid out as a report."""

from collections.abc import Iterable, Sequence

from findback.model.compared import ComparedCase, ComparedPair, Comparison
from findback.model.estimate import Estimate
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    NONE,
    Cell,
    Reach,
    count_cell,
    estimate_cell,
    figure,
    interval,
    number_cell,
    plural,
    score_cell,
    text_cell,
    whole,
)
from findback.reporting.makeup import chosen, makeup_blocks
from findback.reporting.verdict import PAST, difference_cell, headline, name_pair, say_verdict

TYPES = ("wording", "answer", "language")
"""Types a terminal shows on request; where origins differ they always stand apart."""
MOST_PAIRS = 15
"""Beyond this many pairs only those with the leader are shown, unless all are asked for."""
_AXES = (0.02, 0.04, 0.06, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NEAR = 1e-9


def comparison_report(
    result: Comparison, *, types: Iterable[str] = (), examples: int | None = 3, every: bool = False
) -> Report:
    """Lay a comparison out.

    Args:
        result: What comparing gave.
        types: Axes of types to show besides origin; `all` shows every one.
        examples: Cases shown of each pair's wins, and of its losses; None shows all.
        every: Show every pair, however many there are.
    """
    wanted = set(TYPES) if "all" in set(types) else set(types)
    pairs = result.pairs if every else shown_pairs(result)
    axes = ("origin", *(axis for axis in TYPES if axis in wanted))
    sections = (
        Section("headline", "Headline", _headline(result)),
        Section("differences", "Differences", _differences(result, pairs)),
        Section("standing", "Who can be told apart", _standing(result)),
        Section("strata", "Past failures and everyday questions", _strata(pairs)),
        Section("power", "What this many cases can show", (_power(pairs),)),
        Section("cases", "Wins and losses", _cases(result, pairs, examples)),
        Section("metrics", "Other metrics (exploratory: intervals, no verdict)", _metrics(result, pairs)),
        Section("types", "By type (exploratory: intervals, no verdict)", _types(pairs, axes)),
        Section("exam", "What the exam is made of", _exam(result)),
        Section("legend", "What the names mean", (Points(result.legend), provenance(result))),
        Section("limits", "What this does not tell you", (Points(result.limits),)),
    )
    counting = "; documents confirmed to be the same count as one" if result.lenient else ""
    return Report(
        "Comparison",
        f"{result.set.heading}{counting}",
        tuple(section for section in sections if section.blocks),
        result.workspace,
    )


def shown_pairs(result: Comparison) -> tuple[ComparedPair, ...]:
    """Return the pairs a report shows: all of them, or those with the leader where there are many."""
    if len(result.pairs) <= MOST_PAIRS or result.baseline is not None:
        return result.pairs
    leader = result.pairs[0].first
    return tuple(pair for pair in result.pairs if leader in (pair.first, pair.second))


def _headline(result: Comparison) -> tuple[Block, ...]:
    said = Prose(headline(result), "headline")
    return (said, Points(result.notes)) if result.notes else (said,)


def _differences(result: Comparison, pairs: Sequence[ComparedPair]) -> tuple[Block, ...]:
    cells = [difference_cell(pair) for pair in pairs]
    widest = max((max(abs(cell.reach.low), abs(cell.reach.high)) for cell in cells if cell.reach), default=1.0)
    end = next((mark for mark in _AXES if mark >= widest), 1.0)
    rows = tuple(
        (
            text_cell(name_pair(pair.first, pair.second)),
            cell,
            number_cell(pair.p, reason="no case has a value for both"),
            text_cell(f"{whole(pair.wins)}–{whole(pair.losses)}"),
            text_cell(say_verdict(pair))._replace(note=None if pair.verdict == "identical" else pair.why or None),
        )
        for pair, cell in zip(pairs, cells, strict=True)
    )
    together = "95 % intervals that hold together" if len(result.pairs) > 1 else "95 % interval"
    columns = (
        Column("Pair", numeric=False, flexible=True),
        Column("difference", bar=True),
        Column("p"),
        Column("won–lost"),
        Column("verdict", numeric=False, flexible=True),
    )
    title = f"{result.label}, first minus second, {together}; a verdict is on the first"
    table = Table(title, columns, rows, axis=(-end, end))
    hidden = len(result.pairs) - len(pairs)
    if not hidden:
        return (table,)
    more = f"{plural(hidden, 'more pair')}: --all shows them; the groups below rest on every pair."
    return (table, Prose(more, "aside"))


def _standing(result: Comparison) -> tuple[Block, ...]:
    ranked = result.baseline is None
    rows = []
    for one in sorted(
        result.systems, key=lambda system: -(score_cell(system.score).reach or Reach(-1, -1, -1, -1)).left
    ):
        cells = [text_cell(one.name), score_cell(one.score, errors=one.failed)]
        if ranked:
            cells.append(text_cell(_ranks(one.first_rank, one.last_rank)))
            cells.append(text_cell(_letters(one.groups, len(result.groups))))
        if any(system.selected for system in result.systems):
            cells.append(count_cell(one.selected))
        rows.append(tuple(cells))
    columns = [Column("System", numeric=False, flexible=True), Column(result.label, bar=True)]
    if ranked:
        columns += [Column("rank"), Column("groups", numeric=False)]
    if any(system.selected for system in result.systems):
        columns.append(Column("selected on it"))
    words = "; systems that share a letter cannot be told apart" if ranked and result.groups else ""
    return (
        Table(f"{result.label} over the {whole(result.compared)} cases compared{words}", tuple(columns), tuple(rows)),
    )


def _ranks(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return NONE
    return str(first) if first == last else f"{first}–{last}"


def _letters(groups: Sequence[int], count: int) -> str:
    """Return a letter for each group a system is in, each in its own place.

    >>> _letters((0, 2), 3)
    'a·c'
    """
    return "".join(_LETTERS[at] if at in groups else "·" for at in range(min(count, len(_LETTERS))))


def _strata(pairs: Sequence[ComparedPair]) -> tuple[Block, ...]:
    named = [part for pair in pairs[:1] for part in pair.strata]
    if not named:
        return ()
    rows = []
    for pair in pairs:
        cells = [text_cell(name_pair(pair.first, pair.second))]
        for part in pair.strata:
            cells += [_bounded_cell(part.difference, part.low, part.high), text_cell(part.verdict)]
        rows.append(tuple(cells))
    columns = [Column("Pair", numeric=False, flexible=True)]
    for part in named:
        columns += [
            Column(f"{part.stratum} ({whole(part.cases)})"),
            Column("alone", numeric=False, flexible=True),
        ]
    title = "Cases chosen because a search failed, beside cases drawn at random from what did not"
    blocks: list[Block] = [Table(title, tuple(columns), tuple(rows))]
    if any(pair.verdict.endswith(PAST) for pair in pairs):
        blocks.append(
            Prose(
                "On cases chosen because a search with one system failed, another one looks better than it is. Such a"
                " verdict becomes a plain one when the control cases show the same by themselves.",
                "aside",
            )
        )
    return tuple(blocks)


def _bounded_cell(estimate: Estimate, low: float | None, high: float | None) -> Cell:
    if estimate.value is None:
        return Cell(interval(low, high, signed=True) or NONE, note=estimate.reason)
    ends = interval(low, high, signed=True)
    if not ends:
        return estimate_cell(estimate, signed=True)
    value = estimate.value
    reach = Reach(value if low is None else low, value, value, value if high is None else high)
    return Cell(figure(value, signed=True), ends, value=value, reach=reach)


def _power(pairs: Sequence[ComparedPair]) -> Table:
    rows = []
    for pair in pairs:
        needed = pair.needed
        more, outcome = count_cell(None, reason="settled"), text_cell(None)
        if needed is not None:
            more = count_cell(needed.cases, reason=needed.reason)
            outcome = text_cell(needed.outcome and needed.outcome + (", of control cases" if needed.control else ""))
        rows.append(
            (
                text_cell(name_pair(pair.first, pair.second)),
                number_cell(pair.detectable, reason="the spread of the differences is not known"),
                more._replace(note=None) if needed is None else more,
                outcome,
            )
        )
    columns = (
        Column("Pair", numeric=False, flexible=True),
        Column("detectable"),
        Column("more cases"),
        Column("would show", numeric=False, flexible=True),
    )
    title = "Difference found in 8 of 10 such sets, and cases that would settle an open pair if it is as it seems"
    return Table(title, columns, tuple(rows))


def _cases(result: Comparison, pairs: Sequence[ComparedPair], examples: int | None) -> tuple[Block, ...]:
    place = {one.name: at for at, one in enumerate(result.systems)}
    tables = []
    for pair in pairs:
        rows = list_gaps(result.cases, place[pair.first], place[pair.second])
        wins = [row for row in rows if row[0] > 0]
        losses = [row for row in reversed(rows) if row[0] < 0]
        kept = [*wins[:examples], *losses[:examples]]
        if kept:
            tables.append(_gap_table(pair, kept, (place[pair.first], place[pair.second])))
    return tuple(tables)


def list_gaps(cases: Iterable[ComparedCase], first: int, second: int) -> list[tuple[float, ComparedCase]]:
    """Return the cases on which two systems differ, with the difference, the first one's largest wins first."""
    found = []
    for case in cases:
        one, other = case.scores[first], case.scores[second]
        if one is not None and other is not None and abs(one - other) > _NEAR:
            found.append((one - other, case))
    return sorted(found, key=lambda row: (-row[0], row[1].question))


def _gap_table(pair: ComparedPair, rows: Sequence[tuple[float, ComparedCase]], places: tuple[int, int]) -> Table:
    cells = tuple(
        (
            text_cell(case.query),
            text_cell(case.question),
            Cell(figure(gap, signed=True), value=gap),
            *(count_cell(case.ranks[at], reason="no right document was returned") for at in places),
        )
        for gap, case in rows
    )
    title = (
        f"{name_pair(pair.first, pair.second)}: {whole(pair.wins)} won, {whole(pair.losses)} lost,"
        f" {whole(pair.ties)} even"
    )
    if len(rows) < pair.wins + pair.losses:
        title += "; the largest of each"
    columns = (
        Column("Query", numeric=False, flexible=True),
        Column("id", numeric=False, flexible=True),
        Column("difference"),
        Column(f"rank, {pair.first}"),
        Column(f"rank, {pair.second}"),
    )
    return Table(title, columns, cells)


def _metrics(result: Comparison, pairs: Sequence[ComparedPair]) -> tuple[Block, ...]:
    labels = [one.label for pair in pairs[:1] for one in pair.metrics]
    if not labels:
        return ()
    rows = tuple(
        (
            text_cell(name_pair(pair.first, pair.second)),
            *(estimate_cell(one.difference, signed=True) for one in pair.metrics),
        )
        for pair in pairs
    )
    columns = (Column("Pair", numeric=False, flexible=True), *(Column(label) for label in labels))
    return (Table(f"First minus second; verdicts rest on {result.label} alone", columns, rows),)


def _types(pairs: Sequence[ComparedPair], axes: Iterable[str]) -> tuple[Block, ...]:
    tables = []
    for axis in axes:
        values = [part for pair in pairs[:1] for part in pair.types if part.axis == axis]
        if not values:
            continue
        rows = tuple(
            (
                text_cell(name_pair(pair.first, pair.second)),
                *(
                    estimate_cell(part.difference, signed=True)._replace(note=part.difference.reason)
                    for part in pair.types
                    if part.axis == axis
                ),
            )
            for pair in pairs
        )
        heads = (Column(f"{part.value} ({whole(part.cases)})") for part in values)
        title = f"By {axis}; the intervals of one pair hold together"
        tables.append(Table(title, (Column("Pair", numeric=False, flexible=True), *heads), rows))
    return tuple(tables)


def _exam(result: Comparison) -> tuple[Block, ...]:
    how = Prose(f"How the cases were chosen: {chosen(result.set)}.")
    return (*makeup_blocks(result.set), how)


def provenance(result: Comparison) -> Facts:
    """Return what is needed to make the same comparison again."""
    corpus = result.corpus or "none"
    if result.corpus_digest:
        corpus += f", {result.corpus_digest[:19]}"
    facts: list[tuple[str, str]] = [
        ("Made", result.made.strftime("%Y-%m-%d %H:%M UTC")),
        ("findback", result.findback),
        ("Workspace", result.workspace),
        ("Corpus", corpus),
        ("Resamples, seed", f"{result.resamples}, {result.seed}"),
    ]
    for one in result.systems:
        said = [one.kind, f"configuration {one.config_digest}" if one.config_digest else "", f"run {one.run or NONE}"]
        counted = [
            plural(one.failed, "failed search", "failed searches") if one.failed else "",
            f"{plural(one.missing, 'case')} not in the run, counted as missed" if one.missing else "",
        ]
        facts.append((one.name, ", ".join(filter(None, (*said, *counted)))))
    return Facts(tuple(facts))
