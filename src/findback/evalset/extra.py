"""The side file: what a foreign format cannot hold of a question.

One JSON line a question, keyed as the format knows it. On reading, the format's own file wins over the side
file for everything it can hold, so that editing the exported file by hand still works.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, read_lines, shown
from findback.evalset.writing import write_pieces
from findback.model.case import Judgement
from findback.model.question import Question

SUFFIX = ".findback-extra.jsonl"

Extras = dict[str, Question]


def side_file(path: Path) -> Path:
    """Return where a file's side file lies: `cases.csv` → `cases.csv.findback-extra.jsonl`."""
    return path.parent / f"{path.name}{SUFFIX}"


def write_extra(path: Path, questions: Iterable[Question], key: Callable[[int, Question], str]) -> None:
    """Write the side file.

    Args:
        path: The side file.
        questions: In the order of the file they belong to.
        key: Gives the key of a question in its format (an id, or its query), from position and question.
    """
    lines = (
        orjson.dumps({"key": key(position, question), "question": _plain(question)}) + b"\n"
        for position, question in enumerate(questions)
    )
    write_pieces(path, lines)


def _plain(question: Question) -> dict[str, Any]:
    values = question.model_dump(mode="python", exclude_none=True)
    return {name: value for name, value in values.items() if value not in ((), [], "")} | (
        {"judged": values["judged"]} if question.judged is not None else {}
    )


def read_extra(path: Path, faults: Faults) -> Extras:
    """Return the questions of a side file by key; nothing when there is none."""
    if not path.is_file():
        return {}
    found: Extras = {}
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        try:
            entry = orjson.loads(line.text)
            key, values = entry["key"], entry["question"]
            question = Question.model_validate_json(orjson.dumps(values), strict=True)
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            faults.add(path, line.number, "must be an object with `key` and `question`")
        else:
            if not isinstance(key, str):
                faults.add(path, line.number, "`key` must be text")
            elif key in found:
                faults.add(path, line.number, f"`key` {shown(key)} is used twice")
            else:
                found[key] = question
    return found


def add_extra(question: Question, extra: Question | None, held: Mapping[str, Any]) -> Question:
    """Return a question with what its side-file line adds.

    Args:
        question: As the format's own file tells it.
        extra: Its line of the side file, or None.
        held: The fields the format holds, with their values as read; these stay. Judgements that are not
            among them are joined by document: grades are the file's, all else is the side file's.
    """
    if extra is None:
        return question
    values = {name: getattr(extra, name) for name in Question.model_fields}
    values.update(held)
    if "judged" in held:
        pass
    elif question.judged is None:
        # Rows with documents that are no longer in the format's file were taken out by hand.
        values["judged"] = extra.judged if not extra.judged else None
    else:
        values["judged"] = join_judgements(question.judged, extra.judged or ())
        if any(judgement.grade for judgement in question.judged):
            values["no_answer_reason"] = None
    return Question.model_validate(values)


def join_judgements(read: Sequence[Judgement], kept: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return judgements with the documents and grades of `read` and the details of `kept`.

    A document whose grade is as it was keeps all its judgements (one a part); a new grade goes to each.
    """
    grades = {judgement.doc: judgement.grade for judgement in read}
    before = best_grades(kept)
    joined: list[Judgement] = []
    for judgement in kept:
        if judgement.doc in grades:
            grade = grades[judgement.doc]
            same = grade == before[judgement.doc]
            joined.append(judgement if same else judgement.model_copy(update={"grade": grade}))
    known = set(before)
    joined.extend(judgement for judgement in read if judgement.doc not in known)
    return tuple(joined)


def best_grades(judged: Iterable[Judgement]) -> dict[str, int]:
    """Return each document's best grade, in order of first mention."""
    grades: dict[str, int] = {}
    for judgement in judged:
        grades[judgement.doc] = max(grades.get(judgement.doc, 0), judgement.grade)
    return grades
