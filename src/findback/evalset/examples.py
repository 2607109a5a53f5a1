"""Data sets of tracing tools: examples with an input, an output and metadata, and no agreed place for documents."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from findback.evalset.columns import check_fields, column_names
from findback.evalset.extra import add_extra, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.jsonfile import find_entries, read_json
from findback.evalset.mapping import RowError, question_from_row
from findback.evalset.rows import Row
from findback.evalset.textfile import Faults, shown
from findback.evalset.values import look_up
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet

HELD_NOT = ("found_by", "gold texts", "unresolved gold", "context")
"""What an example cannot hold as we write it."""

_QUERY_KEYS = ("q", "message", "messages", "user_message", "topic")
_SAID = ("no_answer_reason", "wording", "language", "origin", "stratum", "cluster", "selected_on", "tags")
_ID = "findback_id"
_SHOWN_KEYS = 8


class Keys(NamedTuple):
    """Where a tool keeps what."""

    inputs: str
    outputs: tuple[str, ...]
    """The first that is there."""
    wrappers: tuple[str, ...]
    """Keys under which its answers keep the list of examples."""
    left_out: tuple[str, str] | None = None
    """A key and a value of entries that are no longer in use."""


def read_examples(path: Path, options: ReadOptions, keys: Keys, *, form: str) -> QuestionSet:
    """Return one question for each example.

    The query is the input, or what stands in it under a known name; documents stand in the output, the metadata or
    the input under a known name. Paths that the user named win: they start at the example.

    Raises:
        DataError: With every fault found.
        UsageError: If an unknown field or a bad path was named.
    """
    check_fields(options.columns)
    faults = Faults()
    file = read_json(path, faults)
    extras = read_extra(side_file(path), faults)
    found: dict[str, Question] = {}
    left_out, unlabelled, seen = 0, 0, Counter[str]()
    for number, (place, entry) in enumerate(find_entries(file, *keys.wrappers), 1):
        if keys.left_out is not None and entry.get(keys.left_out[0]) == keys.left_out[1]:
            left_out += 1
            continue
        values = _values(entry, keys, options.columns)
        columns = {field: field for field in ("query", *values)}
        try:
            question = question_from_row(Row(number, None, values), columns, options.grades)
        except RowError as error:
            for message in error.messages:
                file.fault(place, message)
            continue
        if question.judged is None and not question.gold_texts:
            unlabelled += 1
            seen.update(_keys_of(entry, keys))
        if question.id in found:
            file.fault(place, f"the id {shown(question.id)} is used twice")
            continue
        held = {field: getattr(question, field) for field in ("id", "query", *_SAID)}
        found[question.id] = add_extra(question, extras.get(question.id), held, holds="all")
    file.hand_over(faults)
    notes = [f"{left_out:,} examples left out: {keys.left_out[1].lower()}"] if left_out and keys.left_out else []
    if unlabelled and not extras:
        notes.append(_where_else(unlabelled, len(found), seen, keys))
    beside = path if extras else None
    return finish_set(path, found.values(), faults, options, form=form, notes=notes, beside=beside)


def write_examples(
    questions: QuestionSet, target: Path, rows: Iterable[Mapping[str, Any]], *, form: str, losses: Sequence[str]
) -> tuple[Path, ...]:
    """Write examples (`.json` one list, else JSON Lines) and the side file.

    Raises:
        StorageError: If the disk refuses.
    """
    if target.suffix.lower() == ".json":
        write_pieces(target, [orjson.dumps(list(rows), option=orjson.OPT_INDENT_2) + b"\n"])
    else:
        write_pieces(target, (orjson.dumps(row) + b"\n" for row in rows))
    extra = side_file(target)
    write_extra(extra, questions, lambda _, question: question.id, form=form, losses=losses)
    return target, extra


def plain_output(question: Question) -> dict[str, Any]:
    """Return what answers a question, as we write it; empty for an unlabelled one."""
    if question.judged is None:
        return {}
    documents = [
        {"id": j.doc, "grade": j.grade, "part": j.part} | ({"anchor": j.anchor} if j.anchor and j.grade else {})
        for j in question.judged
    ]
    reason = {} if question.no_answer_reason is None else {"no_answer_reason": question.no_answer_reason}
    return {"documents": documents} | reason


def plain_metadata(question: Question) -> dict[str, Any]:
    """Return what else is known of a question, as we write it."""
    said = {field: getattr(question, field) for field in _SAID if field != "no_answer_reason"}
    return {_ID: question.id} | {field: value for field, value in said.items() if value}


def _values(entry: Mapping[str, Any], keys: Keys, named: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an example under their own names."""
    given, output = entry.get(keys.inputs), next((entry[key] for key in keys.outputs if key in entry), None)
    metadata = entry.get("metadata")
    inputs, outputs, more = ({} if not isinstance(one, Mapping) else one for one in (given, output, metadata))
    values: dict[str, Any] = {"query": given if not isinstance(given, Mapping) else _query(inputs)}
    identity = more.get(_ID, entry.get("id", entry.get("example_id")))
    if identity is not None:
        values["id"] = identity
    for field in ("gold", "gold_text"):
        value = next((v for place in (outputs, more, inputs) if (v := _known(place, field)) is not None), None)
        if value is not None:
            values[field] = value
    for field in _SAID:
        value = next((place[field] for place in (outputs, more) if place.get(field) is not None), None)
        if value is not None:
            values[field] = value
    for field, path in named.items():
        values.pop(field, None)
        if path:
            values[field] = look_up(entry, path)
    return values


def _query(inputs: Mapping[str, Any]) -> Any:
    found = _known(inputs, "query")
    if found is None:
        found = next((inputs[key] for key in _QUERY_KEYS if inputs.get(key) not in (None, "")), None)
    texts = [value for value in inputs.values() if isinstance(value, str)]
    return texts[0] if found is None and len(texts) == 1 else found


def _known(place: Mapping[str, Any], field: str) -> Any:
    folded = {key.replace("-", "_").casefold(): key for key in place if isinstance(key, str)}
    for known in column_names()["fields"][field]:
        key = folded.get(known)
        if key is not None and place[key] not in (None, ""):
            return place[key]
    return None


def _keys_of(entry: Mapping[str, Any], keys: Keys) -> list[str]:
    places = [key for key in (*keys.outputs, "metadata") if isinstance(entry.get(key), Mapping)]
    return [f"$.{place}.{key}" for place in places for key in list(entry[place])[:_SHOWN_KEYS]]


def _where_else(unlabelled: int, total: int, seen: Counter[str], keys: Keys) -> str:
    listed = ", ".join(path[:80] for path, _ in seen.most_common(_SHOWN_KEYS))
    there = f"; {keys.outputs[0]} and metadata hold {listed}" if listed else ""
    return f"{unlabelled:,} of {total:,} name no document{there}: say where with --columns.gold '$…'"
