"""Judgements added by hand to a set that is not released: kept beside it, applied on top of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from findback.errors import DataError, Fault
from findback.files import write_atomically
from findback.model.case import Judgement
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
    """Return where judgements for a set are kept."""
    return place.with_name(place.name + SUFFIX)


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


def apply_judgements(questions: QuestionSet, place: Path) -> QuestionSet:
    """Return the set with judgements added by hand on top: the last one for a document and part wins."""
    added = read_judgements(place)
    if not added:
        return questions
    by_question: dict[str, list[HandJudgement]] = {}
    for one in added:
        by_question.setdefault(one.question, []).append(one)
    changed = tuple(_judge(question, by_question.get(question.id, [])) for question in questions.questions)
    used = sum(len(by_question.get(question.id, ())) for question in questions.questions)
    note = f"{used} judgements added by hand, from {judgements_file(place).name}"
    return questions.model_copy(update={"questions": changed, "notes": (*questions.notes, note)})


def _judge(question: Question, added: list[HandJudgement]) -> Question:
    if not added:
        return question
    judged = {(one.doc, one.part): one for one in question.judged or ()}
    for one in added:
        known = judged.get((one.doc, one.part))
        judged[one.doc, one.part] = (
            known.model_copy(update={"grade": one.grade})
            if known
            else Judgement(doc=one.doc, grade=one.grade, part=one.part, found_by="report")
        )
    return question.model_copy(update={"judged": tuple(judged.values())})


def _lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as handle:
        while line := handle.readline(LONGEST_LINE):
            yield line
