"""findback from Python and notebooks: the same steps, records that print themselves."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.open import open_corpus
from findback.errors import UsageError
from findback.evalset.resolve import resolve
from findback.model.audit import Audit
from findback.model.document import Document
from findback.model.evaluation import Evaluation
from findback.model.protocols import Retriever
from findback.model.question import QuestionSet
from findback.model.settings import CorpusSettings
from findback.reporting.notebook import render_html_fragment, render_text
from findback.retrievers.python import PythonRetriever
from findback.steps import audit as audit_step
from findback.steps import evaluate as evaluate_step
from findback.steps.opening import SetRequest, open_documents, open_questions
from findback.workspace import Workspace, open_workspace

Search = Callable[..., Any]
Systems = Search | Retriever | Mapping[str, Search | Retriever]


class AuditResult(Audit):
    """An audit that prints as a table in a terminal and as HTML in a notebook."""

    def __str__(self) -> str:
        return render_text(self)

    def _repr_html_(self) -> str:
        return render_html_fragment(self)

    @classmethod
    def of(cls, result: Audit) -> Self:
        """Return an audit that prints itself."""
        return cls.model_validate(result.model_dump())


class EvaluationResult(Evaluation):
    """An evaluation that prints as a table in a terminal and as HTML in a notebook."""

    def __str__(self) -> str:
        return render_text(self)

    def _repr_html_(self) -> str:
        return render_html_fragment(self)

    @classmethod
    def of(cls, result: Evaluation) -> Self:
        """Return an evaluation that prints itself."""
        return cls.model_validate(result.model_dump())


def load_corpus(path: str | Path | Sequence[Document], **settings: Any) -> Corpus:
    """Read documents.

    Args:
        path: Folder or file, or documents at hand.
        settings: Keys of `[corpus]`, such as `base_url` or `language`.

    Raises:
        DataError: If it cannot be read; every fault with file and line.
    """
    if not isinstance(path, str | Path):
        return corpus_of(path)
    return open_corpus(CorpusSettings(path=str(path), **settings), base=Path.cwd())


def load_cases(path: str | Path, *, corpus: Corpus | str | Path | None = None, **options: Any) -> QuestionSet:
    """Read a set in any known format, redacted, its gold resolved where there is a corpus.

    Args:
        path: File or folder.
        corpus: The documents gold points at.
        options: Fields of `SetRequest`, such as `columns`, `skip_bad` or, for documents in a folder, `base_url`.

    Raises:
        DataError: If it cannot be read; every fault with file and line.
    """
    workspace = _workspace()
    request = SetRequest(set=Path(path), corpus=_path(corpus), **options)
    documents = corpus if isinstance(corpus, Corpus) else None
    if request.corpus is not None:
        documents = open_documents(workspace, request)
    return open_questions(workspace, request, documents)


def audit(
    questions: str | Path, *, real: str | Path | None = None, corpus: str | Path | None = None, **options: Any
) -> AuditResult:
    """Measure how much of a set's wording leaks from its answers.

    Args:
        questions: The golden set, in any known format.
        real: Queries people really typed.
        corpus: The documents; findback.toml's when left out.
        options: Fields of `AuditRequest`.

    Raises:
        FindbackError: See `findback.steps.audit.audit`.
    """
    request = audit_step.AuditRequest(
        set=Path(questions),
        real=Path(real) if real is not None else None,
        corpus=Path(corpus) if corpus is not None else None,
        **options,
    )
    return AuditResult.of(audit_step.audit(_workspace(), request))


def evaluate(
    search: Systems,
    cases: QuestionSet | str | Path,
    *,
    depth: int = 100,
    corpus: Corpus | str | Path | None = None,
    **options: Any,
) -> EvaluationResult:
    """Score search functions on a set.

    Args:
        search: `search(query, k)` returning ids, (id, score) pairs, dicts or hits, sync or async; a retriever;
            or several of them by name.
        cases: A set that was read, or the file of one.
        depth: Documents asked for.
        corpus: The documents; without them misses cannot be told apart.
        options: Fields of `EvaluateRequest`, such as `by` or `metrics`.

    Raises:
        FindbackError: See `findback.steps.evaluate.evaluate`.
    """
    workspace = _workspace()
    given, place = (cases, None) if isinstance(cases, QuestionSet) else (None, Path(cases))
    request = evaluate_step.EvaluateRequest(set=place, depth=depth, corpus=_path(corpus), **options)
    documents = corpus if isinstance(corpus, Corpus) else open_documents(workspace, request)
    result = evaluate_step.evaluate(
        workspace,
        request,
        systems=_systems(search),
        questions=resolve(given, documents).set if given is not None else None,
        documents=documents,
    )
    return EvaluationResult.of(result)


def _workspace() -> Workspace:
    return open_workspace(required=False)


def _path(corpus: Corpus | str | Path | None) -> Path | None:
    return Path(corpus) if isinstance(corpus, str | Path) else None


def _systems(search: Systems) -> list[Retriever]:
    named = search if isinstance(search, Mapping) else {getattr(search, "__name__", "search"): search}
    if not named:
        raise UsageError("no search function was given")
    return [one if isinstance(one, Retriever) else PythonRetriever(name, one) for name, one in named.items()]
