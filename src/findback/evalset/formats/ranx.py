"""ranx: qrels as one JSON object by query, beside the queries, which ranx does not know."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.jsonfile import JsonFile, read_json
from findback.evalset.jsonplaces import shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.rows import read_rows
from findback.evalset.textfile import Faults, shown
from findback.evalset.writing import write_pieces
from findback.model.question import QuestionSet

name = "ranx"
losses = BESIDE_PAIRS

_QRELS = "qrels.json"
_QUERIES = ("queries.jsonl", "queries.json", "queries.csv")
_IDS, _TEXTS = ("_id", "id", "query_id", "qid"), ("text", "query", "query_text")


def recognise(path: Path) -> str | None:
    """Return the reason to take qrels, or a folder with them and their queries, for ranx; else None."""
    qrels = path / _QRELS if path.is_dir() else path
    if qrels.suffix.lower() != ".json":
        return None
    levels = shape_of(qrels).levels
    by_query = levels[:2] == (frozenset({"object"}), frozenset({"object"}))
    if not by_query or len(levels) > 3 or (len(levels) == 3 and levels[2] != {"number"}):
        return None
    queries = _find_queries(qrels)
    beside = f" beside {queries.name}" if queries else ""
    return f"an object of documents and grades by query{beside}"


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every query of the file of queries beside the qrels, or of the side file.

    Raises:
        DataError: With every fault found, or where nothing says what the queries are.
    """
    qrels = path / _QRELS if path.is_dir() else path
    faults = Faults()
    extras = read_extra(side_file(qrels), faults)
    queries = _find_queries(qrels)
    if queries is None and not extras:
        faults.settle(path.name, skip_bad=False)
        raise DataError(
            f"{qrels} has ids of queries and not their words",
            hint=f"put a {_QUERIES[0]} beside it, each line with `_id` and `text`",
        )
    file = read_json(qrels, faults)
    _check_keys(file)
    gathering = Gathering(file.fault, options.grades)
    texts = {key: extra.query for key, extra in extras.items()} if queries is None else _read_queries(queries, faults)
    for identity, text in texts.items():
        gathering.ask((), text, identity)
    body = file.value if isinstance(file.value, dict) else {}
    for query, documents in body.items():
        if query not in texts:
            file.fault((query,), f"query {shown(query)} is judged, but there is no such query")
        elif not isinstance(documents, dict):
            file.fault((query,), "must be an object of documents and grades")
        elif query in gathering:
            for document, grade in documents.items():
                gathering.rate((query, document), query, document, grade)
    questions, notes = gathering.finish()
    file.hand_over(faults)
    made = (
        add_extra(question, extras.get(identity), {"id": identity, "query": question.query})
        for identity, question in questions.items()
    )
    files = [qrels] if queries is None else [queries, qrels]
    return finish_set(
        path, made, faults, options, form=name, notes=notes, files=files, beside=qrels if extras else None
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return qrels, queries and the side file."""
    qrels = target / _QRELS
    return qrels, target / _QUERIES[0], side_file(qrels)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write `qrels.json`, the queries and the side file into a folder.

    Raises:
        StorageError: If the disk refuses.
    """
    qrels, queries, extra = places(target)
    entries = questions.questions
    body = {q.id: grades for q in entries if (grades := best_grades(q.judged or ()))}
    write_pieces(qrels, [orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n"])
    write_pieces(queries, (orjson.dumps({"_id": q.id, "text": q.query}) + b"\n" for q in entries))
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return qrels, queries, extra


def _find_queries(qrels: Path) -> Path | None:
    return next((found for file in _QUERIES if (found := qrels.parent / file).is_file()), None)


def _read_queries(path: Path, faults: Faults) -> dict[str, str]:
    texts: dict[str, str] = {}
    for row in read_rows(path, faults):
        identity = next((row.values[key] for key in _IDS if row.values.get(key) not in (None, "")), None)
        text = next((row.values[key] for key in _TEXTS if isinstance(row.values.get(key), str)), None)
        if identity is None or text is None:
            faults.add(path, row.line, row.say("a query needs `_id` and `text`"))
        elif str(identity) in texts:
            faults.add(path, row.line, row.say("the id is used twice"))
        else:
            texts[str(identity)] = text
    return texts


def _check_keys(file: JsonFile) -> None:
    """Note queries and documents that stand twice: a parser silently keeps the last."""

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            for key in (key for key, count in counts.items() if count > 1):
                file.fault((key,), f"{shown(key)} stands there twice")
        return made

    # What is too deep or too large a number for this parser is no object of grades, and refused as such.
    with suppress(RecursionError, ValueError):
        json.loads(file.text, object_pairs_hook=check)
