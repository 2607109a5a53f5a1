"""Label real queries quickly: pooled results without rank or score, free search, several golds or none."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import DataError, FindbackError, MissingError, UsageError
from findback.evalset.format import ReadOptions
from findback.evalset.formats import questions as question_file
from findback.evalset.mapping import TOP_PART
from findback.evalset.open import open_set
from findback.model.case import Judgement
from findback.model.evaluation import Shown
from findback.model.hits import Answer
from findback.model.protocols import SILENT, Progress, Query, Redactor, Retriever
from findback.model.question import Question, QuestionSet
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.privacy.core import CoreRedactor
from findback.steps.egress import allow_unreviewed
from findback.steps.judged import HandJudgement, add_judgement
from findback.steps.misses import collapse, show_document
from findback.steps.opening import SetRequest, find_set, open_documents, open_questions, open_retrievers
from findback.steps.targets import refuse_targets
from findback.workspace import Workspace

Result = TypeVar("Result")
RESOLVER_GRADE = 3


class LabelRequest(SetRequest):
    """Label real queries in the terminal."""

    output: Annotated[Path | None, LOCAL_ONLY] = None
    """File of labelled queries; beside the sample when left out. What is there is kept and continued."""
    retrievers: tuple[str, ...] = ()
    """Retrievers whose results are pooled; all of them when empty."""
    pool: PositiveInt = 8
    """Documents shown per query, at most."""
    seed: NonNegativeInt = 20_251
    """Seed of the order documents are shown in."""


class Decision(Record):
    """What a person decided on one query."""

    documents: tuple[str, ...] = ()
    """Documents that answer it."""
    no_answer_reason: str | None = None
    """Why nothing does, when nothing does."""


class LabelSession:
    """One sitting: queries in order, each decision saved when it is made."""

    def __init__(
        self,
        questions: QuestionSet,
        documents: Corpus,
        systems: Sequence[Retriever],
        output: Path,
        request: LabelRequest,
        *,
        redactor: Redactor,
    ) -> None:
        self.output = output
        """Where decisions are kept."""
        self._questions = questions
        self._documents = documents
        self._systems = systems
        self._request = request
        self._done: dict[str, Question] = self._load()
        self._order: list[str] = []
        self._runner = asyncio.Runner()
        self._redactor = redactor
        self.failures: list[str] = []
        """What retrievers said that could not be asked; their results are missing from the pool."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for retriever in self._systems:
            self._wait(retriever.close())
        self._runner.close()

    @property
    def total(self) -> int:
        """Return how many queries the sample has."""
        return len(self._questions.questions)

    @property
    def decided(self) -> int:
        """Return how many of them have been decided."""
        return sum(1 for question in self._questions.questions if question.id in self._done)

    def waiting(self) -> list[Question]:
        """Return the queries nobody has decided yet, in the sample's order."""
        return [question for question in self._questions.questions if question.id not in self._done]

    def pool(self, question: Question) -> list[Shown]:
        """Return documents that may answer a query, shuffled: no rank, no score, no system's name."""
        linked = [judgement.doc for judgement in question.gold if self._documents.get(judgement.doc) is not None]
        found = list(dict.fromkeys([*linked, *self._find(Query(question.query, question.context))]))
        kept = found[: max(self._request.pool, len(linked))]
        random.Random(f"{self._request.seed} {question.id}").shuffle(kept)  # noqa: S311  (an order, not a secret)
        return [show_document(document, self._documents, question.query) for document in kept]

    def search(self, words: str) -> list[Shown]:
        """Return documents for other words, best first."""
        found = self._find(Query(words))[: self._request.pool]
        return [show_document(document, self._documents, words) for document in found]

    def decide(self, question: Question, decision: Decision) -> None:
        """Keep a decision at once.

        Raises:
            UsageError: If it names neither a document nor a reason.
            StorageError: If it cannot be saved.
        """
        if not decision.documents and decision.no_answer_reason is None:
            raise UsageError("a decision needs a document, or the reason why there is none")
        judged = tuple(
            Judgement(doc=document, grade=RESOLVER_GRADE, found_by="reviewer") for document in decision.documents
        )
        reason = None if judged else self._redactor.redact(decision.no_answer_reason or "not said").text
        self._done[question.id] = question.model_copy(
            update={"judged": judged, "no_answer_reason": reason, "unresolved": (), "gold_texts": ()}
        )
        self._order.append(question.id)
        self._save()

    def undo(self) -> Question | None:
        """Take the last decision of this sitting back and return its query; None when there is none."""
        if not self._order:
            return None
        return self._take_back(self._order.pop())

    def _take_back(self, question_id: str) -> Question:
        self._done.pop(question_id)
        self._save()
        return next(question for question in self._questions.questions if question.id == question_id)

    def _find(self, query: Query) -> list[str]:
        answers = [self._ask(retriever, query) for retriever in self._systems]
        ranked = [[self._name(hit.document) for hit in collapse(answer.hits)] for answer in answers]
        depth = max((len(one) for one in ranked), default=0)
        pooled = [one[rank] for rank in range(depth) for one in ranked if rank < len(one)]
        return [document for document in dict.fromkeys(pooled) if self._documents.get(document) is not None]

    def _ask(self, retriever: Retriever, query: Query) -> Answer:
        try:
            return self._wait(retriever.search(query, self._request.pool * 3))
        except FindbackError as error:
            self.failures.append(f"{retriever.name}: {error}")
            return Answer(())

    def _name(self, document: str) -> str:
        return self._documents.resolve(document) or document

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(work)

    def _load(self) -> dict[str, Question]:
        if not self.output.is_file() or not self.output.stat().st_size:
            return {}
        kept = question_file.read(self.output, ReadOptions())
        return {question.id: question for question in kept.questions}

    def _save(self) -> None:
        order = [question.id for question in self._questions.questions]
        others = [question for name, question in self._done.items() if name not in set(order)]
        kept = tuple([self._done[name] for name in order if name in self._done] + others)
        question_file.write(self._questions.model_copy(update={"questions": kept}), self.output)


def open_session(
    workspace: Workspace,
    request: LabelRequest,
    *,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> LabelSession:
    """Return a sitting over a sample of real queries, continued where an earlier one stopped.

    Retrievers that would send unreviewed text off this machine are left out.

    Raises:
        MissingError: If the sample or the documents are not there.
        DataError: If they cannot be read.
        UsageError: If the labels would take the place of the sample.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
    """
    place = find_set(workspace, request)
    output = request.output or default_output(place)
    # What is there is continued, and read as labels first, so a document cannot be lost to it.
    refuse_targets(workspace, [output], read=[place])
    documents = open_documents(workspace, request, progress=progress)
    if documents is None:
        raise MissingError("labelling needs the documents", hint="--corpus FOLDER, or [corpus] in findback.toml")
    sample = open_questions(workspace, request, documents, kind="sample")
    if not sample.questions:
        raise DataError(f"{sample.name} holds no query")
    systems = open_retrievers(workspace, request.retrievers, documents, progress=progress, ask=ask)
    allowed, refused = allow_unreviewed(systems, workspace.settings.egress)
    session = LabelSession(
        sample, documents, allowed, output, request, redactor=CoreRedactor(workspace.settings.privacy)
    )
    session.failures.extend(f"{one.name} is not asked: unreviewed text stays on this machine" for one in refused)
    return session


def default_output(sample: Path) -> Path:
    """Return where the labels of a sample are kept: beside it, whatever name leads there."""
    whole = sample if sample.name not in ("", "..") else sample.resolve()
    return whole.parent / f"{whole.stem or 'sample'}.labelled.jsonl"


class JudgeRequest(Request):
    """Grade one document for one question of an unreleased set."""

    set: Annotated[Path, LOCAL_ONLY]
    """The set file the question is in."""
    question: Annotated[str, Field(min_length=1)]
    """Id of the question."""
    doc: Annotated[str, Field(min_length=1)]
    """Id of the document."""
    grade: Annotated[int, Field(ge=0, le=RESOLVER_GRADE)] = RESOLVER_GRADE
    """0 is not an answer, 3 answers it fully."""
    part: Annotated[int, Field(ge=1, le=TOP_PART)] = 1
    """Which part of the need it answers."""


class Judged(Record):
    """Where the judgement is kept."""

    file: str


def judge(workspace: Workspace, request: JudgeRequest) -> Judged:
    """Keep a judgement beside an unreleased set; it counts from the next evaluation on.

    Raises:
        MissingError: If there is no such set, question or document.
        DataError: If the set cannot be read.
        UsageError: If the set is a release.
    """
    if not request.set.exists():
        raise MissingError(f"there is no set {request.set}")
    if request.set.is_dir() and (request.set / "manifest.json").is_file():
        raise UsageError(
            f"{request.set} is a release, and a release never changes", hint="judge the set it was made of"
        )
    known = {question.id for question in open_set(request.set).questions}
    if request.question not in known:
        raise MissingError(
            f"{request.set} has no question {request.question!r}", hint="the report names each question's id"
        )
    documents = open_documents(workspace, SetRequest())
    if documents is not None and documents.resolve(request.doc) is None and request.grade > 0:
        raise MissingError(f"{request.doc!r} is no document of {documents.name}", hint="ids are paths below the corpus")
    judgement = HandJudgement(question=request.question, doc=request.doc, grade=request.grade, part=request.part)
    return Judged(file=str(add_judgement(request.set, judgement)))
