"""The side file: what a foreign format cannot hold of a question, in one shape for all formats.

Its first line names the format, what of the set is kept here alone (in how many questions), and what is lost.
Then comes one JSON line a question, keyed as the format knows it. On reading, the format's own file wins over
the side file for everything it can hold, so that editing the exported file by hand still works.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import Field, ValidationError

from findback.evalset.losses import count_losses, list_lost
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, first_line, read_lines, shown
from findback.evalset.writing import write_pieces
from findback.model.case import Judgement
from findback.model.question import Question, QuestionSet
from findback.model.record import Record

SUFFIX = ".findback-extra.jsonl"

_MARK = "findback_extra"

Extras = dict[str, Question]
Holds = Literal["grades", "gold", "parts", "all"]
"""What a format holds of judgements: documents with grades; gold alone, without grades; gold by parts; or all of it
save how it was found."""


class SideHead(Record):
    """The first line of a side file."""

    findback_extra: Literal[1] = 1
    format: str
    """The format it lies beside."""
    kept: dict[str, int] = Field(default_factory=dict)
    """What the format cannot hold and this file keeps, with how many questions have some."""
    lost: tuple[str, ...] = ()
    """What neither holds: what a released case is beside its question."""


def side_file(path: Path) -> Path:
    """Return where a file's side file lies: `cases.csv` → `cases.csv.findback-extra.jsonl`."""
    return path.parent / f"{path.name}{SUFFIX}"


def write_extra(
    path: Path, questions: QuestionSet, key: Callable[[int, Question], str], *, form: str, losses: Iterable[str]
) -> None:
    """Write the side file.

    Args:
        path: The side file.
        questions: In the order of the file they belong to.
        key: Gives the key of a question in its format (an id, or its query), from position and question.
        form: The format's name.
        losses: What that format cannot hold.
    """
    kept = count_losses(losses, questions.questions)
    head = SideHead(format=form, kept=kept, lost=list_lost(questions))
    lines = (
        orjson.dumps({"key": key(position, question), "question": _plain(question)}) + b"\n"
        for position, question in enumerate(questions.questions)
    )
    write_pieces(path, (orjson.dumps(head.model_dump(mode="json")) + b"\n", *lines))


def _plain(question: Question) -> dict[str, Any]:
    values = question.model_dump(mode="python", exclude_none=True)
    return {name: value for name, value in values.items() if value not in ((), [], "")} | (
        {"judged": values["judged"]} if question.judged is not None else {}
    )


def read_head(path: Path) -> SideHead | None:
    """Return what a side file says about itself; None where there is none, or one from before it said so."""
    if not path.is_file():
        return None
    try:
        return SideHead.model_validate_json(first_line(path))
    except ValidationError:
        return None


def find_head(place: Path) -> SideHead | None:
    """Return what the side file of a set says about itself: beside a file, or the one in a folder."""
    if not place.is_dir():
        return read_head(side_file(place))
    found = sorted(place.glob(f"*{SUFFIX}"))
    return read_head(found[0]) if len(found) == 1 else None


def read_extra(path: Path, faults: Faults) -> Extras:
    """Return the questions of a side file by key; nothing when there is none."""
    if not path.is_file():
        return {}
    found: Extras = {}
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        try:
            read = _read_line(line.text)
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            faults.add(path, line.number, "must be an object with `key` and `question`")
        else:
            if read is not None and read[0] in found:
                faults.add(path, line.number, f"`key` {shown(read[0])} is used twice")
            elif read is not None:
                found[read[0]] = read[1]
    return found


def _read_line(text: str) -> tuple[str, Question] | None:
    """Return the key and the question of a line; None for the first, which says what the file is."""
    entry = orjson.loads(text)
    if isinstance(entry, dict) and _MARK in entry:
        SideHead.model_validate_json(text)
        return None
    key, values = entry["key"], entry["question"]
    if not isinstance(key, str):
        raise TypeError
    return key, Question.model_validate_json(orjson.dumps(values), strict=True)


def nth_keys() -> Callable[[str], str]:
    """Return a function that makes keys of queries for formats without ids: the second of its kind has another key."""
    seen: Counter[str] = Counter()

    def key(query: str) -> str:
        seen[query] += 1
        return query if seen[query] == 1 else f"{query}\0{seen[query]}"

    return key


def add_extra(
    question: Question, extra: Question | None, held: Mapping[str, Any], *, holds: Holds = "grades"
) -> Question:
    """Return a question with what its side-file line adds.

    Args:
        question: As the format's own file tells it.
        extra: Its line of the side file, or None.
        held: The fields the format holds, with their values as read; these stay. Judgements that are not
            among them are joined by document: what the file holds of them is the file's, all else is the side file's.
        holds: What the file holds of judgements.
    """
    if extra is None:
        return question
    values = {name: getattr(extra, name) for name in Question.model_fields}
    values.update(held)
    if "judged" not in held:
        values["judged"] = _join(question.judged, extra.judged, holds)
        if any(judgement.grade for judgement in values["judged"] or ()) and question.gold:
            values["no_answer_reason"] = None
    return Question.model_validate(values)


def _join(
    read: tuple[Judgement, ...] | None, kept: tuple[Judgement, ...] | None, holds: Holds
) -> tuple[Judgement, ...] | None:
    if _told(read or (), holds) == _told(kept or (), holds):
        return kept
    if read is None:
        # Rows with documents that are no longer in the format's file were taken out by hand.
        return None
    if holds == "grades":
        return join_judgements(read, kept or ())
    return _join_closely(read, kept or (), holds)


def _told(judged: Sequence[Judgement], holds: Holds) -> Any:
    """Return what a file that holds so much tells of judgements."""
    if holds == "grades":
        return best_grades(judged)
    gold = [judgement for judgement in judged if judgement.grade]
    if holds == "gold":
        return {judgement.doc for judgement in gold}
    if holds == "parts":
        return {(judgement.doc, judgement.part) for judgement in gold}
    return Counter((j.doc, j.grade, j.part, j.anchor if j.grade else None) for j in judged)


def _join_closely(read: Sequence[Judgement], kept: Sequence[Judgement], holds: Holds) -> tuple[Judgement, ...]:
    by_part = {(judgement.doc, judgement.part): judgement for judgement in reversed(kept)}
    by_doc = {judgement.doc: judgement for judgement in reversed(kept)}
    joined = []
    for judgement in read:
        before = by_part.get((judgement.doc, judgement.part)) or by_doc.get(judgement.doc)
        if before is None:
            joined.append(judgement)
        elif holds == "all":
            joined.append(judgement.model_copy(update={"found_by": before.found_by}))
        else:
            update = {"grade": before.grade or judgement.grade}
            joined.append(before.model_copy(update=update | ({"part": judgement.part} if holds == "parts" else {})))
    named = {judgement.doc for judgement in read}
    zeros = [j for j in kept if not j.grade and j.doc not in named] if holds != "all" else []
    return (*joined, *zeros)


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
