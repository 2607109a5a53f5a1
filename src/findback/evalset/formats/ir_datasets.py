"""Files of ir_datasets: a folder with `queries.tsv` and `qrels.trec`, or their JSON Lines."""

from collections.abc import Iterator
from pathlib import Path

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.qrels import GatheredJudgements
from findback.evalset.rows import read_header, read_rows
from findback.evalset.textfile import Faults, read_lines
from findback.evalset.trec import decode_id, encode_id
from findback.evalset.writing import write_pieces
from findback.model.question import QuestionSet

name = "ir-datasets"
losses = ("ids with blanks", "documents with blanks", "blanks in queries", *BESIDE_PAIRS)

_QUERIES = ("queries.tsv", "queries.jsonl")
_QRELS = ("qrels.trec", "qrels.jsonl")
_TEXTS = ("text", "title", "query")
_CELLS = 4


def recognise(path: Path) -> str | None:
    """Return the reason to take a folder for files of ir_datasets, or None."""
    queries, qrels = _find(path)
    if queries is None or qrels is None:
        return None
    if qrels.suffix == ".jsonl" and "query_id" not in read_header(qrels):
        # Another tool's names for the same columns.
        return None
    return f"a folder with {queries.name} and {qrels.name}"


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every query; one without a row in the qrels is unlabelled, unless the side file knows more.

    Raises:
        DataError: With every fault found.
    """
    queries, qrels = _find(path)
    if queries is None or qrels is None:
        raise DataError(f"{path} does not hold {_QUERIES[0]} and {_QRELS[0]}")
    faults = Faults()
    extras = read_extra(side_file(queries), faults)
    # Only our own export encodes ids, and it always has a side file.
    decode = decode_id if extras else str
    lines: dict[str, int | None] = {}
    gathering = Gathering(lambda place, message: faults.add(queries, _line(place), message), {})
    for line, identity, text in _read_queries(queries, faults):
        topic = decode(identity)
        if topic in lines:
            faults.add(queries, line, "the id is used twice")
            continue
        lines[topic] = line
        gathering.ask((line or 0,), text, topic)
    gathered = GatheredJudgements(qrels, faults, options.grades)
    for row_line, topic, document, grade in _read_qrels(qrels, faults):
        gathered.add(row_line, decode(topic), decode(document), grade)
    gathered.check_known(lines)
    questions, _ = gathering.finish()
    made = []
    for identity, question in questions.items():
        extra = extras.get(identity)
        query = extra.query if extra is not None and _flat(extra.query) == question.query else question.query
        labelled = question.model_copy(update={"judged": gathered.of(identity), "query": query})
        made.append(add_extra(labelled, extra, {"id": identity, "query": query}))
    beside = queries if extras else None
    return finish_set(path, made, faults, options, form=name, files=[queries, qrels], beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return queries, qrels and the side file."""
    queries = target / _QUERIES[0]
    return queries, target / _QRELS[0], side_file(queries)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write `queries.tsv`, `qrels.trec` and the side file into a folder; ids that TREC breaks are percent-encoded.

    Raises:
        StorageError: If the disk refuses.
    """
    queries, qrels, extra = places(target)
    entries = questions.questions
    write_pieces(queries, (f"{encode_id(q.id)}\t{_flat(q.query)}\n" for q in entries))
    write_pieces(
        qrels,
        (
            f"{encode_id(question.id)} 0 {encode_id(doc)} {grade}\n"
            for question in entries
            for doc, grade in best_grades(question.judged or ()).items()
        ),
    )
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return queries, qrels, extra


def _flat(query: str) -> str:
    return " ".join(query.split())


def _line(place: tuple[str | int, ...]) -> int | None:
    return int(place[0]) or None if place else None


def _find(folder: Path) -> tuple[Path | None, Path | None]:
    if not folder.is_dir():
        return None, None
    queries = next((folder / file for file in _QUERIES if (folder / file).is_file()), None)
    qrels = next((folder / file for file in _QRELS if (folder / file).is_file()), None)
    return queries, qrels


def _read_queries(path: Path, faults: Faults) -> Iterator[tuple[int | None, str, str]]:
    if path.suffix == ".jsonl":
        for row in read_rows(path, faults):
            identity = row.values.get("query_id")
            text = next((row.values[key] for key in _TEXTS if isinstance(row.values.get(key), str)), None)
            if isinstance(identity, (str, int)) and text is not None:
                yield row.line, str(identity), text
            else:
                faults.add(path, row.line, row.say("a query needs `query_id` and `text`"))
        return
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        identity, tab, text = line.text.rstrip("\n").partition("\t")
        if tab:
            yield line.number, identity, text
        else:
            faults.add(path, line.number, "no tab between the query's id and its text")


def _read_qrels(path: Path, faults: Faults) -> Iterator[tuple[int, str, str, str]]:
    if path.suffix == ".jsonl":
        for row in read_rows(path, faults):
            topic, document, grade = (str(row.values.get(key, "")) for key in ("query_id", "doc_id", "relevance"))
            yield row.line or row.number, topic, document, grade
        return
    for line in read_lines(path, faults):
        cells = line.text.split()
        if len(cells) == _CELLS:
            yield line.number, cells[0], cells[2], cells[3]
        elif cells:
            faults.add(path, line.number, f"{len(cells)} columns, and four were expected: query, 0, document, grade")
