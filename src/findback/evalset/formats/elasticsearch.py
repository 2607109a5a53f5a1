"""Elasticsearch and OpenSearch `_rank_eval`: requests with ratings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from findback.evalset.columns import check_fields, column_names
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.jsonfile import read_json
from findback.evalset.jsonplaces import shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.textfile import Faults
from findback.evalset.values import look_up
from findback.evalset.writing import write_pieces
from findback.model.question import QuestionSet

name = "elasticsearch"
takes_paths = True
losses = BESIDE_PAIRS

INDEX = "documents"
"""Index that is named in exports: a set does not know the engine's."""

_TEMPLATE = {"id": "search", "template": {"source": {"query": {"multi_match": {"query": "{{query}}"}}}}}
_METRIC = {"recall": {"k": 10, "relevant_rating_threshold": 1}}
_PARAMETERS = ("query_string", "q", "search_text", "searchtext", "keywords", "term")
_ASKING = frozenset(
    {
        "match",
        "match_phrase",
        "match_phrase_prefix",
        "match_bool_prefix",
        "multi_match",
        "query_string",
        "simple_query_string",
        "combined_fields",
        "semantic",
        "text_expansion",
        "sparse_vector",
        "query_vector_builder",
        "neural",
    }
)
"""Clauses that hold what was asked; a filter's `term` does not."""
_TEXTS = ("query", "query_text", "model_text")
_DEPTH = 40


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for a body of `_rank_eval`, or None."""
    shape = shape_of(path)
    if shape.has("requests[].ratings") and (shape.has("requests[].request") or shape.has("requests[].template_id")):
        return "requests with ratings, as _rank_eval takes them"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each request; its query is the text the request's clauses ask for.

    Raises:
        DataError: With every fault found.
    """
    check_fields(options.columns, ("query",))
    faults = Faults()
    file = read_json(path, faults)
    gathering = Gathering(file.fault, options.grades)
    indexes: set[str] = set()
    body = file.value if isinstance(file.value, dict) else {}
    for place, request in file.objects(("requests",), body.get("requests")):
        query = _query(request, options.columns.get("query"))
        if isinstance(query, list):
            file.fault(place, f"{len(query)} texts could be the query: say which with --columns.query '$.request…'")
            continue
        if "id" in request and isinstance(request["id"], (str, int)) and str(request["id"]) in gathering:
            file.fault((*place, "id"), "the id is used twice")
            continue
        if query is None:
            file.fault(place, "no text to search for was found: say where with --columns.query '$.request…'")
            continue
        key = gathering.ask(place, query, request.get("id"))
        if key is None:
            continue
        for at, rating in file.objects((*place, "ratings"), request.get("ratings", [])):
            gathering.rate(at, key, rating.get("_id"), rating.get("rating"))
            indexes.add(str(rating.get("_index"))[:200])
    questions, notes = gathering.finish()
    file.hand_over(faults)
    if len(indexes) > 1:
        notes = (*notes, f"documents of {len(indexes)} indexes, told apart by their ids alone")
    extras = read_extra(side_file(path), faults)
    widened = (
        add_extra(question, extras.get(key), {"id": key, "query": question.query})
        for key, question in questions.items()
    )
    beside = path if extras else None
    return finish_set(path, widened, faults, options, form=name, notes=notes, beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return the body and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write a body for `_rank_eval` whose one template holds the search, and the side file.

    Raises:
        StorageError: If the disk refuses.
    """
    requests = [
        {
            "id": question.id,
            "template_id": _TEMPLATE["id"],
            "params": {"query": question.query},
            "ratings": [
                {"_index": INDEX, "_id": doc, "rating": grade}
                for doc, grade in best_grades(question.judged or ()).items()
            ],
        }
        for question in questions.questions
    ]
    body = {"templates": [_TEMPLATE], "metric": _METRIC, "requests": requests}
    write_pieces(target, [orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n"])
    _, extra = places(target)
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return target, extra


def _query(request: dict[str, Any], named: str | None) -> Any:
    """Return the one text a request asks for, a list where it could be several, or None."""
    if named:
        return look_up(request, named)
    parameters = request.get("params")
    if isinstance(parameters, dict):
        texts = {key.casefold(): value for key, value in parameters.items() if isinstance(value, str) and value.strip()}
        known = [texts[key] for key in (*column_names()["fields"]["query"], *_PARAMETERS) if key in texts]
        if known:
            return known[0]
        return next(iter(texts.values())) if len(texts) == 1 else list(texts.values()) or None
    found = list(dict.fromkeys(_asked(request.get("request"), 0)))
    return found[0] if len(found) == 1 else found or None


def _asked(clause: Any, depth: int) -> Iterator[str]:
    if depth > _DEPTH:
        return
    if isinstance(clause, list):
        for entry in clause:
            yield from _asked(entry, depth + 1)
    elif isinstance(clause, dict):
        for key, value in clause.items():
            if key in _ASKING and isinstance(value, dict):
                yield from _texts_of(value)
            elif key != "filter":
                yield from _asked(value, depth + 1)


def _texts_of(clause: dict[str, Any]) -> Iterator[str]:
    """Yield what a clause asks: under `query`, or under a field, straight or in an object of its own."""
    for key in _TEXTS:
        if isinstance(clause.get(key), str):
            yield clause[key]
            return
    for value in clause.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (value[key] for key in _TEXTS if isinstance(value.get(key), str))
