"""Score retrievers on a set."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Literal, NamedTuple

from pydantic import NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.departures import carrying
from findback.errors import UsageError
from findback.evalset.runs import save_run
from findback.files import storage_errors
from findback.measure.metrics.name import parse_metric
from findback.model.evaluation import Axis, Evaluation, RetrieverScores, ScoreGroup
from findback.model.protocols import SILENT, Documents, Progress, Query, Retriever
from findback.model.question import QuestionSet
from findback.model.record import LOCAL_ONLY
from findback.model.run import Run
from findback.retrievers.asking import Asked, ask_all, config_digest
from findback.steps.audiences import note_readers
from findback.steps.changes import note_changes
from findback.steps.drift import find_drift
from findback.steps.egress import refuse_unreviewed, state_of
from findback.steps.gold import Labelled, label_columns, refuse_unscorable
from findback.steps.holdout import open_holdout, write_look
from findback.steps.kept import keep, now
from findback.steps.legend import UNCERTAINTY, explain_metrics, note_depth
from findback.steps.lenient import lenient_group
from findback.steps.makeup import limits, make_up, subject_mix
from findback.steps.misses import (
    Presence,
    ask_presence,
    count_misses,
    cover,
    describe_misses,
    find_misses,
)
from findback.steps.opening import SetRequest, closing, open_documents, open_questions, open_retrievers
from findback.steps.pool import open_pool
from findback.steps.publish import publish, refuse_publishing
from findback.steps.resume import Earlier, find_earlier, join_runs
from findback.steps.runs import POOL_MARK
from findback.steps.scores import (
    Scored,
    count_outside,
    measure_latency,
    rank_counts,
    rate_abstention,
    score_run,
)
from findback.steps.spread import spread_of
from findback.steps.sweep import add_sweep, rate_sweep
from findback.steps.waiting import wait_for
from findback.text.words import TOKENIZER_VERSION
from findback.workspace import Workspace

PASSAGE_METRICS = ("AnchorSuccess@10", "AnchorRecall@10")
"""Added where gold has anchors and passages come back."""

KEPT_RUNS = 200
"""Runs that are kept; the oldest go first."""
AXES: tuple[Axis, ...] = ("origin", "stratum", "wording", "answer", "language")
"""Groups that are always scored apart; which types a terminal shows is asked with `--by`."""
By = Literal["wording", "answer", "language"]


class EvaluateRequest(SetRequest):
    """Score retrievers on a set."""

    retrievers: tuple[str, ...] = ()
    """Names from findback.toml; all of them when empty."""
    sweep: str | None = None
    """Score every configuration of `[sweeps.NAME]` too, and say whether the best of them is more than luck."""
    by: tuple[By, ...] = ()
    """Types whose scores the terminal shows too; reports hold all of them."""
    metrics: tuple[str, ...] = ()
    """Metrics as ir_measures writes them; those of findback.toml when empty."""
    depth: PositiveInt | None = None
    """Documents asked of each retriever, never fewer than a metric's cut-off; findback.toml's when left out."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    repeats: PositiveInt = 1
    """How often each query is asked, for engines that do not answer alike twice."""
    warm_up: NonNegativeInt = 3
    """First searches whose latency is not counted."""
    seed: NonNegativeInt | None = None
    """Seed of resampling; findback.toml's when left out."""
    holdout: bool = False
    """Score what the release holds out: aggregates alone, and the look is written down for all to see."""
    pool: bool = False
    """Score what a model wrote and nobody released yet, by itself: never in one number with a release."""
    resume: bool = False
    """Ask again only what failed in the newest evaluation of the same set, documents, depth and settings."""
    publish: Annotated[str | None, LOCAL_ONLY] = None
    """Name under which the scored retriever's results become a baseline for the gate; not where a search failed."""


def evaluate(
    workspace: Workspace,
    request: EvaluateRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Evaluation:
    """Run each retriever over a set and score it.

    Args:
        workspace: Where settings and documents are.
        request: What to score.
        systems: Retrievers already built, instead of those of findback.toml.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Returns:
        One scored run per retriever, in the order asked. A retriever that failed on a query has bounds
        instead of means.

    Raises:
        MissingError: If there is no set, or a retriever is not there.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
        DataError: If the set or the documents cannot be read, or no question has usable gold.
        UsageError: If a baseline is to be published of several retrievers, or of what is not the open part of a set.
    """
    chosen = workspace.settings.measures
    metrics = tuple(str(parse_metric(name)) for name in request.metrics or chosen.metrics)
    primary = str(parse_metric(chosen.primary))
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    if request.pool and request.holdout:
        raise UsageError("the unreleased pool holds nothing out", hint="leave out --pool or --holdout")
    opened = open_holdout if request.holdout else open_pool if request.pool else open_questions
    asked = questions if questions is not None else opened(workspace, request, corpus)
    labelled = label_columns(asked.questions, corpus)
    refuse_unscorable(asked, corpus)
    seed = chosen.seed if request.seed is None else request.seed
    wanted = metrics if primary in metrics else (*metrics, primary)
    if any(judgement.anchor for question in labelled.questions for judgement in question.gold):
        wanted = (*wanted, *(name for name in PASSAGE_METRICS if name not in wanted))
    depth = max(request.depth or chosen.depth, *(parse_metric(name).cutoff or 1 for name in wanted))
    plan = Plan(
        labelled=labelled,
        request=request,
        cutoff=parse_metric(primary).cutoff or depth,
        depth=depth,
    )
    opening, names = workspace, request.retrievers
    if request.sweep is not None:
        if systems:
            raise UsageError("a sweep varies a retriever of findback.toml, not one at hand")
        opening, swept = add_sweep(workspace, request.sweep)
        names = (*names, *swept)
    built = systems or open_retrievers(opening, names, corpus, progress=progress, ask=ask)
    if request.publish is not None:
        refuse_publishing(workspace, request.publish, len(built), asked, holdout=request.holdout)
    refuse_unreviewed(asked, built, workspace.settings.egress)
    made, made_of = now(), make_up(asked)
    digest = corpus.digest if corpus is not None else None
    earlier = find_earlier(workspace, made_of.heading, digest, depth) if request.resume else {}
    deeper = note_depth(request.depth or chosen.depth, wanted)
    made_of = made_of.model_copy(update={"notes": (*made_of.notes, *deeper)})
    if corpus is not None and request.corpus is None and documents is None:
        noted = (*note_readers(corpus, workspace), *note_changes(workspace, corpus))
        made_of = made_of.model_copy(update={"notes": (*made_of.notes, *noted)})
    with carrying(state_of(asked)):
        outcomes = wait_for(search_all(built, plan, corpus, made, progress, earlier=earlier))
    scored = [score_run(outcome.asked.run, labelled, wanted, seed=seed) for outcome in outcomes]
    if request.publish is not None and not scored[0].scores.failed.any():
        publish(workspace, request.publish, scored[0], asked, corpus.digest if corpus is not None else None)
    # A kept run would show what was found for single held-out cases.
    mark = POOL_MARK if asked.kind == "unreleased pool" else ""
    kept = [None if request.holdout else store(workspace, one.run, made, mark) for one in scored]
    result = Evaluation(
        made=made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name if corpus is not None else None,
        corpus_digest=corpus.digest if corpus is not None else None,
        documents=len(corpus) if corpus is not None else None,
        set=made_of,
        subjects=subject_mix(asked, corpus, seed=seed) if corpus is not None else None,
        primary=primary,
        metrics=wanted,
        depth=plan.depth,
        seed=seed,
        tokenizer=TOKENIZER_VERSION,
        retrievers=tuple(
            describe(one, outcome, plan, corpus, run_id)
            for one, outcome, run_id in zip(scored, outcomes, kept, strict=True)
        ),
        spread=spread_of(scored, primary),
        sweep=None
        if request.sweep is None
        else rate_sweep(request.sweep, scored, primary, [opening.settings.retrievers[name].factors for name in names]),
        drift=find_drift(workspace, seed=seed),
        legend=(*explain_metrics(wanted), *UNCERTAINTY),
        limits=limits(made_of, retrievers=len(built), today=made.date()),
    )
    if request.holdout:
        result = write_look(workspace, asked, result)
    if workspace.file is not None:
        keep(workspace, result)
    return result


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """What one evaluation asks of every retriever."""

    labelled: Labelled
    request: EvaluateRequest
    cutoff: int
    """Last rank at which a gold document is no miss."""
    depth: int

    @property
    def queries(self) -> list[tuple[str, Query]]:
        """Return every question's id with what to ask."""
        return [(q.id, Query(q.query, q.context)) for q in self.labelled.questions]

    @property
    def golds(self) -> tuple[str, ...]:
        """Return the distinct gold documents, those of no corpus included."""
        gold = self.labelled.gold
        return tuple(gold.documents[code] for code in dict.fromkeys(gold.document[gold.grade >= 1].tolist()))


class Outcome(NamedTuple):
    """What asking one retriever gave."""

    asked: Asked
    presence: Presence


async def search_all(
    systems: Sequence[Retriever],
    plan: Plan,
    documents: Documents | None,
    made: datetime,
    progress: Progress,
    *,
    earlier: Mapping[str, Earlier],
) -> list[Outcome]:
    """Ask each retriever everything it has not answered before, and which gold documents it holds."""
    outcomes = []
    async with closing(systems):
        for retriever in systems:
            before = earlier.get(retriever.name)
            if before is not None and before.run.config_digest != config_digest(retriever):
                before = None
            queries = [one for one in plan.queries if before is None or one[0] not in before.answered]
            asked = await ask_all(
                retriever,
                queries,
                depth=plan.depth,
                concurrency=plan.request.concurrency,
                repeats=plan.request.repeats,
                warm_up=plan.request.warm_up,
                resolve=documents.resolve if documents is not None else None,
                created=made.isoformat(),
                progress=progress,
            )
            if before is not None:
                asked = asked._replace(run=join_runs(before, asked.run, [name for name, _ in plan.queries]))
            presence = await ask_presence(
                retriever, plan.golds, plan.labelled.questions, concurrency=plan.request.concurrency
            )
            outcomes.append(Outcome(asked, presence))
    return outcomes


def store(workspace: Workspace, run: Run, made: datetime, mark: str = "") -> str | None:
    """Keep a run in the private folder and return its id, with a mark in it; None without a workspace of its own."""
    if workspace.file is None:
        return None
    name = "".join(letter if letter.isalnum() else "-" for letter in run.name)[:60]
    # The digest keeps two names apart that differ only in what a file name cannot hold.
    digest = hashlib.sha256(run.name.encode()).hexdigest()[:4]
    run_id = f"{made.astimezone(UTC):%Y%m%dT%H%M%S%fZ}{mark}-{name}-{digest}"
    folder = workspace.private_part("runs")
    save_run(run, folder / run_id)
    kept = sorted(path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_dir())
    for old in kept[:-KEPT_RUNS]:
        with storage_errors(old):
            old.unlink(missing_ok=True)
    return run_id


def describe(
    scored: Scored, outcome: Outcome, plan: Plan, documents: Corpus | None, run_id: str | None
) -> RetrieverScores:
    """Return everything about one scored retriever."""
    run, asked, presence = scored.run, outcome.asked, outcome.presence
    misses = find_misses(scored, presence, cutoff=plan.cutoff)
    return RetrieverScores(
        name=run.name,
        kind=run.kind,
        run=run_id,
        config_digest=run.config_digest or "",
        groups=(*groups_of(scored, presence), *_lenient(scored, documents)),
        ranks=rank_counts(scored),
        misses=count_misses(misses),
        miss_examples=describe_misses(scored, misses, presence, documents),
        coverage=cover(presence),
        abstention=rate_abstention(scored),
        latency=measure_latency(run, warm_up=asked.warm_up, concurrency=asked.concurrency),
        errors=asked.errors,
        asked=len(run) - int(scored.scores.skipped.sum()),
        failed=int(scored.scores.failed.sum()),
        missing=int(scored.scores.missing.sum()),
        not_applicable=int(scored.scores.skipped.sum()),
        outside_corpus=count_outside(run, documents) if documents is not None else 0,
        tied_golds=scored.scores.tied_share if run.order == "score" else None,
        unstable=asked.unstable,
        notes=notes_on(asked, documents),
    )


def _lenient(scored: Scored, documents: Corpus | None) -> tuple[ScoreGroup, ...]:
    group = lenient_group(scored, documents.same) if documents is not None else None
    return () if group is None else (group,)


def notes_on(asked: Asked, documents: Documents | None) -> tuple[str, ...]:
    """Return what a reader should know about how a run came about."""
    notes = []
    returned = len(asked.run.documents)
    if documents is not None and returned and count_outside(asked.run, documents) == returned:
        notes.append(
            f"none of the {returned} ids it returned is a document of {documents.name}, such as"
            f" {asked.run.documents[0]!r}: do its ids need a prefix, or the documents a base_url or id_from?"
        )
    if asked.contradicting:
        notes.append(
            f"{asked.contradicting} answers had scores that run against the declared direction; their order was kept"
            ' (scores = "lower"?)'
        )
    return tuple(notes)


def groups_of(scored: Scored, presence: Presence) -> list[ScoreGroup]:
    """Return the scores of all questions, and of the groups that must or should be seen apart."""
    questions = scored.labelled.questions
    everything = range(len(questions))
    groups = [scored.group("all", "all", everything)]
    for axis in AXES:
        rows: dict[str, list[int]] = defaultdict(list)
        for row in everything:
            value = getattr(questions[row], axis)
            rows["unknown" if value is None else value].append(row)
        rows.pop("no-answer", None)
        if len(rows) > 1:
            groups.extend(scored.group(axis, value, rows[value], together=len(rows)) for value in sorted(rows))
    there = presence.held
    held = [row for row in everything if any(there.get(judgement.doc) for judgement in questions[row].gold)]
    answerable = int(scored.scores.answerable.sum())
    if held and len(held) < answerable and None not in there.values():
        groups.append(scored.group("indexed", "gold in the index", held))
    return groups
