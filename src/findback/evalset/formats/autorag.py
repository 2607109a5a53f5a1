"""AutoRAG: questions as Parquet with `qid`, `query` and `retrieval_gt`; its corpus is read as documents."""

from pathlib import Path

from findback.errors import DataError
from findback.evalset.extra import add_extra, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.mapping import RowError, question_from_row
from findback.evalset.rows import is_parquet, read_header, read_rows
from findback.evalset.textfile import Faults
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet
from findback.registry import load_module

name = "autorag"
losses = (
    "grades",
    "grade 0",
    "anchors",
    "found_by",
    "no-answer",
    "gold texts",
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

_COLUMNS = {"id": "qid", "query": "query", "gold": "retrieval_gt"}
_QA = "qa.parquet"


def recognise(path: Path) -> str | None:
    """Return the reason to take a file, or a folder with one, for AutoRAG's questions; else None."""
    file = _find(path)
    if file is None or not is_parquet(file) or not set(_COLUMNS.values()) <= set(read_header(file)):
        return None
    return f"Parquet with qid, query and retrieval_gt{f' in {file.name}' if path.is_dir() else ''}"


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the questions: inner lists of gold hold alternatives, the outer list parts that are all needed.

    Raises:
        DataError: With every fault found.
        MissingLibraryError: If pyarrow is not installed.
    """
    file = _find(path)
    if file is None:
        raise DataError(f"{path} does not hold one Parquet file with questions of AutoRAG")
    faults = Faults()
    extras = read_extra(side_file(file), faults)
    found: dict[str, Question] = {}
    answered = 0
    for row in read_rows(file, faults):
        answered += bool(row.values.get("generation_gt"))
        try:
            question = question_from_row(row, _COLUMNS, options.grades)
        except RowError as error:
            for message in error.messages:
                faults.add(file, row.line, row.say(message))
            continue
        if question.id in found:
            faults.add(file, row.line, row.say("`qid` is used twice"))
            continue
        held = {"id": question.id, "query": question.query}
        found[question.id] = add_extra(question, extras.get(question.id), held, holds="parts")
    notes = [f"answers not read: generation_gt of {answered:,} rows names no documents"] if answered else []
    beside = file if extras else None
    return finish_set(path, found.values(), faults, options, form=name, notes=notes, files=[file], beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return the table and its side file."""
    file = _file(target)
    return file, side_file(file)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write a `.parquet` file, or `qa.parquet` into a folder, and the side file; answers are left empty.

    Raises:
        MissingLibraryError: If pyarrow is not installed.
        StorageError: If the disk refuses.
    """
    parquet = load_module("findback.text.parquet", wanted_for="writing Parquet")
    rows = [
        {"qid": q.id, "query": q.query, "retrieval_gt": _parts(q), "generation_gt": [""], "metadata": {"source": ""}}
        for q in questions.questions
    ]
    file, extra = places(target)
    write_pieces(file, [parquet.parquet_bytes(rows)])
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return file, extra


def _file(target: Path) -> Path:
    return target if target.suffix.lower() == ".parquet" else target / _QA


def _parts(question: Question) -> list[list[str]]:
    parts: dict[int, list[str]] = {}
    for judgement in question.gold:
        parts.setdefault(judgement.part, []).append(judgement.doc)
    highest = max(parts, default=0)
    # A part nobody answers keeps its place, so that the others keep their numbers.
    return [list(dict.fromkeys(parts.get(part, []))) for part in range(1, highest + 1)] or [[]]


def _find(path: Path) -> Path | None:
    if not path.is_dir():
        return path if path.is_file() else None
    found = [file for file in sorted(path.glob("qa*.parquet"))[:100] if file.is_file()]
    return found[0] if len(found) == 1 else None
