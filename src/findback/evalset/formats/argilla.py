"""Argilla records: one for each pair of a query and a document, with what people answered and what was suggested."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.evalset.annotations import OURS, RATED, Layout, Said, choose_name, read_pairs, write_pairs
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.jsonplaces import shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.values import CellError
from findback.model.question import Question, QuestionSet

name = "argilla"
takes_paths = True
losses = BESIDE_PAIRS


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for records of Argilla, or None."""
    shape = shape_of(path)
    for wrapper in ("", "items[].", "records[]."):
        if shape.is_at(f"{wrapper}fields", "object") and shape.has(f"{wrapper}responses"):
            return "records with fields and responses"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each query. Submitted responses are labels; a model's suggestions are not.

    A suggestion is one where no response was submitted and it is a person's, or findback's own.

    Raises:
        DataError: With every fault found.
    """
    return read_pairs(path, options, Layout(("fields", "metadata"), ("items", "records"), _said), form=name)


def places(target: Path) -> tuple[Path, ...]:
    """Return the records and their side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write records whose grades are suggestions, and the side file: responses belong to users of a server.

    Raises:
        StorageError: If the disk refuses.
    """
    return write_pairs(questions, target, _record, form=name, losses=losses)


def _record(question: Question, document: str | None, grade: int | None) -> dict[str, Any]:
    named = {} if document is None else {"document": document}
    suggested = {} if grade is None else {RATED: {"value": grade, "score": None, "agent": OURS}}
    return {
        "id": f"{question.id} {document}" if document is not None else question.id,
        "fields": {"query": question.query} | named,
        "metadata": {"findback_id": question.id},
        "suggestions": suggested,
        "responses": {},
        "vectors": {},
        "status": "pending",
    }


def _said(record: Mapping[str, Any], wanted: str | None) -> Said:
    responses = list(_responses(record.get("responses")))
    suggestions = list(_suggestions(record.get("suggestions")))
    asked = list(dict.fromkeys([name for name, _, _ in responses] + [name for name, _, _ in suggestions]))
    chosen = choose_name(asked, wanted)
    submitted = [value for name, value, status in responses if name == chosen and status in (None, "submitted")]
    skipped = sum(name == chosen for name, _, _ in responses) - len(submitted)
    ours = [value for name, value, counts in suggestions if name == chosen and counts]
    models = sum(name == chosen for name, _, _ in suggestions) - len(ours)
    return Said(submitted or ours[:1], skipped, models)


def _responses(given: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield question, value and status, from the server's lists or the client's objects by question."""
    if isinstance(given, Mapping):
        for question, answers in given.items():
            for answer in answers if isinstance(answers, list) else ():
                if isinstance(answer, Mapping):
                    yield question, _plain(answer.get("value")), answer.get("status")
        return
    for response in given if isinstance(given, list) else ():
        values = response.get("values") if isinstance(response, Mapping) else None
        if not isinstance(values, (Mapping, type(None))) or not isinstance(response, Mapping):
            raise CellError("each of `responses` must be an object with an object `values`")
        for question, value in (values or {}).items():
            yield question, _plain(value), response.get("status")


def _suggestions(given: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield question, value, and whether it is a person's or our own."""
    entries = given if isinstance(given, list) else ()
    if isinstance(given, Mapping):
        entries = [{"question_name": key, **value} for key, value in given.items() if isinstance(value, Mapping)]
    for entry in entries:
        if isinstance(entry, Mapping) and isinstance(entry.get("question_name"), str):
            person = entry.get("type") == "human" or entry.get("agent") == OURS
            yield entry["question_name"], _plain(entry.get("value")), person


def _plain(value: Any) -> Any:
    return value.get("value") if isinstance(value, Mapping) else value
