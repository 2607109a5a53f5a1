"""findback from Python and notebooks: the same steps, records that print themselves."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.open import open_corpus
from findback.errors import UsageError
from findback.evalset.resolve import resolve
from findback.model.across import Across
from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.document import Document
from findback.model.evaluation import Evaluation
from findback.model.mined import Mined
from findback.model.options import make_record
from findback.model.protocols import Retriever
from findback.model.question import QuestionSet
from findback.model.record import Record
from findback.model.settings import CorpusSettings
from findback.reporting.notebook import render_html_fragment, render_text
from findback.retrievers.python import PythonRetriever
from findback.steps import across as across_step
from findback.steps import audit as audit_step
from findback.steps import compare as compare_step
from findback.steps import evaluate as evaluate_step
from findback.steps import mine as mine_step
from findback.steps.opening import SetRequest, open_documents, open_questions
from findback.workspace import Workspace, open_workspace

Search = Callable[..., Any]
Systems = Search | Retriever | Mapping[str, Search | Retriever]
Made = TypeVar("Made", bound=Record)

_HAVE_ARGUMENTS = frozenset({"set", "release", "corpus", "path", "real"})
"""Fields of requests and settings that no keyword option sets: the functions have arguments for them."""
_AT_HAND = ("name", "base_url")
"""Settings of a corpus that still mean something where its documents are at hand."""


class Shown(Record):
    """A record that prints as tables in a terminal and as HTML, with its pictures, in a notebook."""

    def __str__(self) -> str:
        return render_text(cast("Audit", self))

    def _repr_html_(self) -> str:
        return render_html_fragment(cast("Audit", self))

    @classmethod
    def of(cls, result: Record) -> Self:
        """Return the record in a form that prints itself."""
        return cls.model_validate(result.model_dump())


class AuditResult(Shown, Audit):
    """An audit that prints itself."""


class MinedResult(Shown, Mined):
    """What mining gave, which prints itself."""


class ComparisonResult(Shown, Comparison):
    """A comparison that prints itself."""


class AcrossResult(Shown, Across):
    """A comparison across two sets, which prints itself."""


class EvaluationResult(Shown, Evaluation):
    """An evaluation that prints itself."""


def load_corpus(path: str | Path | Sequence[Document], **settings: Any) -> Corpus:
    """Read documents.

    Args:
        path: Folder or file, or documents at hand.
        settings: Keys of `[corpus]`, such as `base_url` or `language`; for documents at hand `name` and `base_url`.

    Raises:
        UsageError: If a setting is unknown or makes no sense.
        DataError: If it cannot be read; every fault with file and line.
    """
    if isinstance(path, str | Path):
        return open_corpus(_make(CorpusSettings, settings, path=str(path)), base=Path.cwd())
    unused = [name for name in CorpusSettings.model_fields if name not in _AT_HAND]
    named = _make(CorpusSettings, settings, unused=unused, path=".")
    return corpus_of(path, name=named.name or "documents", base_url=named.base_url)


def load_cases(path: str | Path, *, corpus: Corpus | str | Path | None = None, **options: Any) -> QuestionSet:
    """Read a set in any known format, redacted, its gold resolved where there is a corpus.

    Args:
        path: File or folder.
        corpus: The documents gold points at.
        options: Fields of `SetRequest`, such as `columns`, `skip_bad` or, for documents in a folder, `base_url`.

    Raises:
        UsageError: If an option is unknown or makes no sense.
        DataError: If it cannot be read; every fault with file and line.
    """
    workspace = _workspace()
    request = _make(SetRequest, options, set=Path(path), corpus=_path(corpus))
    documents = corpus if isinstance(corpus, Corpus) else None
    if request.corpus is not None:
        documents = open_documents(workspace, request)
    read = open_questions(workspace, request, documents)
    return read if documents is None else read.model_copy(update={"resolved_in": documents.digest})


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
    request = _make(
        audit_step.AuditRequest,
        options,
        set=Path(questions),
        real=Path(real) if real is not None else None,
        corpus=Path(corpus) if corpus is not None else None,
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
    request = _make(
        evaluate_step.EvaluateRequest,
        options,
        unused=("retrievers",),
        set=place,
        depth=depth,
        corpus=_path(corpus),
    )
    documents = corpus if isinstance(corpus, Corpus) else open_documents(workspace, request)
    result = evaluate_step.evaluate(
        workspace,
        request,
        systems=_systems(search),
        questions=_resolve_once(given, documents) if given is not None else None,
        documents=documents,
    )
    return EvaluationResult.of(result)


def compare(
    systems: Systems | Sequence[str | Path],
    cases: QuestionSet | str | Path | None = None,
    *,
    corpus: Corpus | str | Path | None = None,
    **options: Any,
) -> ComparisonResult:
    """Compare systems on a set: which is better, and whether that can be told at all.

    Args:
        systems: Search functions or retrievers by name, as for `evaluate`; or names of findback.toml, ids of kept
            runs and files of runs.
        cases: A set that was read, or the file of one; the newest release when left out.
        corpus: The documents; findback.toml's when left out.
        options: Fields of `CompareRequest`, such as `baseline` or `lenient`.

    Raises:
        FindbackError: See `findback.steps.compare.compare`.
    """
    workspace = _workspace()
    given = cases if isinstance(cases, QuestionSet) else None
    place = Path(cases) if isinstance(cases, str | Path) else None
    named, built = _name_or_build(systems)
    request = _make(
        compare_step.CompareRequest, options, unused=("systems",), systems=named, set=place, corpus=_path(corpus)
    )
    documents = corpus if isinstance(corpus, Corpus) else open_documents(workspace, request)
    result = compare_step.compare(
        workspace,
        request,
        systems=built,
        questions=_resolve_once(given, documents) if given is not None else None,
        documents=documents,
    )
    return ComparisonResult.of(result)


def compare_across(
    systems: Systems | Sequence[str | Path],
    across: str,
    cases: QuestionSet | str | Path | None = None,
    *,
    corpus: Corpus | str | Path | None = None,
    **options: Any,
) -> AcrossResult:
    """Compare systems across two sets: do both put them into the same order?

    Args:
        systems: As for `compare`.
        across: Two parts of the set (`generated,mined`), two releases (`3,4`), or two files of sets.
        cases: The set whose parts are compared, or the file of one; the newest release when left out.
        corpus: The documents; findback.toml's when left out.
        options: Fields of `AcrossRequest`, such as `by`.

    Raises:
        FindbackError: See `findback.steps.across.compare_across`.
    """
    workspace = _workspace()
    given = cases if isinstance(cases, QuestionSet) else None
    place = Path(cases) if isinstance(cases, str | Path) else None
    named, built = _name_or_build(systems)
    request = _make(
        across_step.AcrossRequest,
        options,
        unused=("systems",),
        systems=named,
        across=across,
        set=place,
        corpus=_path(corpus),
    )
    documents = corpus if isinstance(corpus, Corpus) else open_documents(workspace, request)
    result = across_step.compare_across(
        workspace,
        request,
        systems=built,
        questions=_resolve_once(given, documents) if given is not None else None,
        documents=documents,
    )
    return AcrossResult.of(result)


def mine(
    paths: str | Path | Sequence[str | Path] = (), *, corpus: str | Path | None = None, **options: Any
) -> MinedResult:
    """Find failed searches in exports, redact them, and put them into the private workbench.

    Args:
        paths: Exports; those of `[sources]` in findback.toml when none is named.
        corpus: The documents; findback.toml's when left out.
        options: Fields of `MineRequest`, such as `channels` or `dry_run`.

    Raises:
        FindbackError: See `findback.steps.mine.mine`.
    """
    exports = tuple(map(Path, [paths] if isinstance(paths, str | Path) else paths))
    request = _make(mine_step.MineRequest, options, exports=exports, corpus=_path(corpus))
    return MinedResult.of(mine_step.mine(_workspace(), request))


def _make(kind: type[Made], options: Mapping[str, Any], *, unused: Sequence[str] = (), **given: Any) -> Made:
    """Return a request or settings of the options a caller named and of what the function's arguments gave.

    Raises:
        UsageError: If an option is unknown, makes no sense, or has an argument of its own; the hint lists those
            there are.
    """
    known = [name for name in kind.model_fields if name not in {*_HAVE_ARGUMENTS, *unused, *given}]
    hint = f"options: {', '.join(known)}"
    taken = [name for name in options if name in kind.model_fields and name not in known]
    if taken:
        raise UsageError("; ".join(f"{name}: there is no such option" for name in taken), hint=hint)
    return make_record(kind, {**options, **given}, hint=hint)


def _resolve_once(questions: QuestionSet, documents: Corpus | None) -> QuestionSet:
    """Return a set with its gold resolved; as it is where that was done with these documents before."""
    if questions.resolved_in is not None and (documents is None or documents.digest == questions.resolved_in):
        return questions
    return resolve(questions, documents).set


def _workspace() -> Workspace:
    return open_workspace(required=False)


def _path(corpus: Corpus | str | Path | None) -> Path | None:
    return Path(corpus) if isinstance(corpus, str | Path) else None


def _name_or_build(systems: Systems | Sequence[str | Path]) -> tuple[tuple[str, ...], list[Retriever]]:
    if isinstance(systems, Sequence):
        return tuple(map(str, (systems,) if isinstance(systems, str) else systems)), []
    return (), _systems(systems)


def _systems(search: Systems) -> list[Retriever]:
    named = search if isinstance(search, Mapping) else {getattr(search, "__name__", "search"): search}
    if not named:
        raise UsageError("no search function was given")
    return [one if isinstance(one, Retriever) else PythonRetriever(name, one) for name, one in named.items()]
