"""Check everything a workspace names, and say what to do."""

import asyncio
from collections.abc import Iterator
from typing import Literal

from findback import registry
from findback.corpus.corpus import Corpus
from findback.errors import FindbackError, UsageError
from findback.measure.metrics.name import parse_metric
from findback.model.protocols import Query, Retriever
from findback.model.record import Record, Request
from findback.model.settings import SourceSettings
from findback.retrievers.build import build_retriever, list_trusted
from findback.retrievers.foreign import search_contained
from findback.sources.format import SourceOptions
from findback.steps.broken import broken_places
from findback.steps.masking import mask_text
from findback.steps.opening import (
    SetRequest,
    needs_trust,
    newest_release,
    open_documents,
    surround,
    trusted_items,
    with_others,
)
from findback.steps.writers import describe_model
from findback.trust import digest_of, is_trusted
from findback.workspace import Workspace

State = Literal["ok", "warning", "fault"]
PROBE = Query("findback doctor: does this answer?")
SHOWN = 5
"""Faults of the set that are named, at most."""
LOCAL_KINDS = frozenset({"bm25", "dense", "fuse", "rerank", "file", "memory", "tantivy"})


class DoctorRequest(Request):
    """Check everything the workspace names and say what to do."""

    offline: bool = False
    """Do not ask any engine whether it answers."""


class CheckItem(Record):
    """One thing that was checked."""

    state: State
    what: str
    found: str
    todo: str | None = None
    """What to do; None when nothing is needed."""


class Checkup(Record):
    """Everything that was checked."""

    items: tuple[CheckItem, ...]

    @property
    def well(self) -> bool:
        """Return whether nothing needs to be mended."""
        return all(item.state != "fault" for item in self.items)


def doctor(workspace: Workspace, request: DoctorRequest) -> Checkup:
    """Check settings, private folder, corpus, set, retrievers, sources and models; untrusted, nothing is run."""
    items = [_settings(workspace), *_measures(workspace), _private(workspace)]
    corpus, item = _corpus(workspace)
    items.append(item)
    release = newest_release(workspace)
    items.append(CheckItem(state="ok", what="releases", found=f"newest is {release}" if release else "none yet"))
    items.extend(_set(workspace))
    items.extend(_retrievers(workspace, corpus, offline=request.offline))
    items.extend(_sources(workspace, offline=request.offline))
    items.extend(_connectors(workspace))
    items.extend(_models(workspace))
    return Checkup(items=tuple(_safe(item) for item in items))


def _safe(item: CheckItem) -> CheckItem:
    """Return an item without secrets of the settings, its sentences on one line with something between them."""
    found = "; ".join(line.strip() for line in item.found.split("\n") if line.strip())
    return item.model_copy(update={"found": mask_text(found)})


def _settings(workspace: Workspace) -> CheckItem:
    if workspace.file is None:
        return CheckItem(state="warning", what="findback.toml", found="none", todo="findback init")
    return CheckItem(state="ok", what="findback.toml", found=str(workspace.file))


def _measures(workspace: Workspace) -> Iterator[CheckItem]:
    """Yield what is wrong with the metrics that are named."""
    chosen = workspace.settings.measures
    for setting, names in (("primary", (chosen.primary,)), ("metrics", chosen.metrics)):
        for name in names:
            try:
                parse_metric(name)
            except UsageError as error:
                yield CheckItem(state="fault", what=f"[measures] {setting}", found=str(error), todo=error.hint)


def _private(workspace: Workspace) -> CheckItem:
    try:
        place = workspace.private
        workspace.private_part("tmp")
    except FindbackError as error:
        return CheckItem(state="fault", what="private folder", found=str(error), todo=error.hint)
    if (workspace.root / ".git").exists() and place.is_relative_to(workspace.root):
        return CheckItem(
            state="warning",
            what="private folder",
            found=f"{place} lies inside the work tree",
            todo="leave out `private` in findback.toml, or ignore that folder in git",
        )
    return CheckItem(state="ok", what="private folder", found=str(place))


def _corpus(workspace: Workspace) -> tuple[Corpus | None, CheckItem]:
    try:
        corpus = open_documents(workspace, SetRequest())
    except FindbackError as error:
        return None, CheckItem(state="fault", what="corpus", found=str(error), todo=error.hint)
    if corpus is None:
        return None, CheckItem(
            state="warning", what="corpus", found="none named", todo="[corpus] path in findback.toml"
        )
    found = f"{len(corpus):,} documents ({corpus.kind}: {corpus.recognised})"
    return corpus, CheckItem(state="ok", what="corpus", found=found)


def _set(workspace: Workspace) -> Iterator[CheckItem]:
    """Yield what of head and releases cannot be read."""
    found = broken_places(workspace)
    if found:
        more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        todo = "mend the lines, or restore the files from version control"
        yield CheckItem(state="fault", what="set", found="\n".join([*found[:SHOWN], *more]), todo=todo)


def _retrievers(workspace: Workspace, corpus: Corpus | None, *, offline: bool) -> Iterator[CheckItem]:
    known = workspace.settings.retrievers
    if not known:
        yield CheckItem(state="ok", what="retrievers", found="none named: bm25 is used")
    try:
        trusted = trusted_items(workspace)
    except FindbackError:
        # One setting that makes no sense leaves the question open; the retriever it belongs to says so itself.
        trusted = ()
    for name in known:
        what = f"[retrievers.{name}]"
        try:
            items = list_trusted(with_others([name], known))
            if items and not is_trusted(workspace.root, trusted, workspace.environment):
                digest = digest_of(workspace.root, trusted)
                yield CheckItem(
                    state="warning",
                    what=what,
                    found=f"not trusted yet, so not run: {', '.join(f'{i.kind} {i.text}' for i in items)}",
                    todo=f"findback evaluate asks in a terminal; elsewhere FINDBACK_TRUST={digest}",
                )
                continue
            retriever = build_retriever(name, known[name], surround(workspace, corpus, known))
            yield asyncio.run(_probe(what, known[name].kind, retriever, offline=offline))
        except FindbackError as error:
            yield CheckItem(state="fault", what=what, found=str(error), todo=error.hint)


def _sources(workspace: Workspace, *, offline: bool) -> Iterator[CheckItem]:
    for name, settings in workspace.settings.sources.items():
        what = f"[sources.{name}]"
        try:
            if settings.path is None:
                yield _database(workspace, name, settings, what, offline=offline)
            elif workspace.path(settings.path).exists():
                yield CheckItem(state="ok", what=what, found=settings.path)
            else:
                yield CheckItem(state="fault", what=what, found=f"{settings.path} is not there", todo="check the path")
        except FindbackError as error:
            yield CheckItem(state="fault", what=what, found=str(error), todo=error.hint)


def _database(workspace: Workspace, name: str, settings: SourceSettings, what: str, *, offline: bool) -> CheckItem:
    """Check that a database answers and has the columns that are needed."""
    # Takes SQLAlchemy along, which only who has a database needs.
    from findback.steps.databases import AskedDatabase  # noqa: PLC0415
    from findback.steps.exports import source_options  # noqa: PLC0415

    trusted = trusted_items(workspace) if needs_trust(settings) else ()
    if trusted and not is_trusted(workspace.root, trusted, workspace.environment):
        digest = digest_of(workspace.root, trusted)
        return CheckItem(
            state="warning",
            what=what,
            found=f"not trusted yet, so not asked: {settings.database}",
            todo=f"findback mine asks in a terminal; elsewhere FINDBACK_TRUST={digest}",
        )
    asked = AskedDatabase(workspace, name, settings, None)
    if offline:
        return CheckItem(state="ok", what=what, found=f"{settings.kind} of {asked}, not asked")
    asked.check(source_options(workspace, name, settings, SourceOptions(scratch=workspace.temporary())))
    return CheckItem(state="ok", what=what, found=f"{settings.kind} of {asked}, answers and has the columns")


def _connectors(workspace: Workspace) -> Iterator[CheckItem]:
    """Check that each connector has its token and an address that may be called; none is asked."""
    for name, settings in workspace.settings.connectors.items():
        # Takes the readers of two systems along, which only who has a connector needs.
        from findback.sources.connectors.open import open_caller  # noqa: PLC0415

        what = f"[connectors.{name}]"
        try:
            open_caller(name, settings, workspace.environment).close()
        except FindbackError as error:
            yield CheckItem(state="fault", what=what, found=str(error), todo=error.hint)
        else:
            yield CheckItem(state="ok", what=what, found=f"{settings.kind}, its token is set, not asked")
    slack = workspace.settings.slack
    if slack.app_token is not None or slack.signing_secret is not None:
        from findback.steps.slackflag import find_secrets  # noqa: PLC0415

        try:
            find_secrets(workspace)
        except FindbackError as error:
            yield CheckItem(state="fault", what="[slack]", found=str(error), todo=error.hint)
        else:
            yield CheckItem(state="ok", what="[slack]", found="its secrets are set, not asked")


def _models(workspace: Workspace) -> Iterator[CheckItem]:
    """Check how each model would be reached; none is asked, because questions may cost."""
    for name, settings in workspace.settings.models.items():
        what = f"[models.{name}]"
        try:
            yield CheckItem(state="ok", what=what, found=describe_model(workspace, name, settings))
        except FindbackError as error:
            yield CheckItem(state="fault", what=what, found=str(error), todo=error.hint)


async def _probe(what: str, kind: str, retriever: Retriever, *, offline: bool) -> CheckItem:
    try:
        if kind in LOCAL_KINDS or not registry.is_ours("findback.retrievers", kind):
            return CheckItem(state="ok", what=what, found=f"{kind}, ready to be built")
        if offline:
            return CheckItem(state="ok", what=what, found=f"{kind}, not asked")
        answer = await search_contained(retriever, PROBE, 3)
        return CheckItem(state="ok", what=what, found=f"{kind}, answers ({len(answer.hits)} results to a probe)")
    except FindbackError as error:
        return CheckItem(state="fault", what=what, found=str(error), todo=error.hint)
    except Exception as error:  # noqa: BLE001  (somebody else's code: only its class is shown)
        return CheckItem(
            state="fault", what=what, found=f"{kind} failed with {type(error).__name__}", todo="run it by itself"
        )
    finally:
        await retriever.close()
