"""Decompose a moved score: how much of it is the system, and how much the exam."""

from pydantic import PositiveInt

from findback.errors import UsageError
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record, Request
from findback.steps.releases import DiffRequest, compare_releases
from findback.steps.rescoring import Effect
from findback.workspace import Workspace


class DecomposeRequest(Request):
    """Say how much of a moved score is the system, and how much the exam."""

    before: PositiveInt
    """The earlier release."""
    after: PositiveInt | None = None
    """The later release; the head, as it stands now, when left out."""


class Decomposition(Record):
    """What moved each retriever's score from one release to another."""

    before: int
    after: int | None
    """None for the head."""
    effects: tuple[Effect, ...]
    """One for each retriever with a kept run."""
    notes: tuple[str, ...] = ()


def decompose(workspace: Workspace, request: DecomposeRequest, *, progress: Progress = SILENT) -> Decomposition:
    """Score each retriever's kept runs again on both releases; no old system is needed.

    A run does not change, so what moves its score from one release to the other is the exam. Where a run from
    before the later release is kept, the difference of both on the earlier release is the system. The two add up
    to the whole move.

    Raises:
        UsageError: If both are the same release.
        MissingError: If there is no such release.
        DataError: If one is not as it was published; every fault is listed.
    """
    if request.before == request.after:
        raise UsageError(
            f"a move needs two different releases; got {request.before} twice",
            hint="findback decompose 3 4; without a second number to the head",
        )
    found = compare_releases(workspace, DiffRequest(before=request.before, after=request.after), progress=progress)
    return Decomposition(before=found.before, after=found.after, effects=found.effects, notes=found.notes)
