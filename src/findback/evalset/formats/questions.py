"""findback's unreleased set file: one question a line, with everything that is known of it."""

from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from findback.errors import DataError
from findback.evalset.format import ReadOptions
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, digest_files, first_line, read_lines, shown
from findback.files import open_atomically
from findback.model.question import Question, QuestionSet

name = "questions"
losses: tuple[str, ...] = ()

FORMAT = 1
_MARK = "findback_question"


def recognise(path: Path) -> str | None:
    """Return the reason to take a path for an unreleased set file, or None."""
    if path.is_dir():
        return None
    try:
        first = orjson.loads(first_line(path))
    except orjson.JSONDecodeError:
        return None
    return "every line is a question of findback" if isinstance(first, dict) and _MARK in first else None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the questions.

    Raises:
        DataError: With every fault found, or when the file has another version.
    """
    faults = Faults()
    found: dict[str, Question] = {}
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        question = _question(path, line.number, line.text, faults)
        if question is None:
            continue
        if question.id in found:
            faults.add(path, line.number, f"the id {shown(question.id)} is used twice")
            continue
        found[question.id] = question
    notes = faults.settle(f"{path.name} (questions)", skip_bad=options.skip_bad)
    if not found:
        raise DataError(f"{path} holds no questions")
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(found.values()),
        sha256=digest_files([path]),
        format=name,
        notes=notes,
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return the file itself."""
    return (target,)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write the questions, readable by their owner alone: nobody has reviewed them.

    Raises:
        StorageError: If the disk refuses.
    """
    with open_atomically(target, private=True) as file:
        for question in questions.questions:
            file.write(orjson.dumps({_MARK: FORMAT} | plain(question)) + b"\n")
    return (target,)


def plain(question: Question) -> dict[str, Any]:
    """Return a question's known fields, in the record's order."""
    values = question.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in values.items() if key == "judged" or value not in ([], "")}


def _question(path: Path, number: int, text: str, faults: Faults) -> Question | None:
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        faults.add(path, number, f"not JSON: {error.msg} at character {error.pos + 1}")
        return None
    if not isinstance(values, dict) or values.pop(_MARK, None) != FORMAT:
        faults.add(path, number, f"not a question of format {FORMAT}: `{_MARK}` must be {FORMAT}")
        return None
    try:
        return Question.model_validate_json(orjson.dumps(values), strict=True)
    except ValidationError as error:
        for sentence in sentences(error):
            faults.add(path, number, sentence)
        return None
