"""The forms of the set browser: its filters, a case's label as it shall be, a doubt, a withdrawal."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from findback.errors import UsageError
from findback.model.case import Answer, Judgement, Origin, Status, Stratum
from findback.model.record import Record
from findback.steps.caselist import CaseFilters
from findback.web.fields import Empty, Flag

MOST_ROWS = 200


class CasesQuery(Record):
    """The filters of the set browser as an address carries them."""

    words: Annotated[str, Field(max_length=500)] = ""
    wording: Annotated[Annotated[str, Field(max_length=200)] | None, Empty] = None
    answer: Annotated[Answer | None, Empty] = None
    origin: Annotated[Origin | None, Empty] = None
    stratum: Annotated[Stratum | None, Empty] = None
    status: Annotated[Status | None, Empty] = None
    questioned: Flag = None
    after: Annotated[str, Field(max_length=20)] = ""

    @property
    def filters(self) -> CaseFilters:
        """Return what is asked for."""
        return CaseFilters.model_validate(self.model_dump(exclude={"after"}))


class CaseForm(Record):
    """What the form of a case sends: what to do, and the whole label as it shall be."""

    do: Annotated[str, Field(max_length=40)]
    csrf: str = ""
    seen: Annotated[str, Field(max_length=64)] = ""
    why: Annotated[str, Field(max_length=4_000)] = ""
    search: Annotated[str, Field(max_length=1_000)] = ""
    doc: Annotated[tuple[Annotated[str, Field(max_length=4_000)], ...], Field(max_length=MOST_ROWS)] = ()
    grade: Annotated[tuple[Literal["", "0", "1", "2", "3"], ...], Field(max_length=MOST_ROWS)] = ()
    part: Annotated[tuple[Annotated[int, Field(ge=1, le=99)], ...], Field(max_length=MOST_ROWS)] = ()
    anchor: Annotated[tuple[Annotated[str, Field(max_length=10_000)], ...], Field(max_length=MOST_ROWS)] = ()
    found_by: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=MOST_ROWS)] = ()
    reason: Annotated[str, Field(max_length=4_000)] = ""
    wanted: str = ""
    wording: Annotated[str, Field(max_length=200)] = ""


class DoubtForm(Record):
    """Doubt about one document of a case."""

    csrf: str = ""
    document: Annotated[str, Field(min_length=1, max_length=4_000)]
    said: Literal["also-right", "gold-is-wrong"]
    why: Annotated[str, Field(max_length=2_000)] = ""
    retriever: Annotated[str, Field(max_length=200)] = ""


class WithdrawForm(Record):
    """Withdrawing a case."""

    csrf: str = ""
    reason: Annotated[str, Field(max_length=2_000)] = ""
    sure: str = ""


class LabelRow(NamedTuple):
    """One document in the form of a case."""

    document: str
    title: str | None
    grade: int | None
    """None where it is not judged."""
    part: int = 1
    anchor: str = ""
    found_by: str = "reviewer"
    known: bool = True
    """Whether the corpus has it."""
    extract: str = ""
    """The part that fits the question best, of what was found or is doubted."""


class Label(NamedTuple):
    """A label as the form shows it."""

    rows: tuple[LabelRow, ...]
    reason: str
    wanted: bool
    wording: str
    why: str = ""
    search: str = ""
    searched: bool = False


def judged_of(form: CaseForm) -> tuple[Judgement, ...]:
    """Return the judgements of a form; documents without a grade are none."""
    rows = rows_of(form)
    return tuple(
        Judgement(
            doc=row.document,
            grade=row.grade,
            part=row.part if row.grade else 1,
            anchor=row.anchor.strip() or None if row.grade else None,
            found_by=row.found_by or "reviewer",
        )
        for row in rows
        if row.grade is not None
    )


def rows_of(form: CaseForm) -> list[LabelRow]:
    """Return the documents of a form.

    Raises:
        UsageError: If its columns are not equally long.
    """
    count = len(form.doc)
    if not len(form.grade) == len(form.part) == len(form.anchor) == len(form.found_by) == count:
        raise UsageError("the form is not whole: load the page again")
    return [
        LabelRow(doc, None, int(grade) if grade else None, part, anchor, found_by)
        for doc, grade, part, anchor, found_by in zip(
            form.doc, form.grade, form.part, form.anchor, form.found_by, strict=True
        )
    ]
