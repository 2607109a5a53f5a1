"""What the wording does to scores: success by overlap, leaked and unleaked, set and real queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from findback.corpus.corpus import Corpus
from findback.departures import carrying
from findback.measure.buckets import NAMES, bucket_of
from findback.measure.gap import measure_gap
from findback.model.audit import AuditedRetriever, BucketSuccess
from findback.model.estimate import Estimate
from findback.model.evaluation import Score
from findback.model.protocols import Progress, Query, Retriever
from findback.model.question import QuestionSet
from findback.retrievers.asking import ask_all
from findback.steps.egress import state_of
from findback.steps.gold import Labelled, is_found, label_columns
from findback.steps.opening import closing
from findback.steps.scores import Scored, score_run
from findback.steps.wording import MeasuredSide


@dataclass(frozen=True, eq=False)
class AuditedSet:
    """One side of an audit, ready to be searched."""

    questions: QuestionSet
    corpus: Corpus | None
    measured: MeasuredSide

    @cached_property
    def labelled(self) -> Labelled:
        """Return the questions that can be scored: those whose gold was found, and those without an answer."""
        known = [q for q in self.questions.questions if is_found(q) or not (q.gold or q.unresolved)]
        return label_columns(known, self.corpus)

    @property
    def lost(self) -> int:
        """Return how many questions name only gold that is no document of the corpus."""
        return sum(1 for q in self.questions.questions if (q.gold or q.unresolved) and not is_found(q))


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
    elsewhere: Sequence[Retriever | None],
    own: AuditedSet,
    other: AuditedSet | None,
    plan: ScorePlan,
    *,
    progress: Progress,
) -> Outcomes:
    """Score every retriever on both sides and cut its success by overlap.

    Args:
        systems: Retrievers over the set's documents.
        elsewhere: For each of them the one that searches the real queries' documents: itself where both are the
            same documents, None where it cannot search them.
        own: The set.
        other: The real queries, if any.
        plan: How to score.
        progress: Told about each question.
    """
    retrievers, on_set, on_sample = [], [], []
    async with closing([*systems, *(one for one in elsewhere if one is not None and one not in systems)]):
        for retriever, there_too in zip(systems, elsewhere, strict=True):
            scored = await _score(retriever, own, plan, progress)
            on_set.append(scored)
            there = None
            if other is not None and other.labelled.questions and there_too is not None:
                there = await _score(there_too, other, plan, progress)
                on_sample.append(there)
            retrievers.append(_compare(scored, there, own, other, plan))
    return Outcomes(tuple(retrievers), tuple(on_set), tuple(on_sample))


async def _score(retriever: Retriever, side: AuditedSet, plan: ScorePlan, progress: Progress) -> Scored:
    labelled = side.labelled
    with carrying(state_of(side.questions)):
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
    both = [one for one in (scored, there) if one is not None]
    return AuditedRetriever(
        name=scored.run.name,
        kind=scored.run.kind,
        set_score=overall(scored),
        sample_score=overall(there) if there is not None else None,
        gap=_gap(scored, there, plan) if there is not None else None,
        buckets=cut(scored, own.measured, plan.leak_limit),
        sample_buckets=cut(there, other.measured, plan.leak_limit) if there is not None and other is not None else (),
        failed=int(scored.scores.failed.sum()),
        sample_failed=int(there.scores.failed.sum()) if there is not None else 0,
        missing=sum(int(one.scores.missing.sum()) for one in both),
        not_applicable=sum(int(one.scores.skipped.sum()) for one in both),
    )


def _gap(scored: Scored, there: Scored, plan: ScorePlan) -> Estimate:
    """Return the score on the set minus that on the real queries, or why it cannot be told."""
    failed = int(scored.scores.failed.sum() + there.scores.failed.sum())
    missing = int(scored.scores.missing.sum() + there.scores.missing.sum())
    if failed:
        return Estimate(value=None, reason=f"searches failed: {failed}")
    if missing:
        return Estimate(value=None, reason=f"the recorded run lacks {missing} of the questions")
    return measure_gap(
        scored.answerable_values(plan.metric),
        there.answerable_values(plan.metric),
        scored.answerable_clusters,
        there.answerable_clusters,
        first_golds=scored.answerable_golds,
        second_golds=there.answerable_golds,
        seed=plan.seed,
    ).difference


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
    groups = [(name, scored.group("overlap", name, kept)) for name, kept in rows.items()]
    return tuple(
        BucketSuccess(bucket=name, cases=group.cases, score=group.scores[0]) for name, group in groups if group.cases
    )
