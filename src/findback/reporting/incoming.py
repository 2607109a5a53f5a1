"""Whether the exam is still like the questions, and how often people flag, laid out for a report."""

from collections.abc import Iterable

from findback.model.incoming import Incoming, IncomingFacet, IncomingKind, IncomingMonth, Likeness
from findback.model.rate import FlagRate, Rate, RateChange, RateUnit
from findback.reporting.blocks import Block, Column, Points, Prose, Table
from findback.reporting.figures import NONE, Cell, Reach, count_cell, figure, interval, number_cell, plural, text_cell
from findback.reporting.verdict import list_names

THOUSAND = 1_000
"""Searches that flags are counted on."""
LIKE: dict[Likeness, str] = {"apart": "drifted apart", "alike": "alike", "cannot tell": "cannot tell"}
CHANGES: dict[RateChange, str] = {
    "higher": "This month's rate is higher than that of the time before.",
    "lower": "This month's rate is lower than that of the time before.",
    "cannot tell": "Whether this month differs from the time before cannot be told.",
}
TEXTUAL = frozenset({"words"})
"""Facets whose kinds are words people used."""
LIMITS = (
    "What came in is what was mined or flagged: people who say nothing are in neither.",
    "Whoever reviews decides what enters the exam; a kind that is rejected or put off looks as if the exam lacked it.",
)


def say_incoming(incoming: Incoming | None, *, words: bool = True) -> str:
    """Return in a sentence or two whether the exam is still like the questions.

    Args:
        incoming: What was compared; None where nothing was.
        words: Whether words of the documents may be named.
    """
    if incoming is None:
        return "Whether the exam is still like the questions was not compared."
    n = f"n {incoming.clusters:,} incoming and {incoming.case_clusters:,} released clusters"
    if incoming.likeness == "apart":
        apart = [one for one in incoming.facets if one.likeness == "apart"]
        said = f"The questions that come in have drifted from release {incoming.release} beyond noise, in"
        said += f" {list_names([one.facet for one in apart], 'and')} ({n})."
        lacking = [_name(one, kind) for one in apart for kind in one.kinds if kind.lacking and _may(one, words=words)]
        return f"{said} The exam lacks {list_names(lacking, 'and')}." if lacking else said
    if incoming.likeness == "alike":
        widest = max((one.widest or 0.0 for one in incoming.facets if one.p is not None), default=0.0)
        return (
            f"Questions that come in are like release {incoming.release} as far as {n} can tell:"
            f" no kind's share differs by more than {figure(widest, digits=2)}."
        )
    return f"Whether the exam is still like the questions cannot be told with this many ({n})."


def incoming_blocks(incoming: Incoming, *, words: bool = True) -> tuple[Block, ...]:
    """Return tables of every facet, of the kinds that differ most, and of the months."""
    blocks: list[Block] = [Prose(say_incoming(incoming, words=words))]
    if incoming.notes:
        blocks.append(Points(incoming.notes))
    blocks.append(_facets(incoming))
    rows = [(one, kind) for one in incoming.facets if _may(one, words=words) for kind in _worth(one)]
    if rows:
        blocks.append(_kinds(rows))
    if incoming.months:
        blocks.append(_months(incoming.months))
    return (*blocks, Points(LIMITS))


def say_flags(flags: FlagRate | None) -> str:
    """Return in a sentence how often people flag."""
    if flags is None:
        return "No flag was counted yet."
    cell = rate_cell(flags.overall, flags.unit)
    said = f"People flagged {cell.text} {cell.extra} times {_unit(flags.unit)} since {flags.since}"
    return f"{said} ({plural(flags.overall.events, 'flag')}). {CHANGES[flags.change]}"


def flag_blocks(flags: FlagRate) -> tuple[Block, ...]:
    """Return the rate of flags by month."""
    columns = (Column("Month", numeric=False), Column("flags"), Column(f"{flags.unit}s"), Column("rate"))
    rows = tuple(
        (
            text_cell(one.month),
            count_cell(one.rate.events),
            Cell(f"{one.rate.exposure:,.1f}".removesuffix(".0")),
            rate_cell(one.rate, flags.unit),
        )
        for one in flags.months
    )
    title = f"Flags {_unit(flags.unit)}, with 95 % intervals that hold at every look"
    notes = [f"The day of the first flag is left out; counted from {flags.since} to {flags.until}."]
    if flags.uncounted:
        notes.append(f"{plural(flags.uncounted, 'flag')} of days that no mined log covers left out.")
    return (Prose(say_flags(flags)), Table(title, columns, rows), Points(tuple(notes)))


def rate_cell(rate: Rate, unit: RateUnit) -> Cell:
    """Return a rate as it stands in a table: on a thousand searches, or by the week."""
    if rate.value is None or rate.low is None or rate.high is None:
        return Cell(NONE, note=rate.reason or "not counted")
    by = THOUSAND if unit == "search" else 1
    low, value, high = (one * by for one in (rate.low, rate.value, rate.high))
    return Cell(f"{value:.2f}", f"[{low:.2f}, {high:.2f}]", value=value)


def _unit(unit: RateUnit) -> str:
    return "on 1,000 searches" if unit == "search" else "a week"


def _may(facet: IncomingFacet, *, words: bool) -> bool:
    return words or facet.facet not in TEXTUAL


def _name(facet: IncomingFacet, kind: IncomingKind) -> str:
    return f"“{kind.name}”" if facet.facet in TEXTUAL else f"{facet.facet} {kind.name}"


def _worth(facet: IncomingFacet) -> Iterable[IncomingKind]:
    """Return the kinds worth a row: all of a facet with few, and what differs beyond noise of one with many."""
    if facet.facet in TEXTUAL:
        return [kind for kind in facet.kinds if facet.likeness == "apart" and kind.p <= 0.05]
    return facet.kinds


def _facets(incoming: Incoming) -> Table:
    columns = (
        Column("Facet", numeric=False),
        Column("verdict", numeric=False),
        Column("incoming"),
        Column("exam"),
        Column("unknown"),
        Column("left open"),
        Column("p"),
    )
    rows = tuple(
        (
            Cell(one.facet, note=one.basis),
            text_cell(LIKE[one.likeness]),
            count_cell(one.incoming),
            count_cell(one.released),
            count_cell(one.unknown),
            number_cell(one.widest, reason=one.reason, digits=2),
            number_cell(one.p, reason=one.reason),
        )
        for one in incoming.facets
    )
    title = "Clusters of questions by facet; p for all facets together (clusters dealt at random, Holm)"
    return Table(title, columns, rows)


def _kinds(rows: Iterable[tuple[IncomingFacet, IncomingKind]]) -> Table:
    columns = (
        Column("Facet", numeric=False),
        Column("kind", numeric=False, flexible=True),
        Column("incoming"),
        Column("exam"),
        Column("difference"),
        Column("lacks", numeric=False),
    )
    cells = tuple(
        (
            text_cell(facet.facet),
            text_cell(kind.name),
            number_cell(kind.incoming, reason=None, digits=2),
            number_cell(kind.released, reason=None, digits=2),
            _difference(kind),
            Cell("yes" if kind.lacking else ""),
        )
        for facet, kind in rows
    )
    title = "Shares by kind, every cluster once; intervals hold together within a facet"
    return Table(title, columns, cells, axis=(-1.0, 1.0))


def _difference(kind: IncomingKind) -> Cell:
    value = kind.incoming - kind.released
    return Cell(
        figure(value, digits=2, signed=True),
        interval(kind.low, kind.high, signed=True),
        value=value,
        reach=Reach(kind.low, value, value, kind.high),
    )


def _months(months: Iterable[IncomingMonth]) -> Table:
    columns = (
        Column("Month", numeric=False),
        Column("questions"),
        Column("flagged"),
        Column("nearly in the exam"),
        Column("most about", numeric=False, flexible=True),
    )
    rows = tuple(
        (
            text_cell(one.month),
            count_cell(one.questions),
            count_cell(one.flagged),
            count_cell(one.near),
            text_cell(one.subject, reason="no document is known to answer"),
        )
        for one in months
    )
    return Table("What came in, by month", columns, rows)
