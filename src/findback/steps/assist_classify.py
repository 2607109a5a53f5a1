"""Tell how questions are worded, and how far a model's word on that can be trusted."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from findback.errors import MissingError, UsageError
from findback.files import write_atomically
from findback.llm.ask import Ask, Model, Reply
from findback.measure.intervals import estimate_mean
from findback.measure.rater_agreement import RaterAgreement, rate_agreement
from findback.model.assisted import ConfidenceBand, ConfusionRow, Differing, WordingFigures, WordingsProposed
from findback.model.estimate import Estimate
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY
from findback.steps.assist_asking import (
    AssistRequest,
    chosen,
    count_ends,
    count_errors,
    estimate_asks,
    open_assistant,
)
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.assist_questions import Question, What, collect_questions
from findback.steps.exports import refuse_tracked
from findback.steps.opening import SetRequest
from findback.steps.targets import corpus_place, refuse_targets
from findback.steps.wordings import list_wordings
from findback.text.delimited import delimited_lines
from findback.workspace import Workspace
from findback.writing.classify import Classified, ask_wording, match_wording

BANDS = ((0.0, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0))
"""Ranges of confidence that are looked at apart."""
MOST_DIFFERING = 50
HEADER = ("candidate", "wording", "confidence")


class ClassifyRequest(AssistRequest):
    """Tell how questions are worded."""

    what: What = "all"
    """Questions of cases, of candidates, or of all."""
    output: Annotated[Path | None, LOCAL_ONLY] = None
    """CSV file for the wordings of candidates that nobody gave one yet; kept outside the repository."""
    force: bool = False
    """Replace a file that is there already."""


class Told(NamedTuple):
    """What the model said about one question."""

    question: Question
    wording: str
    confidence: float


def classify(
    workspace: Workspace,
    request: ClassifyRequest,
    *,
    model: Model | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> WordingsProposed:
    """Have a model tell how questions are worded, and compare that with what people said.

    Nothing is stored, and nothing is shown where a reviewer would see it before they answered.

    Args:
        workspace: Where set, workbench and models are.
        request: Which questions, and where proposals go.
        model: A model at hand, in place of one of findback.toml.
        progress: Told of each question.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If there is no question.
        UsageError: If the file is there already, or is something else.
        RefusedError: If unreviewed text may not go to the model, or the file could be committed.
        FindbackError: As `open_assistant`.
    """
    _check_target(workspace, request)
    found = collect_questions(workspace, request.what)
    if not found.chosen:
        raise MissingError("there is no question to tell the wording of", hint="mine or release some first")
    questions, left_out = chosen(found.chosen, request.limit, found.left_out)
    known = list_wordings(workspace.settings.review)
    prompts = open_workspace_prompts(workspace, ask=ask)

    def make(one: Question, attempt: int = 1) -> Ask[Classified]:
        return ask_wording(prompts, one.text, known, state=one.state, item=one.id, attempt=attempt)

    if request.dry_run:
        return WordingsProposed(
            model=None,
            dry_run=True,
            estimate=estimate_asks(workspace, request, map(make, questions)),
            wordings=tuple(known),
            agreed=Estimate(value=None, reason="nothing was asked"),
            kappa=Estimate(value=None, reason="nothing was asked"),
            left_out=left_out,
        )
    unreviewed = any(one.state == "unreviewed" for one in questions)
    assistant = open_assistant(workspace, request, unreviewed=unreviewed, given=model, ask=ask)

    async def tell(one: Question) -> Told:
        def accept(reply: Reply[Classified]) -> Told | None:
            wording = match_wording(reply.value.wording, known)
            return None if wording is None else Told(one, wording, reply.value.confidence)

        return await assistant.insist(lambda attempt: make(one, attempt), accept, why="it names no wording of the list")

    answers = assistant.answer_all(questions, tell, label="Telling wordings", progress=progress)
    told = [one.value for one in answers if one.value is not None]
    open_ones = [one for one in told if one.question.wording is None]
    if request.output is not None:
        _write(request.output, open_ones)
    return compare_wordings(told, tuple(known)).model_copy(
        update={
            "model": assistant.model.label,
            "bills": assistant.bills(),
            "ended": count_ends(answers),
            "errors": count_errors(answers),
            "left_out": left_out,
            "proposed": dict(Counter(one.wording for one in open_ones).most_common()),
            "file": None if request.output is None else str(request.output),
        }
    )


def compare_wordings(told: Sequence[Told], known: Sequence[str]) -> WordingsProposed:
    """Return how far a model's wordings are people's, over the questions that have both."""
    both = [one for one in told if one.question.wording is not None]
    humans = [one.question.wording or "" for one in both]
    said = [one.wording for one in both]
    clusters = [one.question.cluster for one in both]
    same = [float(a == b) for a, b in zip(humans, said, strict=True)]
    names = [*known, *dict.fromkeys(one for one in humans if one not in known)]
    pairs = Counter(zip(humans, said, strict=True))
    return WordingsProposed(
        model=None,
        wordings=tuple(known),
        confusion=tuple(
            ConfusionRow(wording=human, said={name: pairs[human, name] for name in known})
            for human in names
            if human in humans
        ),
        agreed=estimate_mean(same, clusters),
        kappa=estimate_kappa(rate_agreement(humans, said, clusters)),
        figures=tuple(_figures(both, name) for name in names if name in humans or name in said),
        confidence=tuple(_bands(both)),
        differing=_differing(both),
    )


def estimate_kappa(rated: RaterAgreement) -> Estimate:
    """Return an agreement beyond chance as an estimate."""
    return Estimate(
        value=rated.kappa,
        low=rated.low,
        high=rated.high,
        level=rated.level,
        n=rated.pairs,
        clusters=rated.doubles,
        method="none" if rated.low is None else "bca",
        seed=rated.seed,
        reason=rated.reason,
    )


def _figures(both: Sequence[Told], name: str) -> WordingFigures:
    def share(chosen_: list[Told]) -> Estimate:
        hits = [float(one.wording == one.question.wording) for one in chosen_]
        return estimate_mean(hits, [one.question.cluster for one in chosen_])

    return WordingFigures(
        wording=name,
        precision=share([one for one in both if one.wording == name]),
        recall=share([one for one in both if one.question.wording == name]),
    )


def _bands(both: Sequence[Told]) -> Iterator[ConfidenceBand]:
    for low, high in BANDS:
        inside = [one for one in both if low <= one.confidence and (one.confidence < high or high == 1.0)]
        if inside:
            same = [float(one.wording == one.question.wording) for one in inside]
            clusters = [one.question.cluster for one in inside]
            yield ConfidenceBand(low=low, high=high, agreed=estimate_mean(same, clusters))


def _differing(both: Sequence[Told]) -> tuple[Differing, ...]:
    differ = [one for one in both if one.wording != one.question.wording]
    differ.sort(key=lambda one: (-one.confidence, one.question.id))
    return tuple(
        Differing(
            kind=one.question.kind,
            id=one.question.id,
            human=one.question.wording or "",
            proposed=one.wording,
            confidence=one.confidence,
        )
        for one in differ[:MOST_DIFFERING]
    )


def _check_target(workspace: Workspace, request: ClassifyRequest) -> None:
    if request.output is None:
        return
    if request.output.suffix.lower() != ".csv":
        raise UsageError(f"cannot tell the format of {request.output.name}", hint="let -o end in .csv")
    place = corpus_place(workspace, SetRequest())
    refuse_targets(workspace, (request.output,), corpus=place, replace=request.force)
    refuse_tracked(request.output, hint="write it outside the repository with -o, or add it to .gitignore")


def _write(file: Path, told: Sequence[Told]) -> None:
    rows = [(one.question.id, one.wording, round(one.confidence, 3)) for one in told]
    write_atomically(file, "".join(delimited_lines([HEADER, *rows])), private=True)
