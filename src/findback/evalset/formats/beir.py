"""BEIR: a folder with `queries.jsonl` and `qrels/<split>.tsv`."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.format import ReadOptions
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.mapping import RowError, question_from_row
from findback.evalset.qrels import GatheredJudgements
from findback.evalset.rows import read_rows
from findback.evalset.textfile import Faults, digest_files, read_lines, shown
from findback.evalset.writing import write_pieces
from findback.model.case import Judgement
from findback.model.question import Question, QuestionSet
from findback.text.delimited import delimited_lines, delimited_rows

name = "beir"
losses = BESIDE_PAIRS

_SPLITS = ("test", "dev", "train")
_HEADER = ("query-id", "corpus-id", "score")
_COLUMNS = {"id": "_id", "query": "text", "wording": "metadata.type", "language": "metadata.language"}


def recognise(path: Path) -> str | None:
    """Return the reason to take a folder, or one of its qrels files, for BEIR; else None."""
    if path.is_dir() and (path / "queries.jsonl").is_file() and _splits(path):
        return "a folder with queries.jsonl and qrels/*.tsv"
    if path.suffix == ".tsv" and path.parent.name == "qrels" and (path.parent.parent / "queries.jsonl").is_file():
        return "a split of a folder with queries.jsonl"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every query; one without a row in the qrels is unlabelled, unless the side file knows more.

    A folder gives its `test` split, else `dev`, `train`, or the first; a split's own file gives that one.

    Raises:
        DataError: With every fault found.
    """
    folder = path if path.is_dir() else path.parent.parent
    splits = _splits(folder)
    if not splits:
        raise DataError(f"{folder} has no qrels/*.tsv")
    chosen = splits[0] if path.is_dir() else path
    faults = Faults()
    notes = [f"judgements from qrels/{chosen.name}"]
    if len(splits) > 1:
        others = ", ".join(split.name for split in splits if split.name != chosen.name)
        notes[0] += f" (not read: {others}; name one to read it)"
    queries = folder / "queries.jsonl"
    questions = _read_queries(queries, faults)
    gathered = _read_qrels(chosen, faults, options)
    gathered.check_known(questions)
    extras = read_extra(side_file(queries), faults)
    if extras:
        notes.append(f"read with its side file {side_file(queries).name}")
    notes += faults.settle(path.name, skip_bad=options.skip_bad)
    judged = [_judge(question, gathered.of(identity)) for identity, question in questions.items()]
    if len(splits) > 1:
        # Queries of other splits have no row here: they are no questions of this split.
        judged = [question for question in judged if question.judged is not None or question.id in extras]
    if not judged:
        raise DataError(f"{queries} holds no queries")
    return QuestionSet(
        name=folder.name,
        kind="unreleased set",
        questions=tuple(_widen(question, extras.get(question.id)) for question in judged),
        sha256=digest_files([queries, chosen]),
        format=name,
        notes=tuple(notes),
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return queries, qrels and the side file."""
    queries = target / "queries.jsonl"
    return queries, target / "qrels" / "test.tsv", side_file(queries)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write `queries.jsonl`, `qrels/test.tsv` and the side file into a folder; documents are not copied.

    Raises:
        StorageError: If the disk refuses.
    """
    queries, qrels, extra = places(target)
    entries = questions.questions
    write_pieces(queries, (orjson.dumps({"_id": q.id, "text": q.query}) + b"\n" for q in entries))
    rows = ((q.id, doc, grade) for q in entries for doc, grade in best_grades(q.judged or ()).items())
    write_pieces(qrels, delimited_lines(_with_header(rows), delimiter="\t", guarded=False))
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return queries, qrels, extra


def _with_header(rows: Iterator[tuple[str, str, int]]) -> Iterator[tuple[str | int, ...]]:
    yield _HEADER
    yield from rows


def _splits(folder: Path) -> list[Path]:
    def rank(path: Path) -> tuple[int, str]:
        return (_SPLITS.index(path.stem) if path.stem in _SPLITS else len(_SPLITS), path.name)

    return sorted((folder / "qrels").glob("*.tsv"), key=rank)


def _read_queries(path: Path, faults: Faults) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for row in read_rows(path, faults):
        if not row.values.get("_id"):
            faults.add(path, row.line, row.say("`_id` is missing"))
            continue
        try:
            question = question_from_row(row, _COLUMNS, {})
        except RowError as error:
            for message in error.messages:
                faults.add(path, row.line, row.say(message))
            continue
        if question.id in found:
            faults.add(path, row.line, row.say(f"`_id` {shown(question.id)} is used twice"))
        else:
            found[question.id] = question
    return found


def _read_qrels(path: Path, faults: Faults, options: ReadOptions) -> GatheredJudgements:
    gathered = GatheredJudgements(path, faults, options.grades)
    lines = list(read_lines(path, faults, approximate=True))
    records = delimited_rows((line.text for line in lines), delimiter="\t", guarded=False)
    for position, record in enumerate(records):
        line = record.line
        if not all(part.sound for part in lines[record.line - 1 : record.last]):
            continue
        if record.fault:
            faults.add(path, line, record.fault)
        elif len(record.cells) != len(_HEADER):
            faults.add(path, line, f"{len(record.cells)} cells, and three were expected: query, document, score")
        elif position == 0 and not any(c.isdigit() for c in record.cells[2]):
            # BEIR's own loader drops the first line blindly; here it must look like a header.
            continue
        else:
            gathered.add(line, *record.cells)
    return gathered


def _judge(question: Question, judged: tuple[Judgement, ...] | None) -> Question:
    """Return the question with its judgements; gold wins over metadata that says that there is no answer."""
    if judged is None:
        return question
    reason = None if any(judgement.grade for judgement in judged) else question.no_answer_reason
    return question.model_copy(update={"judged": judged, "no_answer_reason": reason})


def _widen(question: Question, extra: Question | None) -> Question:
    return add_extra(question, extra, {"id": question.id, "query": question.query})
