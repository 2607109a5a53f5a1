"""Retrieval calls of any system, by a mapping: JSON, JSON Lines, CSV, Parquet or a query."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast, get_args

from findback.model.thread import Audience
from findback.model.turn import RetrievalCall
from findback.sources.answer import Answer
from findback.sources.columns import split_places
from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading, make_calls
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.feedback import as_outcome, as_score
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.mapping import Mapped, load_mapping
from findback.sources.traces.payloads import ID_LIMIT, document_of
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.values import FieldError, as_count, as_list, as_record, as_text, as_time, unpack

name = "retrieval-calls"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")


_MARKERS = ("x-findback", "X-Findback", "x_findback", "user_agent")


def recognise(path: Path) -> str | None:
    """Return which fields were taken for what, or None where nothing looks like a retrieval call."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading. Rows that share a turn, or a conversation and a wording in a row, are one turn."""
    return begin_reading(name, path, options, _gather)


def expect(answer: Answer, options: SourceOptions) -> None:
    """Check that the query has the columns that the mapping names, and one that says what was searched for.

    Raises:
        SettingsError: If it has not.
        EngineError: If the database does not answer.
    """
    mapping, given = load_mapping(name, options.mapping), options.mapping or {}
    paths = {field: split_places(path) for field, path in mapping.paths.items()}
    searched = [path for field in ("query", "arguments", "calls") for path in paths.get(field, ())]
    answer.expect(
        {field: split_places(path) for field, path in given.items()},
        {"query, arguments or calls": searched},
        (*paths.get("at", ()), *paths.get("ended", ())),
    )


def read_answer(answer: Answer, options: SourceOptions) -> Reading:
    """Begin reading the rows of a query, as `read` does those of a file.

    Raises:
        SettingsError: If the query has not the columns that the mapping names.
        EngineError: If the database fails.
    """
    expect(answer, options)
    return begin_reading(name, answer, options, _gather)


def _looks(look: Look) -> str | None:
    mapping = load_mapping(name)
    if {"format", "n_results", "session"} <= set(look.columns):
        return None
    row = look.record if isinstance(look.record, dict) else dict.fromkeys(look.columns, "x")
    found = {field: mapping.find(row, field) for field in ("text", "query", "tool", "calls", "turn", "documents")}
    asked = found["query"] is not None or isinstance(found["calls"], list)
    told = found["tool"] is not None or found["turn"] is not None or isinstance(found["calls"], list)
    if asked and told and (found["text"] is not None or found["tool"] is not None):
        return f"retrieval calls ({', '.join(field for field, value in found.items() if value is not None)})"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    mapping = load_mapping(name, gathering.options.mapping)
    drafts: dict[str, Draft] = {}
    latest: dict[str, Draft] = {}

    def take(record: TraceRecord) -> None:
        row = as_record(record.value)
        given = _Row(row, mapping)
        draft = _turn(given, record, drafts, latest)
        calls = as_list(unpack(given.find("calls")), mapping.paths.get("calls", "calls"))
        entries = [as_record(unpack(entry)) for entry in calls] or [row]
        for number, entry in enumerate(entries):
            identity = f"{record.key}.{number}"
            draft.calls += _calls(_Row(entry, mapping), identity, draft, gathering, own=bool(calls))

    gathering.each(take)
    return list(drafts.values())


class _Row:
    """A record read by its mapping."""

    def __init__(self, row: Mapping[str, Any], mapping: Mapped) -> None:
        self._row = row
        self._mapping = mapping

    def find(self, field: str) -> Any:
        return self._mapping.find(self._row, field)

    def text(self, field: str) -> str | None:
        return as_text(self.find(field), self._label(field))

    def time(self, field: str) -> datetime | None:
        return as_time(self.find(field), self._label(field))

    def count(self, field: str) -> int | None:
        return as_count(self.find(field), self._label(field))

    def is_marked(self) -> bool:
        return is_marked({field: self._row.get(field) for field in _MARKERS})

    def _label(self, field: str) -> str:
        return self._mapping.paths.get(field, field)


def _turn(given: _Row, record: TraceRecord, drafts: dict[str, Draft], latest: dict[str, Draft]) -> Draft:
    conversation = given.text("conversation")
    text = given.text("text")
    key = given.text("turn")
    before = latest.get(conversation) if conversation is not None else None
    if key is None and before is not None and (text is None or before.text == text):
        return before
    identity = key if key is not None else record.key
    whole = f"{conversation or ''}\0{identity}" if key is not None else identity
    draft = drafts.get(whole)
    if draft is None:
        draft = Draft(
            id=identity,
            conversation=conversation,
            user=given.text("user"),
            text=text,
            at=given.time("at"),
            system=given.text("system"),
            project=given.text("project"),
            audience=_audience(given.text("audience")),
            place=record.place,
        )
        drafts[whole] = draft
    draft.text = draft.text or text
    draft.answer = given.text("answer") or draft.answer
    outcome, score = as_outcome(given.find("outcome")), as_score(given.find("feedback"))
    draft.outcome = draft.outcome if outcome is None else outcome
    draft.feedback = draft.feedback if score is None else score
    draft.gold = draft.gold or _names(given.find("gold"))
    draft.multi_part = as_outcome(given.find("multi_part")) or draft.multi_part
    draft.marked = draft.marked or is_marked(unpack(given.find("marker"))) or given.is_marked()
    if conversation is not None:
        latest[conversation] = draft
    return draft


def _calls(given: _Row, identity: str, draft: Draft, gathering: Gathering, *, own: bool) -> list[RetrievalCall]:
    query, arguments = given.text("query"), given.find("arguments")
    if query is None and arguments is None and not own and given.find("tool") is None:
        return []
    failed = given.find("failed")
    documents = _names(given.find("documents"))
    count = given.count("n_results")
    return make_calls(
        gathering.tools,
        key=given.text("id") or identity,
        tool=given.text("tool") or draft.system or "search",
        mark="retriever",
        arguments=arguments,
        queries=(query,) if query else None if arguments is not None else (),
        answer=unpack(given.find("results")),
        results=count if count is not None else (len(documents) or None),
        documents=documents,
        started=given.time("at"),
        ended=given.time("ended"),
        batch=given.text("batch"),
        failed=failed not in (None, False, "", 0, "false", "0"),
    )


def _names(value: Any) -> tuple[str, ...]:
    """Return ids of documents from a list of them, of objects, or one text with `;` or lines between."""
    value = unpack(value)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [part.strip() for part in value.replace("\n", ";").split(";")]
    if not isinstance(value, (list, tuple)):
        raise FieldError("documents must be a list of ids")
    names = [entry if isinstance(entry, str) else document_of(entry) or "" for entry in value[:1_000]]
    return tuple(dict.fromkeys(found for found in names if 0 < len(found) <= ID_LIMIT))


def _audience(named: str | None) -> Audience:
    if named is None:
        return "private"
    if named not in get_args(Audience):
        raise FieldError(f"an audience must be one of {', '.join(get_args(Audience))}")
    return cast("Audience", named)
