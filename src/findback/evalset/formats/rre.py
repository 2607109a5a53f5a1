"""Rated Ranking Evaluator: ratings by topic and query group, and the flat form that Quepid exports."""

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from findback.evalset.extra import add_extra, best_grades, nth_keys, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.jsonfile import JsonFile, read_json
from findback.evalset.jsonplaces import Place, shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.textfile import Faults
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet

name = "rre"
losses = ("ids", *BESIDE_PAIRS)

_DEFAULT = "$query"


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for ratings of RRE, or None."""
    shape = shape_of(path)
    if shape.has("topics[].query_groups") or shape.has("query_groups[].queries"):
        return "query groups of the Rated Ranking Evaluator"
    if shape.has("queries[].placeholders", "queries[].relevant_documents"):
        return "queries with placeholders and relevant_documents, as Quepid writes for RRE"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each query; those of one group are one cluster, and share its documents.

    Raises:
        DataError: With every fault found.
    """
    faults = Faults()
    file = read_json(path, faults)
    gathering = Gathering(file.fault, options.grades)
    key_of = nth_keys()
    clusters: dict[str, str] = {}
    for number, group in enumerate(_groups(file), 1):
        keys = _gather_group(file, gathering, group, key_of)
        clusters |= {key: f"group-{number}" for key in keys if len(keys) > 1}
    questions, notes = gathering.finish()
    file.hand_over(faults)
    extras = read_extra(side_file(path), faults)
    made = []
    for number, (key, question) in enumerate(questions.items(), 1):
        named = question.model_copy(update={"id": f"q{number}", "cluster": clusters.get(key)})
        made.append(add_extra(named, extras.get(key), {"query": question.query}))
    beside = path if extras else None
    return finish_set(path, made, faults, options, form=name, notes=notes, beside=beside)


def places(target: Path) -> tuple[Path, ...]:
    """Return the ratings and their side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write ratings with one topic; neighbours of one cluster with the same documents are one query group.

    Raises:
        StorageError: If the disk refuses.
    """
    numbered = list(enumerate(questions.questions))
    groups = [[question for _, question in group] for _, group in groupby(numbered, _group_key)]
    body = {
        "index": "documents",
        "corpora_file": "documents.json",
        "id_field": "id",
        "topics": [{"description": questions.name, "query_groups": [_group(group) for group in groups]}],
    }
    write_pieces(target, [orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n"])
    _, extra = places(target)
    key_of = nth_keys()
    write_extra(extra, questions, lambda _, question: key_of(question.query), form=name, losses=losses)
    return target, extra


def _group_key(entry: tuple[int, Question]) -> Any:
    number, question = entry
    alone = question.cluster is None
    return (number if alone else question.cluster, tuple(best_grades(question.judged or ()).items()))


def _group(group: list[Question]) -> dict[str, Any]:
    grades = best_grades(group[0].judged or ())
    return {
        "name": group[0].cluster or group[0].id,
        "queries": [{"template": "query.json", "placeholders": {_DEFAULT: question.query}} for question in group],
        "relevant_documents": {doc: {"gain": grade} for doc, grade in grades.items()},
    }


class _Group(NamedTuple):
    """Queries that share their documents."""

    queries: list[tuple[Place, Any]]
    place: Place
    """Where the documents stand."""
    documents: Any


def _groups(file: JsonFile) -> Iterator[_Group]:
    body = file.value if isinstance(file.value, dict) else {}
    if "topics" in body:
        for place, topic in file.objects(("topics",), body["topics"]):
            yield from _groups_of(file, place, topic)
    else:
        yield from _groups_of(file, (), body)


def _groups_of(file: JsonFile, place: Place, holder: dict[str, Any]) -> Iterator[_Group]:
    if "query_groups" not in holder:
        for at, query in file.objects((*place, "queries"), holder.get("queries")):
            yield _Group([(at, query)], (*at, "relevant_documents"), query.get("relevant_documents", {}))
        return
    for at, group in file.objects((*place, "query_groups"), holder["query_groups"]):
        queries = group.get("queries")
        if not isinstance(queries, list):
            file.fault((*at, "queries"), "must be a list")
            continue
        placed = [((*at, "queries", number), query) for number, query in enumerate(queries)]
        yield _Group(placed, (*at, "relevant_documents"), group.get("relevant_documents", {}))


def _gather_group(file: JsonFile, gathering: Gathering, group: _Group, key_of: Callable[[str], str]) -> list[str]:
    documents = list(_documents(file, group.place, group.documents))
    keys = []
    for place, query in group.queries:
        text = _text(query)
        if not isinstance(text, str):
            file.fault(place, f"no query: `placeholders` holds no {_DEFAULT}")
            continue
        key = gathering.ask(place, text, key_of(text))
        if key is None:
            continue
        keys.append(key)
        for document, rating, where in documents:
            gathering.rate(where, key, document, rating)
    return keys


def _text(query: Any) -> Any:
    if isinstance(query, str):
        return query
    placeholders = query.get("placeholders") if isinstance(query, dict) else None
    if not isinstance(placeholders, dict):
        return None
    texts = [value for value in placeholders.values() if isinstance(value, str)]
    return placeholders.get(_DEFAULT, texts[0] if len(texts) == 1 else None)


def _documents(file: JsonFile, place: Place, relevant: Any) -> Iterator[tuple[Any, Any, Place]]:
    """Yield document, rating and place, from `{id: {gain: 2}}` or `{2: [ids]}`."""
    if not isinstance(relevant, dict):
        file.fault(place, "must be an object")
        return
    for key, value in relevant.items():
        here = (*place, key)
        if isinstance(value, list):
            yield from ((document, key, here) for document in value)
        elif isinstance(value, dict):
            yield key, value.get("gain"), here
        else:
            file.fault(here, "must be an object with `gain`, or a list of documents")
