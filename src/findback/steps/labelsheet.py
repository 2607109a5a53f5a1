"""Review in a spreadsheet: candidates out as CSV, what people filled in back through the checks of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from findback.errors import DataError, MissingError, UsageError
from findback.evalset.rows import Row, read_header, read_rows
from findback.evalset.textfile import Faults, shown
from findback.files import write_atomically
from findback.model.case import WORDINGS, Name
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.model.review import Review, Stage
from findback.model.reviewer import Reviewer
from findback.steps.bench import has_bench, open_bench
from findback.steps.kept import now as moment
from findback.steps.localreviewer import local_reviewer
from findback.steps.opening import SetRequest
from findback.steps.review import (
    Desk,
    Item,
    QueueFilters,
    evidence_of,
    find_obstacles,
    list_queue,
    open_desk,
    open_item,
    save,
    submit,
    visible,
)
from findback.steps.reviewitem import view_texts
from findback.steps.reviewpool import pool
from findback.steps.sheetcells import fold, read_flag, read_marked, write_flag, write_marked
from findback.steps.sheetcolumns import COLUMNS, Subject, read_review
from findback.steps.sheetreferences import References
from findback.steps.targets import corpus_place, refuse_targets
from findback.text.delimited import delimited_lines
from findback.text.safe import clip, escape_terminal
from findback.workbench.faults import ConflictError
from findback.workbench.listing import CandidateFilters
from findback.workbench.reviews import ReviewConflictError
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workspace import Workspace

FORMAT = "1"
WAITING: tuple[State, ...] = ("new", "in-review", "needs-labels", "second-opinion")
SHOWN = ("format", "key", "reference", "look", "revision", "state", "source", "seen_on", "language", "rules")
READ = ("query", "title", "thread", "documents")
FILLED = (*(column.name for column in COLUMNS), "submit")
HEADER = (*SHOWN, *READ, *FILLED, "missing")
"""What is shown, what is read, what is filled in, and what was still missing."""
PAGE = 200
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


class RowConflict(Record):
    """A row that was left alone, because what it is about changed meanwhile."""

    row: int
    key: str
    reason: str


class ReadSheet(Record):
    """What a sheet changed."""

    file: str
    applied: tuple[AppliedRow, ...]
    unchanged: int
    conflicts: tuple[RowConflict, ...]
    notes: tuple[str, ...] = ()


class _Change(NamedTuple):
    """What a row asks for."""

    row: int
    key: str
    review: Review
    stage: Stage
    revision: int


class _Before(NamedTuple):
    """Somebody's own review as it stands, of the look a row was written for."""

    review: Review
    stage: Stage
    revision: int
    current: bool
    """Whether that look is still the one they take."""


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
        StorageError: If it cannot be written.
    """
    who, at, target = reviewer or local_reviewer(), now or moment(), request.output
    refuse_targets(workspace, (target,), corpus=corpus_place(workspace, SetRequest()), replace=request.force)
    with open_labels(workspace) as desk:
        keys = list(_keys(desk, who, request))
        references = _references(desk, who)
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
        rows, notes = _read(path)
        progress.start("Rows", len(rows))
        plan = _Plan(desk, who, path, at)
        for row in rows:
            plan.add(row)
            progress.advance()
        progress.finish()
        _settle(plan.faults, path)
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


def _references(desk: Desk, who: Reviewer) -> References:
    filters = CandidateFilters(audiences=tuple(sorted(who.audiences)))

    def candidates() -> Iterator[StoredCandidate]:
        after = 0
        while page := desk.bench.list_candidates(filters, limit=PAGE, after=after):
            yield from page
            after = page[-1].number

    return References(one.candidate for one in candidates())


def _subject(desk: Desk, stored: StoredCandidate) -> Subject:
    documents = desk.documents
    resolve = documents.resolve if documents is not None else lambda reference: reference
    return Subject(stored.candidate, resolve, (*WORDINGS, *desk.settings.wordings))


def _row(desk: Desk, who: Reviewer, key: str, references: References, now: datetime) -> list[str]:
    stored, item = visible(desk, who, key), open_item(desk, who, key, now=now)
    subject = _subject(desk, stored)
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


def _read(path: Path) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows of a sheet and what is to be said about its columns.

    Raises:
        MissingError: If it is not there.
        DataError: If it is no table, or nothing in it says which candidate a row is about.
    """
    faults = Faults()
    rows = [row for row in read_rows(path, faults) if any(_cell(row, name).strip() for name in row.values)]
    _settle(faults, path)
    names = read_header(path)
    if rows and not {"key", "reference"} & set(names):
        raise DataError(
            f"{path.name} has no column `key` or `reference`, so nothing says which candidate a row is about",
            hint="findback label export writes such a sheet",
        )
    if rows and not set(FILLED) & set(names):
        raise DataError(f"{path.name} has none of the columns that are filled in: {', '.join(FILLED)}")
    extra = [name for name in names if name and name not in HEADER]
    return rows, (f"columns that mean nothing here: {', '.join(map(shown, extra))}",) if extra else ()


def _settle(faults: Faults, path: Path) -> None:
    """Refuse the whole sheet where anything in it is wrong."""
    if faults.found:
        count = f"{len(faults.found):,} fault{'s' if len(faults.found) > 1 else ''}"
        raise DataError(
            f"{path.name} has {count}; nothing of it was kept",
            faults=faults.found,
            hint="mend them, and import it again",
        )


def _cell(row: Row, name: str) -> str:
    value = row.values.get(name)
    return "" if value is None else str(value)


class _Plan:
    """What the rows of a sheet would change, and what is wrong with them."""

    def __init__(self, desk: Desk, who: Reviewer, path: Path, now: datetime) -> None:
        self.changes: list[_Change] = []
        self.conflicts: list[RowConflict] = []
        self.faults = Faults()
        self.unchanged = 0
        self._desk = desk
        self._who = who
        self._path = path
        self._now = now
        self._references: References | None = None
        self._rows: dict[str, int] = {}

    def add(self, row: Row) -> None:
        """Look at one row."""
        key = self._find(row)
        numbers = [self._number(row, "look", 1), self._number(row, "revision", 0)]
        if _cell(row, "format").strip() not in ("", FORMAT):
            self._fault(row, "format", f"this findback reads format {FORMAT}; a newer one wrote the sheet")
        if key is None or None in numbers:
            return
        if key in self._rows:
            self._fault(row, "key", f"row {self._rows[key]} is about the same candidate")
            return
        self._rows[key] = row.number + 1
        self._compare(row, key, look=numbers[0] or 1, revision=numbers[1] or 0)

    def _compare(self, row: Row, key: str, *, look: int, revision: int) -> None:
        stored, item = (
            visible(self._desk, self._who, key),
            open_item(self._desk, self._who, key, now=self._now),
        )
        before = _before(self._desk, self._who, item, look)
        subject = _subject(self._desk, stored)
        cells = {name: _cell(row, name) for name in row.values}
        review, wrong = read_review(subject, before.review, cells)
        try:
            submits = read_flag(cells.get("submit", ""))
        except UsageError as error:
            self._fault(row, "submit", error.message)
            return
        if not wrong and review == before.review and (not submits or before.stage == "submitted"):
            self.unchanged += 1
            return
        marked = write_marked(subject.published(before.review)[1])
        reads = _reads_alike(cells.get("query", ""), marked, cells.get("suggestions", ""))
        reason = _find_conflict(item, before, revision, reads=reads)
        if reason is not None:
            self.conflicts.append(RowConflict(row=row.number + 1, key=key, reason=reason))
            return
        for fault in wrong:
            self._fault(row, fault.column, fault.message)
        if wrong:
            return
        if submits:
            evidence = evidence_of(stored, self._desk.bench.asks_of(key))
            for obstacle in find_obstacles(self._desk, stored, review, evidence):
                self._fault(row, "submit", obstacle)
        stage: Stage = "submitted" if submits else "draft"
        self.changes.append(_Change(row.number + 1, key, review, stage, before.revision))

    def _find(self, row: Row) -> str | None:
        """Return the key of the candidate a row is about."""
        key, reference = _cell(row, "key").strip(), _cell(row, "reference").strip()
        if key:
            try:
                return visible(self._desk, self._who, key).candidate.key
            except MissingError:
                if not reference:
                    self._fault(row, "key", f"there is no candidate {shown(key, 20)}")
                    return None
        if not reference:
            self._fault(row, "reference", "neither a key nor a reference says which candidate this is about")
            return None
        if self._references is None:
            self._references = _references(self._desk, self._who)
        found = self._references.find(reference)
        if len(found) == 1:
            return found[0]
        what = f"{len(found)} candidates are" if found else "no candidate is"
        self._fault(row, "reference", f"{what} from {shown(reference)}")
        return None

    def _number(self, row: Row, name: str, default: int) -> int | None:
        cell = _cell(row, name).strip()
        if not cell:
            return default
        # Spreadsheets like to give whole numbers a decimal.
        whole = cell.removesuffix(".0").removesuffix(",0")
        if whole.isascii() and whole.isdecimal() and len(whole) < 7:
            return int(whole)
        self._fault(row, name, f"{shown(cell, 20)} is no number; leave this column as it was")
        return None

    def _fault(self, row: Row, column: str, message: str) -> None:
        # Cells run over several lines, so a line says little to somebody who looks at a spreadsheet.
        self.faults.add(self._path, row.line, f"row {row.number + 1}, {column}: {message}")


def _before(desk: Desk, who: Reviewer, item: Item, look: int) -> _Before:
    if item.look == look:
        return _Before(item.review, item.stage, item.revision, current=True)
    for one in desk.bench.reviews_of(item.key):
        if (one.reviewer, one.look) == (who.subject, look):
            return _Before(one.review, one.stage, one.revision, current=False)
    return _Before(item.review, item.stage, item.revision, current=False)


def _reads_alike(query: str, marked: str, decisions: str) -> bool:
    """Return whether a cell holds the question of today; its marks count where decisions go by their numbers."""
    if not query.strip():
        return True
    if any(character.isdigit() for character in decisions):
        return fold(query) == fold(marked)
    return fold(read_marked(query)) == fold(read_marked(marked))


def _find_conflict(item: Item, before: _Before, revision: int, *, reads: bool) -> str | None:
    """Return why a row that would change something is left alone; None where it may."""
    if item.state == "released":
        return "it is released already; cases are changed in the set browser"
    if not before.current:
        return "another look at it is due, without what was said before: export it again"
    if revision != before.revision:
        return f"the review was changed since the export (revision {revision} there, {before.revision} now)"
    if not reads:
        return "the question reads differently here: its text changed since the export, or the cell was edited"
    return None


def _apply(
    desk: Desk, who: Reviewer, change: _Change, now: datetime, conflicts: list[RowConflict], *, dry: bool
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
