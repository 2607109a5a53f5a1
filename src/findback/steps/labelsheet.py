"""Review in a spreadsheet: candidates out as CSV, what people filled in back through the checks of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from findback.errors import MissingError, UsageError
from findback.files import write_atomically
from findback.model.case import Name
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.model.review import Stage
from findback.model.reviewer import Reviewer
from findback.steps.bench import has_bench, open_bench
from findback.steps.exports import refuse_tracked
from findback.steps.kept import now as moment
from findback.steps.localreviewer import local_reviewer
from findback.steps.opening import SetRequest
from findback.steps.review import (
    Desk,
    QueueFilters,
    list_queue,
    open_desk,
    open_item,
    save,
    submit,
    visible,
)
from findback.steps.reviewitem import view_texts
from findback.steps.reviewpool import pool
from findback.steps.sheetcells import write_flag, write_marked
from findback.steps.sheetcolumns import COLUMNS
from findback.steps.sheetplan import (
    FORMAT,
    HEADER,
    PAGE,
    Change,
    Plan,
    RowConflict,
    list_references,
    read_sheet,
    settle,
    subject_of,
)
from findback.steps.sheetreferences import References
from findback.steps.targets import corpus_place, refuse_targets
from findback.text.delimited import delimited_lines
from findback.text.safe import clip, escape_terminal
from findback.workbench.faults import ConflictError
from findback.workbench.reviews import ReviewConflictError
from findback.workbench.state import State
from findback.workspace import Workspace

WAITING: tuple[State, ...] = ("new", "in-review", "needs-labels", "second-opinion")
LINES = 20
"""Most lines of a thread in a cell."""
LONGEST_LINE = 500
BOM = "\ufeff"
"""Without it Excel takes UTF-8 for something older."""

Names = Annotated[tuple[Name, ...], Field(max_length=50)]


class LabelExportRequest(Request):
    """Write candidates as a sheet to be filled in."""

    output: Annotated[Path, LOCAL_ONLY] = Path("labels.csv")
    """CSV file to write."""
    force: bool = False
    """Replace a file that is there already."""
    state: Annotated[tuple[State, ...], Field(max_length=10)] = WAITING
    """Only candidates in these states."""
    source: Names = ()
    """Only those of these kinds of source."""
    rule: Names = ()
    """Only those that one of these rules found."""
    wording: Names = ()
    """Only those whose review says one of these wordings."""
    answer: Names = ()
    """Only those answered so: one, cross-doc, no-answer, unrateable or later."""
    language: Names = ()
    """Only those in these languages."""
    stratum: Names = ()
    """failure or control."""


class LabelImportRequest(Request):
    """Read a filled-in sheet back."""

    sheet: Annotated[Path, LOCAL_ONLY]
    """CSV file to read."""
    dry_run: bool = False
    """Say what it would change; change nothing."""


class WrittenSheet(Record):
    """A sheet that was written."""

    file: str
    rows: int
    notes: tuple[str, ...] = ()


class AppliedRow(Record):
    """A row that changed a review."""

    row: int
    """As a spreadsheet counts them: the header is 1."""
    key: str
    stage: Stage
    state: State | None = None
    """State of the candidate now; None in a dry run."""


class ReadSheet(Record):
    """What a sheet changed."""

    file: str
    applied: tuple[AppliedRow, ...]
    unchanged: int
    conflicts: tuple[RowConflict, ...]
    notes: tuple[str, ...] = ()


@contextmanager
def open_labels(workspace: Workspace) -> Iterator[Desk]:
    """Open a desk at the workbench of a workspace.

    Raises:
        MissingError: If nothing has been mined yet.
    """
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        yield desk


def export_sheet(
    workspace: Workspace,
    request: LabelExportRequest,
    *,
    reviewer: Reviewer | None = None,
    now: datetime | None = None,
    progress: Progress = SILENT,
) -> WrittenSheet:
    """Write candidates with what one would see on the page, and columns to fill in.

    Args:
        workspace: Whose workbench.
        request: Which candidates, and where to.
        reviewer: Who fills it in; whoever runs this when None.
        now: When.
        progress: Shows how far it has come.

    Raises:
        MissingError: If nothing has been mined yet.
        UsageError: If the file is there already, or is something else.
        RefusedError: If it would lie in a git work tree that does not ignore it.
        StorageError: If it cannot be written.
    """
    who, at, target = reviewer or local_reviewer(), now or moment(), request.output
    refuse_targets(workspace, (target,), corpus=corpus_place(workspace, SetRequest()), replace=request.force)
    refuse_tracked(target, hint="write it outside the repository with -o, or add it to .gitignore")
    with open_labels(workspace) as desk:
        keys = list(_keys(desk, who, request))
        references = list_references(desk, who)
        progress.start("Documents", len(keys))
        rows = []
        for key in keys:
            rows.append(_row(desk, who, key, references, at))
            progress.advance()
        progress.finish()
        notes = tuple(dict.fromkeys(desk.failures))
    write_atomically(target, BOM + "".join(delimited_lines([HEADER, *rows])), private=True)
    return WrittenSheet(file=str(target), rows=len(rows), notes=notes)


def import_sheet(
    workspace: Workspace,
    request: LabelImportRequest,
    *,
    reviewer: Reviewer | None = None,
    now: datetime | None = None,
    progress: Progress = SILENT,
) -> ReadSheet:
    """Keep what a sheet says as reviews; reading it again changes nothing.

    Every row is checked before any is kept. A row about something that changed since the export is left alone.

    Args:
        workspace: Whose workbench.
        request: Which sheet.
        reviewer: Who filled it in; whoever runs this when None.
        now: When.
        progress: Shows how far it has come.

    Raises:
        MissingError: If the file is not there, or nothing has been mined yet.
        DataError: If anything in it cannot be: every fault with line and column. Nothing was kept then.
    """
    who, at, path = reviewer or local_reviewer(), now or moment(), request.sheet
    with open_labels(workspace) as desk:
        rows, notes = read_sheet(path)
        progress.start("Rows", len(rows))
        plan = Plan(desk, who, path, at)
        for row in rows:
            plan.add(row)
            progress.advance()
        progress.finish()
        settle(plan.faults, path)
        applied = [_apply(desk, who, one, at, plan.conflicts, dry=request.dry_run) for one in plan.changes]
    return ReadSheet(
        file=str(path),
        applied=tuple(one for one in applied if one is not None),
        unchanged=plan.unchanged,
        conflicts=tuple(sorted(plan.conflicts, key=lambda one: one.row)),
        notes=notes,
    )


def _keys(desk: Desk, who: Reviewer, request: LabelExportRequest) -> Iterator[str]:
    filters = QueueFilters(
        states=request.state,
        sources=request.source,
        rules=request.rule,
        wordings=request.wording,
        answers=request.answer,
        languages=request.language,
        strata=request.stratum,
    )
    after: int | None = 0
    while after is not None:
        page = list_queue(desk, who, filters, limit=PAGE, after=after)
        yield from (row.key for row in page.rows)
        after = page.next_after


def _row(desk: Desk, who: Reviewer, key: str, references: References, now: datetime) -> list[str]:
    stored, item = visible(desk, who, key), open_item(desk, who, key, now=now)
    subject = subject_of(desk, stored)
    _, title, thread = view_texts(stored.candidate, item.review, masked_query=True)
    asked = item.query_line if item.review.query_line is None else item.review.query_line
    cells = {
        "format": FORMAT,
        "key": key,
        "reference": references.name(key) or "",
        "look": str(item.look),
        "revision": str(item.revision),
        "state": item.state,
        "source": item.source,
        "seen_on": item.seen_on or "",
        "language": item.language or "",
        "rules": ", ".join(dict.fromkeys(hit.rule for hit in item.rules)),
        "query": write_marked(subject.published(item.review)[1]),
        "title": _readable(title.text) if title is not None else "",
        "thread": "\n".join(
            f"{'>' if view.position == asked else ' '} {view.role}: {clip(_readable(view.text), LONGEST_LINE)}"
            for view in thread[:LINES]
        ),
        "documents": "\n".join(
            f"{one.document}{f' – {_readable(one.title)}' if one.title else ''}{' (linked)' if one.evidence else ''}"
            for one in pool(desk, who, item)
        ),
        **{column.name: column.write(subject, item.review) for column in COLUMNS},
        "submit": write_flag(item.stage == "submitted"),
        "missing": "\n".join(item.obstacles),
    }
    return [cells[name] for name in HEADER]


def _readable(text: str) -> str:
    return escape_terminal(text)


def _apply(
    desk: Desk, who: Reviewer, change: Change, now: datetime, conflicts: list[RowConflict], *, dry: bool
) -> AppliedRow | None:
    """Keep one row in a transaction of its own."""
    if dry:
        return AppliedRow(row=change.row, key=change.key, stage=change.stage)
    keep = submit if change.stage == "submitted" else save
    try:
        saved = keep(desk, who, change.key, change.review, revision=change.revision, now=now)
    except (ReviewConflictError, ConflictError, MissingError, UsageError) as error:
        # Everything was checked just now: somebody else was at it in between.
        conflicts.append(RowConflict(row=change.row, key=change.key, reason=error.message))
        return None
    return AppliedRow(row=change.row, key=change.key, stage=change.stage, state=saved.state)
