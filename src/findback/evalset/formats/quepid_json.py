"""Quepid's JSON: a book with the judgements of several people, or a case with its ratings."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median_low
from typing import Any

import orjson

from findback.evalset.extra import add_extra, best_grades, read_extra, side_file
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering, number_questions
from findback.evalset.jsonfile import JsonFile, read_json
from findback.evalset.jsonplaces import shape_of
from findback.evalset.textfile import Faults
from findback.model.question import QuestionSet

_SCALE = {"0": "not an answer", "1": "somewhat", "2": "good", "3": "best"}
_UNSAID = ("unrateable", "judge_later")


def recognise_json(path: Path) -> str | None:
    """Return the reason to take a file for a book or a case, or None."""
    shape = shape_of(path)
    if shape.has("query_doc_pairs") or shape.has("query_doc_pairs[].query_text"):
        return "a book's query_doc_pairs"
    return "a case's queries with query_text" if shape.has("queries[].query_text") else None


def read_book(path: Path, options: ReadOptions, form: str) -> QuestionSet:
    """Return one question for each query text; of several people's ratings the lower median counts.

    Who rated is not read.

    Raises:
        DataError: With every fault found.
    """
    faults = Faults()
    file = read_json(path, faults)
    gathering = Gathering(file.fault, options.grades)
    body = file.value if isinstance(file.value, dict) else {}
    unsaid = _gather_pairs(file, gathering, body) if "query_doc_pairs" in body else _gather_case(file, gathering, body)
    questions, notes = gathering.finish()
    file.hand_over(faults)
    if unsaid:
        notes = (*notes, f"{unsaid:,} judgements not counted: put off, or marked as impossible to rate")
    extras = read_extra(side_file(path), faults)
    widened = (
        add_extra(question, extras.get(query), {"query": query})
        for query, question in number_questions(questions).items()
    )
    return finish_set(path, widened, faults, options, form=form, notes=notes, beside=path if extras else None)


def book_pieces(questions: QuestionSet) -> Iterator[bytes]:
    """Yield a set as a book; a query without judgements has a pair without a document."""
    pairs: list[dict[str, Any]] = []
    for question in questions.questions:
        grades = best_grades(question.judged or ())
        pairs += [
            {
                "query_text": question.query,
                "doc_id": doc,
                "position": position,
                "document_fields": {},
                "judgements": [{"rating": float(grade), "unrateable": False, "judge_later": False}],
            }
            for position, (doc, grade) in enumerate(grades.items(), 1)
        ]
        if not grades:
            pairs.append({"query_text": question.query, "doc_id": None, "judgements": []})
    book = {
        "name": questions.name,
        "show_rank": False,
        "support_implicit_judgements": False,
        "scale": [int(step) for step in _SCALE],
        "scale_with_labels": _SCALE,
        "query_doc_pairs": pairs,
    }
    yield orjson.dumps(book, option=orjson.OPT_INDENT_2) + b"\n"


def _gather_pairs(file: JsonFile, gathering: Gathering, body: dict[str, Any]) -> int:
    unsaid = 0
    for place, pair in file.objects(("query_doc_pairs",), body["query_doc_pairs"]):
        key = gathering.ask((*place, "query_text"), pair.get("query_text"))
        if key is None:
            continue
        ratings = []
        for at, judgement in file.objects((*place, "judgements"), pair.get("judgements", [])):
            rating = judgement.get("rating")
            if any(judgement.get(mark) is True for mark in _UNSAID) or rating is None:
                unsaid += 1
            elif isinstance(rating, bool) or not isinstance(rating, (int, float)):
                file.fault((*at, "rating"), "must be a number")
            else:
                ratings.append(rating)
        if ratings:
            gathering.rate(place, key, pair.get("doc_id"), median_low(ratings))
    return unsaid


def _gather_case(file: JsonFile, gathering: Gathering, body: dict[str, Any]) -> int:
    unsaid = 0
    for place, query in file.objects(("queries",), body.get("queries")):
        key = gathering.ask((*place, "query_text"), query.get("query_text"))
        if key is None:
            continue
        for at, rating in file.objects((*place, "ratings"), query.get("ratings", [])):
            if rating.get("rating") is None:
                unsaid += 1
            else:
                gathering.rate(at, key, rating.get("doc_id"), rating["rating"])
    return unsaid
