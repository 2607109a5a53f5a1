"""What a model did to help with real questions, as reports."""

from collections.abc import Iterator, Mapping

from findback.model.assisted import Assisted, Paraphrased, Suggested, Themes, WordingsProposed
from findback.model.bill import Bill
from findback.model.bill import Estimate as CostEstimate
from findback.model.estimate import Estimate
from findback.reporting.blocks import Block, Column, Points, Prose, Report, Section, Table
from findback.reporting.figures import Cell, count_cell, estimate_cell, figure, plural, text_cell, whole
from findback.reporting.terminal import ReportView
from findback.reporting.themes import summarise_themes

MOST_SHOWN = 20
"""Questions on which people and model differ that are shown."""


def paraphrased_view(done: Paraphrased) -> ReportView:
    """Return variants of questions as a rich renderable."""
    kept = sum(len(one.kept) for one in done.roots)
    blocks: list[Block] = []
    if not done.dry_run:
        asked = done.wanted * len(done.roots)
        blocks.append(Prose(f"asked for {whole(asked)} variants, kept {whole(kept)}", "headline"))
        short = sum(one.ended == "answered" and len(one.kept) < done.wanted for one in done.roots)
        if short:
            blocks.append(Prose(f"{plural(short, 'case has', 'cases have')} fewer than {done.wanted}"))
        blocks += _counted("variants that were dropped", "why", done.dropped)
        blocks += _counted("what the workbench did with the others", "what", done.stored)
        if kept:
            blocks.append(Prose("next: findback review; a person confirms that each asks for the same", "aside"))
    return _view("Paraphrases", done, Section("variants", "Variants", tuple(blocks)))


def wordings_view(done: WordingsProposed) -> ReportView:
    """Return proposed wordings as a rich renderable; nothing about a question that somebody is still to judge."""
    return _view(
        "Wordings",
        done,
        Section("agreement", "Where people said it", tuple(_wordings(done))),
        Section("proposed", "Where nobody said it yet", tuple(_proposed(done))),
    )


def themes_view(done: Themes) -> ReportView:
    """Return themes as a rich renderable; a file holds every question of each."""
    columns = (
        Column("theme", numeric=False, flexible=True),
        Column("for example", numeric=False, flexible=True),
        Column("cases"),
        Column("candidates"),
        Column("asked"),
        *(Column(f"missed by {name}") for name in done.runs),
    )
    rows = tuple(
        (
            text_cell(one.label),
            text_cell(one.questions[0].query),
            count_cell(one.cases),
            count_cell(one.candidates),
            count_cell(one.times),
            *(_missed(one.missed[name], one.scored[name]) for name in done.runs),
        )
        for one in done.themes
    )
    blocks: list[Block] = [Prose(summarise_themes(done), "headline")]
    if rows:
        blocks.append(Table("asked: at least so often", columns, rows))
        blocks.append(Prose("every question of each: -o themes.md", "aside"))
    return _view("What people look for in vain", done, Section("themes", "Themes", tuple(blocks)))


def suggested_view(done: Suggested) -> ReportView:
    """Return drafts and their agreement with people as a rich renderable; never a draft itself."""
    blocks: list[Block] = []
    if not done.dry_run:
        drafts = done.ended.get("answered", 0)
        blocks.append(Prose(f"{plural(drafts, 'draft')}, {whole(done.stored)} of them new or other than before"))
        blocks.append(
            Prose(
                f"{plural(done.graded, 'document')} graded; of those called an answer {whole(done.quoted)} were quoted "
                f"rightly and {whole(done.misquoted)} were not"
            )
        )
        blocks.append(Prose("hidden from each reviewer until they answered", "aside"))
    return _view(
        "Draft judgements",
        done,
        Section("drafts", "Drafts", tuple(blocks)),
        Section("agreement", "Agreement with people's first answers", tuple(_agreement(done))),
    )


def _view(title: str, done: Assisted, *sections: Section) -> ReportView:
    kept = [one for one in sections if one.blocks]
    return ReportView(
        Report(title, _heading(done), (*kept, Section("run", "What was asked, and what it cost", tuple(_run(done)))))
    )


def _heading(done: Assisted) -> str:
    if done.dry_run:
        return "dry run: nothing was asked and nothing stored"
    return done.model or "no model was asked"


def _run(done: Assisted) -> Iterator[Block]:
    yield from _counted(
        "what was asked about", "how it ended", {str(name): count for name, count in done.ended.items()}
    )
    yield from _counted("what failed", "why", done.errors)
    yield from _counted("what was left out", "why", done.left_out)
    if done.estimate is not None:
        yield Points((_expected(done.estimate),))
    if done.bills:
        yield Points(tuple(_billed(one) for one in done.bills))
    if done.notes:
        yield Points(done.notes)


def _expected(estimate: CostEstimate) -> str:
    return (
        f"{estimate.model}: {plural(estimate.calls, 'call')}, about {whole(estimate.tokens_in)} tokens sent and at "
        f"most {whole(estimate.tokens_out)} answered: {_price(estimate.price, estimate.currency)}; less where answers "
        "are known already, more where one is asked again because it makes no sense"
    )


def _billed(bill: Bill) -> str:
    return (
        f"{bill.model}: {plural(bill.calls, 'call')} and {plural(bill.cached, 'answer')} known already, "
        f"{whole(bill.tokens_in)} tokens sent, {whole(bill.tokens_out)} answered: {_price(bill.price, bill.currency)}"
    )


def _price(price: float | None, currency: str) -> str:
    return "no price is known" if price is None else f"{price:.4g} {currency}"


def _counted(title: str, head: str, counts: Mapping[str, int]) -> Iterator[Block]:
    rows = tuple((text_cell(name), count_cell(count)) for name, count in counts.items() if count)
    if rows:
        yield Table(title, (Column(head, numeric=False, flexible=True), Column("how many")), rows)


def _wordings(done: WordingsProposed) -> Iterator[Block]:
    if done.dry_run or not done.confusion:
        return
    said = tuple(name for name in done.wordings if any(row.said.get(name) for row in done.confusion))
    yield Table(
        "people's wordings down, the model's across",
        (Column("by people", numeric=False), *(Column(name) for name in said)),
        tuple(
            (text_cell(row.wording), *(count_cell(row.said.get(name, 0)) for name in said)) for row in done.confusion
        ),
    )
    rows: list[tuple[Cell, ...]] = [
        (text_cell("the same wording"), estimate_cell(done.agreed), count_cell(done.agreed.n)),
        (text_cell("beyond chance (kappa)"), estimate_cell(done.kappa), count_cell(done.kappa.n)),
    ]
    rows += [
        (text_cell(f"confidence from {figure(one.low, digits=1)} to {figure(one.high, digits=1)}"), *_both(one.agreed))
        for one in done.confidence
    ]
    columns = (Column("agreement", numeric=False, flexible=True), Column("share"), Column("n"))
    yield Table("how far both agree", columns, tuple(rows))
    yield Table(
        "each wording",
        (Column("wording", numeric=False), Column("precision"), Column("n"), Column("recall"), Column("n")),
        tuple((text_cell(one.wording), *_both(one.precision), *_both(one.recall)) for one in done.figures),
    )
    differ = tuple(
        f"{one.kind} {one.id[:11]}: {one.human} by people, {one.proposed} by the model, "
        f"confidence {figure(one.confidence, digits=2)}"
        for one in done.differing[:MOST_SHOWN]
    )
    if differ:
        yield Points(differ)


def _both(estimate: Estimate) -> tuple[Cell, Cell]:
    return estimate_cell(estimate), count_cell(estimate.n)


def _proposed(done: WordingsProposed) -> Iterator[Block]:
    yield from _counted("wordings proposed", "wording", done.proposed)
    if done.file is not None:
        yield Prose(f"written to {done.file}; show it to no reviewer before they answered", "aside")


def _missed(missed: int, scored: int) -> Cell:
    return Cell(f"{whole(missed)} of {whole(scored)}", value=missed) if scored else text_cell(None)


def _agreement(done: Suggested) -> Iterator[Block]:
    columns = (
        Column("agreement on", numeric=False, flexible=True),
        Column("share"),
        Column("kappa"),
        Column("n"),
        Column("labels wanted"),
    )
    for one in done.agreement:
        rows = tuple(
            (
                text_cell(figures.what),
                estimate_cell(figures.share),
                estimate_cell(figures.kappa, reason="chance plays no role"),
                count_cell(figures.share.n),
                count_cell(figures.wanted.more, reason=figures.wanted.reason),
            )
            for figures in one.figures
        )
        yield Prose(f"{one.model}: {plural(one.compared, 'candidate')} with a draft and an answer")
        yield Table("labels wanted: how many more make the share known to ± 5 points", columns, rows)
    if done.agreement:
        yield Points(
            (
                "labels wanted: where further ones are like those there are, with the same share and spread",
                "candidates are left out of the last two where the model was not shown the document people call best",
            )
        )
