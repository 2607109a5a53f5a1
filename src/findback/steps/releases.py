"""List the releases of a set, and compare two of them."""

from pydantic import PositiveInt

from findback.errors import FindbackError, MissingError
from findback.evalset.head import read_head
from findback.evalset.manifest import Manifest, read_manifest
from findback.evalset.release import find_damage, list_numbers, read_release, release_folder
from findback.evalset.releasediff import SetDiff, compare_cases
from findback.model.case import Case
from findback.model.items import ItemEffect
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record, Request
from findback.steps.items_effect import weigh_found
from findback.steps.opening import SetRequest, open_documents
from findback.steps.rescoring import Effect, rescore
from findback.workspace import Workspace


class ListedRelease(Record):
    """One release."""

    manifest: Manifest
    damage: tuple[str, ...] = ()
    """What is not as it was published."""


class Releases(Record):
    """The releases of a set, newest first."""

    folder: str
    releases: tuple[ListedRelease, ...]
    unreadable: tuple[str, ...] = ()
    """What is wrong with each whose manifest cannot be read."""
    unreleased: SetDiff | None
    """What the head has that the newest release has not; None where one of them cannot be read."""


class DiffRequest(Request):
    """Say what changed between two releases, and whether the system or the exam moved the scores."""

    before: PositiveInt | None = None
    """The earlier release; the one before `after` when left out."""
    after: PositiveInt | None = None
    """The later release; the head, as it stands now, when left out."""


class ReleaseComparison(Record):
    """What changed between two releases."""

    before: int
    after: int | None
    """None for the head."""
    diff: SetDiff
    effects: tuple[Effect, ...]
    found: tuple[ItemEffect, ...] = ()
    """What judgements found by item analysis do to the scores on the later state; empty where there are none."""
    notes: tuple[str, ...]


def list_releases(workspace: Workspace) -> Releases:
    """Return every release with what its manifest says, each checked against its digests."""
    evalset = workspace.evalset
    listed, unreadable = [], []
    for number in reversed(list_numbers(evalset)):
        folder = release_folder(evalset, number)
        try:
            manifest = read_manifest(folder)
        except FindbackError as error:
            unreadable.append(str(error))
            continue
        damage = tuple(str(fault) for fault in find_damage(folder, manifest))
        listed.append(ListedRelease(manifest=manifest, damage=damage))
    return Releases(
        folder=str(evalset),
        releases=tuple(listed),
        unreadable=tuple(unreadable),
        unreleased=_unreleased(workspace),
    )


def _unreleased(workspace: Workspace) -> SetDiff | None:
    numbers = list_numbers(workspace.evalset)
    try:
        newest = _cases(workspace, numbers[-1]) if numbers else ()
        return compare_cases(newest, read_head(workspace.evalset).cases)
    except FindbackError:
        return None


def compare_releases(workspace: Workspace, request: DiffRequest, *, progress: Progress = SILENT) -> ReleaseComparison:
    """Return what changed between two releases, and what that does to the scores of the newest kept runs.

    Raises:
        MissingError: If there is no such release.
        DataError: If one is not as it was published; every fault is listed.
    """
    numbers = list_numbers(workspace.evalset)
    if not numbers:
        raise MissingError("nothing has been released yet", hint="findback release -m MESSAGE releases what is ready")
    before = request.before
    if before is None:
        before = numbers[-1] if request.after is None else max((n for n in numbers if n < request.after), default=0)
    old = _cases(workspace, before)
    new = read_head(workspace.evalset).cases if request.after is None else _cases(workspace, request.after)
    documents = open_documents(workspace, SetRequest(), progress=progress)
    released = None if request.after is None else read_manifest(release_folder(workspace.evalset, request.after)).date
    effects = rescore(workspace, old, new, documents, released=released)
    found, unread = weigh_found(workspace, new, documents, before=request.after)
    return ReleaseComparison(
        before=before,
        after=request.after,
        diff=compare_cases(old, new),
        effects=effects.effects,
        found=found,
        notes=(*effects.notes, *unread),
    )


def _cases(workspace: Workspace, number: int) -> tuple[Case, ...]:
    if number not in list_numbers(workspace.evalset):
        raise MissingError(f"there is no release {number}", hint="findback releases lists them")
    return read_release(release_folder(workspace.evalset, number)).content.cases
