"""How much wording is borrowed, in tables: overlap and leak of a set, and of real questions beside it."""

from findback.model.audit import Audit, Side, Yardstick
from findback.reporting.blocks import Block, Column, Prose, Table
from findback.reporting.figures import count_cell, estimate_cell, figure, number_cell, plural, text_cell, whole

OURS = ("overlap", "leak")
ARTICLES = ("article overlap", "article leak")
ARTICLES_FLOOR = "the articles' figures have no chance floor"
BINS = ("0–.1", ".1–.2", ".2–.3", ".3–.4", ".4–.5", ".5–.6", ".6–.7", ".7–.8", ".8–.9", ".9–1")
"""How the ten bins of a histogram are called."""


def sides(audit: Audit) -> tuple[tuple[str, Side], ...]:
    """Return the set, and the sample where there is one, with their names in tables."""
    named = [("set", audit.set)]
    if audit.sample is not None:
        named.append(("sample", audit.sample))
    return tuple(named)


def yardstick_table(title: str, named: tuple[tuple[str, str, Yardstick], ...]) -> Table:
    """Return figures of several yardsticks, one row for each measure and side."""
    rows = []
    for label, side, yard in named:
        shape, few = yard.figures, "no question could be measured"
        no_floor, not_corrected = _without_floor(yard)
        corrected = yard.corrected.median if yard.corrected is not None else None
        rows.append(
            (
                text_cell(f"{label}, {side}"),
                count_cell(shape.n),
                number_cell(shape.median, reason=few),
                estimate_cell(shape.mean),
                number_cell(shape.at_least_half, reason=few),
                number_cell(shape.zero, reason=few),
                number_cell(yard.floor, reason=no_floor),
                number_cell(corrected, reason=not_corrected),
            )
        )
    heads = ("n", "median", "mean", "≥ .5", "zero", "floor", "corrected")
    columns = (Column("Measure", numeric=False, flexible=True), *(Column(h, bar=h == "mean") for h in heads))
    return Table(title, columns, tuple(rows))


def _without_floor(yard: Yardstick) -> tuple[str, str]:
    """Return why there is no chance floor, and no figure corrected for it, where there is none."""
    if yard.measure in ARTICLES:
        return ARTICLES_FLOOR, ARTICLES_FLOOR
    if not yard.figures.n:
        return "no question could be measured", "no question could be measured"
    return "no other documents to draw from", "not corrected without a chance floor"


def histogram_table(audit: Audit, measure: str) -> Table | None:
    """Return how many questions of each side fall into each bin; None where no side has a histogram."""
    named = [
        (name, yard.figures.histogram)
        for name, side in sides(audit)
        for yard in (side.yardstick(measure),)
        if yard is not None and len(yard.figures.histogram) == len(BINS)
    ]
    if not named:
        return None
    columns = [Column(measure.capitalize(), numeric=False)]
    for name, _ in named:
        columns += [Column(name), Column("share")]
    rows = []
    for at, label in enumerate(BINS):
        cells = [text_cell(label)]
        for _, bins in named:
            total = sum(bins)
            share = bins[at] / total if total else None
            cells += [count_cell(bins[at]), number_cell(share, reason="no question could be measured")]
        rows.append(tuple(cells))
    return Table(f"Questions by {measure} with their gold text", tuple(columns), tuple(rows), charted=True)


def wording_blocks(audit: Audit, *, histograms: bool) -> tuple[Block, ...]:
    """Return findback's own measures of each side, and by language where there are several."""
    named = []
    for measure in OURS:
        for name, side in sides(audit):
            yard = side.yardstick(measure)
            if yard is not None:
                named.append((measure, name, yard))
    blocks: list[Block] = [yardstick_table("Share of the query's words found in its gold text", tuple(named))]
    if histograms:
        blocks += [table for table in (histogram_table(audit, measure) for measure in OURS) if table is not None]
    for name, side in sides(audit):
        blocks.append(Prose(f"{name.capitalize()}: {say_measured(side)}."))
        blocks += [Prose(line, "aside") for line in _beside(name, side)]
    languages = tuple(
        (f"{measure} ({language})", name, yard)
        for name, side in sides(audit)
        for language, yards in side.by_language.items()
        for yard in yards
        for measure in (yard.measure,)
        if measure in OURS
    )
    if len({label for label, _, _ in languages}) > len(OURS):
        blocks.append(yardstick_table("By language", languages))
    return tuple(blocks)


def say_measured(side: Side) -> str:
    """Return how many questions can be compared with a gold text, and for how many of them leak is undefined."""
    if not side.measured:
        return "no question has a gold text"
    have = f"{plural(side.measured, 'question')} {'has' if side.measured == 1 else 'have'} a gold text"
    if not side.unmeasurable:
        return f"{have}; leak can be measured for all of them"
    reasons = ", ".join(f"{count.name} ({whole(count.count)})" for count in side.unmeasurable_reasons)
    said = f"{have}; leak cannot be measured for {whole(side.unmeasurable)} of them"
    return f"{said}: {reasons}" if reasons else said


def _beside(name: str, side: Side) -> list[str]:
    """Return the medians of the same shares without stems and weighted by rarity."""
    lines = []
    for measure in OURS:
        yard = side.yardstick(measure)
        if yard is not None and yard.verbatim is not None:
            weighted = "" if yard.weighted is None else f", weighted by rarity {figure(yard.weighted)}"
            lines.append(f"{name.capitalize()}, {measure}: median word for word {figure(yard.verbatim)}{weighted}.")
    return lines


def article_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return both articles' measures of each side; nothing where none was taken."""
    named = tuple(
        (measure, name, yard)
        for measure in ARTICLES
        for name, side in sides(audit)
        for yard in (side.yardstick(measure),)
        if yard is not None
    )
    return (yardstick_table("English words only, no stems, as the articles count", named),) if named else ()
