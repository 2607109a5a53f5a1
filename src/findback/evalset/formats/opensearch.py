"""OpenSearch Search Relevance Workbench: query sets, judgement lists, or a folder with one of each.

It has no ids: judgements meet queries by the query's text.
"""

from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set, refuse_doubles
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering, number_questions
from findback.evalset.jsonfile import JsonFile, find_entries, read_json
from findback.evalset.jsonplaces import shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.textfile import Faults
from findback.evalset.writing import write_pieces
from findback.model.question import QuestionSet

name = "opensearch"
losses = ("ids", *BESIDE_PAIRS)

_QUERIES, _JUDGMENTS = "querySetQueries", "judgmentRatings"
_NAME_LIMIT = 50
_MOST_FILES = 200


def recognise(path: Path) -> str | None:
    """Return the reason to take a file, or a folder, for query sets and judgement lists; else None."""
    if path.is_dir():
        queries, judgments = _find(path)
        return f"a folder with {queries.name} and {judgments.name}" if queries and judgments else None
    shape = shape_of(path)
    for key, what in ((_QUERIES, "a query set"), (_JUDGMENTS, "a judgement list")):
        if shape.has(key) or shape.has(f"hits.hits[]._source.{key}"):
            return f"{what} of OpenSearch ({key})"
    return "entries of a query set (queryText)" if "[].queryText" in shape.paths else None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every query; one without a rating is unlabelled, unless the side file knows more.

    Raises:
        DataError: With every fault found.
    """
    files = [path]
    if path.is_dir():
        files = [file for file in _find(path) if file is not None]
        if not files:
            raise DataError(f"{path} does not hold a query set and a judgement list of OpenSearch")
    faults = Faults()
    read_files = [read_json(file, faults) for file in files]
    gatherings = [Gathering(file.fault, options.grades) for file in read_files]
    # Both take in queries; a judgement list's own come after those of the query set.
    for file, gathering in zip(read_files, gatherings, strict=True):
        _gather(file, gathering)
    questions: dict[str, Any] = {}
    notes: list[str] = []
    for file, gathering in zip(read_files, gatherings, strict=True):
        found, told = gathering.finish()
        questions |= {key: question for key, question in found.items() if question.judged or key not in questions}
        notes += told
        file.hand_over(faults)
    extras = read_extra(side_file(files[-1]), faults)
    widened = (
        add_extra(question, extras.get(query), {"query": query})
        for query, question in number_questions(questions).items()
    )
    beside = files[-1] if extras else None
    return finish_set(path, widened, faults, options, form=name, notes=notes, files=files, beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return query set, judgement list and the side file."""
    judgments = target / "judgments.json"
    return target / "queryset.json", judgments, side_file(judgments)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write bodies for `PUT _plugins/_search_relevance/query_sets` and `…/judgments` into a folder, and the side file.

    Raises:
        DataError: If two questions have the same query.
        StorageError: If the disk refuses.
    """
    refuse_doubles(questions, target, "OpenSearch")
    entries, files = questions.questions, places(target)
    title = {"name": questions.name[:_NAME_LIMIT], "description": f"{len(entries)} queries, from findback"}
    asked = [{"queryText": question.query} for question in entries]
    write_pieces(files[0], [_body(title | {"sampling": "manual", _QUERIES: asked})])
    rated = [
        {"query": question.query, "ratings": [{"docId": doc, "rating": f"{grade}.0"} for doc, grade in grades.items()]}
        for question in entries
        if (grades := best_grades(question.judged or ()))
    ]
    write_pieces(files[1], [_body(title | {"type": "IMPORT_JUDGMENT", _JUDGMENTS: rated})])
    write_extra(files[2], questions, lambda _, question: question.query, form=name, losses=losses)
    return files


def _body(values: dict[str, Any]) -> bytes:
    return orjson.dumps(values, option=orjson.OPT_INDENT_2) + b"\n"


def _find(folder: Path) -> tuple[Path | None, Path | None]:
    """Return the one query set and the one judgement list of a folder."""
    shapes = [(file, shape_of(file)) for file in sorted(folder.glob("*.json"))[:_MOST_FILES]]
    queries = [file for file, shape in shapes if shape.has(_QUERIES)]
    judgments = [file for file, shape in shapes if shape.has(_JUDGMENTS)]
    return (queries[0] if len(queries) == 1 else None), (judgments[0] if len(judgments) == 1 else None)


def _gather(file: JsonFile, gathering: Gathering) -> None:
    for place, entry in find_entries(file):
        if "hits" in entry:
            _gather_stored(file, gathering, entry["hits"])
        else:
            _gather_body(file, gathering, place, entry)


def _gather_stored(file: JsonFile, gathering: Gathering, hits: Any) -> None:
    """Take in what the server answers when it is asked for a stored query set or judgement list."""
    inner = hits.get("hits") if isinstance(hits, dict) else None
    for place, hit in file.objects(("hits", "hits"), inner):
        if isinstance(hit.get("_source"), dict):
            _gather_body(file, gathering, (*place, "_source"), hit["_source"])


def _gather_body(file: JsonFile, gathering: Gathering, place: tuple[str | int, ...], body: dict[str, Any]) -> None:
    if "queryText" in body:
        gathering.ask((*place, "queryText"), body["queryText"])
        return
    if _QUERIES not in body and _JUDGMENTS not in body:
        file.fault(place, f"neither {_QUERIES} nor {_JUDGMENTS} is here")
    if _QUERIES in body:
        for at, entry in file.objects((*place, _QUERIES), body[_QUERIES]):
            gathering.ask((*at, "queryText"), entry.get("queryText"))
    if _JUDGMENTS in body:
        for at, entry in file.objects((*place, _JUDGMENTS), body[_JUDGMENTS]):
            key = gathering.ask((*at, "query"), entry.get("query"))
            if key is None:
                continue
            for here, rating in file.objects((*at, "ratings"), entry.get("ratings", [])):
                gathering.rate(here, key, rating.get("docId"), rating.get("rating"))
