"""Measure how much of a set's wording leaks from its answers, and what that does to scores."""

import tomllib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.corpus.duplicates import find_duplicates
from findback.errors import MissingError
from findback.measure.gap import measure_gap
from findback.measure.metrics.name import parse_metric
from findback.model.audit import Audit, Gap, MissingType, Orientation
from findback.model.evaluation import SetMakeUp
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.model.record import LOCAL_ONLY
from findback.steps.buckets import AuditedSet, Outcomes, ScorePlan, audit_retrievers
from findback.steps.egress import refuse_unreviewed
from findback.steps.gold import refuse_unscorable
from findback.steps.kept import keep, now
from findback.steps.legend import explain_metrics
from findback.steps.mined_sample import MINED, read_mined_sample
from findback.steps.opening import SetRequest, open_documents, open_questions, open_retrievers, searches_corpus
from findback.steps.spread import spread_of
from findback.steps.verdict import cautions, verdict
from findback.steps.waiting import wait_for
from findback.steps.wording import (
    Measure,
    MeasuredSide,
    drawn_from,
    measure_side,
    share_window,
    word_questions,
    worst_examples,
)
from findback.text.words import TOKENIZER_VERSION
from findback.workspace import Workspace

HARDLY = 0.05
"""A type with less than this share of the set is one it hardly has."""
COMMON = 0.10
"""A type with at least this share of the sample is worth having."""
GAP_MEASURES: tuple[Measure, ...] = ("overlap", "leak", "article overlap", "article leak")
WORDING_LEGEND = (
    "overlap: share of the question's content words, by stem, that its gold text holds in the window",
    "leak: the same for its rare words only (vocabulary leak)",
    "chance floor: what the same operation finds in random other documents; corrected = (figure − floor) / (1 − floor)",
    "article overlap, article leak: the formulas of the two articles this tool grew from, on the whole gold text",
    "a question with several golds is measured against the one of the highest grade, the first of equals",
)


class AuditRequest(SetRequest):
    """Measure how much of a set's wording leaks from its answers."""

    real: Annotated[Path | None, LOCAL_ONLY] = None
    """Queries people really typed, to compare with; labelled or not. The word `candidates` means what was mined, with
    the links of those who found the answer."""
    real_as: str | None = None
    """Format of the real queries; recognised by itself when left out."""
    real_columns: dict[str, str] = Field(default_factory=dict)
    """Which column of the real queries holds what."""
    real_corpus: Annotated[Path | None, LOCAL_ONLY] = None
    """Documents the real queries were about, where they are others."""
    retrievers: tuple[str, ...] = ()
    """Retrievers of findback.toml to score; all of them when empty, BM25 where it names none."""
    metric: str | None = None
    """Metric of the score gap; findback.toml's primary one when left out."""
    depth: PositiveInt = 100
    """Documents asked of each retriever."""
    worst: NonNegativeInt = 10
    """How many of the most copied questions to show."""
    fail_over: Annotated[float | None, Field(ge=0, le=1)] = None
    """Exit with 1 when the overlap gap (without real queries: the corrected overlap) is surely above this."""
    seed: NonNegativeInt | None = None
    """Seed of everything drawn at random; findback.toml's when left out."""


def audit(
    workspace: Workspace,
    request: AuditRequest,
    *,
    systems: Sequence[Retriever] = (),
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Audit:
    """Compare a set's wording with its answers', beside real queries where there are any.

    Args:
        workspace: Settings; a folder without findback.toml will do.
        request: What to audit.
        systems: Retrievers already built, instead of those of findback.toml.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Raises:
        MissingError: If set, sample or documents are not there.
        DataError: If one of them cannot be read, or the set holds no question.
        UsageError: If the metric's name is unknown.
        RefusedError: If unreviewed questions would leave this machine.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
    """
    measures = workspace.settings.measures
    seed = measures.seed if request.seed is None else request.seed
    metric = str(parse_metric(request.metric or measures.primary))
    corpus = open_documents(workspace, request, progress=progress)
    questions = open_questions(workspace, request, corpus)
    refuse_unmeasurable(questions, corpus)
    sample, sample_corpus = open_sample(workspace, request, corpus, progress)
    own, other = measure_both(questions, corpus, sample, sample_corpus, seed=seed, progress=progress)
    lengths = share_window(own.worded, other.worded if other is not None else None)
    different = sample_corpus is not corpus and (
        sample_corpus is None or corpus is None or sample_corpus.digest != corpus.digest
    )
    here = AuditedSet(questions, corpus, own)
    there = AuditedSet(sample, sample_corpus, other) if sample is not None and other is not None else None
    outcomes = None
    if corpus is not None and here.labelled.questions:
        outcomes = _score_sides(
            workspace, request, (here, there), metric, different=different, systems=systems, progress=progress, ask=ask
        )
    made = now()
    result = Audit(
        made=made,
        findback=version("findback"),
        tokenizer=TOKENIZER_VERSION,
        seed=seed,
        corpus=corpus.name if corpus is not None else None,
        documents=len(corpus) if corpus is not None else None,
        set=own.side,
        sample=other.side if other is not None else None,
        gaps=find_gaps(own, other, corrected_only=lengths.corrected_only, seed=seed),
        different_corpora=different and sample is not None,
        metric=metric,
        retrievers=outcomes.retrievers if outcomes is not None else (),
        spread_set=spread_of(outcomes.on_set, metric) if outcomes is not None else None,
        spread_sample=spread_of(outcomes.on_sample, metric) if outcomes is not None else None,
        missing_types=missing_types(own.side.set, other.side.set if other is not None else None),
        worst=worst_examples(own, corpus, count=request.worst),
        orientation=() if other is not None else load_orientation(),
        needs_gold=needs_gold(own, other),
        lost_gold=(here.lost, there.lost if there is not None else 0),
        verdict="",
        legend=(*WORDING_LEGEND, *explain_metrics([metric])),
    )
    result = result.model_copy(
        update={"verdict": verdict(result), "cautions": cautions(result, corrected_only=lengths.corrected_only)}
    )
    if workspace.file is not None:
        keep(workspace, result)
    return result


def refuse_unmeasurable(questions: QuestionSet, corpus: Corpus | None) -> None:
    """Stop where neither wording nor scores could mean anything.

    Raises:
        DataError: If there are no questions, or none has gold that can be read as a text or document.
        MissingError: If gold names documents and there are none.
    """
    if any(question.gold_texts for question in questions.questions):
        return
    refuse_unscorable(questions, corpus)
    if corpus is None:
        raise MissingError(
            f"the gold of {questions.name} names documents, and no documents were given",
            hint="--corpus FOLDER, or findback init in the folder of the documents",
        )


def _score_sides(
    workspace: Workspace,
    request: AuditRequest,
    sides: tuple[AuditedSet, AuditedSet | None],
    metric: str,
    *,
    different: bool,
    systems: Sequence[Retriever],
    progress: Progress,
    ask: Callable[[str], bool] | None,
) -> Outcomes:
    own, other = sides
    measures = workspace.settings.measures
    built = list(systems) or open_retrievers(workspace, request.retrievers, own.corpus, progress=progress, ask=ask)
    for side in sides:
        if side is not None:
            refuse_unreviewed(side.questions, built, workspace.settings.egress)
    elsewhere: list[Retriever | None] = list(built)
    if different and other is not None:
        # A system with an index of its own cannot be moved to other documents; its sample score would mean nothing.
        movable = (
            [] if systems else open_retrievers(workspace, request.retrievers, other.corpus, progress=progress, ask=ask)
        )
        elsewhere = [one if searches_corpus(one.name, workspace) else None for one in movable] or [None] * len(built)
    depth = max(request.depth, parse_metric(metric).cutoff or 1)
    seed = measures.seed if request.seed is None else request.seed
    plan = ScorePlan(metric, depth, measures.leak_limit, seed)
    return wait_for(audit_retrievers(built, elsewhere, own, other, plan, progress=progress))


def open_sample(
    workspace: Workspace, request: AuditRequest, corpus: Corpus | None, progress: Progress
) -> tuple[QuestionSet | None, Corpus | None]:
    """Return the real queries and the documents they were about."""
    if request.real is None:
        return None, None
    place = corpus
    if request.real_corpus is not None:
        place = open_documents(workspace, request.model_copy(update={"corpus": request.real_corpus}), progress=progress)
    if request.real == MINED:
        return read_mined_sample(workspace, place), place
    reading = request.model_copy(update={"as_": request.real_as, "columns": request.real_columns, "grades": {}})
    return open_questions(workspace, reading, place, path=request.real, kind="sample"), place


def measure_both(
    questions: QuestionSet,
    corpus: Corpus | None,
    sample: QuestionSet | None,
    sample_corpus: Corpus | None,
    *,
    seed: int,
    progress: Progress,
) -> tuple[MeasuredSide, MeasuredSide | None]:
    """Return set and sample measured on one window."""
    worded = word_questions(questions, corpus)
    other = word_questions(sample, sample_corpus) if sample is not None else None
    window = share_window(worded, other).window
    groups = find_duplicates(corpus, progress=progress).groups if corpus is not None else {}
    drawn = drawn_from(corpus, worded, groups)
    own = measure_side(questions, worded, drawn, window=window, seed=seed)
    if sample is None or other is None:
        return own, None
    if sample_corpus is not corpus or corpus is None:
        groups = find_duplicates(sample_corpus, progress=progress).groups if sample_corpus is not None else {}
        drawn = drawn_from(sample_corpus, other, groups)
    return own, measure_side(sample, other, drawn, window=window, seed=seed)


def find_gaps(own: MeasuredSide, other: MeasuredSide | None, *, corrected_only: bool, seed: int) -> tuple[Gap, ...]:
    """Return the difference between set and sample for every measure both sides have."""
    if other is None or not own.rows or not other.rows:
        return ()
    gaps = []
    for measure in GAP_MEASURES:
        article = measure.startswith("article")
        if article and corrected_only:
            # The articles' figures have no chance floor, so golds of unlike length cannot be compared by them.
            continue
        mine, theirs = own.worded.units, other.worded.units
        found = measure_gap(
            own.values(measure, corrected=corrected_only),
            other.values(measure, corrected=corrected_only),
            [unit.cluster for unit in mine],
            [unit.cluster for unit in theirs],
            first_golds=[unit.gold for unit in mine],
            second_golds=[unit.gold for unit in theirs],
            seed=seed,
            bounds=None if corrected_only else (0.0, 1.0),
        )
        gaps.append(
            Gap(
                measure=measure,
                corrected=corrected_only,
                difference=found.difference,
                superiority=found.superiority,
                set_median=found.first_median,
                sample_median=found.second_median,
            )
        )
    return tuple(gaps)


def missing_types(own: SetMakeUp, sample: SetMakeUp | None) -> tuple[MissingType, ...]:
    """Return the types of wording and answer that the set hardly has, though the sample has them."""
    if sample is None:
        return ()
    found = []
    axes: tuple[Literal["wording", "answer"], ...] = ("wording", "answer")
    for axis in axes:
        if all(count.name == "unknown" for count in own.by[axis]):
            # A set that does not say has no shares to compare.
            continue
        wanted = _shares(sample, axis)
        have = _shares(own, axis)
        for name, share in wanted.items():
            # Where part of the set does not say, that part could hold the type.
            if name != "unknown" and share >= COMMON and have.get(name, 0.0) + have.get("unknown", 0.0) % 1 < HARDLY:
                shown = None if have.get("unknown", 0.0) == 1 else have.get(name, 0.0)
                found.append(MissingType(axis=axis, type=name, set_share=shown, sample_share=share))
    return tuple(found)


def _shares(made_of: SetMakeUp, axis: str) -> dict[str, float]:
    return {count.name: count.count / made_of.questions for count in made_of.by[axis]} if made_of.questions else {}


def needs_gold(own: MeasuredSide, other: MeasuredSide | None) -> tuple[str, ...]:
    """Return which figures could not be made for want of a label."""
    said = []
    for called, side in (("set", own), ("real queries", other)):
        if side is None:
            continue
        unanswerable = next((c.count for c in side.side.set.by["answer"] if c.name == "no-answer"), 0)
        without = side.side.set.questions - side.side.measured - unanswerable - side.side.set.unresolved
        if not side.side.measured:
            said.append(f"overlap, leak and scores of the {called}: no question has a gold text")
        elif without > 0:
            said.append(f"overlap and leak of {without} of the {side.side.set.questions} questions of the {called}")
    if other is not None and not other.side.measured:
        said.append("the gap between set and real queries: findback label quick labels 30 of them in half an hour")
    return tuple(said)


def load_orientation() -> tuple[Orientation, ...]:
    """Return the figures of public sets, for a reader who has no real queries yet."""
    content = (Path(__file__).parent / "data" / "orientation.toml").read_text("utf-8")
    return tuple(Orientation.model_validate(one) for one in tomllib.loads(content)["set"])


def exceeds(result: Audit, limit: float | None) -> bool:
    """Return whether an audit's overlap surely lies above a limit: its interval does, not only the figure."""
    if limit is None:
        return False
    gap = next((gap for gap in result.gaps if gap.measure == "overlap"), None)
    if gap is not None:
        return gap.difference.low is not None and gap.difference.low > limit
    own = result.set.yardstick("overlap")
    low = own.corrected.mean.low if own is not None and own.corrected is not None else None
    return low is not None and low > limit
