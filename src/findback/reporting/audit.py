"""An audit laid out as a report."""

from findback.model.audit import Audit
from findback.model.evaluation import Count
from findback.reporting.blocks import Block, Column, Copied, Facts, Points, Prose, Report, Section, Table
from findback.reporting.buckets import bucket_blocks
from findback.reporting.evaluation import spread_blocks
from findback.reporting.figures import (
    Cell,
    count_cell,
    estimate_cell,
    figure,
    number_cell,
    plural,
    score_cell,
    text_cell,
    whole,
)
from findback.reporting.makeup import AXES, is_known, set_facts
from findback.reporting.yardsticks import article_blocks, sides, wording_blocks

NO_SAMPLE = "no real sample was given"


def audit_report(audit: Audit, *, examples: int = 5, histograms: bool = False) -> Report:
    """Lay an audit out, its verdict first.

    Args:
        audit: What auditing gave.
        examples: How many of the worst leaking questions to show.
        histograms: Show how overlap and leak are distributed, bin by bin.
    """
    sections = (
        Section("verdict", "Verdict", (Prose(audit.verdict, "headline"), *_sets(audit))),
        Section("wording", "How much wording is borrowed", wording_blocks(audit, histograms=histograms)),
        Section("gap", "The gap to real questions", _gaps(audit)),
        Section("audit-scores", "What that does to scores", _scores(audit)),
        Section("buckets", f"{audit.metric} by overlap", bucket_blocks(audit)),
        Section("mix", "Mix of types", _mix(audit)),
        Section("hints", "Signs of a model's hand", _hints(audit)),
        Section("worst", "The worst leaking questions", tuple(Copied(e) for e in audit.worst[:examples])),
        Section("articles", "Both articles' figures", article_blocks(audit)),
        Section("orientation", "Other sets, on other documents", _orientation(audit)),
        Section("needs-gold", "What labels would add", (Points(audit.needs_gold),)),
        Section("audit-legend", "What the names mean", (Points(audit.legend), _provenance(audit))),
        Section("cautions", "What this does not tell you", (Points(audit.cautions),)),
    )
    heading = audit.set.set.heading
    if audit.sample is not None:
        heading = f"{heading} against {audit.sample.set.heading}"
    filled = tuple(s for s in sections if s.blocks and any(block != Points(()) for block in s.blocks))
    return Report("Audit", heading, filled)


def _sets(audit: Audit) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for name, side in sides(audit):
        facts = set_facts(side.set).items
        length = "unknown" if side.gold_length is None else f"{side.gold_length:,.0f} characters (median)"
        window = "whole gold texts" if side.window is None else f"{whole(side.window)} characters"
        words = (
            "unknown"
            if side.query_words is None
            else f"{side.query_words:g} {'word' if side.query_words == 1 else 'words'} (median)"
        )
        blocks.append(
            Facts(
                (
                    (name.capitalize(), facts[0][1]),
                    *facts[1:],
                    ("Query", words),
                    ("Gold text", length),
                    ("Window", window),
                )
            )
        )
        if side.set.notes:
            blocks.append(Points(side.set.notes))
    if audit.different_corpora:
        blocks.append(Prose("Set and sample have their answers in different documents."))
    return tuple(blocks)


def _gaps(audit: Audit) -> tuple[Block, ...]:
    if not audit.gaps:
        return () if audit.sample else (Prose(f"Not measured: {NO_SAMPLE} (--real).", "aside"),)
    rows = tuple(
        (
            text_cell(gap.measure + (", corrected" if gap.corrected else "")),
            number_cell(gap.set_median, reason="no question could be measured"),
            number_cell(gap.sample_median, reason="no question could be measured"),
            estimate_cell(gap.difference, signed=True),
            estimate_cell(gap.superiority),
        )
        for gap in audit.gaps
    )
    heads = ("median, set", "median, sample", "difference of means", "P(set > real)")
    columns = (
        Column("Measure", numeric=False, flexible=True),
        *(Column(head, bar=head.startswith("difference")) for head in heads),
    )
    blocks: list[Block] = [Table("Set minus sample", columns, rows, axis=(-1.0, 1.0))]
    blocks.append(
        Prose(
            "P(set > real): chance that a question of the set overlaps more than a real one; .5 is no gap.",
            "aside",
        )
    )
    if any(gap.corrected for gap in audit.gaps):
        blocks.append(
            Prose(
                "Gold texts differ more than twofold in length: only figures corrected for chance compare.",
                "aside",
            )
        )
    return tuple(blocks)


def _scores(audit: Audit) -> tuple[Block, ...]:
    if not audit.retrievers:
        return ()
    no_gap = NO_SAMPLE if audit.sample is None else "the sample has too few labels"
    rows = tuple(
        (
            text_cell(r.name),
            score_cell(r.set_score, errors=r.failed),
            score_cell(r.sample_score, errors=r.failed, reason=no_gap),
            estimate_cell(r.gap, signed=True, reason=no_gap),
            count_cell(r.set_score.estimate.n),
            count_cell(r.sample_score.estimate.n if r.sample_score else None, reason=no_gap),
        )
        for r in audit.retrievers
    )
    heads = ("on the set", "on the sample", "gap", "n set", "n sample")
    columns = (Column("Retriever", numeric=False, flexible=True), *(Column(head) for head in heads))
    return (
        Table(f"{audit.metric} of each retriever", columns, rows),
        *spread_blocks(audit.spread_set, audit.metric, " on the set"),
        *spread_blocks(audit.spread_sample, audit.metric, " on the sample"),
    )


def _mix(audit: Audit) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for axis in AXES:
        columns = [Column(axis.capitalize(), numeric=False)]
        counts = []
        for name, side in sides(audit):
            columns += [Column(name), Column("share")]
            counts.append(side.set.by.get(axis, ()))
        if any(map(is_known, counts)):
            blocks.append(Table(f"Questions by {axis}", tuple(columns), _mix_rows(counts)))
    hardly = tuple(
        f"The set hardly has {missing.type} ({missing.axis}): {_share(missing.set_share)} of it, "
        f"{_share(missing.sample_share)} of the sample."
        for missing in audit.missing_types
        if missing.set_share is not None
    )
    silent = dict.fromkeys(missing.axis for missing in audit.missing_types if missing.set_share is None)
    said = (*hardly, *(f"The set does not say its {axis}, so what it lacks cannot be told." for axis in silent))
    return (*((Points(said),) if said else ()), *blocks)


def _mix_rows(counts: list[tuple[Count, ...]]) -> tuple[tuple[Cell, ...], ...]:
    counts = [side if is_known(side) else () for side in counts]
    names = list(dict.fromkeys(count.name for side in counts for count in side))
    rows = []
    for name in names:
        cells = [text_cell(name)]
        for side in counts:
            total = sum(count.count for count in side)
            if not total:
                cells += [Cell("–", note="it does not say")] * 2
                continue
            held = sum(count.count for count in side if count.name == name)
            cells += [count_cell(held), number_cell(held / total, reason=None)]
        rows.append(tuple(cells))
    return tuple(rows)


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else figure(value)


def _hints(audit: Audit) -> tuple[Block, ...]:
    items = tuple(
        f"{name.capitalize()}: {hint.sign}" + (f" ({hint.evidence})" if hint.evidence else "")
        for name, side in sides(audit)
        for hint in side.hints
    )
    return (Points(items),) if items else ()


def _orientation(audit: Audit) -> tuple[Block, ...]:
    if not audit.orientation:
        return ()
    rows = tuple(
        (
            text_cell(known.name),
            text_cell(known.written),
            number_cell(known.overlap_median, reason=None),
            number_cell(known.at_least_half, reason=None),
            number_cell(known.zero, reason=None),
            count_cell(known.n),
            text_cell(known.source),
        )
        for known in audit.orientation
    )
    columns = (
        Column("Set", numeric=False, flexible=True),
        Column("how written", numeric=False, flexible=True),
        Column("overlap, median"),
        Column("≥ .5"),
        Column("zero"),
        Column("n"),
        Column("source", numeric=False, flexible=True),
    )
    return (
        Table("Overlap of public sets", columns, rows),
        Prose("Another corpus: for orientation only, not for comparison.", "aside"),
    )


def _provenance(audit: Audit) -> Facts:
    corpus = audit.corpus or "none"
    if audit.documents is not None:
        corpus += f", {plural(audit.documents, 'document')}"
    return Facts(
        (
            ("Made", audit.made.strftime("%Y-%m-%d %H:%M UTC")),
            ("findback", audit.findback),
            ("Corpus", corpus),
            ("Tokenizer, seed", f"{audit.tokenizer}, {audit.seed}"),
        )
    )
