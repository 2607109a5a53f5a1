"""Proposed terms, and what a glossary is worth, as reports."""

from collections.abc import Iterator

from findback.model.glossary import Effect, GlossaryEvaluation, GlossaryGain, GlossaryScore, Proposals
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    Cell,
    count_cell,
    estimate_cell,
    figure,
    interval,
    number_cell,
    plural,
    text_cell,
    whole,
)
from findback.reporting.glossaryterms import moved_cell, proposals_report, reasons_table
from findback.reporting.json import render_json
from findback.reporting.markdown import prose, render_block
from findback.reporting.render import Renderer
from findback.reporting.terminal import ReportView

MOST_EXAMPLES = 10
"""Harmed questions shown for each glossary."""
MOST_TERMS = 20
"""Accepted terms shown for each retriever: those that change most."""
EXPLAINED = (
    "Up, down: questions whose best right document stands higher or lower than without the glossary.",
    "Figures on answers it was built from say how well it fits them, and nothing about questions to come.",
)
SEEN = {"accepted": "answers behind its terms", "as proposed": "answers it was built from"}
UNSEEN = {"accepted": "answers behind none of them", "as proposed": "answers it was not built from"}


def proposals_view(found: Proposals) -> ReportView:
    """Return proposed terms as a rich renderable."""
    return ReportView(proposals_report(found))


def glossary_view(result: GlossaryEvaluation) -> ReportView:
    """Return what a glossary is worth as a rich renderable."""
    return ReportView(glossary_report(result))


def render_report_markdown(report: Report) -> str:
    """Return a report as Markdown."""
    lines = [f"# {prose(report.title)}: {prose(report.heading)}"]
    for section in report.sections:
        lines += ["", f"## {prose(section.title)}"]
        for block in section.blocks:
            lines += ["", *render_block(block)]
    return "\n".join(lines).rstrip("\n") + "\n"


PROPOSALS = Renderer(
    proposals_view,
    {".md": lambda found: render_report_markdown(proposals_report(found, every=True)), ".json": render_json},
)
GLOSSARY = Renderer(
    glossary_view,
    {".md": lambda result: render_report_markdown(glossary_report(result)), ".json": render_json},
)


def glossary_report(result: GlossaryEvaluation) -> Report:
    """Lay out what a glossary is worth: never on answers it was built from alone."""
    several = len({score.retriever for score in result.scores}) > 1
    sections = [Section("headline", "Headline", tuple(_headline(result)))]
    for at, score in enumerate(result.scores):
        named = f"{score.retriever}, " if several else ""
        title = f"{named}glossary {score.glossary}"
        sections.append(Section(f"glossary-{at}", title[:1].upper() + title[1:], tuple(_glossary(score, result))))
    sections.append(Section("method", "How this was measured", tuple(_method(result))))
    return Report("Glossary", result.heading, tuple(sections), result.workspace)


def _headline(result: GlossaryEvaluation) -> Iterator[Block]:
    for score in result.scores:
        yield Prose(f"{score.retriever}, {score.glossary}: {_say(score)}", "headline")
    if result.notes:
        yield Points(result.notes)


def _say(score: GlossaryScore) -> str:
    """Return what a glossary does on unseen answers, in words; what it did in building stands behind it."""
    gain = score.unseen.difference
    if gain.value is None:
        said = f"on answers not seen in building no figure: {gain.reason}"
    else:
        verb = "gains" if gain.value > 0 else "loses" if gain.value < 0 else "changes nothing"
        size = "" if gain.value == 0 else f" {figure(abs(gain.value))}"
        clear = gain.low is not None and gain.high is not None and (gain.low > 0 or gain.high < 0)
        within = "" if clear or gain.value == 0 else ", within what chance does"
        shown = interval(gain.low, gain.high, signed=True)
        said = f"{verb}{size} on answers not seen in building{' ' + shown if shown else ''}{within}"
    seen = score.seen
    if seen is None or seen.difference.value is None:
        return said
    return f"{said}; {figure(seen.difference.value, signed=True)} on those seen"


def _glossary(score: GlossaryScore, result: GlossaryEvaluation) -> Iterator[Block]:
    terms = f"{score.terms:.0f}" if score.terms == int(score.terms) else f"{score.terms:.1f} on average"
    yield Prose(
        f"{terms} {'term' if terms == '1' else 'terms'}"
        + ("" if score.glossary == "accepted" else ", each built without one fold")
    )
    named = [(UNSEEN[score.glossary], score.unseen)]
    named += [(f"of these, {one.stratum}", one.gain) for one in score.strata]
    if score.seen is not None:
        named.append((SEEN[score.glossary], score.seen))
    columns = (
        Column(f"{result.label} on", numeric=False, flexible=True),
        Column("n"),
        Column("without"),
        Column("with"),
        Column("difference", bar=True),
        Column("changed"),
        Column("better–worse"),
    )
    yield Table(
        "95 % intervals over clusters", columns, tuple(_row(name, gain) for name, gain in named), axis=(-0.3, 0.3)
    )
    if score.seen is None and score.seen_reason:
        yield Prose(f"{SEEN[score.glossary]}: {score.seen_reason}", "aside")
    yield from _harm(score)
    yield from _scored_terms(score)
    if score.errors:
        yield Points(score.errors)


def _row(name: str, gain: GlossaryGain) -> tuple[Cell, ...]:
    difference = estimate_cell(gain.difference, signed=True)
    if gain.lowest is not None and gain.highest is not None and None not in (gain.lowest.value, gain.highest.value):
        ends = figure(gain.lowest.value or 0.0, signed=True), figure(gain.highest.value or 0.0, signed=True)
        difference = Cell(f"{ends[0]} to {ends[1]}", tail=plural(gain.failed, "error"), note=gain.difference.reason)
    return (
        text_cell(name),
        count_cell(gain.cases),
        estimate_cell(gain.without),
        estimate_cell(gain.with_it),
        difference,
        count_cell(gain.changed),
        text_cell(f"{gain.better}–{gain.worse}"),
    )


def _harm(score: GlossaryScore) -> Iterator[Block]:
    if not score.harmed:
        return
    rows = tuple(
        (
            text_cell(one.query),
            text_cell(", ".join(one.added)),
            count_cell(one.before),
            count_cell(one.after, reason="not returned any more"),
        )
        for one in score.harmed[:MOST_EXAMPLES]
    )
    columns = (
        Column("question", numeric=False, flexible=True),
        Column("added", numeric=False, flexible=True),
        Column("rank before"),
        Column("after"),
    )
    shown = f"the first {len(rows)} of {len(score.harmed)}" if len(rows) < len(score.harmed) else "all"
    yield Table(f"questions whose unseen answer it moved down: {shown}", columns, rows)


def _scored_terms(score: GlossaryScore) -> Iterator[Block]:
    moving = [one for one in score.scored_terms if one.unseen.better or one.unseen.worse]
    if not moving:
        return
    ordered = sorted(moving, key=lambda one: (one.unseen.better - one.unseen.worse, one.when, one.add))
    rows = tuple(
        (text_cell(one.when), text_cell(one.add), moved_cell(one.unseen), _own(one.unseen))
        for one in ordered[:MOST_TERMS]
    )
    columns = (
        Column("people say", numeric=False, flexible=True),
        Column("documents say", numeric=False, flexible=True),
        Column("up–down"),
        Column("change"),
    )
    yield Table("terms that change unseen answers, each alone, the most harmful first", columns, rows)


def _own(effect: Effect) -> Cell:
    return number_cell(effect.gain, reason="a search failed", signed=True, digits=4)


def _method(result: GlossaryEvaluation) -> Iterator[Block]:
    groups = f"joined by cluster or gold document into {whole(result.groups)} groups"
    folds = f"split into {result.folds} folds. No group is split: what is in one fold answers nothing of another."
    accepted = f"with up to {result.most} terms, as if a person accepted all that is proposed"
    yield Points(
        (
            f"{whole(result.questions)} questions, {groups} and {folds}",
            f"A glossary is rebuilt without each fold, {accepted}; gains were estimated on {result.measured_on}.",
            *EXPLAINED,
        )
    )
    yield Facts(
        (
            ("documents", f"{result.corpus}, digest {result.corpus_digest[:12]}"),
            ("the question's weight", str(result.weight)),
            ("stems", result.language or "none"),
            ("seed", str(result.seed)),
            ("findback", result.findback),
        )
    )
    yield from reasons_table("questions that gave no terms", result.left_out)
