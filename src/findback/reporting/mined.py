"""What mining gave, as a report."""

from collections.abc import Iterator, Mapping

from findback.model.mined import Mined, MinedExport
from findback.model.tasks import TaskOutcomes
from findback.reporting.blocks import Block, Column, Points, Prose, Report, Section, Table
from findback.reporting.figures import Cell, count_cell, estimate_cell, plural, text_cell

COUNTED = (
    "placeholders in what is kept of each question: its title and every line of its thread, the query among them, "
    "each text counted once"
)


def mined_report(mined: Mined) -> Report:
    """Return what was read, found, left out and redacted, and what became of it."""
    sections = [
        *(Section(f"export-{at}", one.file, tuple(_export(one))) for at, one in enumerate(mined.exports)),
        Section("redacted", "Redacted", tuple(_redacted(mined))),
        Section("outcome", "Workbench", tuple(_outcome(mined))),
    ]
    heading = f"{plural(mined.candidates, 'candidate')} from {plural(len(mined.exports), 'export')}"
    if mined.dry_run:
        heading += ", dry run"
    return Report("Mining", heading, tuple(sections))


def _export(export: MinedExport) -> Iterator[Block]:
    yield Prose(f"read as {export.source} ({export.why})")
    if export.notes:
        yield Points(export.notes)
    kinds = (("read", export.counts), ("left out", export.skipped), ("candidates", export.rules))
    rows = [(kind, name, count) for kind, counts in kinds for name, count in counts.items() if count or kind == "read"]
    rows += [("folded", name, count) for name, count in export.folded.items() if count]
    rows += [("deleted at its source, so taken out", name, count) for name, count in export.deleted.items()]
    columns = (Column("", numeric=False), Column("what", numeric=False, flexible=True), Column("how many"))
    yield Table(
        "what was read, and what became of it",
        columns,
        tuple((text_cell(k), text_cell(n), count_cell(c)) for k, n, c in rows),
    )
    if export.tasks is not None:
        yield from _tasks(export.tasks)
    by_reason: dict[str, list[str]] = {}
    for rule, why in export.unsupported.items():
        by_reason.setdefault(why, []).append(rule)
    if by_reason:
        yield Points(tuple(f"not possible: {', '.join(rules)} ({why})" for why, rules in by_reason.items()))


def _tasks(tasks: TaskOutcomes) -> Iterator[Block]:
    rows = (
        (text_cell("a search returned a right document"), count_cell(tasks.hit.n), estimate_cell(tasks.hit)),
        (text_cell("none did"), count_cell(tasks.missed.n), estimate_cell(tasks.missed)),
        (text_cell("difference"), count_cell(tasks.difference.n), estimate_cell(tasks.difference, signed=True)),
    )
    columns = (Column("Where", numeric=False, flexible=True), Column("tasks"), Column("succeeded"))
    yield Table("Tasks that succeeded, by whether retrieval hit, over every turn read", columns, rows)
    said = "What goes together need not be cause: hard questions fail both ways."
    if tasks.unknown:
        said += f" Turns left out, as it is not known whether retrieval hit: {tasks.unknown}."
    yield Prose(said, "aside")


def _redacted(mined: Mined) -> Iterator[Block]:
    if mined.redacted:
        columns = (Column("type", numeric=False), Column("placeholders"))
        yield Table(COUNTED, columns, _rows(mined.redacted))
    said = [f"{plural(mined.suggested, 'suggested redaction')} in queries and titles wait for a person"]
    said += mined.names
    if mined.refused:
        said.append(f"dropped, because they could not be redacted whole: {mined.refused}")
    if mined.secrets:
        where = f"; where they are stands in {mined.secrets_file}" if mined.secrets_file else ""
        said.append(f"secrets found: {mined.secrets}. Rotate them{where}")
    yield Points(tuple(said))


def _outcome(mined: Mined) -> Iterator[Block]:
    if mined.dry_run:
        yield Prose("dry run: nothing was stored")
        return
    if mined.stored:
        yield Prose(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in mined.stored.items()))
    yield Prose("next: findback candidates list", "aside")


def _rows(counts: Mapping[str, int]) -> tuple[tuple[Cell, ...], ...]:
    return tuple((text_cell(name), count_cell(count)) for name, count in counts.items())
