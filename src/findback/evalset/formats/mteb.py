"""MTEB retrieval tasks: a folder of queries and qrels as JSON Lines or Parquet, as the hub keeps data sets."""

from pathlib import Path

import orjson

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.qrels import GatheredJudgements
from findback.evalset.rows import read_header, read_rows
from findback.evalset.textfile import Faults
from findback.evalset.writing import write_pieces
from findback.model.question import QuestionSet

name = "mteb"
losses = BESIDE_PAIRS

_SUFFIXES = (".jsonl", ".parquet")
_SPLITS = ("test", "dev", "validation", "train")
_HEADER = {"query-id", "corpus-id", "score"}
_CARD = """---
configs:
- config_name: corpus
  data_files:
  - split: test
    path: corpus.jsonl
- config_name: queries
  data_files:
  - split: test
    path: queries.jsonl
- config_name: default
  data_files:
  - split: test
    path: qrels/test.jsonl
---
"""


def recognise(path: Path) -> str | None:
    """Return the reason to take a folder for a retrieval task, or None."""
    if not path.is_dir():
        return None
    queries, qrels = _find(path)
    if not queries or not qrels or not (_is_empty(qrels[0]) or set(read_header(qrels[0])) >= _HEADER):
        return None
    return f"a folder with {_within(path, queries[0])} and {_within(path, qrels[0])}"


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the queries of the `test` split, else `dev`, `validation`, `train`, or the first.

    One without a row in the qrels is unlabelled where there is one split, and no question of this split else.

    Raises:
        DataError: With every fault found.
    """
    queries, qrels = _find(path)
    if not queries or not qrels:
        raise DataError(f"{path} does not hold queries and qrels of a retrieval task")
    split = _split(qrels[0])
    asked = [file for file in queries if _split(file) == split] or queries
    rated = [file for file in qrels if _split(file) == split]
    notes = [f"judgements from {', '.join(_within(path, file) for file in rated)}"]
    others = sorted({_split(file) for file in qrels} - {split})
    if others:
        notes.append(f"splits not read: {', '.join(others)[:200]}")
    faults = Faults()
    texts: dict[str, str] = {}
    for file in asked:
        _read_queries(file, texts, faults)
    gathered = GatheredJudgements(rated[0], faults, options.grades)
    for file in rated:
        # A split without a single judgement is a file without a row.
        for row in () if _is_empty(file) else read_rows(file, faults):
            cells = (str(row.values.get(column, "")) for column in ("query-id", "corpus-id", "score"))
            gathered.add(row.line or row.number, *cells)
    gathered.check_known(texts)
    extras = read_extra(side_file(asked[0]), faults)
    gathering = Gathering(lambda _, message: faults.add(asked[0], None, message), {})
    for identity, text in texts.items():
        gathering.ask((), text, identity)
    questions, _ = gathering.finish()
    made = []
    for identity, question in questions.items():
        judged = gathered.of(identity)
        if judged is not None or not others or identity in extras:
            labelled = question.model_copy(update={"judged": judged})
            made.append(add_extra(labelled, extras.get(identity), {"id": identity, "query": question.query}))
    beside = asked[0] if extras else None
    return finish_set(path, made, faults, options, form=name, notes=notes, files=[*asked, *rated], beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return the card, queries, qrels and the side file."""
    queries = target / "queries.jsonl"
    return target / "README.md", queries, target / "qrels" / "test.jsonl", side_file(queries)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write a card, queries, qrels and the side file into a folder; the documents are not copied.

    Raises:
        StorageError: If the disk refuses.
    """
    card, queries, qrels, extra = places(target)
    entries = questions.questions
    write_pieces(card, [_CARD])
    write_pieces(queries, (orjson.dumps({"_id": q.id, "text": q.query}) + b"\n" for q in entries))
    rows = (
        {"query-id": question.id, "corpus-id": doc, "score": grade}
        for question in entries
        for doc, grade in best_grades(question.judged or ()).items()
    )
    write_pieces(qrels, (orjson.dumps(row) + b"\n" for row in rows))
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return card, queries, qrels, extra


def _find(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of queries, and those of qrels, the split to read first."""
    queries = _tables(folder, "queries")
    qrels = next((found for place in ("qrels", "default", "data") if (found := _tables(folder, place))), [])
    return queries, qrels


def _tables(folder: Path, place: str) -> list[Path]:
    single = [folder / f"{place}{suffix}" for suffix in _SUFFIXES]
    inner = sorted((folder / place).glob("*")) if (folder / place).is_dir() else []
    files = [file for file in (*single, *inner) if file.suffix in _SUFFIXES and file.is_file()]
    return sorted(files, key=_rank)


def _rank(file: Path) -> tuple[int, str]:
    split = _split(file)
    return (_SPLITS.index(split) if split in _SPLITS else len(_SPLITS), file.name)


def _split(file: Path) -> str:
    """Return the split a file belongs to: `test-00000-of-00001.parquet` is of `test`."""
    stem = file.stem.partition("-0")[0]
    return "test" if stem in ("queries", "qrels", "default", "data") else stem


def _is_empty(file: Path) -> bool:
    return not file.stat().st_size


def _within(folder: Path, file: Path) -> str:
    return file.relative_to(folder).as_posix()


def _read_queries(path: Path, texts: dict[str, str], faults: Faults) -> None:
    for row in read_rows(path, faults):
        identity, text = row.values.get("_id", row.values.get("id")), row.values.get("text")
        if not isinstance(identity, (str, int)) or not isinstance(text, str):
            faults.add(path, row.line, row.say("a query needs `_id` (or `id`) and `text`"))
        elif str(identity) in texts:
            faults.add(path, row.line, row.say("the id is used twice"))
        else:
            texts[str(identity)] = text
