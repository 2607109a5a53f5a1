"""An item analysis laid out as a report."""

from collections.abc import Sequence

from findback.model.evaluation import Score
from findback.model.items import AgainstCase, ItemAnalysis, ItemCase, ItemSystem, SentItems
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    NONE,
    Cell,
    Reach,
    count_cell,
    estimate_cell,
    figure,
    interval,
    plural,
    score_cell,
    spoken,
    text_cell,
    whole,
)
from findback.reporting.makeup import makeup_blocks
from findback.reporting.verdict import list_names

SHOWN = 10
"""Rows of each list that are shown unless all are asked for."""
NAMED = 3
"""Systems that are named in a list; more are counted, and JSON has them all."""
_ID, _QUERY = Column("id", numeric=False, flexible=True), Column("Query", numeric=False, flexible=True)


def items_report(result: ItemAnalysis, *, every: bool = False) -> Report:
    """Lay an item analysis out.

    Args:
        result: What looking at cases gave.
        every: Show every case and document, however many there are.
    """
    most = None if every else SHOWN
    sections = (
        Section("headline", "Headline", _headline(result)),
        Section("against", "Strong systems miss it, weak ones solve it: the gold may be wrong", _against(result, most)),
        Section("second", "Nobody judged it, several systems rank it first: it may answer too", _second(result, most)),
        Section("nobody", "Nobody solves it", _cases(result.nobody, result, most)),
        Section("heavy", "Documents that answer suspiciously many cases", _heavy(result, most)),
        Section(
            "everybody", "Everybody solves it: it tells no two systems apart", _cases(result.everybody, result, most)
        ),
        Section("floors", "What a retriever that does not read the question would score", (_floors(result),)),
        Section("exam", "What the exam is made of", makeup_blocks(result.set)),
        Section("legend", "What the names mean", (Points(result.legend), _provenance(result))),
        Section("limits", "What this does not tell you", (Points(result.limits),)),
    )
    return Report(
        "Item analysis",
        result.set.heading,
        tuple(section for section in sections if section.blocks),
        result.workspace,
    )


def say_items(result: ItemAnalysis) -> str:
    """Return what was found, in a few sentences."""
    systems = plural(len(result.systems), "system")
    solved, missed = whole(len(result.everybody)), whole(len(result.nobody))
    parts = [f"Of {plural(result.cases, 'case')}, {systems} all solve {solved} and none solves {missed}."]
    if result.reason is None:
        chance = "" if result.by_chance is None else f" (about {result.by_chance:.1f} by chance)"
        parts.append(f"{whole(len(result.against))} go against the others{chance}.")
    parts.append(f"Several systems rank {plural(len(result.second), 'unjudged document')} first.")
    parts.append(f"{plural(len(result.heavy), 'document answers', 'documents answer')} suspiciously many cases.")
    return " ".join(parts)


def say_sent(sent: SentItems) -> str:
    """Return how many cases were sent to be looked at again."""
    said = (
        f"{plural(sent.cases, 'case')} sent to be looked at again, {whole(sent.random)} of them drawn at random;"
        " which is which is said nowhere."
    )
    return said + (f" {plural(sent.waiting, 'more waits', 'more wait')} for another time." if sent.waiting else "")


def _headline(result: ItemAnalysis) -> tuple[Block, ...]:
    facts = [
        ("Solved by everybody", _share(estimate_cell(result.everybody_share), result.everybody_share.n)),
        ("Solved by nobody", _share(estimate_cell(result.nobody_share), result.nobody_share.n)),
    ]
    if result.reason is not None:
        facts.append(("Against the others", f"not looked at: {result.reason}"))
    blocks: list[Block] = [Prose(say_items(result), "headline"), Facts(tuple(facts))]
    notes = list(result.notes)
    if result.failed:
        notes.append(f"{plural(result.failed, 'case')} left out where single cases are listed: a search failed")
    blocks += [Points(tuple(notes))] if notes else []
    beaten = [one.name for one in result.systems if _not_ahead(one)]
    if beaten:
        verb = "is" if len(beaten) == 1 else "are"
        blind = "a retriever that does not read the question"
        blocks.append(Prose(f"{list_names(beaten, 'and')} {verb} not shown to be better than {blind}."))
    return tuple(blocks)


def _not_ahead(system: ItemSystem) -> bool:
    ahead = system.ahead
    return ahead is not None and ahead.value is not None and (ahead.low is None or ahead.low <= 0)


def _share(cell: Cell, cases: int) -> str:
    return f"{spoken(cell)}, n {whole(cases)}"


def _against(result: ItemAnalysis, most: int | None) -> tuple[Block, ...]:
    if not result.against:
        return ()
    rows = tuple(
        (text_cell(one.case.query), text_cell(one.case.question), _correlation(one), _solvers(one.case, result))
        for one in result.against[:most]
    )
    columns = (_QUERY, _ID, Column("correlation"), Column("solved by", numeric=False, flexible=True))
    chance = "" if result.by_chance is None else f"; about {result.by_chance:.1f} would be by chance"
    title = f"{whole(len(result.against))} of {plural(result.rated, 'case')} on which systems differ{chance}"
    return _with_rest(Table(title, columns, rows, axis=(-1.0, 1.0)), len(result.against))


def _correlation(one: AgainstCase) -> Cell:
    reach = Reach(one.low, one.correlation, one.correlation, one.high)
    ends = interval(one.low, one.high, signed=True)
    return Cell(figure(one.correlation, signed=True), ends, value=one.correlation, reach=reach)


def _solvers(case: ItemCase, result: ItemAnalysis) -> Cell:
    named = zip((one.name for one in result.systems), case.scores, strict=True)
    return _name_few([name for name, score in named if score], result)


def _name_few(names: Sequence[str], result: ItemAnalysis) -> Cell:
    """Return the names of some systems, or how many they are where names would fill the line."""
    return text_cell(", ".join(names) if len(names) <= NAMED else f"{len(names)} of {len(result.systems)}")


def _second(result: ItemAnalysis, most: int | None) -> tuple[Block, ...]:
    if not result.second:
        return ()
    rows = tuple(
        (
            text_cell(one.query),
            text_cell(one.question),
            text_cell(one.document),
            _name_few(one.systems, result),
        )
        for one in result.second[:most]
    )
    columns = (
        _QUERY,
        _ID,
        Column("document", numeric=False, flexible=True),
        Column("first for", numeric=False, flexible=True),
    )
    cases = len({one.question for one in result.second})
    title = f"{plural(len(result.second), 'document')} for {plural(cases, 'case')} of {whole(result.cases)}"
    return _with_rest(Table(title, columns, rows), len(result.second))


def _cases(cases: Sequence[ItemCase], result: ItemAnalysis, most: int | None) -> tuple[Block, ...]:
    if not cases:
        return ()
    rows = tuple(
        (text_cell(one.query), text_cell(one.question), text_cell(", ".join(one.golds))) for one in cases[:most]
    )
    columns = (_QUERY, _ID, Column("gold", numeric=False, flexible=True))
    title = f"{whole(len(cases))} of {plural(result.cases - result.failed, 'case')}"
    return _with_rest(Table(title, columns, rows), len(cases))


def _heavy(result: ItemAnalysis, most: int | None) -> tuple[Block, ...]:
    if not result.heavy:
        return ()
    rows = tuple(
        (
            text_cell(one.document),
            count_cell(one.clusters),
            Cell(f"{one.expected:.1f}", value=one.expected),
            count_cell(len(one.questions)),
        )
        for one in result.heavy[:most]
    )
    columns = (
        Column("Document", numeric=False, flexible=True),
        Column("clusters"),
        Column("on average"),
        Column("cases"),
    )
    title = f"Clusters of cases that a document answers, of {whole(result.clusters)}, and what one answers on average"
    return _with_rest(Table(title, columns, rows), len(result.heavy))


def _floors(result: ItemAnalysis) -> Table:
    rows = [
        (text_cell(name), score_cell(score, errors=errors), ahead)
        for name, score, errors, ahead in sorted(_scores(result), key=lambda row: -(row[1].estimate.value or 0.0))
    ]
    columns = (
        Column("System", numeric=False, flexible=True),
        Column(result.label, bar=True),
        Column("ahead of the higher floor"),
    )
    return Table(
        f"{result.label} over {plural(result.cases, 'case')}; floors return the same whatever is asked",
        columns,
        tuple(rows),
    )


def _scores(result: ItemAnalysis) -> list[tuple[str, Score, int, Cell]]:
    systems = [(one.name, one.score, one.failed, estimate_cell(one.ahead, signed=True)) for one in result.systems]
    return systems + [(f"floor: {one.name}", one.score, 0, Cell(NONE)) for one in result.floors]


def _with_rest(table: Table, count: int) -> tuple[Block, ...]:
    hidden = count - len(table.rows)
    return (table, Prose(f"{whole(hidden)} more: --all shows them.", "aside")) if hidden else (table,)


def _provenance(result: ItemAnalysis) -> Facts:
    corpus = result.corpus or "none"
    if result.corpus_digest:
        corpus += f", {result.corpus_digest[:19]}"
    facts = [
        ("Made", result.made.strftime("%Y-%m-%d %H:%M UTC")),
        ("findback", result.findback),
        ("Workspace", result.workspace),
        ("Corpus", corpus),
        ("Seed", str(result.seed)),
    ]
    for one in result.systems:
        said = [one.kind, f"configuration {one.config_digest}" if one.config_digest else "", f"run {one.run or NONE}"]
        if one.failed:
            said.append(plural(one.failed, "failed search", "failed searches"))
        facts.append((one.name, ", ".join(filter(None, said))))
    return Facts(tuple(facts))
