"""Proposed terms as a report."""

from collections.abc import Iterator, Mapping, Sequence

from findback.model.bill import Bill
from findback.model.glossary import Effect, Proposal, Proposals
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import NONE, Cell, count_cell, figure, number_cell, plural, text_cell, whole

COLUMNS = (
    "own answers, others: questions that hold the words, up–down of all; answers the term comes from, and other ones",
    "gains on a term's own answers are no promise: findback glossary evaluate says what is left on others",
)


def proposals_report(found: Proposals, *, every: bool = False) -> Report:
    """Lay proposed terms out.

    Args:
        found: What was proposed.
        every: Show the questions behind each term.
    """
    sections = (
        Section("terms", "Proposed terms", tuple(_terms(found))),
        Section("evidence", "Questions behind them", tuple(_evidence(found.proposals)) if every else ()),
        Section("counted", "Where they come from", tuple(_counted(found))),
    )
    kept = tuple(section for section in sections if section.blocks)
    return Report("Terms for the glossary", found.heading, kept, found.workspace)


def _terms(found: Proposals) -> Iterator[Block]:
    if found.dry_run:
        yield Prose("dry run: no model was asked, and nothing was kept", "headline")
    if not found.proposals:
        yield Prose("no term gains anything, or two clusters or more stand behind none", "headline")
        return
    columns = (
        Column("no."),
        Column("people say", numeric=False, flexible=True),
        Column("documents say", numeric=False, flexible=True),
        Column("kind", numeric=False, flexible=True),
        Column("clusters"),
        Column("gain"),
        Column("own answers"),
        Column("others"),
    )
    rows = tuple(
        (
            count_cell(one.number),
            text_cell(one.when),
            text_cell(one.add),
            text_cell(one.kind),
            count_cell(one.clusters),
            _gain(one),
            moved_cell(one.own),
            moved_cell(one.others),
        )
        for one in found.proposals
    )
    yield Table(f"gain: {found.label} over all questions, on {found.measured_on}", columns, rows)
    yield Points(COLUMNS)
    if found.release is not None:
        yield Prose("next: findback glossary accept, which asks about each; or name numbers", "aside")


def _gain(one: Proposal) -> Cell:
    failed = one.own.gain is None or one.others.gain is None
    return number_cell(None if failed else one.gain, reason="a search failed", signed=True, digits=4)


def moved_cell(effect: Effect) -> Cell:
    """Return how many answers stand higher and lower, of all questions that hold a term's words."""
    return text_cell(f"{effect.better}–{effect.worse} of {whole(effect.cases)}" if effect.cases else NONE)


def _evidence(proposals: Sequence[Proposal]) -> Iterator[Block]:
    for one in proposals:
        yield Prose(f"{one.number}. {one.when} → {one.add}: {plural(len(one.cases), 'question')}")
        yield Points(one.examples)


def _counted(found: Proposals) -> Iterator[Block]:
    yield Facts(
        (
            (
                "questions",
                f"{whole(found.questions)}, {whole(found.used)} of them with an overlap below {figure(found.below)}",
            ),
            ("documents", f"{found.corpus}, digest {found.corpus_digest[:12]}"),
            ("stems", found.language or "none"),
            *((("model", found.model),) if found.model else ()),
        )
    )
    yield from reasons_table("questions that were not used", found.left_out)
    yield from reasons_table("pairs of words that are not shown", found.dropped)
    if found.estimate is not None:
        price = NONE if found.estimate.price is None else f"{found.estimate.price:.4g} {found.estimate.currency}"
        sent = found.estimate.tokens_in + found.estimate.tokens_out
        yield Points(
            (f"{found.estimate.model}: {plural(found.estimate.calls, 'call')}, at most {whole(sent)} tokens: {price}",)
        )
    said = (*(_billed(one) for one in found.bills), *found.notes)
    if said:
        yield Points(said)


def _billed(bill: Bill) -> str:
    price = "no price is known" if bill.price is None else f"{bill.price:.4g} {bill.currency}"
    return f"{bill.model}: {plural(bill.calls, 'call')}, {plural(bill.cached, 'answer')} known already: {price}"


def reasons_table(title: str, counts: Mapping[str, int]) -> Iterator[Block]:
    """Yield a table of counts by reason; none where there is nothing to count."""
    rows = tuple((text_cell(reason), count_cell(count)) for reason, count in counts.items() if count)
    if rows:
        yield Table(title, (Column("why", numeric=False, flexible=True), Column("how many")), rows)
