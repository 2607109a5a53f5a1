"""The weekly half hour as a whole: what to look at first, who looks after the set, and how it is doing."""

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version

from findback.errors import FindbackError, MissingError
from findback.model.protocols import SILENT, Progress
from findback.model.record import Request
from findback.model.stale import StaleCase
from findback.model.week import Week, WeekItem, WeekKind, WeekPart
from findback.steps.bench import has_bench, open_bench
from findback.steps.caselist import LOOK, list_questioned, open_head
from findback.steps.expected import ExamWords, open_exam_words, order_by_value
from findback.steps.flagrate import rate_flags
from findback.steps.incoming import compare_incoming
from findback.steps.kept import keep
from findback.steps.kept import now as current
from findback.steps.opening import SetRequest, open_documents
from findback.steps.refresh_kept import list_stale
from findback.steps.tracker import track
from findback.steps.upkeep import monday_of, review_upkeep
from findback.workbench.listing import CandidateFilters
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import UNDECIDED
from findback.workbench.store import Workbench
from findback.workspace import Workspace

KEY = 12
"""Characters of a candidate's key that stand for it."""
PAGE = 500
LISTED = 30
"""Things of one kind that are listed at most; a session of its length holds no more."""


class WeekRequest(Request):
    """Say what this week's half hour should hold, and how the set is doing."""

    quick: bool = False
    """Leave out what reads the documents: whether the exam is still like the questions, and what moved the scores."""


def plan_week(
    workspace: Workspace, request: WeekRequest, *, progress: Progress = SILENT, now: datetime | None = None
) -> Week:
    """Return the half hour; a whole one is kept for `findback report`. No text of anybody is in it.

    Args:
        workspace: Whose set.
        request: How much of it.
        progress: Shows how far it has come.
        now: When it is.

    Raises:
        MissingError: If nothing was mined yet.
        DataError: If set or documents cannot be read.
        StorageError: If the disk refuses.
    """
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…, or have people flag")
    made = current() if now is None else now
    documents = None if request.quick else open_documents(workspace, SetRequest(), progress=progress)
    with open_bench(workspace) as bench:
        notes: list[str] = []
        parts = list_parts(workspace, bench, notes)
        week = Week(
            made=made,
            workspace=workspace.settings.name,
            findback=version("findback"),
            monday=monday_of(made),
            minutes=workspace.settings.review.week_minutes,
            upkeep=review_upkeep(workspace, bench, now=made),
            parts=parts,
            incoming=None
            if request.quick
            else compare_incoming(workspace, bench, documents, made=made, progress=progress),
            flags=rate_flags(bench, now=made),
            tracker=None if request.quick else track(workspace, documents),
            notes=tuple(notes),
        )
    if not request.quick:
        keep(workspace, week)
    return week


def list_parts(workspace: Workspace, bench: Workbench, notes: list[str]) -> tuple[WeekPart, ...]:
    """Return what waits, kind by kind; what cannot be told goes to the notes.

    Raises:
        DataError: If the set cannot be read.
    """
    waiting = _waiting(bench)
    exam = open_exam_words(workspace)
    flags = [one for one in waiting if one.candidate.origin == "flagged"]
    rest = [one for one in waiting if one.candidate.origin != "flagged"]
    stale, doubts = list_case_parts(workspace, bench, notes)
    return (
        _valued("flag", flags, exam),
        _valued("candidate", rest, exam),
        stale,
        _part("disagreement", [_id("disagreement", one) for one in _disagreements(bench)]),
        doubts,
    )


def list_case_parts(workspace: Workspace, bench: Workbench, notes: list[str]) -> tuple[WeekPart, WeekPart]:
    """Return the active cases that the last refresh found stale, and those whose label is doubted.

    Raises:
        DataError: If the set cannot be read.
    """
    active = {case.id for case in open_head(workspace).cases if case.status == "active"}
    doubted = sorted((case, change) for case, change in list_questioned(bench).items() if case in active)
    return (
        _part("stale", [_stale(one) for one in _list_stale(workspace, bench, notes) if one.case in active]),
        _part(
            "doubt",
            [
                WeekItem(kind="doubt", id=case, why=("look again" if change.what == LOOK else "somebody doubts it",))
                for case, change in doubted
            ],
        ),
    )


def _list_stale(workspace: Workspace, bench: Workbench, notes: list[str]) -> Sequence[StaleCase]:
    try:
        return list_stale(workspace, bench)
    except FindbackError as error:
        notes.append(f"what is stale cannot be told: {error.message}")
        return ()


def _waiting(bench: Workbench) -> list[StoredCandidate]:
    found: list[StoredCandidate] = []
    filters = CandidateFilters(states=tuple(sorted(UNDECIDED)), disagreement=False)
    while page := bench.list_candidates(filters, limit=PAGE, after=found[-1].number if found else 0):
        found += page
    return found


def _disagreements(bench: Workbench) -> list[StoredCandidate]:
    return bench.list_candidates(CandidateFilters(disagreement=True), limit=PAGE)


def _valued(kind: WeekKind, found: Sequence[StoredCandidate], exam: ExamWords) -> WeekPart:
    order = order_by_value([one.candidate for one in found], exam)
    items = [
        WeekItem(kind=kind, id=found[place].candidate.key[:KEY], value=round(worth.value, 3), why=worth.why)
        for place, worth in order[:LISTED]
    ]
    return WeekPart(kind=kind, total=len(found), items=tuple(items))


def _part(kind: WeekKind, items: Sequence[WeekItem]) -> WeekPart:
    return WeekPart(kind=kind, total=len(items), items=tuple(items[:LISTED]))


def _id(kind: WeekKind, stored: StoredCandidate) -> WeekItem:
    return WeekItem(kind=kind, id=stored.candidate.key[:KEY])


def _stale(one: StaleCase) -> WeekItem:
    return WeekItem(kind="stale", id=one.case, why=(*one.kinds, *one.proposals))
