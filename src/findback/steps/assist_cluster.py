"""Find what people look for in vain, by theme, and what each theme costs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from findback.errors import MissingError, UsageError
from findback.files import write_atomically
from findback.llm.ask import Ask, Model
from findback.model.assisted import Themes
from findback.model.case import Case
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY
from findback.reporting.themes import render_themes
from findback.steps.assist_asking import (
    AssistRequest,
    chosen,
    count_ends,
    count_errors,
    estimate_asks,
    note_model,
    open_assistant,
)
from findback.steps.assist_embedder import Embedding, open_embedder
from findback.steps.assist_misses import CUTOFF, KeptMisses, read_misses
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.assist_questions import Question, What, bare_text, collect_questions
from findback.steps.assist_redaction import open_variant_redactor
from findback.steps.assist_themes import RawTheme, describe_theme, find_themes, has_words
from findback.steps.bench import open_workspace_key
from findback.steps.caselist import open_head
from findback.steps.exports import refuse_tracked
from findback.steps.opening import SetRequest, open_documents
from findback.steps.targets import corpus_place, refuse_targets
from findback.workspace import Workspace
from findback.writing.themes import MOST_QUESTIONS, SHOWN_QUESTIONS, ThemeLabel, ask_label, drop_repeated, tidy_label

SUFFIXES: dict[str, Literal["md", "json"]] = {".md": "md", ".json": "json"}
NOT_FAILURES = "not chosen because search failed"
NO_WORDS = "nothing but placeholders"
NO_MODEL = "findback.toml names no model: themes are named by their words"
REPEATED = "{} themes were given the same name as another one: they are named by their words"


class ClusterRequest(AssistRequest):
    """Find themes among what people looked for in vain."""

    limit: Annotated[int, Field(ge=2, le=MOST_QUESTIONS)] = MOST_QUESTIONS
    """Most questions to group; every pair is compared."""
    what: What = "all"
    """Questions of cases, of candidates, or of all."""
    alike: Annotated[float, Field(gt=0, lt=1)] = 0.4
    """Mean cosine from which questions are about the same thing: higher gives more and narrower themes."""
    embedder: Annotated[str, LOCAL_ONLY] = "minilm-l6"
    """A name of the catalogue, or a folder with `model.onnx` and `tokenizer.json`."""
    words: bool = False
    """Name themes by the words that tell them apart, and ask no model."""
    output: Annotated[Path | None, LOCAL_ONLY] = None
    """File to write, .md or .json; kept outside the repository."""
    force: bool = False
    """Replace a file that is there already."""


class _Named(NamedTuple):
    """What a model calls some themes, and what there is to say about asking it."""

    labels: list[str | None]
    said: Mapping[str, object]
    """Fields of the result."""


def cluster(
    workspace: Workspace,
    request: ClusterRequest,
    *,
    model: Model | None = None,
    embedding: Embedding | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Themes:
    """Return what people look for in vain by theme, and write it where a file is named.

    Questions that a model wrote, and those drawn at random, are no failures and left out. Questions are compared
    on this machine, also on a dry run, which asks no model.

    Args:
        workspace: Where set, workbench, runs and models are.
        request: Which questions, and how alike those of a theme are.
        model: A model at hand, in place of one of findback.toml.
        embedding: An embedder at hand, in place of the one requested.
        progress: Told of each question and theme.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If there is no question, or the embedder is not there.
        UsageError: If both words and a model are to name themes, the file's name says no format, or it is there
            already or something else.
        RefusedError: If unreviewed text may not go to the model, or the file could be committed.
        FindbackError: As `open_assistant`.
    """
    if request.words and request.model is not None:
        raise UsageError(
            "themes are named by their words or by a model, not by both", hint="leave out --words or --model"
        )
    _check_target(workspace, request)
    questions, left_out = _choose(workspace, request)
    known = embedding or open_embedder(workspace, request.embedder)
    found = find_themes(questions, known, alike=request.alike, progress=progress)
    several = [one for one in found if len(one.questions) > 1]
    redactor = open_variant_redactor(workspace, open_workspace_key(workspace))
    named = _name(workspace, request, several, redactor.is_clean, given=model, progress=progress, ask=ask)
    notes: list[str] = []
    misses = _read_misses(workspace, questions, notes, progress)
    result = Themes.model_validate(
        {
            "model": None,
            **named.said,
            "workspace": workspace.settings.name,
            "embedder": known.name,
            "alike": request.alike,
            "left_out": left_out,
            "themes": tuple(
                describe_theme(theme, label, misses, redactor.is_clean)
                for theme, label in zip(several, named.labels, strict=True)
            ),
            "single": len(found) - len(several),
            "runs": {name: one.run for name, one in misses.items()},
            "cutoff": CUTOFF,
        }
    )
    result = result.model_copy(update={"notes": (*result.notes, *notes)})
    if request.output is not None and not request.dry_run:
        write_atomically(request.output, render_themes(result, SUFFIXES[request.output.suffix.lower()]), private=True)
    return result


def _choose(workspace: Workspace, request: ClusterRequest) -> tuple[Sequence[Question], dict[str, int]]:
    found = collect_questions(workspace, request.what)
    failures = [one for one in found.chosen if one.stratum == "failure" and one.origin != "generated"]
    spoken = [one for one in failures if has_words(one)]
    passed_over = {
        **found.left_out,
        NOT_FAILURES: len(found.chosen) - len(failures),
        NO_WORDS: len(failures) - len(spoken),
    }
    if not spoken:
        raise MissingError("there is no failed search to group", hint="mine or release some first")
    return chosen(spoken, request.limit, passed_over)


def _name(
    workspace: Workspace,
    request: ClusterRequest,
    themes: Sequence[RawTheme],
    is_clean: Callable[[str], bool],
    *,
    given: Model | None,
    progress: Progress,
    ask: Callable[[str], bool] | None,
) -> _Named:
    """Have a model name themes; one that names none well leaves them to their words."""
    nobody: list[str | None] = [None] * len(themes)
    if request.words or not themes:
        return _Named(nobody, {"dry_run": request.dry_run})
    if given is None and not workspace.settings.models:
        return _Named(nobody, {"dry_run": request.dry_run, "notes": (NO_MODEL,)})
    prompts = open_workspace_prompts(workspace, ask=ask)

    def make(theme: RawTheme, attempt: int = 1) -> Ask[ThemeLabel]:
        unreviewed = any(one.state == "unreviewed" for one in theme.questions[:SHOWN_QUESTIONS])
        return ask_label(
            prompts,
            [bare_text(one) for one in theme.questions],
            theme.language,
            state="unreviewed" if unreviewed else "reviewed",
            item=", ".join(theme.words) or theme.questions[0].id,
            attempt=attempt,
        )

    if request.dry_run:
        return _Named(nobody, {"dry_run": True, "estimate": estimate_asks(workspace, request, map(make, themes))})
    unreviewed = any(make(theme).state == "unreviewed" for theme in themes)
    assistant = open_assistant(workspace, request, unreviewed=unreviewed, given=given, ask=ask)

    async def name(theme: RawTheme) -> str:
        return await assistant.insist(
            lambda attempt: make(theme, attempt),
            lambda reply: tidy_label(reply.value.label, is_clean),
            why="its names for the theme cannot be shown: too long, markup, or what redaction takes away",
        )

    answers = assistant.answer_all(themes, name, label="Naming themes", progress=progress)
    labels = drop_repeated([one.value for one in answers])
    repeated = sum(one.value is not None for one in answers) - sum(label is not None for label in labels)
    said = {
        "model": assistant.model.label,
        "bills": assistant.bills(),
        "ended": count_ends(answers),
        "errors": count_errors(answers),
        "notes": (*note_model(assistant.model), *([REPEATED.format(repeated)] if repeated else [])),
    }
    return _Named(labels, said)


def _read_misses(
    workspace: Workspace, questions: Sequence[Question], notes: list[str], progress: Progress
) -> dict[str, KeptMisses]:
    ids = {one.id for one in questions if one.kind == "case"}
    cases: list[Case] = [case for case in open_head(workspace).cases if case.id in ids]
    if not cases or not (workspace.private / "runs").is_dir():
        return {}
    return dict(read_misses(workspace, cases, open_documents(workspace, SetRequest(), progress=progress), notes))


def _check_target(workspace: Workspace, request: ClusterRequest) -> None:
    if request.output is None:
        return
    if request.output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"cannot tell the format of {request.output.name}", hint="let -o end in .md or .json")
    place = corpus_place(workspace, SetRequest())
    refuse_targets(workspace, (request.output,), corpus=place, replace=request.force)
    refuse_tracked(request.output, hint="write it outside the repository with -o, or add it to .gitignore")
