"""Which cases differ between two releases, without scoring anything."""

from findback.errors import MissingError
from findback.evalset.head import read_head
from findback.evalset.release import list_numbers, read_release, release_folder
from findback.evalset.releasediff import SetDiff, compare_cases
from findback.model.case import Case
from findback.model.record import Record
from findback.steps.releases import DiffRequest
from findback.workspace import Workspace


class CaseDiff(Record):
    """What differs between two states of the set."""

    before: int
    after: int | None
    """None for the head."""
    diff: SetDiff


def diff_cases(workspace: Workspace, request: DiffRequest) -> CaseDiff:
    """Return which cases differ; the newest release and the head where none is named.

    Raises:
        MissingError: If there is no such release.
        DataError: If one is not as it was published.
    """
    numbers = list_numbers(workspace.evalset)
    earlier = numbers if request.after is None else [number for number in numbers if number < request.after]
    before = request.before if request.before is not None else max(earlier, default=None)
    if before is None:
        raise MissingError("there is no release before that", hint="release something first")
    limit = workspace.settings.measures.leak_limit
    after = (
        _cases(workspace, request.after, limit)
        if request.after
        else read_head(workspace.evalset, leak_limit=limit).cases
    )
    diff = compare_cases(_cases(workspace, before, limit), after)
    return CaseDiff(before=before, after=request.after, diff=diff)


def _cases(workspace: Workspace, number: int, limit: float) -> tuple[Case, ...]:
    if number not in list_numbers(workspace.evalset):
        raise MissingError(f"there is no release {number}")
    return read_release(release_folder(workspace.evalset, number), leak_limit=limit).content.cases
