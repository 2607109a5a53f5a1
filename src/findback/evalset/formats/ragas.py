"""Ragas test sets: JSON Lines or CSV with `user_input` and gold given as text.

Ragas fills `reference_contexts` and usually no document id, so gold is resolved by text afterwards.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.format import ReadOptions
from findback.evalset.mapping import RowError, question_from_row
from findback.evalset.rows import Row, read_header, read_rows
from findback.evalset.textfile import Faults, digest_files
from findback.evalset.values import list_cell
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet
from findback.text.delimited import delimited_lines

name = "ragas"
losses = (
    "ids",
    "grades",
    "grade 0",
    "parts",
    "anchors",
    "found_by",
    "no-answer",
    "unresolved gold",
    "wording",
    "language",
    "context",
    "tags",
    "stratum",
    "origin",
    "cluster",
    "selected_on",
)

_WRITTEN = ("user_input", "reference_contexts", "reference_context_ids", "synthesizer_name")
_MARKS = frozenset({"reference_contexts", "synthesizer_name", "reference", "reference_context_ids"})


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for a Ragas test set, or None."""
    if not path.is_file():
        return None
    columns = set(read_header(path))
    marks = sorted(columns & _MARKS)
    return f"the columns user_input and {marks[-1]}" if "user_input" in columns and marks else None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the questions; a row with a synthesizer's name was generated.

    Raises:
        DataError: With every fault found.
    """
    faults = Faults()
    extras = read_extra(side_file(path), faults)
    questions: list[Question] = []
    for row in read_rows(path, faults):
        try:
            question = question_from_row(row, _columns(row, options.columns), options.grades)
        except RowError as error:
            for message in error.messages:
                faults.add(path, row.line, row.say(message))
            continue
        extra = extras.get(str(row.number))
        if extra is not None and extra.query == question.query:
            held: dict[str, Any] = {"query": question.query, "gold_texts": question.gold_texts}
            questions.append(add_extra(question, extra, held | _judgements(question, extra)))
        else:
            questions.append(_mark_generated(question, row))
    notes = faults.settle(path.name, skip_bad=options.skip_bad)
    if not questions:
        raise DataError(f"{path} holds no questions")
    if extras:
        notes += (f"read with its side file {side_file(path).name}",)
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(questions),
        sha256=digest_files([path]),
        format=name,
        notes=notes,
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return the table and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write `.csv` or JSON Lines with gold texts, and the side file.

    Raises:
        StorageError: If the disk refuses.
    """
    rows: list[dict[str, str | list[str]]] = [
        {
            "user_input": question.query,
            "reference_contexts": list(question.gold_texts),
            "reference_context_ids": list(best_grades(question.gold)),
            "synthesizer_name": "",
        }
        for question in questions.questions
    ]
    if target.suffix.lower() == ".csv":
        cells = [[list_cell(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows]
        write_pieces(target, delimited_lines([_WRITTEN, *cells]))
    else:
        write_pieces(target, (orjson.dumps(row) + b"\n" for row in rows))
    _, extra = places(target)
    write_extra(extra, questions, lambda position, _: str(position + 1), form=name, losses=losses)
    return target, extra


def _columns(row: Row, given: Mapping[str, str]) -> dict[str, str]:
    columns = {"query": "user_input", "gold_text": "reference_contexts", "gold": "reference_context_ids"}
    columns |= {"wording": "query_style"} if row.values.get("query_style") in ("vague", "plain") else {}
    columns.update({field: column for field, column in given.items() if column})
    present = {field: column for field, column in columns.items() if column.partition(".")[0] in row.values}
    return {"query": columns["query"]} | present


def _mark_generated(question: Question, row: Row) -> Question:
    synthesizer = row.values.get("synthesizer_name")
    if not isinstance(synthesizer, str) or not synthesizer.strip():
        return question
    return question.model_copy(update={"origin": "generated", "tags": (*question.tags, synthesizer[:200])})


def _judgements(question: Question, extra: Question) -> dict[str, Any]:
    """Return the judgements to keep: the side file's where the row names the same gold, else the row's."""
    named = set(best_grades(question.gold))
    return {"judged": extra.judged if named == set(best_grades(extra.gold)) else question.judged}
