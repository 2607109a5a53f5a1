"""Any JSON Lines, JSON, CSV or Parquet file, by its columns."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError
from findback.evalset.columns import is_weak, map_columns
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.format import ReadOptions
from findback.evalset.mapping import RowError, question_from_row
from findback.evalset.rows import Row, is_parquet, read_columns, read_header, read_rows
from findback.evalset.textfile import Faults, digest_files
from findback.evalset.values import list_cell
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet
from findback.registry import load_module
from findback.text.delimited import delimited_lines

name = "mapped"
losses = (
    "parts",
    "anchors",
    "found_by",
    "gold texts",
    "unresolved gold",
    "context",
    "tags",
    "stratum",
    "origin",
    "cluster",
    "selected_on",
)

_HELD = ("id", "query", "language", "wording", "no_answer_reason")
_COLUMNS = ("id", "query", "gold", "grade", "language", "wording", "no_answer_reason")


def recognise(path: Path) -> str | None:
    """Return which columns were taken for query and gold, or None where nothing looks like a query."""
    if not path.is_file():
        return None
    header = read_header(path)
    columns = map_columns(header, {})
    if "query" not in columns:
        return None
    gold = columns.get("gold") or columns.get("gold_text")
    kind = "Parquet" if is_parquet(path) else "table"
    return f"{kind} with the query in {columns['query']!r}" + (f" and gold in {gold!r}" if gold else "")


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the questions of a table.

    Rows that share an id and a query are one question with several documents. A row that names no gold is
    unlabelled, unless a column says that there is no answer.

    Raises:
        DataError: With every fault found.
        UsageError: If a column is named that the file does not have.
        MissingLibraryError: If it is Parquet and pyarrow is not installed.
    """
    faults = Faults()
    header = read_columns(path, faults)
    if not header:
        faults.settle(path.name, skip_bad=False)
        raise DataError(f"{path} holds no rows")
    faults = Faults()
    columns = map_columns(header, options.columns)
    if "query" not in columns:
        raise DataError(
            f"{path.name} has no column that looks like a query",
            hint=f"name it, for example --columns.query NAME; columns: {', '.join(header)[:300]}",
        )
    notes = [_describe(columns)]
    kept = _collect(path, read_rows(path, faults), columns, options, faults)
    kept, weak_note = _distrust(kept, columns)
    notes += weak_note
    used = {*columns.values(), *(column.partition(".")[0] for column in columns.values())}
    unread = [column for column in header if column not in used]
    if unread:
        notes.append(f"columns not read: {', '.join(unread)[:300]}")
    extras = read_extra(side_file(path), faults)
    if extras:
        notes.append(f"read with its side file {side_file(path).name}")
        kept = [_widen(question, extras.get(question.id)) for question in kept]
    notes += faults.settle(path.name, skip_bad=options.skip_bad)
    if not kept:
        raise DataError(f"{path} holds no question that can be read", faults=faults.found)
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(kept),
        sha256=digest_files([path]),
        format=name,
        notes=tuple(notes),
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return the table and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write a table (`.csv`, `.tsv`, `.parquet`, else JSON Lines) with one row a question, and its side file.

    Raises:
        StorageError: If the disk refuses.
    """
    rows = [_plain_row(question) for question in questions.questions]
    suffix = target.suffix.lower()
    if suffix in (".csv", ".tsv"):
        cells = [[_cell(row[column]) for column in _COLUMNS] for row in rows]
        lines = delimited_lines([_COLUMNS, *cells], delimiter="\t" if suffix == ".tsv" else ",")
        write_pieces(target, lines)
    elif suffix == ".parquet":
        write_pieces(target, [_parquet(rows)])
    else:
        write_pieces(target, (orjson.dumps(row) + b"\n" for row in rows))
    _, extra = places(target)
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return target, extra


def _describe(columns: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{field} from {column!r}" for field, column in columns.items())
    return f"columns read: {pairs}"


def _collect(
    path: Path, rows: Iterable[Row], columns: Mapping[str, str], options: ReadOptions, faults: Faults
) -> list[Question]:
    found: dict[str, Question] = {}
    places: dict[str, str] = {}
    # Without ids, rows of one query are one question only where each row grades one document.
    by_query = "id" not in columns and "grade" in columns and "gold" in columns
    ids: dict[str, str] = {}
    for row in rows:
        try:
            question = question_from_row(row, columns, options.grades)
        except RowError as error:
            for message in error.messages:
                faults.add(path, row.line, row.say(message))
            continue
        key = ids.setdefault(question.query, question.id) if by_query else question.id
        before = found.get(key)
        if before is None:
            found[key] = question
            places[key] = f"line {row.line}" if row.line else f"row {row.number}"
            continue
        trouble = _clash(before, question)
        if trouble:
            faults.add(path, row.line, row.say(f"{trouble} (first on {places[key]})"))
        else:
            found[key] = _join(before, question)
    return list(found.values())


def _clash(before: Question, question: Question) -> str | None:
    if before.query != question.query:
        return "the id is used for another query"
    known = {(judgement.doc, judgement.part, judgement.anchor) for judgement in before.judged or ()}
    new = {(judgement.doc, judgement.part, judgement.anchor) for judgement in question.judged or ()}
    texts = set(question.gold_texts) - set(before.gold_texts)
    if not texts and (not new or new & known):
        return "the id is used again for the same query and document"
    if before.no_answer_reason or question.no_answer_reason:
        return "the id has an answer in one row and none in another"
    return None


def _join(before: Question, question: Question) -> Question:
    judged = None
    if before.judged is not None or question.judged is not None:
        judged = (*(before.judged or ()), *(question.judged or ()))
    texts = tuple(dict.fromkeys((*before.gold_texts, *question.gold_texts)))
    return before.model_copy(update={"judged": judged, "gold_texts": texts})


def _distrust(questions: list[Question], columns: Mapping[str, str]) -> tuple[list[Question], list[str]]:
    """Drop texts of a column such as `context` that repeat the questions: that is a conversation, no gold."""
    column = columns.get("gold_text", "")
    if not is_weak("gold_text", column):
        return questions, []
    repeated = sum(any(q.query.casefold() in text.casefold() for text in q.gold_texts) for q in questions)
    if not questions or repeated * 2 <= len(questions):
        return questions, []
    note = (
        f"{column!r} repeats the question in {repeated:,} of {len(questions):,} rows and was not read as gold; "
        f"--columns.gold_text {column} reads it all the same"
    )
    return [question.model_copy(update={"gold_texts": ()}) for question in questions], [note]


def _widen(question: Question, extra: Question | None) -> Question:
    return add_extra(question, extra, {field: getattr(question, field) for field in _HELD})


def _plain_row(question: Question) -> dict[str, Any]:
    grades = best_grades(question.judged or ())
    return {
        "id": question.id,
        "query": question.query,
        "gold": list(grades) or None,
        "grade": list(grades.values()) or None,
        "language": question.language,
        "wording": question.wording,
        "no_answer_reason": question.no_answer_reason,
    }


def _cell(value: Any) -> str | None:
    return list_cell(value) if isinstance(value, list) else value


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    made: bytes = load_module("findback.text.parquet", wanted_for="writing Parquet").parquet_bytes(rows)
    return made
