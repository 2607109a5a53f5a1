"""What a sheet asks for: its rows checked against the workbench, all of them before any is kept."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from findback.errors import DataError, MissingError, UsageError
from findback.evalset.rows import Row, read_header, read_rows
from findback.evalset.textfile import Faults, shown
from findback.model.case import WORDINGS
from findback.model.record import Record
from findback.model.review import Review, Stage
from findback.model.reviewer import Reviewer
from findback.steps.evidence import evidence_of
from findback.steps.review import Desk, Item, find_obstacles, open_item, visible
from findback.steps.sheetcells import fold, read_flag, read_marked, write_marked
from findback.steps.sheetcolumns import COLUMNS, Subject, read_review
from findback.steps.sheetreferences import References
from findback.workbench.listing import CandidateFilters
from findback.workbench.rows import StoredCandidate

FORMAT = "1"
SHOWN = ("format", "key", "reference", "look", "revision", "state", "source", "seen_on", "language", "rules")
READ = ("query", "title", "thread", "documents")
FILLED = (*(column.name for column in COLUMNS), "submit")
HEADER = (*SHOWN, *READ, *FILLED, "missing")
"""What is shown, what is read, what is filled in, and what was still missing."""
PAGE = 200


class RowConflict(Record):
    """A row that was left alone, because what it is about changed meanwhile."""

    row: int
    key: str
    reason: str


class Change(NamedTuple):
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


def list_references(desk: Desk, who: Reviewer) -> References:
    """Return the references of every candidate that somebody may see."""
    filters = CandidateFilters(audiences=tuple(sorted(who.audiences)))

    def candidates() -> Iterator[StoredCandidate]:
        after = 0
        while page := desk.bench.list_candidates(filters, limit=PAGE, after=after):
            yield from page
            after = page[-1].number

    return References(one.candidate for one in candidates())


def subject_of(desk: Desk, stored: StoredCandidate) -> Subject:
    """Return a candidate with what its cells are read by."""
    documents = desk.documents
    resolve = documents.resolve if documents is not None else lambda reference: reference
    return Subject(stored.candidate, resolve, (*WORDINGS, *desk.settings.wordings))


def read_sheet(path: Path) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows of a sheet and what is to be said about its columns.

    Raises:
        MissingError: If it is not there.
        DataError: If it is no table, or nothing in it says which candidate a row is about.
    """
    faults = Faults()
    rows = [row for row in read_rows(path, faults) if any(_cell(row, name).strip() for name in row.values)]
    settle(faults, path)
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


def settle(faults: Faults, path: Path) -> None:
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


class Plan:
    """What the rows of a sheet would change, and what is wrong with them."""

    def __init__(self, desk: Desk, who: Reviewer, path: Path, now: datetime) -> None:
        self.changes: list[Change] = []
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
        subject = subject_of(self._desk, stored)
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
        self.changes.append(Change(row.number + 1, key, review, stage, before.revision))

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
            self._references = list_references(self._desk, self._who)
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
