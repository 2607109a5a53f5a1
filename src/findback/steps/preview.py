"""What an import would take a file for, before anything is written."""

from collections import Counter
from pathlib import Path

from pydantic import Field, NonNegativeInt

from findback.errors import DataError, Fault
from findback.evalset.extra import SideHead, find_head
from findback.evalset.open import open_set
from findback.evalset.resolve import Resolution, resolve
from findback.model.question import Question, QuestionSet
from findback.model.record import Record
from findback.privacy.core import CoreRedactor
from findback.steps.audiences import note_roles
from findback.steps.opening import SetRequest, find_set, open_documents
from findback.text.safe import clip, escape_terminal
from findback.workspace import Workspace

MOST_FAULTS = 50
"""Faults that are listed; the others are counted."""

FIRST = 5
"""Questions that are shown."""

_LONGEST = 100
_DOCUMENTS = 3


class PreviewRow(Record):
    """One question, cut and made safe to show."""

    id: str
    query: str
    answer: str
    """one, cross-doc, no-answer, text (gold given as text), or unlabelled."""
    gold: tuple[str, ...]
    """Its first gold documents with their grades."""
    more: NonNegativeInt
    """Gold documents beyond these."""


class PreviewFault(Record):
    """What is wrong in one place of the file."""

    path: str
    line: int | None
    message: str


class Previewed(Record):
    """What was understood."""

    set: str
    """Path as it was named."""
    format: str | None
    """None where faults left nothing that could be read."""
    notes: tuple[str, ...]
    """How it was recognised, which columns were read, what was redacted, how gold resolved."""
    questions: NonNegativeInt = 0
    answers: dict[str, int] = Field(default_factory=dict)
    """Questions by how they are answered."""
    judgements: NonNegativeInt = 0
    grades: dict[str, int] = Field(default_factory=dict)
    """Judgements by grade."""
    rows: tuple[PreviewRow, ...] = ()
    references: int | None = None
    """Gold references that were looked up in the corpus; None without one."""
    resolved: int | None = None
    """Those that are documents of it."""
    dangling: tuple[str, ...] = ()
    """A few that are not."""
    beside: SideHead | None = None
    """What the side file says about itself, where there is one."""
    faults: tuple[PreviewFault, ...] = ()
    fault_count: NonNegativeInt = 0


def preview_import(workspace: Workspace, request: SetRequest) -> Previewed:
    """Return what a set is taken for and what is wrong with it; nothing is written.

    Faults are part of the result: what can be read beside them is shown.

    Raises:
        MissingError: If nothing is there, or no format has the name given.
        UsageError: If several formats fit; the message names them.
        DataError: If no format fits.
    """
    place = find_set(workspace, request)
    redactor = CoreRedactor(workspace.settings.privacy)
    questions, faults = _read(place, request, redactor)
    listed = tuple(_shown_fault(fault) for fault in faults[:MOST_FAULTS])
    beside = find_head(place)
    if questions is None:
        return Previewed(set=str(place), format=None, notes=(), beside=beside, faults=listed, fault_count=len(faults))
    documents = open_documents(workspace, request)
    resolution = resolve(note_roles(questions, workspace), documents, redactor=redactor)
    return _describe(place, resolution).model_copy(
        update={"beside": beside, "faults": listed, "fault_count": len(faults)}
    )


def _read(place: Path, request: SetRequest, redactor: CoreRedactor) -> tuple[QuestionSet | None, tuple[Fault, ...]]:
    def read(*, skip_bad: bool) -> QuestionSet:
        return open_set(
            place,
            as_=request.as_,
            columns=request.columns,
            grades=request.grades,
            skip_bad=skip_bad,
            redactor=redactor,
            kind="unreleased set",
        )

    try:
        return read(skip_bad=False), ()
    except DataError as error:
        if not error.faults:
            raise
        faults = error.faults
    try:
        return read(skip_bad=True), faults
    except DataError:
        return None, faults


def _describe(place: Path, resolution: Resolution) -> Previewed:
    questions = resolution.set
    every = [judgement for question in questions.questions for judgement in question.judged or ()]
    grades = Counter(judgement.grade for judgement in every)
    looked_up = resolution.references or None
    return Previewed(
        set=str(place),
        format=questions.format,
        # Faults are listed on their own.
        notes=tuple(escape_terminal(note) for note in questions.notes if not note.startswith("left out: ")),
        questions=len(questions),
        answers=dict(Counter(map(_answer, questions.questions)).most_common()),
        judgements=len(every),
        grades={str(grade): grades[grade] for grade in sorted(grades)},
        rows=tuple(map(_row, questions.questions[:FIRST])),
        references=looked_up,
        resolved=sum(resolution.ways.values()) if looked_up else None,
        dangling=tuple(map(_shown, resolution.dangling[:_DOCUMENTS])),
    )


def _answer(question: Question) -> str:
    return question.answer or ("text" if question.gold_texts else "unlabelled")


def _row(question: Question) -> PreviewRow:
    gold = question.gold
    shown = tuple(f"{_shown(judgement.doc)} ({judgement.grade})" for judgement in gold[:_DOCUMENTS])
    if not gold:
        shown = tuple(f"“{_shown(text)}”" for text in question.gold_texts[:1])
    return PreviewRow(
        id=_shown(question.id),
        query=_shown(question.query),
        answer=_answer(question),
        gold=shown,
        more=max(len(gold) - _DOCUMENTS, 0),
    )


def _shown(text: str) -> str:
    return clip(escape_terminal(text[: _LONGEST * 10]), _LONGEST)


def _shown_fault(fault: Fault) -> PreviewFault:
    return PreviewFault(path=escape_terminal(fault.path), line=fault.line, message=escape_terminal(fault.message))
