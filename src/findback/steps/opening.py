"""From a workspace to what steps work on: documents, questions, retrievers."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from findback.corpus.corpus import Corpus
from findback.corpus.open import FROM_ENVIRONMENT, open_corpus
from findback.corpus.passages import open_passages
from findback.endpoint import origin_of
from findback.errors import FindbackError, MissingError, UsageError
from findback.evalset.glossary import GLOSSARY, read_glossary
from findback.evalset.open import open_set
from findback.evalset.resolve import resolve
from findback.llm.address import list_trusted_models
from findback.model.glossary import Glossary
from findback.model.protocols import SILENT, Documents, Progress, Retriever
from findback.model.question import QuestionSet, SetKind
from findback.model.record import LOCAL_ONLY, Request
from findback.model.settings import CorpusSettings, RetrieverSettings, SourceSettings
from findback.model.trusted import Trusted
from findback.privacy.core import CoreRedactor
from findback.retrievers.build import build_retriever, list_trusted
from findback.retrievers.readers import Readers
from findback.retrievers.surroundings import Surroundings
from findback.steps.audiences import note_roles, read_readers
from findback.steps.egress import open_departures
from findback.steps.judged import apply_judgements
from findback.trust import require
from findback.workspace import Workspace, models_home

DEFAULT_RETRIEVERS = {"bm25": RetrieverSettings(kind="bm25")}
"""What is scored where findback.toml names nothing."""


class SetRequest(Request):
    """Which set a step works on, and how to read it."""

    set: Annotated[Path | None, LOCAL_ONLY] = None
    """Set file or folder in any known format; the newest release when left out."""
    release: PositiveInt | None = None
    """Release to work on."""
    corpus: Annotated[Path | None, LOCAL_ONLY] = None
    """Documents, instead of findback.toml's."""
    base_url: Annotated[str | None, LOCAL_ONLY] = None
    """Where the documents are published, so that addresses in labels meet them."""
    id_from: Literal["path", "url", "field"] | None = None
    """What makes a document's id: its path, its address, or a field."""
    id_field: str | None = None
    """Column or front-matter key of the id."""
    as_: str | None = None
    """Format of the set; recognised by itself when left out."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Which column holds what: --columns.query Question --columns.gold "Source page"."""
    grades: dict[str, int] = Field(default_factory=dict)
    """What the file's grades mean on the scale 0 to 3."""
    skip_bad: bool = False
    """Leave out rows that cannot be read, and count them."""


def corpus_settings(workspace: Workspace, request: SetRequest) -> tuple[CorpusSettings | None, Path]:
    """Return where the documents are, and the folder the path is relative to."""
    settings, base = workspace.settings.corpus, workspace.root
    if request.corpus is not None:
        settings, base = CorpusSettings(path=str(request.corpus)), Path.cwd()
    if settings is None:
        return None, base
    named = {"base_url": request.base_url, "id_from": request.id_from, "id_field": request.id_field}
    return settings.model_copy(update={key: value for key, value in named.items() if value is not None}), base


def open_documents(workspace: Workspace, request: SetRequest, *, progress: Progress = SILENT) -> Corpus | None:
    """Return the documents, or None where no corpus is named.

    Raises:
        MissingError: If the corpus is not there.
        DataError: If it cannot be read; every fault with file and line.
        UntrustedError: If it is a server's database, and nobody agreed to ask that.
    """
    settings, base = corpus_settings(workspace, request)
    if settings is None:
        return None
    if settings.path.startswith(FROM_ENVIRONMENT):
        require(workspace.root, trusted_items(workspace), workspace.environment)
    corpus = open_corpus(
        settings, base=base, skip_bad=request.skip_bad, progress=progress, environment=workspace.environment
    )
    len(corpus)
    return corpus


def newest_release(workspace: Workspace) -> int | None:
    """Return the number of the newest release, or None when nothing has been released."""
    folder = workspace.evalset / "releases"
    if not folder.is_dir():
        return None
    numbers = [int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.is_dir()]
    return max(numbers, default=None)


def find_set(workspace: Workspace, request: SetRequest) -> Path:
    """Return the set a request means.

    Raises:
        UsageError: If it names a set and a release.
        MissingError: If it names none and nothing has been released.
    """
    if request.set is not None:
        if request.release is not None:
            raise UsageError("a set and a release are named", hint="leave one of --set and --release out")
        return request.set
    number = newest_release(workspace) if request.release is None else request.release
    if number is None:
        raise MissingError(
            "nothing has been released yet, and no set was named",
            hint="name one: --set golden.jsonl (any format; see docs/sets.md)",
        )
    folder = workspace.evalset / "releases" / str(number)
    if not folder.is_dir():
        raise MissingError(f"there is no release {number} in {workspace.evalset}")
    return folder


def open_questions(
    workspace: Workspace,
    request: SetRequest,
    documents: Documents | None,
    *,
    path: Path | None = None,
    kind: SetKind = "unreleased set",
    holdout: bool = False,
) -> QuestionSet:
    """Return a set: redacted, its gold resolved to documents, judgements added by hand applied.

    What a release holds out is left out, unless it is asked for: then it is all there is.

    A note warns of audiences that are no role of findback.toml.

    Raises:
        MissingError: If there is no such set.
        DataError: If it cannot be read; every fault with file and line.
    """
    redactor = CoreRedactor(workspace.settings.privacy)
    place = find_set(workspace, request) if path is None else path
    read = open_set(
        place,
        as_=request.as_,
        columns=request.columns,
        grades=request.grades,
        skip_bad=request.skip_bad,
        redactor=redactor,
        kind=kind,
        holdout=holdout,
    )
    resolved = resolve(note_roles(read, workspace), documents, redactor=redactor).set
    return apply_judgements(resolved, place, documents).model_copy(update={"place": str(place)})


def open_retrievers(
    workspace: Workspace,
    names: Sequence[str],
    documents: Corpus | None,
    *,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> list[Retriever]:
    """Build retrievers of findback.toml, after the trust question.

    Args:
        workspace: Where they are named.
        names: Which ones; all of them when empty.
        documents: The corpus for those that search it themselves.
        progress: Shows how far it has come.
        ask: Asks a person; None where nobody is there.

    Raises:
        MissingError: If a name, model or file is not there.
        SettingsError: If a setting makes no sense.
        UntrustedError: If nobody agreed to what they name.
    """
    known = workspace.settings.retrievers or DEFAULT_RETRIEVERS
    chosen = list(names) or list(known)
    for name in chosen:
        if name not in known:
            raise MissingError(f"there is no [retrievers.{name}] in findback.toml", hint=f"known: {', '.join(known)}")
    if list_trusted(with_others(chosen, known)):
        # One answer covers the workspace, so that naming other retrievers does not ask again.
        require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask)
    surroundings = surround(workspace, documents, known, progress)
    return [build_retriever(name, known[name], surroundings) for name in chosen]


def trusted_items(workspace: Workspace) -> tuple[Trusted, ...]:
    """Return everything somebody must agree to before this workspace's retrievers, databases, models are asked.

    What models are told by prompts of the workspace's own is part of it.
    """
    known = workspace.settings.retrievers or DEFAULT_RETRIEVERS
    levels = tuple(Trusted("egress", f"{name} counts as {one.egress}") for name, one in known.items() if one.egress)
    allowed = tuple(
        Trusted("egress", f"{name} may see unreviewed text") for name in workspace.settings.egress.unreviewed_to
    )
    asked = (
        *_trusted_corpus(workspace),
        *_trusted_databases(workspace),
        *_trusted_connectors(workspace),
        *_trusted_slack(workspace),
        *_trusted_models(workspace),
        *_trusted_prompts(workspace),
    )
    return (*list_trusted(known), *levels, *allowed, *asked)


def needs_trust(source: SourceSettings) -> bool:
    """Return whether somebody must agree to a source: it sends a secret to a host, both named by a variable."""
    return source.database is not None and source.database.startswith("env:")


def _trusted_corpus(workspace: Workspace) -> Iterator[Trusted]:
    settings = workspace.settings.corpus
    if settings is None or not settings.path.startswith(FROM_ENVIRONMENT):
        return
    # Takes SQLAlchemy along, which only who has a database needs.
    from findback.corpus.sql import host_of  # noqa: PLC0415

    variable = settings.path.removeprefix(FROM_ENVIRONMENT)
    yield Trusted("variable", variable)
    address = workspace.environment.get(variable, "").strip()
    with suppress(FindbackError):
        yield Trusted("database", f"{host_of(address) if address else 'not known yet'}, for [corpus]")
    yield Trusted("query", f"{' '.join((settings.query or '').split())}, for [corpus]")


def _trusted_databases(workspace: Workspace) -> tuple[Trusted, ...]:
    if not any(map(needs_trust, workspace.settings.sources.values())):
        return ()
    # Takes SQLAlchemy along, which only who has a database needs.
    from findback.sources.address import list_trusted_databases  # noqa: PLC0415

    return tuple(list_trusted_databases(workspace.settings.sources, workspace.environment, workspace.root))


def _trusted_slack(workspace: Workspace) -> Iterator[Trusted]:
    settings = workspace.settings.slack
    for named in (settings.app_token, settings.signing_secret):
        if named is not None:
            yield Trusted("variable", named.removeprefix("env:"))
    if settings.app_token is not None:
        yield Trusted("host", origin_of(settings.url or "https://slack.com"))


def _trusted_connectors(workspace: Workspace) -> tuple[Trusted, ...]:
    if not workspace.settings.connectors:
        return ()
    # Takes the readers of two systems along, which only who has a connector needs.
    from findback.sources.connectors.open import list_trusted_connectors  # noqa: PLC0415

    return tuple(list_trusted_connectors(workspace.settings.connectors))


def _trusted_models(workspace: Workspace) -> Iterator[Trusted]:
    for name, settings in workspace.settings.models.items():
        # One that makes no sense is not asked; whoever wants to ask it is told what is wrong.
        with suppress(FindbackError):
            yield from list_trusted_models(name, settings)


def _trusted_prompts(workspace: Workspace) -> tuple[Trusted, ...]:
    named = workspace.settings.writing.prompts
    if named is None:
        return ()
    # Takes Jinja along, which only who has prompts of their own needs here.
    from findback.writing.prompts import open_prompts  # noqa: PLC0415

    try:
        return open_prompts(workspace.path(named)).list_trusted()
    except FindbackError:
        # What cannot be read is not used; whoever wants to use it is told what is wrong.
        return ()


EMBEDDED = frozenset({"bm25", "dense", "tantivy"})
"""Kinds that search the workspace's own documents."""


def searches_corpus(name: str, workspace: Workspace) -> bool:
    """Return whether a retriever searches the documents findback reads, and nothing else."""
    known = workspace.settings.retrievers or DEFAULT_RETRIEVERS
    made_of = with_others([name], known).values()
    return bool(made_of) and all(one.kind in EMBEDDED | {"fuse", "rerank", "expand"} for one in made_of)


def with_others(chosen: Sequence[str], known: dict[str, RetrieverSettings]) -> dict[str, RetrieverSettings]:
    """Return the chosen retrievers and those they are made of."""
    needed: dict[str, RetrieverSettings] = {}
    waiting = list(chosen)
    while waiting:
        name = waiting.pop()
        if name in needed or name not in known:
            continue
        needed[name] = known[name]
        inner = known[name].own.get("of", ())
        waiting.extend([inner] if isinstance(inner, str) else [one for one in inner if isinstance(one, str)])
    return {name: needed[name] for name in known if name in needed}


def surround(
    workspace: Workspace,
    documents: Corpus | None,
    known: dict[str, RetrieverSettings],
    progress: Progress = SILENT,
) -> Surroundings:
    """Return what retrievers are built from."""
    passages = None
    if documents is not None:
        passages = open_passages(
            documents, workspace.settings.passages, cache=workspace.private_part("passages"), progress=progress
        )
    return Surroundings(
        documents=documents,
        passages=passages,
        readers=read_readers(documents) if documents is not None else Readers(),
        cache=workspace.private_part("indexes"),
        models=models_home(workspace.environment),
        base=workspace.root,
        environment=workspace.environment,
        retrievers=known,
        glossary=lambda path: open_glossary(workspace, path),
        http=workspace.settings.http,
        departures=open_departures(workspace),
        temporary=workspace.temporary(),
        progress=progress,
    )


def open_glossary(workspace: Workspace, path: str | None = None) -> Glossary:
    """Return the terms people accepted.

    Args:
        workspace: Where they are.
        path: A file of findback.toml's, instead of the published one.

    Raises:
        MissingError: If there is no such file.
        DataError: If it has faults; every one with its line.
    """
    file = workspace.evalset / GLOSSARY if path is None else workspace.path(path)
    if not file.exists():
        raise MissingError(
            f"there is no glossary at {file}", hint="findback glossary suggest proposes terms, and accept keeps them"
        )
    return read_glossary(file, redactor=CoreRedactor(workspace.settings.privacy))


@asynccontextmanager
async def closing(systems: Sequence[Retriever]) -> AsyncIterator[None]:
    """Close every retriever at the end, whatever happens."""
    try:
        yield
    finally:
        for retriever in systems:
            await retriever.close()
