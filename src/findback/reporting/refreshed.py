"""What a refresh found, laid out as a report: a terminal table, Markdown for CI, HTML."""

from collections import Counter
from collections.abc import Iterator, Sequence

from findback.model.stale import KINDS, PROPOSALS, Refreshed, Staleness
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import Cell, count_cell, plural, text_cell, whole

SHOWN = 25
"""Rows of a list that are shown unless all are asked for."""


def refreshed_report(result: Refreshed, *, every: bool = False) -> Report:
    """Lay a refresh out.

    Args:
        result: What it found.
        every: Show every finding, however many there are, and name the cases instead of counting them.
    """
    most = None if every else SHOWN
    certain = [one for one in result.stale if one.certain]
    rest = [one for one in result.stale if not one.certain]
    held = [one for one in result.found if not one.is_stale]
    sections = (
        Section("headline", "Headline", tuple(_headline(result))),
        Section("moves", "Certain moves: --accept-moves carries them out", _list(certain, most)),
        *(
            Section(proposal, f"To review: {PROPOSALS[proposal]}", _list(found, most))
            for proposal in PROPOSALS
            if (found := [one for one in rest if one.proposal == proposal])
        ),
        Section("edited", "Changed, and the label holds", _list(held, most)),
        Section("legend", "What the words mean", (Points(tuple(_explain(result))), _provenance(result))),
    )
    return Report(
        "What became stale",
        f"Release {result.release} of {result.released}, {plural(result.documents, 'document')} of {result.corpus}",
        tuple(section for section in sections if section.blocks),
        result.workspace,
    )


def say_refreshed(result: Refreshed) -> str:
    """Return in a few sentences what was found."""
    stale = result.stale
    cases = len({one.case for one in stale})
    certain = len({one.case for one in stale if one.certain})
    if stale:
        counts = Counter(one.kind for one in stale)
        listed = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
        said = f"{plural(cases, 'case')} of {whole(result.cases)} {'is' if cases == 1 else 'are'} stale: {listed}."
        said += f" Moves of {plural(certain, 'case')} are certain." if certain else ""
    else:
        said = f"None of {plural(result.cases, 'case')} is stale."
    if result.moved:
        said += f" Labels of {plural(len(result.moved), 'case')} were moved; the next release has them."
    if result.sent is not None:
        said += f" {plural(result.sent, 'case')} sent to review"
        said += f", {whole(result.waiting)} waited there already." if result.waiting else "."
    if result.too_old:
        said += f" Release {result.release} is {result.age_days} days old, more than {result.oldest_days}."
    return said


def _headline(result: Refreshed) -> Iterator[Block]:
    yield Prose(say_refreshed(result), "headline")
    yield Facts(
        (
            ("Labels that hold", f"{whole(result.held)} of {whole(result.golds)}"),
            ("Looked at before, and kept", whole(result.settled)),
            ("Looked through", f"documents since {result.since}" if result.since else "every document"),
        )
    )
    notes = (*result.notes, *(f"not moved: {one}" for one in result.refused))
    if notes:
        yield Points(notes)


def _list(found: Sequence[Staleness], most: int | None) -> tuple[Block, ...]:
    """Return a table with a row for each thing that became of a document, and the cases it concerns."""
    if not found:
        return ()
    groups: dict[tuple[str, ...], list[Staleness]] = {}
    for one in found:
        groups.setdefault((one.document or "", one.kind, *one.targets, *one.terms), []).append(one)
    rows = tuple(_row(group, most) for group in groups.values())
    columns = (
        Column("Document", numeric=False, flexible=True),
        Column("What became of it", numeric=False, flexible=True),
        Column("Cases", numeric=most is not None, flexible=most is None),
    )
    table = Table(plural(len({one.case for one in found}), "case"), columns, rows[:most])
    hidden = len(rows) - len(table.rows)
    return (table, Prose(f"{whole(hidden)} more: --all shows them.", "aside")) if hidden else (table,)


def _row(group: Sequence[Staleness], most: int | None) -> tuple[Cell, ...]:
    first, ids = group[0], [one.case for one in group]
    subject = first.document or ", ".join(f"“{term}”" for term in first.terms)
    cases = text_cell(" ".join(ids)) if most is None else count_cell(len(ids))
    return text_cell(subject), text_cell(f"{first.kind}: {first.why}"), cases


def _explain(result: Refreshed) -> Iterator[str]:
    kinds = {one.kind for one in result.found}
    yield from (f"{kind}: {said}" for kind, said in KINDS.items() if kind in kinds)


def _provenance(result: Refreshed) -> Facts:
    compared = ", ".join(map(str, result.compared)) or "none"
    return Facts(
        (
            ("Made", result.made.strftime("%Y-%m-%d %H:%M UTC")),
            ("findback", result.findback),
            ("Corpus", f"{result.corpus}, {result.corpus_digest[:19]}"),
            ("Releases whose documents are remembered", compared),
        )
    )
