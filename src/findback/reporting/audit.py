"""An audit laid out as a report."""

from findback.model.audit import Audit, AuditedRetriever, BucketSuccess, Side, Yardstick
from findback.model.evaluation import Count
from findback.reporting.blocks import Block, Column, Copied, Facts, Points, Prose, Report, Section, Table
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

NO_SAMPLE = "no real sample was given"
OURS = ("overlap", "leak")
ARTICLES = ("article overlap", "article leak")
ARTICLES_FLOOR = "the articles' figures have no chance floor"
LEAKED = ("leaked", "unleaked")
"""Buckets by leak, not by overlap."""
LEAK_LIMIT = (
    "leaked: more than .35 of a question's rare words stand in its gold text (leak above .35, unless the settings name"
    " another limit); a question whose leak cannot be measured is in neither row."
)


def audit_report(audit: Audit, *, examples: int = 5, histograms: bool = False) -> Report:
    """Lay an audit out, its verdict first.

    Args:
        audit: What auditing gave.
        examples: How many of the worst leaking questions to show.
        histograms: Show how overlap and leak are distributed, bin by bin.
    """
    sections = (
        Section("verdict", "Verdict", (Prose(audit.verdict, "headline"), *_sets(audit))),
        Section("wording", "How much wording is borrowed", _wording(audit, histograms=histograms)),
        Section("gap", "The gap to real questions", _gaps(audit)),
        Section("audit-scores", "What that does to scores", _scores(audit)),
        Section("buckets", f"{audit.metric} by overlap", _buckets(audit)),
        Section("mix", "Mix of types", _mix(audit)),
        Section("hints", "Signs of a model's hand", _hints(audit)),
        Section("worst", "The worst leaking questions", tuple(Copied(e) for e in audit.worst[:examples])),
        Section("articles", "Both articles' figures", _articles(audit)),
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


def sides(audit: Audit) -> tuple[tuple[str, Side], ...]:
    """Return the set, and the sample where there is one, with their names in tables."""
    named = [("set", audit.set)]
    if audit.sample is not None:
        named.append(("sample", audit.sample))
    return tuple(named)


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


BINS = ("0–.1", ".1–.2", ".2–.3", ".3–.4", ".4–.5", ".5–.6", ".6–.7", ".7–.8", ".8–.9", ".9–1")
"""How the ten bins of a histogram are called."""


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


def _wording(audit: Audit, *, histograms: bool) -> tuple[Block, ...]:
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


def _articles(audit: Audit) -> tuple[Block, ...]:
    named = tuple(
        (measure, name, yard)
        for measure in ARTICLES
        for name, side in sides(audit)
        for yard in (side.yardstick(measure),)
        if yard is not None
    )
    return (yardstick_table("English words only, no stems, as the articles count", named),) if named else ()


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


Buckets = tuple[tuple[AuditedRetriever, tuple[BucketSuccess, ...]], ...]


def bucket_table(title: str, named: Buckets, *, head: str = "Overlap", charted: bool = True) -> Table:
    """Return success among questions of like overlap, one column per retriever."""
    labels = list(dict.fromkeys(bucket.bucket for _, buckets in named for bucket in buckets))
    rows = []
    for label in labels:
        found = [(r, next((b for b in buckets if b.bucket == label), None)) for r, buckets in named]
        cases = max(bucket.cases for _, bucket in found if bucket is not None)
        cells = [score_cell(b.score if b else None, errors=r.failed, reason="no question in it") for r, b in found]
        rows.append((text_cell(label), count_cell(cases), *cells))
    columns = (
        Column(head, numeric=False),
        Column("questions"),
        *(Column(r.name) for r, _ in named),
    )
    return Table(title, columns, tuple(rows), charted=charted)


def by_overlap(buckets: tuple[BucketSuccess, ...]) -> tuple[BucketSuccess, ...]:
    """Return the buckets by overlap, without those by leak."""
    return tuple(bucket for bucket in buckets if bucket.bucket not in LEAKED)


def _by_leak(buckets: tuple[BucketSuccess, ...]) -> tuple[BucketSuccess, ...]:
    return tuple(bucket for bucket in buckets if bucket.bucket in LEAKED)


def _buckets(audit: Audit) -> tuple[Block, ...]:
    blocks: list[Block] = []
    leaks: list[Block] = []
    for name, named in (
        ("set", tuple((r, r.buckets) for r in audit.retrievers)),
        ("sample", tuple((r, r.sample_buckets) for r in audit.retrievers)),
    ):
        overlap = tuple((r, by_overlap(buckets)) for r, buckets in named)
        leak = tuple((r, _by_leak(buckets)) for r, buckets in named)
        if any(buckets for _, buckets in overlap):
            blocks.append(bucket_table(f"{audit.metric} by overlap, on the {name}", overlap))
        if any(buckets for _, buckets in leak):
            title = f"{audit.metric} of leaked and unleaked questions, on the {name}"
            leaks.append(bucket_table(title, leak, head="Leak", charted=False))
    return (*blocks, *leaks, *((Prose(LEAK_LIMIT, "aside"),) if leaks else ()))


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
