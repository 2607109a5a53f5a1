"""What the wording does to scores: success by overlap, leaked and unleaked, set and real queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from findback.corpus.corpus import Corpus
from findback.measure.gap import measure_gap
from findback.model.audit import AuditedRetriever, BucketSuccess
from findback.model.estimate import Estimate
from findback.model.evaluation import Score
from findback.model.protocols import Progress, Query, Retriever
from findback.model.question import QuestionSet
from findback.retrievers.asking import ask_all
from findback.steps.gold import Labelled, label_columns
from findback.steps.opening import closing
from findback.steps.scores import Scored, score_run
from findback.steps.spread import spread_estimate
from findback.steps.wording import MeasuredSide

EDGES = (0.25, 0.5, 0.75)
"""Upper edges of the overlap buckets above 0; each bucket holds its upper edge but the last."""
NAMES = ("0", "0-.25", ".25-.5", ".5-.75", ".75-1")


@dataclass(frozen=True, slots=True, eq=False)
class AuditedSet:
    """One side of an audit, ready to be searched."""

    questions: QuestionSet
    corpus: Corpus | None
    measured: MeasuredSide

    def label(self) -> Labelled:
        """Return the questions that can be scored."""
        return label_columns(self.questions.questions, self.corpus)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Every retriever on both sides."""

    retrievers: tuple[AuditedRetriever, ...]
    on_set: tuple[Scored, ...]
    on_sample: tuple[Scored, ...]


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """How retrievers are scored in an audit."""

    metric: str
    depth: int
    leak_limit: float
    seed: int


async def audit_retrievers(
    systems: Sequence[Retriever],
    elsewhere: Sequence[Retriever],
    own: AuditedSet,
    other: AuditedSet | None,
    plan: ScorePlan,
    *,
    progress: Progress,
) -> Outcomes:
    """Score every retriever on both sides and cut its success by overlap.

    Args:
        systems: Retrievers over the set's documents.
        elsewhere: The same over the real queries' documents, where they are others; else empty.
        own: The set.
        other: The real queries, if any.
        plan: How to score.
        progress: Told about each question.
    """
    retrievers, on_set, on_sample = [], [], []
    async with closing([*systems, *elsewhere]):
        for at, retriever in enumerate(systems):
            scored = await _score(retriever, own, plan, progress)
            on_set.append(scored)
            there = None
            if other is not None and other.label().questions:
                there = await _score(elsewhere[at] if elsewhere else retriever, other, plan, progress)
                on_sample.append(there)
            retrievers.append(_compare(scored, there, own, other, plan))
    return Outcomes(tuple(retrievers), tuple(on_set), tuple(on_sample))


async def _score(retriever: Retriever, side: AuditedSet, plan: ScorePlan, progress: Progress) -> Scored:
    labelled = side.label()
    asked = await ask_all(
        retriever,
        [(question.id, Query(question.query, question.context)) for question in labelled.questions],
        depth=plan.depth,
        resolve=side.corpus.resolve if side.corpus is not None else None,
        progress=progress,
    )
    return score_run(asked.run, labelled, [plan.metric], seed=plan.seed)


def _compare(
    scored: Scored, there: Scored | None, own: AuditedSet, other: AuditedSet | None, plan: ScorePlan
) -> AuditedRetriever:
    failed = int(scored.scores.failed.sum()) + (int(there.scores.failed.sum()) if there is not None else 0)
    gap: Estimate | None = None
    if there is not None:
        gap = (
            Estimate(value=None, reason=f"{failed} queries failed")
            if failed
            else measure_gap(
                scored.answerable_values(plan.metric),
                there.answerable_values(plan.metric),
                scored.answerable_clusters,
                there.answerable_clusters,
                first_golds=scored.answerable_golds,
                second_golds=there.answerable_golds,
                seed=plan.seed,
            ).difference
        )
    return AuditedRetriever(
        name=scored.run.name,
        kind=scored.run.kind,
        set_score=overall(scored),
        sample_score=overall(there) if there is not None else None,
        gap=gap,
        buckets=cut(scored, own.measured, plan.leak_limit),
        sample_buckets=cut(there, other.measured, plan.leak_limit) if there is not None and other is not None else (),
        failed=failed,
    )


def overall(scored: Scored) -> Score:
    """Return a retriever's score over every question that has an answer."""
    return scored.group("all", "all", range(len(scored.labelled.questions))).scores[0]


def cut(scored: Scored, measured: MeasuredSide, leak_limit: float) -> tuple[BucketSuccess, ...]:
    """Return success by overlap, and on the leaked and unleaked part; empty buckets are left out."""
    places = {question.id: at for at, question in enumerate(measured.worded.questions)}
    overlaps, leaks = measured.values("overlap"), measured.values("leak")
    rows: dict[str, list[int]] = {name: [] for name in (*NAMES, "leaked", "unleaked")}
    for row, question in enumerate(scored.labelled.questions):
        at = places.get(question.id)
        if at is None or not scored.scores.answerable[row]:
            continue
        overlap, leak = overlaps[at], leaks[at]
        if overlap is not None:
            rows[bucket_of(overlap)].append(row)
        if leak is not None:
            rows["leaked" if leak > leak_limit else "unleaked"].append(row)
    return tuple(
        BucketSuccess(bucket=name, cases=len(kept), score=scored.group("overlap", name, kept).scores[0])
        for name, kept in rows.items()
        if kept
    )


def bucket_of(overlap: float) -> str:
    """Return the bucket of an overlap in [0, 1].

    >>> bucket_of(0.0), bucket_of(0.25), bucket_of(1.0)
    ('0', '0-.25', '.75-1')
    """
    if overlap <= 0:
        return NAMES[0]
    return NAMES[1 + sum(overlap > edge for edge in EDGES)]


def spread_on(scored: Sequence[Scored], metric: str, seed: int) -> Estimate | None:
    """Return best minus worst retriever on one side; None with fewer than two or with errors."""
    if len(scored) < 2 or any(one.scores.failed.any() for one in scored):
        return None
    columns = [one.answerable_values(metric) for one in scored]
    return spread_estimate(columns, scored[0].answerable_clusters, seed=seed)
