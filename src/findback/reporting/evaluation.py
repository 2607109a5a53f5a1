"""An evaluation laid out as a report."""

from collections.abc import Iterable

from findback.model.estimate import Estimate
from findback.model.evaluation import Drift, Evaluation, Score
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    basis,
    count_cell,
    estimate_cell,
    milliseconds,
    number_cell,
    plural,
    score_cell,
    spoken,
    text_cell,
    whole,
)
from findback.reporting.headline import headline
from findback.reporting.makeup import chosen, makeup_blocks, subject_blocks
from findback.reporting.misses import cut_off, miss_blocks
from findback.reporting.scored import find_score, metric_label, primary_score
from findback.reporting.sweep import sweep_blocks

APART = ("origin", "stratum", "indexed", "lenient")
"""Axes that every report shows apart."""
TYPES = ("wording", "answer", "language", "overlap")
"""Axes shown on request."""
_AXES = {
    "indexed": ("Gold", "by whether the gold is in the index"),
    "lenient": ("Counting", "with confirmed translations and mirrors counted as the gold itself"),
    "overlap": ("Overlap", "by overlap of the query with its gold"),
}
"""How some axes head their column and their table."""


def evaluation_report(
    evaluation: Evaluation, *, by: Iterable[str] = (), examples: int | None = 10, most: int | None = None
) -> Report:
    """Lay an evaluation out.

    Args:
        evaluation: What scoring gave.
        by: Axes of types to show besides those that always stand apart; `all` shows every one.
        examples: Missed questions shown of each retriever; None shows all.
        most: Most missed questions shown in all.
    """
    wanted = set(TYPES) if "all" in set(by) else set(by)
    types = tuple(axis for axis in TYPES if axis in wanted)
    sections = (
        Section("headline", "Headline", _headline(evaluation)),
        Section("exam", "What the exam is made of", _exam(evaluation)),
        Section(
            "scores",
            "Scores",
            (scores_table(evaluation), *spread_blocks(evaluation.spread, evaluation.primary)),
        ),
        Section("sweep", "Is the winner of the sweep any better?", _sweep(evaluation)),
        Section("apart", "Kept apart", _groups(evaluation, APART)),
        Section("types", "By type", _groups(evaluation, types)),
        Section("ranks", "Where the gold stands", _ranks(evaluation)),
        Section("misses", "Misses", _misses(evaluation, examples, most)),
        Section("coverage", "Is it there to be found?", _coverage(evaluation)),
        Section("drift", "How far agents drifted", _drift(evaluation.drift)),
        Section("abstention", "Can it tell that there is no answer?", _abstention(evaluation)),
        Section("errors", "Errors and what was counted apart", _errors(evaluation)),
        Section("latency", "Latency", (_latency(evaluation),)),
        Section("legend", "What the names mean", (Points(evaluation.legend), *provenance(evaluation))),
        Section("limits", "What this does not tell you", (Points(evaluation.limits),)),
    )
    return Report(
        "Evaluation",
        evaluation.set.heading,
        tuple(section for section in sections if any(block != Points(()) for block in section.blocks)),
        evaluation.workspace,
    )


def _headline(evaluation: Evaluation) -> tuple[Block, ...]:
    notes = tuple(f"{r.name}: {note}" for r in evaluation.retrievers for note in r.notes)
    said = (Prose(headline(evaluation), "headline"), primary_table(evaluation))
    return (*said, Points(notes)) if notes else said


def primary_table(evaluation: Evaluation) -> Table:
    """Return the primary metric per retriever, with what it rests on."""
    label = metric_label(evaluation, evaluation.primary)
    rows = []
    for retriever in evaluation.retrievers:
        score = primary_score(retriever, evaluation.primary)
        base = _base(score)
        no_gold = "gold plays no role in this figure"
        rows.append(
            (
                text_cell(retriever.name),
                score_cell(score, errors=retriever.failed),
                count_cell(base.n if base else None, reason="not scored"),
                count_cell(base.clusters if base else None, reason="not scored"),
                count_cell(base.golds if base else None, reason=no_gold),
                number_cell(base.design_effect if base else None, reason="design effect not measured", digits=2),
            )
        )
    columns = (
        Column("Retriever", numeric=False, flexible=True),
        Column(label, bar=True),
        Column("n"),
        Column("clusters"),
        Column("golds"),
        Column("deff"),
    )
    return Table(f"{label}, the primary metric", columns, tuple(rows))


def _base(score: Score | None) -> Estimate | None:
    """Return the estimate whose n is to be shown: the lower bound's where errors leave no mean."""
    if score is None:
        return None
    return score.lowest if score.estimate.value is None and score.lowest is not None else score.estimate


def scores_table(evaluation: Evaluation) -> Table:
    """Return every metric of every retriever over all cases."""
    columns = [Column("Retriever", numeric=False, flexible=True), Column("n")]
    columns += [Column(metric_label(evaluation, metric)) for metric in evaluation.metrics]
    rows = []
    for retriever in evaluation.retrievers:
        group = retriever.group()
        scores = [primary_score(retriever, metric) for metric in evaluation.metrics]
        cells = [text_cell(retriever.name), count_cell(group.cases if group else None, reason="not scored")]
        cells += [score_cell(score, errors=retriever.failed) for score in scores]
        rows.append(tuple(cells))
    return Table("Every metric over all answerable questions", tuple(columns), tuple(rows))


def spread_blocks(spread: Estimate | None, metric: str, where: str = "") -> tuple[Block, ...]:
    """Say how far best and worst retriever lie apart."""
    if spread is None:
        return ()
    cell = estimate_cell(spread, signed=True)
    if cell.value is None:
        return (Prose(f"Best minus worst retriever{where} cannot be told: {cell.note}."),)
    return (Prose(f"Best minus worst retriever{where}, {metric}: {spoken(cell)}, {basis(spread)}."),)


def _sweep(evaluation: Evaluation) -> tuple[Block, ...]:
    return sweep_blocks(evaluation.sweep, metric_label(evaluation, evaluation.primary)) or (Points(()),)


def _exam(evaluation: Evaluation) -> tuple[Block, ...]:
    how = Prose(f"How the cases were chosen: {chosen(evaluation.set)}.")
    return (*makeup_blocks(evaluation.set), how, *subject_blocks(evaluation.subjects))


def group_table(evaluation: Evaluation, axis: str) -> Table | None:
    """Return the primary metric per group of an axis and retriever; None where nothing was grouped by it."""
    values: dict[str, int] = {}
    exploratory = False
    for retriever in evaluation.retrievers:
        for group in retriever.groups:
            if group.axis == axis:
                values[group.value] = max(group.cases, values.get(group.value, 0))
                exploratory = exploratory or group.exploratory
    if not values:
        return None
    label = metric_label(evaluation, evaluation.primary)
    rows = []
    for value, cases in values.items():
        cells = [text_cell(value), count_cell(cases)]
        for retriever in evaluation.retrievers:
            found = next((g for g in retriever.groups if g.axis == axis and g.value == value), None)
            score = None if found is None else find_score(found, evaluation.primary)
            cell = score_cell(score, errors=retriever.failed)
            if found is not None and found.cases != cases:
                cell = cell._replace(tail="; ".join(filter(None, (cell.tail, f"n {whole(found.cases)}"))))
            cells.append(cell)
        rows.append(tuple(cells))
    head, words = _AXES.get(axis, (axis.replace("_", " ").capitalize(), f"by {axis}"))
    columns = (
        Column(head, numeric=False, flexible=True),
        Column("n"),
        *(Column(retriever.name) for retriever in evaluation.retrievers),
    )
    title = f"{label} {words}" + (" (exploratory; the intervals hold together)" if exploratory else "")
    return Table(title, columns, tuple(rows), charted=axis in TYPES)


def _groups(evaluation: Evaluation, axes: Iterable[str]) -> tuple[Block, ...]:
    tables = (group_table(evaluation, axis) for axis in axes)
    return tuple(table for table in tables if table is not None) or (Points(()),)


def counts_table(title: str, head: str, per_retriever: Iterable[tuple[str, dict[str, int]]]) -> Table:
    """Return counts by class, one column per retriever; a class a retriever does not have counts 0."""
    named = tuple(per_retriever)
    classes = list(dict.fromkeys(name for _, counts in named for name in counts))
    rows = tuple((text_cell(name), *(count_cell(counts.get(name, 0)) for _, counts in named)) for name in classes)
    columns = (Column(head, numeric=False, flexible=True), *(Column(name) for name, _ in named))
    return Table(title, columns, rows)


def _ranks(evaluation: Evaluation) -> tuple[Block, ...]:
    named = [(r.name, {count.name: count.count for count in r.ranks}) for r in evaluation.retrievers]
    table = counts_table("Questions by the rank of their best gold document", "Rank", named)
    return (table._replace(charted=True),)


def _misses(evaluation: Evaluation, each: int | None, most: int | None) -> tuple[Block, ...]:
    named = [(r.name, {count.name: count.count for count in r.misses}) for r in evaluation.retrievers]
    if not any(counts for _, counts in named):
        return (Prose("No question was missed.") if evaluation.retrievers else Points(()),)
    title = f"Questions with no right document among the first {whole(cut_off(evaluation))}, by class"
    return (counts_table(title, "Class", named), *miss_blocks(evaluation, each=each, most=most))


def _coverage(evaluation: Evaluation) -> tuple[Block, ...]:
    rows = []
    for retriever in evaluation.retrievers:
        cover = retriever.coverage
        share = cover.indexed / cover.golds if cover.indexed is not None and cover.golds else None
        why = cover.reason or "the retriever cannot answer by id"
        rows.append(
            (
                text_cell(retriever.name),
                count_cell(cover.golds),
                count_cell(cover.indexed, reason=why),
                number_cell(share, reason=why),
            )
        )
    columns = (
        Column("Retriever", numeric=False, flexible=True),
        Column("gold documents"),
        Column("in the index"),
        Column("share"),
    )
    return (Table("Gold documents each retriever holds", columns, tuple(rows)),)


def _drift(drift: Drift | None) -> tuple[Block, ...]:
    if drift is None:
        return (Points(()),)
    kept = estimate_cell(drift.shared_words)
    if not drift.questions:
        return (Prose(f"Not known: {kept.note}."),)
    cells = (
        text_cell("agents"),
        count_cell(drift.questions),
        count_cell(drift.calls),
        count_cell(drift.wordings),
        kept,
    )
    columns = (
        Column("Searched by", numeric=False, flexible=True),
        Column("failed questions"),
        Column("searches"),
        Column("wordings"),
        Column("words kept", bar=True),
    )
    about = Prose(
        "Words kept: share of the person's content words that an agent's rewrite still holds. Only searches that"
        " failed are mined, so this says nothing of those that went well.",
        "aside",
    )
    return (Table("Rewrites by agents, in what was mined here", columns, (cells,)), about)


def _abstention(evaluation: Evaluation) -> tuple[Block, ...]:
    held = [(r.name, r.abstention) for r in evaluation.retrievers if r.abstention is not None]
    if not held:
        return (Prose("Not measured: the set has no case without a good answer that every search could be asked."),)
    rows = tuple(
        (
            text_cell(name),
            estimate_cell(kept.auroc),
            estimate_cell(kept.false_answer),
            estimate_cell(kept.false_abstain),
            *(estimate_cell(own) for own in (kept.own_false_answer, kept.own_false_abstain) if own is not None),
            count_cell(kept.unanswerable),
            count_cell(kept.answerable),
        )
        for name, kept in held
    )
    shows_own = all(kept.own_false_answer is not None for _, kept in held)
    columns = (
        Column("Retriever", numeric=False, flexible=True),
        Column("AUROC"),
        Column("false answer"),
        Column("false abstain"),
        *(Column(head) for head in ("own false answer", "own false abstain") if shows_own),
        Column("no-answer"),
        Column("answerable"),
    )
    own = Prose(
        "false answer, false abstain: at a threshold on the top score, chosen on other cases; own: by the system's own"
        " decision, with results or without",
        "aside",
    )
    return (Table("No-answer cases, never part of the means above", columns, rows), *((own,) if shows_own else ()))


def _errors(evaluation: Evaluation) -> tuple[Block, ...]:
    columns = (
        Column("Retriever", numeric=False, flexible=True),
        Column("failed"),
        Column("missing"),
        Column("not applicable"),
        Column("outside corpus"),
        Column("tied golds"),
        Column("unstable"),
    )
    rows = tuple(
        (
            text_cell(r.name),
            count_cell(r.failed),
            count_cell(r.missing),
            count_cell(r.not_applicable),
            count_cell(r.outside_corpus),
            number_cell(r.tied_golds, reason="the order is the engine's own"),
            count_cell(r.unstable, reason="each question was asked once"),
        )
        for r in evaluation.retrievers
    )
    blocks: list[Block] = [Table("Counted apart", columns, rows)]
    kinds = tuple(
        (text_cell(r.name), text_cell(error.kind), count_cell(error.count), text_cell(error.first or None))
        for r in evaluation.retrievers
        for error in r.errors
    )
    if kinds:
        heads = (("Retriever", False), ("kind", False), ("count", True), ("first message", False))
        titled = tuple(Column(head, numeric=numeric, flexible=not numeric) for head, numeric in heads)
        blocks.append(Table("Errors, with the first message of each kind", titled, kinds))
    return tuple(blocks)


def _latency(evaluation: Evaluation) -> Table:
    columns = (
        Column("Retriever", numeric=False, flexible=True),
        Column("median"),
        Column("95th percentile"),
        Column("searches"),
        Column("warm-up"),
        Column("concurrency"),
    )
    rows = tuple(
        (
            text_cell(r.name),
            milliseconds(r.latency.median_ms),
            milliseconds(r.latency.p95_ms),
            count_cell(r.latency.measured),
            count_cell(r.latency.warm_up),
            count_cell(r.latency.concurrency),
        )
        for r in evaluation.retrievers
    )
    return Table("How long searches took; warm-up is left out", columns, rows)


def provenance(evaluation: Evaluation) -> tuple[Block, ...]:
    """Return what is needed to make the same numbers again."""
    corpus = evaluation.corpus or "none"
    if evaluation.documents is not None:
        corpus += f", {plural(evaluation.documents, 'document')}"
    if evaluation.corpus_digest:
        corpus += f", {evaluation.corpus_digest[:19]}"
    facts: list[tuple[str, str]] = [
        ("Made", evaluation.made.strftime("%Y-%m-%d %H:%M UTC")),
        ("findback", evaluation.findback),
        ("Workspace", evaluation.workspace),
        ("Corpus", corpus),
        ("Depth, seed", f"{evaluation.depth}, {evaluation.seed}"),
        ("Tokenizer", evaluation.tokenizer),
    ]
    facts += [
        (r.name, f"{r.kind}, configuration {r.config_digest[:19]}" + (f", run {r.run}" if r.run else ""))
        for r in evaluation.retrievers
    ]
    return (Facts(tuple(facts)),)
