"""Judgements added by hand to a set that is not released: kept beside it, applied on top of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from findback.errors import DataError, Fault
from findback.files import write_atomically
from findback.model.case import Judgement
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.model.record import Record

SUFFIX = ".findback-judgements.jsonl"
LONGEST_LINE = 100_000


class HandJudgement(Record):
    """One line: a grade that a person gave a document for a question."""

    format: Literal[1] = 1
    question: str
    doc: str
    grade: Annotated[int, Field(ge=0, le=3)]
    part: Annotated[int, Field(ge=1, le=99)] = 1


def judgements_file(place: Path) -> Path:
    """Return where judgements for a set are kept: beside it, whatever name leads there."""
    whole = place if place.name not in ("", "..") else place.resolve()
    return whole.parent / f"{whole.name}{SUFFIX}"


def read_judgements(place: Path) -> list[HandJudgement]:
    """Return the judgements added to a set, in the order they were made.

    Raises:
        DataError: If a line is no judgement; every fault with its line.
    """
    file = judgements_file(place)
    if not file.is_file():
        return []
    found, faults = [], []
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            found.append(HandJudgement.model_validate_json(line, strict=True))
        except ValidationError:
            faults.append(Fault(str(file), number, "not a judgement"))
    if faults:
        raise DataError("judgements added by hand cannot be read", faults=faults, hint="mend or remove these lines")
    return found


def add_judgement(place: Path, judgement: HandJudgement) -> Path:
    """Add one judgement and return the file.

    Raises:
        StorageError: If the file cannot be written.
    """
    file = judgements_file(place)
    lines = [one.model_dump_json() for one in [*read_judgements(place), judgement]]
    write_atomically(file, "\n".join(lines) + "\n", private=True)
    return file


def apply_judgements(questions: QuestionSet, place: Path, documents: Documents | None) -> QuestionSet:
    """Return a resolved set with judgements added by hand on top: the last one for a document and part wins."""
    added = read_judgements(place)
    if not added:
        return questions
    by_question: dict[str, list[HandJudgement]] = {}
    for one in added:
        named = documents.resolve(one.doc) if documents is not None else None
        by_question.setdefault(one.question, []).append(one.model_copy(update={"doc": named or one.doc}))
    changed = tuple(_judge(question, by_question.get(question.id, [])) for question in questions.questions)
    used = sum(len(by_question.get(question.id, ())) for question in questions.questions)
    note = f"{used} of {len(added)} judgements added by hand were applied, from {judgements_file(place).name}"
    return questions.model_copy(
        update={"questions": changed, "notes": (*questions.notes, note), "judged_by_hand": used}
    )


def _judge(question: Question, added: list[HandJudgement]) -> Question:
    if not added:
        return question
    judged = list(question.judged or ())
    for one in added:
        known = [judgement for judgement in judged if (judgement.doc, judgement.part) == (one.doc, one.part)]
        # What is now no answer at all is none for any of its parts.
        known = known or [judgement for judgement in judged if judgement.doc == one.doc and one.grade == 0]
        if known:
            regraded = {"grade": one.grade}
            judged = [j.model_copy(update=regraded) if any(j is k for k in known) else j for j in judged]
        else:
            judged.append(Judgement(doc=one.doc, grade=one.grade, part=one.part, found_by="report"))
    lost = tuple(reference for reference in question.unresolved if all(one.doc != reference for one in added))
    return question.model_copy(update={"judged": tuple(judged), "unresolved": lost})


def _lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as handle:
        while line := handle.readline(LONGEST_LINE):
            yield line
