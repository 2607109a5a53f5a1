"""Let a model write questions about documents, and keep what passes the filters for a person to confirm."""

import asyncio
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.errors import MissingError, UsageError
from findback.llm.ask import Ask, Model, Reply, StoppedError
from findback.llm.ask import Given as Answered
from findback.llm.budget import Budget
from findback.model.bill import Estimate
from findback.model.calibrated import Calibration
from findback.model.generated import Generated, Indexed
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.settings import EgressLevel, ModelSettings
from findback.model.written import Described
from findback.privacy.core import CoreRedactor
from findback.privacy.masking import mask
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.bench import open_workspace_key
from findback.steps.caselist import open_head
from findback.steps.generaterequest import GenerateRequest
from findback.steps.generating import Ran, describe_documents
from findback.steps.generatingcandidates import Passed, make_candidates, store_candidates
from findback.steps.generatingcost import expect_costs
from findback.steps.generatingplan import Ground, Means, Prepared, prepare
from findback.steps.generatingresult import (
    choose_looks,
    compare_kinds,
    count_ends,
    count_turned,
    cut_by_leak,
    first_texts,
    list_subjects,
    list_voices,
    passed_texts,
    sum_leaks,
    sum_lengths,
)
from findback.steps.holdings import Holdings, held_by
from findback.steps.kept import keep, now
from findback.steps.opening import closing, open_documents, open_retrievers
from findback.steps.waiting import wait_for
from findback.steps.writers import model_settings, open_budget, open_judge, open_writer
from findback.workspace import Workspace
from findback.writing.calibration import Judged, calibrate
from findback.writing.calibration import Passed as Swappable
from findback.writing.voices import Voices, read_voices

NOT_REACHED = "the judge was not calibrated: the run stopped before"


def generate(
    workspace: Workspace,
    request: GenerateRequest,
    *,
    writer: Model | None = None,
    judge: Model | None = None,
    documents: Corpus | None = None,
    systems: Sequence[Retriever] = (),
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
    announce: Callable[[Sequence[Estimate]], None] | None = None,
) -> Generated:
    """Have a model describe sampled documents, and keep what passes the filters as candidates.

    Killed and started again, it pays nothing twice and ends as it would have ended: every answer is kept as it
    comes, and what is done with it depends on nothing else. The candidates are put into the workbench at the end.

    Args:
        workspace: Where documents, models and the workbench are.
        request: How many questions, and how.
        writer: A model at hand, in place of one of findback.toml.
        judge: The same for who judges; the writer in fresh calls when only that one is given.
        documents: Documents already read, instead of the workspace's.
        systems: The retriever that `from_index` names, already built.
        progress: Shows how far it has come.
        ask: Asks a person the trust question; None where nobody is there.
        announce: Told what it will cost before the first call.

    Raises:
        MissingError: If there are no documents, no model, or nothing to set the tone by.
        UsageError: If no model is chosen, the retriever cannot say what it holds, or a real sample is too small.
        UntrustedError: If nobody agreed to where texts go.
        RefusedError: If a text may not go to the model.
        StoppedError: If the model could not be asked at all.
        StorageError: If the disk refuses.
    """
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    if corpus is None:
        raise MissingError("there are no documents to describe", hint="--corpus FOLDER, or [corpus] in findback.toml")
    prompts = open_workspace_prompts(workspace, ask=ask)
    voices = _open_voices(workspace, request)
    budget = open_budget(workspace, request.budget)
    ground = Ground(workspace, request, corpus, open_workspace_key(workspace), progress)
    holdings = _ask_index(ground, systems, ask)
    given = Given(writer, judge or writer) if writer is not None else _open_models(ground, budget, judge, ask)
    means = Means(given.writer, given.judge, prompts, voices)
    prepared = prepare(ground, means, held=holdings.held if holdings is not None else None)
    result = _begin(ground, means, prepared, holdings)
    if writer is None:
        result = result.model_copy(update={"estimates": expect_costs(workspace, prepared, means)})
    if request.dry_run:
        ended = count_ends(Ran((), 0, None), prepared.plan.sample.skipped_by_reason)
        return result.model_copy(update={"dry_run": True, "ended": ended})
    if announce is not None and result.estimates:
        announce(result.estimates)
    done = wait_for(_run(prepared, means, progress, owned=writer is None))
    passed = make_candidates(ground, means, prepared, done.ran.tasks)
    result = _tell(ground, result, prepared, done, passed)
    result = result.model_copy(update={"bills": budget.bills()})
    if result.refused is None and passed:
        stored = store_candidates(workspace, ground.key, (one.candidate for one in passed))
        result = result.model_copy(update={"stored": stored})
    if workspace.file is not None:
        keep(workspace, result)
    return result


class Given(NamedTuple):
    """Who writes and who judges."""

    writer: Model
    judge: Model


class _Done(NamedTuple):
    """How a run ended."""

    ran: Ran
    calibration: Calibration | None
    why_not: str | None
    """Why the judge was not calibrated."""


async def _run(prepared: Prepared, means: Means, progress: Progress, *, owned: bool) -> _Done:
    try:
        ran = await describe_documents(prepared.plan, progress=progress)
        if ran.stopped is not None:
            return _Done(ran, None, NOT_REACHED)
        progress.start("Calibrating the judge", None)
        try:
            return _Done(ran, await _calibrate(prepared, ran), None)
        except StoppedError as error:
            return _Done(ran, None, f"the judge was not calibrated: {error.message}")
        finally:
            progress.finish()
    finally:
        if owned:
            both = {id(one): one for one in (means.writer, means.judge)}
            await asyncio.gather(*(model.close() for model in both.values()))


async def _calibrate(prepared: Prepared, ran: Ran) -> Calibration | None:
    passed = [Swappable(task.attempts[-1].text, task.document, task.around) for task in ran.tasks if task.passed]
    judged = [
        Judged(attempt.leak, any(one.by == "fidelity" for one in attempt.rejections))
        for task in ran.tasks
        for attempt in task.attempts
        if attempt.fidelity is not None
    ]
    if not judged:
        return None
    return await calibrate(prepared.judging, passed, judged, seed=prepared.plan.seed)


def _open_voices(workspace: Workspace, request: GenerateRequest) -> Voices:
    if request.voices is not None:
        return read_voices(request.voices, base=Path.cwd())
    return read_voices(workspace.settings.writing.voices, base=workspace.root)


def _ask_index(ground: Ground, systems: Sequence[Retriever], ask: Callable[[str], bool] | None) -> Holdings | None:
    workspace, request, corpus, _, progress = ground
    if request.from_index is None:
        return None
    built = systems or open_retrievers(workspace, (request.from_index,), corpus, progress=progress, ask=ask)

    async def look() -> Holdings:
        async with closing(built):
            return await held_by(built[0], corpus, progress)

    found = wait_for(look())
    if not found.held:
        reason = found.reason or "it holds none of these documents"
        raise UsageError(
            f"nothing can be drawn from {request.from_index}: {reason}",
            hint="leave out --from-index to draw from all documents; findback doctor looks at ids and addresses",
        )
    return found


def _open_models(ground: Ground, budget: Budget, judge: Model | None, ask: Callable[[str], bool] | None) -> Given:
    workspace, request, *_ = ground
    if request.dry_run:
        name, settings = model_settings(workspace, request.writer)
        chosen = request.judge or workspace.settings.writing.judge
        one = Unasked(name, settings)
        return Given(one, one if chosen in (None, name) else Unasked(*model_settings(workspace, chosen)))
    opened = open_writer(workspace, name=request.writer, budget=budget, ask=ask)
    return Given(opened, judge or open_judge(workspace, opened, name=request.judge, budget=budget, ask=ask))


class Unasked:
    """A model of findback.toml that is named and never asked: for dry runs."""

    egress: EgressLevel = "local"

    def __init__(self, name: str, settings: ModelSettings) -> None:
        """Take what its settings say."""
        self.name = name
        self.label = f"{settings.provider}:{settings.model}"
        self.for_decisions = settings.for_decisions
        self.parameters: dict[str, str | int | float | None] = {}

    async def ask(self, ask: Ask[Answered]) -> Reply[Answered]:
        """Refuse to be asked."""
        raise StoppedError("a dry run asks no model")

    async def close(self) -> None:
        """Do nothing."""


def _begin(ground: Ground, means: Means, prepared: Prepared, holdings: Holdings | None) -> Generated:
    """Return what is known before the first call."""
    workspace, request, corpus, *_ = ground
    plan = prepared.plan
    rows, _ = list_subjects(prepared, Ran((), 0, None))
    indexed = None
    if holdings is not None and request.from_index is not None:
        unknown, held = len(holdings.unknown), len(holdings.held)
        indexed = Indexed(retriever=request.from_index, held=held, documents=holdings.documents, unknown=unknown)
    return Generated(
        made=now(),
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name,
        corpus_digest=corpus.digest,
        documents=len(corpus),
        seed=plan.seed,
        asked=request.n,
        reserve=len(plan.sample.reserve),
        spare=plan.sample.fit - len(plan.sample.drawn) - len(plan.sample.reserve),
        writer=means.writer.label,
        judge=means.judge.label,
        self_judged=prepared.judging.self_judged,
        for_decisions=means.writer.for_decisions and means.judge.for_decisions,
        preset=plan.voices.name,
        mix=rows,
        distance=plan.sample.distance,
        indexed=indexed,
        leak_limit=workspace.settings.measures.leak_limit,
        notes=prepared.notes,
    )


def _tell(ground: Ground, result: Generated, prepared: Prepared, done: _Done, passed: Sequence[Passed]) -> Generated:
    """Return the result with everything that happened."""
    plan, ran = prepared.plan, done.ran
    matching = plan.quotas.settle() if plan.quotas is not None else None
    refused = matching.refusal if matching is not None else None
    if refused is not None:
        for one in passed:
            one.task.outcome, one.task.reason = "surplus", "the real sample could not be followed"
    mix, distance = list_subjects(prepared, ran)
    texts, first = passed_texts(ran), first_texts(ran)
    kinds = compare_kinds(prepared, ran, open_head(ground.workspace).cases, ground.corpus)
    redactor = CoreRedactor(ground.workspace.settings.privacy)
    return result.model_copy(
        update={
            "accepted": sum(task.outcome == "accepted" for task in ran.tasks),
            "doubtful": sum(task.outcome == "doubtful" for task in ran.tasks),
            "stopped": ran.stopped,
            "refused": refused,
            "ended": count_ends(ran, plan.sample.skipped_by_reason),
            "described": tuple(_redacted(task.describe(), redactor) for task in ran.tasks),
            "reserve": ran.reserve,
            "prompts": _labels(prepared),
            "voices": list_voices(prepared, ran.tasks),
            "mix": mix,
            "distance_passed": distance,
            "turned": count_turned(ran),
            "buckets": cut_by_leak(ran),
            "leak_before": sum_leaks(first, seed=plan.seed),
            "leak_after": sum_leaks(texts, seed=plan.seed),
            "calibration": done.calibration,
            "matching": matching,
            "lengths": sum_lengths(one.text for one in texts),
            "lengths_mined": kinds.lengths,
            "kinds": kinds.rows,
            "looks": choose_looks(passed, lambda one: mask(one.candidate.query).text),
            "notes": (*result.notes, *([done.why_not] if done.why_not else [])),
        }
    )


def _redacted(described: Described, redactor: CoreRedactor) -> Described:
    attempts = tuple(one.model_copy(update={"text": redactor.redact(one.text).text}) for one in described.attempts)
    return described.model_copy(update={"attempts": attempts})


def _labels(prepared: Prepared) -> tuple[str, ...]:
    prompts = prepared.plan.prompts
    return prompts.label("describe"), prompts.label("judge")
