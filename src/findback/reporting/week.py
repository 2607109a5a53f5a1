"""The weekly half hour laid out: as tables, and as a digest of ids and counts that may leave the machine."""

from collections.abc import Iterator

from findback.model.week import Keeping, Upkeep, Week, WeekItem, WeekKind, WeekPart
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import NONE, Cell, count_cell, plural, text_cell
from findback.reporting.incoming import flag_blocks, incoming_blocks, say_flags, say_incoming
from findback.reporting.markdown import lay_out
from findback.reporting.tracked import say_tracker, tracker_blocks

SHOWN = 10
"""Things of one kind that are listed."""
TITLES: dict[WeekKind, str] = {
    "flag": "New flags",
    "candidate": "Candidates",
    "stale": "Stale cases",
    "disagreement": "Opinions that differ",
    "doubt": "Suspicious golds",
}
WHERE: dict[WeekKind, str] = {
    "flag": "findback review, This week",
    "candidate": "findback review, This week",
    "stale": "findback refresh",
    "disagreement": "findback review; a lead settles them",
    "doubt": "findback review, Cases",
}
VALUE = "value: times asked, by how unlike the exam, doubled where it was costly, halved for a control"


def week_report(week: Week, *, words: bool = True) -> Report:
    """Lay the week out.

    Args:
        week: What it holds.
        words: Whether words of the documents may be named; a digest names none.
    """
    sections = [Section("week", "This week's half hour", tuple(_half_hour(week)))]
    sections += [Section(part.kind, TITLES[part.kind], (_part(part),)) for part in week.parts if part.items]
    sections += upkeep_sections(week.upkeep, week, words=words)
    return Report(f"Week of {week.monday:%Y-%m-%d}", week.workspace, tuple(sections), week.workspace)


def upkeep_sections(upkeep: Upkeep, week: Week | None, *, words: bool = True) -> list[Section]:
    """Return who looks after the set and whether anybody did, and how exam, flags and scores are doing."""
    sections = [Section("upkeep", "Who looks after the exam", tuple(_upkeep(upkeep)))]
    if week is None:
        return sections
    as_of = Prose(f"As of {week.made:%Y-%m-%d %H:%M} UTC, by findback week.", "aside")
    if week.incoming is not None:
        blocks = incoming_blocks(week.incoming, words=words)
        sections.append(Section("incoming", "Is the exam still like the questions?", (*blocks, as_of)))
    if week.flags is not None:
        sections.append(Section("flags", "How often people flag", (*flag_blocks(week.flags), as_of)))
    if week.tracker is not None:
        sections.append(Section("tracker", "Scores by release", (*tracker_blocks(week.tracker), as_of)))
    return sections


def keeping_report(keeping: Keeping) -> Report:
    """Lay out how a set is kept."""
    heading = "who looks after it, and how it is doing"
    return Report("The exam", heading, tuple(upkeep_sections(keeping.upkeep, keeping.week)))


def render_digest(week: Week) -> str:
    """Return the week as Markdown: ids and counts, no text and no word of anybody."""
    return lay_out(week_report(week, words=False))


def say_upkeep(upkeep: Upkeep) -> str:
    """Return who looks after the set, and which weeks nobody did."""
    owner = f"Owner: {upkeep.owner}." if upkeep.owner else "Nobody is named as owner ([set] owner in findback.toml)."
    if not upkeep.weeks:
        return f"{owner} No whole week has passed since the first candidate."
    last = "Nobody decided anything yet." if upkeep.last is None else f"The newest decision is of {upkeep.last}."
    looked = f"of the last {plural(len(upkeep.weeks), 'whole week')}"
    if not upkeep.skipped:
        return f"{owner} None {looked} was skipped. {last}"
    skipped = f"{upkeep.skipped} {looked} {'was' if upkeep.skipped == 1 else 'were'} skipped"
    row = f", the last {upkeep.skipped_last} in a row" if upkeep.skipped_last > 1 else ""
    return f"{owner} {skipped}{row}: something waited and nobody decided anything. {last}"


def _half_hour(week: Week) -> Iterator[Block]:
    waiting = sum(part.total for part in week.parts)
    yield Prose(f"{plural(waiting, 'thing waits', 'things wait')}; a session of {week.minutes} minutes.", "headline")
    columns = (Column("What", numeric=False), Column("waiting"), Column("where", numeric=False, flexible=True))
    yield Table(
        "What waits",
        columns,
        tuple((Cell(TITLES[one.kind]), count_cell(one.total), Cell(WHERE[one.kind])) for one in week.parts),
    )
    said = (say_upkeep(week.upkeep), say_incoming(week.incoming, words=False), say_flags(week.flags))
    tracked = (say_tracker(week.tracker),) if week.tracker is not None else ()
    yield Points((*said, *tracked, *week.notes))


def _part(part: WeekPart) -> Table:
    shown = part.items[:SHOWN]
    valued = any(item.value is not None for item in shown)
    columns = (
        Column("id", numeric=False),
        *((Column("value"),) if valued else ()),
        Column("why", numeric=False, flexible=True),
    )
    title = f"{len(shown)} of {part.total:,}" + (f"; {VALUE}" if valued else "")
    return Table(title, columns, tuple(_row(item, valued=valued) for item in shown))


def _row(item: WeekItem, *, valued: bool) -> tuple[Cell, ...]:
    value = (Cell(NONE if item.value is None else f"{item.value:.1f}", value=item.value),) if valued else ()
    return (text_cell(item.id), *value, text_cell(", ".join(item.why)))


def _upkeep(upkeep: Upkeep) -> Iterator[Block]:
    yield Prose(say_upkeep(upkeep))
    if upkeep.weeks:
        columns = (Column("Week of", numeric=False), Column("decided"), Column("waited"), Column("", numeric=False))
        rows = tuple(
            (
                text_cell(f"{one.monday:%Y-%m-%d}"),
                count_cell(one.decided),
                count_cell(one.waited),
                Cell("skipped" if one.skipped else ""),
            )
            for one in upkeep.weeks
        )
        yield Table("Weeks, Monday to Sunday, UTC", columns, rows)
    elif upkeep.owner:
        yield Facts((("Owner", upkeep.owner),))
