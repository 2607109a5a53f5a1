"""A comparison across two sets laid out as a report."""

from collections.abc import Sequence

from findback.model.across import Across, AcrossPair, AcrossSystem, OrderNoise
from findback.model.estimate import Estimate
from findback.model.evaluation import SetMakeUp
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.effects import effects_table
from findback.reporting.figures import (
    Cell,
    count_cell,
    estimate_cell,
    figure,
    number_cell,
    plural,
    text_cell,
    whole,
)
from findback.reporting.makeup import chosen, makeup_blocks
from findback.reporting.verdict import list_names, name_pair

MOST_PAIRS = 15
"""Beyond this many pairs only those that differ are shown, and the largest leads, unless all are asked for."""
_AXES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 2.0)


def across_report(result: Across, *, every: bool = False) -> Report:
    """Lay a comparison across sets out.

    Args:
        result: What comparing gave.
        every: Show every pair, however many there are.
    """
    sections = (
        Section("headline", "Headline", _headline(result)),
        Section("agreement", "Do the orders agree?", _agreement(result)),
        Section("pairs", "Pairs of systems", _pairs(result, every=every)),
        Section("levels", "Levels and spread", (_levels(result), _sides(result))),
        Section("overlap", "If only overlap differed", _overlap(result)),
        Section("factors", "Effects of factors", _factors(result)),
        *(
            Section(f"exam-{at}", f"What {side.name} is made of", (*makeup_blocks(side.set), _how(side.set)))
            for at, side in enumerate(result.sides)
        ),
        Section("legend", "What the names mean", (Points(result.legend), _provenance(result))),
        Section("limits", "What this does not tell you", (Points(result.limits),)),
    )
    return Report(
        "Comparison across sets",
        f"{_called(result, 0)} and {_called(result, 1)}",
        tuple(section for section in sections if section.blocks),
        result.workspace,
    )


def _called(result: Across, at: int) -> str:
    side = result.sides[at]
    return side.name if side.name == side.set.heading else f"{side.name} ({side.set.heading})"


def _headline(result: Across) -> tuple[Block, ...]:
    said = Prose(say_order(result), "headline")
    return (said, Points(result.notes)) if result.notes else (said,)


def say_order(result: Across) -> str:
    """Return whether the order is the same, in a few sentences."""
    first, second = (side.name for side in result.sides)
    systems = f"{len(result.systems)} systems"
    tau = "" if result.tau is None else f" (tau-b {figure(result.tau, digits=2)})"
    if result.verdict == "same order":
        return f"{first} and {second} put the {systems} into the same order{tau}: {result.why}."
    turned = [name_pair(pair.first, pair.second) for pair in result.pairs if pair.reversed]
    if result.verdict == "changed":
        named = f": {list_names(turned, 'and')}" if turned else ""
        return f"The order of the {systems} changes between {first} and {second}{tau}: {result.why}{named}."
    return f"Whether {first} and {second} put the {systems} into the same order cannot be told{tau}: {result.why}."


def _agreement(result: Across) -> tuple[Block, ...]:
    if result.tau is None:
        return (Prose(f"No tau-b: {result.reason}."),)
    facts = [("tau-b", figure(result.tau, signed=False))]
    facts += _noise("one population", result.population)
    facts += _noise("one order", result.order)
    return (Facts(tuple(facts)),)


def _noise(name: str, noise: OrderNoise | None) -> list[tuple[str, str]]:
    if noise is None:
        return []
    said = f"floor {figure(noise.floor)}, median {figure(noise.median)}; so little or less: p {figure(noise.p)}"
    return [(f"noise of {name}", said)]


def _pairs(result: Across, *, every: bool) -> tuple[Block, ...]:
    pairs = result.pairs if every else shown_pairs(result)
    cells = [[estimate_cell(one, signed=True) for one in (*pair.differences, pair.between)] for pair in pairs]
    rows = tuple(
        (text_cell(name_pair(pair.first, pair.second)), *row, text_cell(_remark(pair), reason=None))
        for pair, row in zip(pairs, cells, strict=True)
    )
    reach = [cell.reach for row in cells for cell in row if cell.reach]
    widest = max((max(abs(one.low), abs(one.high)) for one in reach), default=1.0)
    end = next((mark for mark in _AXES if mark >= widest), 2.0)
    columns = (
        Column("Pair", numeric=False, flexible=True),
        *(Column(side.name, bar=True) for side in result.sides),
        Column("between"),
        Column("remark", numeric=False, flexible=True),
    )
    title = f"{result.label}, first minus second, 95 % intervals that hold together"
    table = Table(title, columns, rows, axis=(-end, end))
    hidden = len(result.pairs) - len(pairs)
    if not hidden:
        return (table,)
    return (table, Prose(f"{plural(hidden, 'more pair')}, none of which differs: --all shows them.", "aside"))


def shown_pairs(result: Across) -> tuple[AcrossPair, ...]:
    """Return the pairs a report shows: what differs first, then the largest leads on the second side."""
    ordered = sorted(result.pairs, key=lambda pair: (not pair.reversed, not pair.opposed, not pair.differs))
    differing = sum(1 for pair in ordered if pair.differs or pair.reversed)
    return tuple(ordered[: max(MOST_PAIRS, differing)])


def _remark(pair: AcrossPair) -> str:
    if pair.reversed:
        return "reversed"
    if pair.opposed:
        return "differs, may be reversed"
    return "differs" if pair.differs else ""


def _levels(result: Across) -> Table:
    ranks = [_rank([system.levels[at] for system in result.systems]) for at in (0, 1)]
    order = sorted(range(len(result.systems)), key=lambda at: (ranks[1][at], ranks[0][at]))
    rows = tuple(
        (
            text_cell(result.systems[at].name),
            *(
                cell
                for side in (0, 1)
                for cell in (count_cell(ranks[side][at]), estimate_cell(result.systems[at].levels[side]))
            ),
        )
        for at in order
    )
    heads = [column for side in result.sides for column in (Column("rank"), Column(side.name, bar=True))]
    return Table(f"{result.label} of each system", (Column("System", numeric=False, flexible=True), *heads), rows)


def _rank(levels: Sequence[Estimate]) -> list[int]:
    """Return each system's place, 1 the best; equal ones share it.

    >>> _rank([Estimate(value=0.5), Estimate(value=0.7), Estimate(value=0.5)])
    [2, 1, 2]
    """
    values = [one.value if one.value is not None else -1.0 for one in levels]
    return [1 + sum(other > value + 1e-9 for other in values) for value in values]


def _sides(result: Across) -> Table:
    pairs = len(result.pairs)
    rows = tuple(
        (
            text_cell(side.name),
            count_cell(side.n),
            count_cell(side.clusters),
            count_cell(side.left_out + side.failed),
            estimate_cell(side.spread),
            text_cell(f"{whole(side.apart)} of {whole(pairs)}"),
            number_cell(side.apart_at_equal_n, reason="too few clusters", digits=2),
        )
        for side in result.sides
    )
    columns = (
        Column("Side", numeric=False, flexible=True),
        Column("n"),
        Column("clusters"),
        Column("left out"),
        Column("best − worst"),
        Column("told apart"),
        Column("at equal n"),
    )
    return Table("How far apart each side sets the systems, and how many pairs it tells apart", columns, rows)


def _overlap(result: Across) -> tuple[Block, ...]:
    mix = result.overlap
    if mix is None:
        return ()
    first, second = (side.name for side in result.sides)
    buckets = Table(
        f"Overlap of questions with their answers, in windows of {mix.window} characters",
        (Column("Overlap", numeric=False), Column(first), Column(second), Column(f"clusters of {first}")),
        tuple(
            (
                text_cell(one.bucket),
                *(number_cell(share, reason=None, digits=2) for share in one.shares),
                count_cell(one.queries),
            )
            for one in mix.buckets
        ),
    )
    lost = [f"{side.name} {whole(count)}" for side, count in zip(result.sides, mix.unmeasurable, strict=True) if count]
    aside = [Prose(f"Not measurable, and left out: {', '.join(lost)}.", "aside")] if lost else []
    if mix.refusal is not None:
        return (Prose(f"Nothing is estimated: {mix.refusal}."), buckets, *aside)
    return (_weighted(result), Prose(_support(result), "aside"), buckets, *aside)


def _weighted(result: Across) -> Table:
    first, second = (side.name for side in result.sides)
    columns = (
        Column("System", numeric=False, flexible=True),
        Column(f"{first}, as it is"),
        Column(f"at the overlap of {second}", bar=True),
        Column(f"{second} itself", bar=True),
        Column("better estimate", numeric=False, flexible=True),
    )
    rows = tuple(
        (
            text_cell(system.name),
            estimate_cell(system.levels[0]),
            estimate_cell(system.reweighted),
            estimate_cell(system.levels[1]),
            _believed(system, second),
        )
        for system in result.systems
    )
    return Table(f"{result.label}: an estimate beside the score, never a correction of it", columns, rows)


def _believed(system: AcrossSystem, second: str) -> Cell:
    if system.believe is None:
        return text_cell(None, reason="neither has an interval")
    named = "weighted" if system.believe == "reweighted" else f"{second} itself"
    return text_cell(named)._replace(note=system.why)


def _support(result: Across) -> str:
    mix = result.overlap
    if mix is None or mix.effective is None or mix.support is None:
        return ""
    first, second = result.sides
    return (
        f"At that weight the {whole(first.clusters)} clusters of {first.name} count as {mix.effective:.0f}; the buckets"
        f" they reach hold {mix.support:.0%} of {second.name}. The intervals hold the chance in both sides, not what"
        " else sets them apart."
    )


def _factors(result: Across) -> tuple[Block, ...]:
    if not result.effects:
        return ()
    return (effects_table(result.effects, tuple(side.name for side in result.sides), result.label),)


def _how(made_of: SetMakeUp) -> Prose:
    return Prose(f"How the cases were chosen: {chosen(made_of)}.")


def _provenance(result: Across) -> Facts:
    corpus = result.corpus or "none"
    if result.corpus_digest:
        corpus += f", {result.corpus_digest[:19]}"
    facts = [
        ("Made", result.made.strftime("%Y-%m-%d %H:%M UTC")),
        ("findback", result.findback),
        ("Workspace", result.workspace),
        ("Corpus", corpus),
        ("Resamples, seed", f"{result.resamples}, {result.seed}"),
    ]
    for one in result.systems:
        runs = ", ".join(f"run {run}" for run in dict.fromkeys(filter(None, one.runs)))
        said = [one.kind, f"configuration {one.config_digest}" if one.config_digest else "", runs]
        facts.append((one.name, ", ".join(filter(None, said))))
    return Facts(tuple(facts))
