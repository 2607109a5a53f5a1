"""Release what is ready: a new numbered version of the set."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.errors import StorageError, UsageError
from findback.evalset.cases import write_cases
from findback.evalset.clusters import settle_clusters
from findback.evalset.head import Head, hold_head, merge_cases, read_head, settle_head
from findback.evalset.manifest import Counts, Manifest, count_cases
from findback.evalset.release import (
    CASES,
    RELEASES,
    Content,
    Release,
    list_numbers,
    read_release,
    release_folder,
    write_release,
)
from findback.evalset.releasediff import SetDiff, compare_cases
from findback.evalset.split import assign_splits
from findback.files import sweep
from findback.model.case import Case
from findback.model.items import ItemEffect
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record, Request
from findback.steps.agreed import describe_agreement
from findback.steps.bench import has_bench, open_workspace_key
from findback.steps.casemaking import open_bench_cases
from findback.steps.items_effect import weigh_found
from findback.steps.kept import now
from findback.steps.localreviewer import local_name
from findback.steps.measured import Measurement, measure_golds
from findback.steps.obstacles import Obstacle, check_text, find_obstacles
from findback.steps.opening import SetRequest, open_documents
from findback.steps.people import read_roster
from findback.steps.publishable import open_check
from findback.steps.ready import NothingReady, ReadyCases
from findback.steps.refresh_past import remember_corpus
from findback.steps.rescoring import Effect, rescore
from findback.steps.writtencases import NOT_FOR_DECISIONS
from findback.text.words import TOKENIZER_VERSION
from findback.workspace import Workspace


class ReleaseRequest(Request):
    """Release what is ready: a new numbered version of the set."""

    message: str
    """What is to be said about this release; it is published with it."""
    dry_run: bool = False
    """Say what a release would hold and what stands in its way; write none."""
    allow_toy_model: bool = False
    """Let in what a model wrote that is not for decisions: the set is for trying findback out."""


class ReleaseResult(Record):
    """A release, or what stands in its way."""

    number: int | None
    """Its number; None where there is none: obstacles, or a dry run."""
    folder: str | None
    parent: int | None
    """The release before."""
    obstacles: tuple[Obstacle, ...] = ()
    """Everything that stands in its way; empty for one that was written."""
    diff: SetDiff
    """Against the release before."""
    counts: Counts
    effects: tuple[Effect, ...] = ()
    """What it does to the scores of the newest kept runs."""
    found: tuple[ItemEffect, ...] = ()
    """What judgements found by item analysis do to them; empty where there are none."""
    warnings: tuple[str, ...] = ()
    finished: int | None = None
    """A release that an interrupted process had left half done, and that is whole now."""


class _Surroundings(NamedTuple):
    """What a release is made in."""

    workspace: Workspace
    documents: Corpus | None
    made: datetime
    progress: Progress


class _Draft(NamedTuple):
    """A set as it would be released."""

    cases: tuple[Case, ...]
    fresh: Mapping[str, str]
    """Case id to candidate key, of what is new."""
    head: Head
    parent: Release | None
    number: int
    obstacles: tuple[Obstacle, ...]
    """Of candidates that could not become cases."""
    warnings: tuple[str, ...]
    late: bool
    """Whether candidates of the parent were not yet marked as released."""

    @property
    def parent_cases(self) -> tuple[Case, ...]:
        return () if self.parent is None else self.parent.content.cases

    @property
    def parent_number(self) -> int | None:
        return None if self.parent is None else self.parent.manifest.number


def release(
    workspace: Workspace,
    request: ReleaseRequest,
    *,
    ready: ReadyCases | None = None,
    reviewer: str | None = None,
    made: datetime | None = None,
    progress: Progress = SILENT,
) -> ReleaseResult:
    """Write what is ready as a new release, or say what stands in its way.

    What a killed process left half done is finished first. The release folder appears in one rename, the head
    follows, then the workbench: at any moment there is the old release or the new one.

    Args:
        workspace: Where set, workbench and documents are.
        request: What to say about it.
        ready: Reviewed candidates; those of the workbench when None.
        reviewer: Who releases, as the login names them; whoever runs this when None.
        made: The date it carries; today's when None.
        progress: Shows how far it has come.

    Raises:
        UsageError: If nothing changed since the release before.
        DataError: If head, releases or documents cannot be read; every fault with its line.
        RefusedError: If somebody else released at the same time.
        StorageError: If the disk refuses.
    """
    documents = open_documents(workspace, SetRequest(), progress=progress)
    surroundings = _Surroundings(workspace, documents, made or now(), progress)
    if ready is not None:
        return _release(surroundings, request, ready)
    with open_ready(workspace, documents, reviewer=reviewer) as opened:
        return _release(surroundings, request, opened)


@contextmanager
def open_ready(
    workspace: Workspace, documents: Corpus | None = None, *, reviewer: str | None = None
) -> Iterator[ReadyCases]:
    """Open the ready candidates of a workspace for a while; none where nothing was ever mined."""
    if not has_bench(workspace):
        yield NothingReady()
        return
    with open_bench_cases(workspace, reviewer=reviewer or local_name(), documents=documents) as opened:
        yield opened


def _release(surroundings: _Surroundings, request: ReleaseRequest, ready: ReadyCases) -> ReleaseResult:
    workspace, documents, _, progress = surroundings
    evalset, limit = workspace.evalset, workspace.settings.measures.leak_limit
    sweep(evalset)
    sweep(evalset / RELEASES)
    finished = settle_head(evalset)
    people = read_roster(workspace, documents)
    draft = _draft(workspace, ready)
    diff = compare_cases(draft.parent_cases, draft.cases)
    check = open_check(workspace, roster=people.roster, given_back=ready.is_false_positive)
    obstacles = (
        *draft.obstacles,
        *check_text(request.message, "message", check),
        *([] if request.message.strip() else [Obstacle(case=None, place="message", rule="it is empty")]),
        *find_obstacles(
            draft.cases,
            draft.fresh.keys(),
            draft.parent,
            check,
            leak_limit=limit,
            allow_toy_model=request.allow_toy_model,
        ),
    )
    result = ReleaseResult(
        number=None,
        folder=None,
        parent=draft.parent_number,
        obstacles=obstacles,
        diff=diff,
        counts=count_cases(draft.cases),
        warnings=(*draft.warnings, *people.notes),
        finished=finished or (draft.parent_number if draft.late else None),
    )
    if not diff and not obstacles:
        return _nothing_new(workspace, result, draft)
    if obstacles:
        return result
    effects = rescore(workspace, draft.parent_cases, draft.cases, documents)
    found = measure_golds(draft.cases, documents, seed=workspace.settings.measures.seed, progress=progress)
    warnings = (*draft.warnings, *_warn_toys(draft.cases), *_warn_outside(found))
    weighed, unread = weigh_found(workspace, draft.cases, documents)
    said = (*warnings, *people.notes, *effects.notes, *unread)
    result = result.model_copy(update={"effects": effects.effects, "found": weighed, "warnings": said})
    if request.dry_run:
        return result
    active = [case.id for case in draft.cases if case.status == "active"]
    agreement = describe_agreement(ready.opinions(active))
    manifest = _describe(surroundings, request, draft, found).model_copy(
        update={"agreement": agreement, "warnings": warnings}
    )
    folder = write_release(evalset, manifest, Content(draft.cases, found.measured, found.documents))
    _write_head(workspace, draft)
    by_id = {case.id: case for case in draft.cases}
    ready.mark_released({key: by_id[id_] for id_, key in draft.fresh.items()})
    said = (*said, *_remember(surroundings, draft))
    return result.model_copy(update={"number": draft.number, "folder": str(folder), "warnings": said})


def _remember(surroundings: _Surroundings, draft: _Draft) -> tuple[str, ...]:
    """Keep what `findback refresh` compares with later; the release stands without it."""
    workspace, documents, made, _ = surroundings
    if documents is None or workspace.file is None:
        return ()
    try:
        remember_corpus(
            workspace, draft.number, (one.doc for case in draft.cases for one in case.gold), documents, now=made
        )
    except StorageError as error:
        return (f"what findback refresh compares with could not be kept: {error}",)
    return ()


def _draft(workspace: Workspace, ready: ReadyCases) -> _Draft:
    """Return the set as it would be released, after marking what an interrupted release left unmarked."""
    evalset = workspace.evalset
    head = read_head(evalset)
    numbers = list_numbers(evalset)
    parent = read_release(release_folder(evalset, numbers[-1])) if numbers else None
    newest = numbers[-1] if numbers else 0
    made = max(newest, ready.newest_number(), *(case.added_in or 0 for case in head.cases))
    number = made + 1
    there = {case.id: case for case in (parent.content.cases if parent is not None else ())}
    listed = ready.collect()
    late = {one.key: there[one.case.id] for one in listed if one.case is not None and one.case.id in there}
    if late:
        ready.mark_released(late)
    known = {case.id for case in head.cases}
    fresh = {one.case.id: one for one in listed if one.case is not None and one.case.id not in known | there.keys()}
    new = [one.case.model_copy(update={"added_in": number}) for one in fresh.values() if one.case is not None]
    split = assign_splits(settle_clusters([*head.cases, *new]), fresh.keys(), open_workspace_key(workspace).hmac)
    blocked = tuple(
        Obstacle(case=None, candidate=one.key, place="candidate", rule=rule) for one in listed for rule in one.obstacles
    )
    cases = tuple(sorted(split.cases, key=lambda case: case.id))
    keys = {id_: one.key for id_, one in fresh.items()}
    warnings = [split.note] if split.note else []
    if made > newest:
        warnings.append(
            f"release {made} was made once, and its folder releases/{made} is not there:"
            f" restore it from version control; its number is not used again, the next one is {number}"
        )
    return _Draft(cases, keys, head, parent, number, blocked, tuple(warnings), bool(late))


def _nothing_new(workspace: Workspace, result: ReleaseResult, draft: _Draft) -> ReleaseResult:
    """Return the release an interrupted process had written; there is nothing else to do.

    Raises:
        UsageError: If nothing was interrupted either.
    """
    if result.finished is None:
        since = f"since release {result.parent}" if result.parent else "yet, and nothing is ready"
        raise UsageError(
            f"nothing changed {since}", hint="review candidates first; findback candidates list shows their states"
        )
    folder = release_folder(workspace.evalset, result.finished)
    return result.model_copy(update={"number": result.finished, "folder": str(folder)})


def _describe(surroundings: _Surroundings, request: ReleaseRequest, draft: _Draft, found: Measurement) -> Manifest:
    documents = surroundings.documents
    return Manifest(
        number=draft.number,
        date=surroundings.made.date(),
        note=request.message.strip(),
        parent=draft.parent_number,
        made_from=draft.head.digest,
        digests={},
        counts=count_cases(draft.cases),
        corpus=documents.digest if documents is not None else "none",
        outside=found.outside,
        tokenizer=TOKENIZER_VERSION,
        findback=version("findback"),
    )


def _warn_toys(cases: Iterable[Case]) -> tuple[str, ...]:
    toys = sum(NOT_FOR_DECISIONS in case.tags and case.status == "active" for case in cases)
    if not toys:
        return ()
    return (f"{toys} cases were written by a model that is not for decisions: decide nothing by this release",)


def _warn_outside(found: Measurement) -> tuple[str, ...]:
    if found.outside is None:
        return ("whether the gold is in the corpus was not checked: no corpus was at hand",)
    if not found.outside:
        return ()
    shown = ", ".join(found.outside[:5]) + (", …" if len(found.outside) > 5 else "")
    return (f"{len(found.outside)} gold documents are not in the corpus, and count as not in the index: {shown}",)


def _write_head(workspace: Workspace, draft: _Draft) -> None:
    """Write the head; what somebody changed in it meanwhile stays."""
    limit = workspace.settings.measures.leak_limit
    with hold_head(workspace.evalset):
        current = read_head(workspace.evalset)
        kept = (
            draft.cases
            if current.digest == draft.head.digest
            else merge_cases(current, draft.cases, draft.head.digest, draft.number)
        )
        if kept is not None:
            write_cases(workspace.evalset / CASES, kept, leak_limit=limit)
