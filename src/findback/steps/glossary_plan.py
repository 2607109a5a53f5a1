"""What every command on glossaries starts from: questions, documents, and how gains are estimated."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import MissingError, UsageError
from findback.measure.metrics.name import parse_metric
from findback.model.case import Name
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.retrievers.bm25 import Bm25Retriever, Bm25Settings
from findback.steps.egress import refuse_unreviewed, state_of
from findback.steps.glossary_material import Material, gather_material
from findback.steps.glossary_texts import Terms
from findback.steps.kept import now
from findback.steps.opening import (
    DEFAULT_RETRIEVERS,
    SetRequest,
    open_documents,
    open_questions,
    open_retrievers,
    surround,
)
from findback.text.expansion import MOST_WEIGHT
from findback.text.stems import has_stemmer
from findback.workspace import Workspace

EMBEDDED = "bm25"
"""What gains are estimated on where nothing is named."""


class GlossaryRequest(SetRequest):
    """Which questions a glossary is built from, and how."""

    below: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Overlap under which question and answer share little: only such questions give terms."""
    on: Name | None = None
    """Retriever of findback.toml on which gains are estimated; the embedded BM25 when left out."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] | None = None
    """ISO 639-1 code for stems; that of most documents and questions when left out."""
    weight: Annotated[int, Field(ge=1, le=MOST_WEIGHT)] = 1
    """How often the question itself stands before what is added: more holds the added words back."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    seed: NonNegativeInt | None = None
    """Seed of everything drawn at random; findback.toml's when left out."""


class Plan(NamedTuple):
    """What a command works on."""

    workspace: Workspace
    asked: QuestionSet
    corpus: Corpus
    material: Material
    terms: Terms


def open_plan(
    workspace: Workspace,
    request: GlossaryRequest,
    *,
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
) -> Plan:
    """Return questions and documents, ready to be paired.

    Args:
        workspace: Where they are.
        request: Which ones.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.

    Raises:
        MissingError: If there is no set or no corpus.
        DataError: If one of them cannot be read, or no person's question has a right document.
    """
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    if corpus is None:
        raise MissingError(
            "a glossary needs the documents that answer", hint="name them in [corpus] path, or with --corpus"
        )
    asked = questions if questions is not None else open_questions(workspace, request, corpus)
    material = gather_material(asked, corpus, below=request.below, language=request.language, progress=progress)
    chosen = workspace.settings.measures
    terms = Terms(
        metric=str(parse_metric(chosen.primary)),
        depth=chosen.depth,
        concurrency=request.concurrency,
        seed=chosen.seed if request.seed is None else request.seed,
        made=now(),
        state=state_of(asked),
    )
    return Plan(workspace, asked, corpus, material, terms)


def note_stems(plan: Plan) -> tuple[str, ...]:
    """Return what should be said where words are compared as they are written."""
    language = plan.material.language
    if language is None or has_stemmer(language):
        return ()
    return (f"there is no stemmer for {language}: words are compared as they are written",)


def open_estimator(
    plan: Plan, name: str | None, *, progress: Progress = SILENT, ask: Callable[[str], bool] | None = None
) -> Retriever:
    """Return the retriever on which gains are estimated.

    Raises:
        FindbackError: As `open_systems`.
    """
    if name is not None:
        (found,) = open_systems(plan, (name,), progress=progress, ask=ask)
        return found
    known = plan.workspace.settings.retrievers or DEFAULT_RETRIEVERS
    surroundings = surround(plan.workspace, plan.corpus, known, progress)
    return Bm25Retriever(EMBEDDED, Bm25Settings(), surroundings.corpus(EMBEDDED), surroundings)


def open_systems(
    plan: Plan,
    names: tuple[str, ...],
    *,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> list[Retriever]:
    """Return retrievers of findback.toml that a glossary can be put in front of; all of them when none is named.

    Raises:
        UsageError: If one has a glossary in front of it already.
        MissingError: If there is none of a name.
        UntrustedError: If nobody agreed to what they name.
        RefusedError: If questions nobody reviewed may not go there.
    """
    known = plan.workspace.settings.retrievers or DEFAULT_RETRIEVERS
    expanded = [name for name in names if name in known and known[name].kind == "expand"]
    if expanded:
        inner = known[expanded[0]].own.get("of")
        raise UsageError(f"{expanded[0]} has a glossary in front of it already", hint=f"name what it asks: {inner}")
    wanted = names or tuple(name for name, one in known.items() if one.kind not in ("expand", "file"))
    if not wanted:
        raise UsageError(
            "findback.toml names no retriever that a glossary can be put in front of",
            hint="recorded runs have no answers to questions with other words",
        )
    built = open_retrievers(plan.workspace, wanted, plan.corpus, progress=progress, ask=ask)
    refuse_unreviewed(plan.asked, built, plan.workspace.settings.egress)
    return built
