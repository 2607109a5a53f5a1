"""OpenSearch UBI 1.3: queries and events, as bulk lines, JSON Lines, JSON or search answers.

A query id is not unique to a row: facet requests and type-ahead share it. A query without
`query_response_hit_ids` has unknown results; only an empty list means none.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import orjson

from findback.errors import UsageError
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.searchlog.engines import closed_on_error, filled_columns, load_events, open_duckdb
from findback.sources.searchlog.events import KINDS, Event, digest_of
from findback.sources.searchlog.records import LINED, Findings, list_files, peek, read_records
from findback.sources.searchlog.scope import Raw, in_scope, is_marked
from findback.sources.searchlog.times import read_time

ACTIONS = {
    "click": "click",
    "item_click": "click",
    "view": "click",
    "watch": "click",
    "add_to_cart": "click",
    "purchase": "click",
    "impression": "impression",
    "view_search_results": "impression",
    "search": "search",
    "on_search": "search",
}
"""What the actions of the schema, and some seen beside it, mean; all others mean nothing here."""

_ECHO = "echo"
_SUFFIXES = (*LINED, ".json")


class UbiSource:
    """Reads a file of UBI queries and events, or a folder of such files."""

    name = "ubi"
    family: Family = "searchlog"
    rules: tuple[str, ...] = ("zero-result", "no-click", "reformulation", "search-then-ask")

    def recognise(self, path: Path) -> str | None:
        """Return why a file or folder holds UBI records, or None."""
        files = [path] if path.is_file() else list_files(path, _SUFFIXES) if path.is_dir() else []
        for file in files[:5]:
            if file.suffix.lower() not in _SUFFIXES:
                continue
            for fields in peek(file):
                if "user_query" in fields and ("query_id" in fields or "query_response_id" in fields):
                    return f"{file.name} holds UBI queries (user_query, query_id)"
                if "action_name" in fields and ("event_attributes" in fields or "query_id" in fields):
                    return f"{file.name} holds UBI events (action_name, query_id)"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Load the events into a table.

        Raises:
            DataError: If records cannot be read and bad ones are not skipped.
            MissingError: If nothing is there.
            UsageError: If an action is mapped to a kind that is none.
        """
        reading = Reading()
        findings = Findings(reading.skipped, skip_bad=options.skip_bad)
        log = _UbiLog(options, findings)
        connection = open_duckdb(options.scratch, threads=options.threads, memory=options.memory)
        with closed_on_error(connection):
            table = load_events(connection, in_scope(log.raws(path), options, reading.skipped), reading.skipped)
            findings.settle(str(path))
        reading.table = filled_columns(_settle_echoes(table, queries=log.queries))
        reading.notes += log.notes()
        return reading


class _UbiLog:
    """The records of one export on their way to events."""

    def __init__(self, options: SourceOptions, findings: Findings) -> None:
        self.actions = {**ACTIONS, **_checked(options.actions or {})}
        self.findings = findings
        self.seen: Counter[tuple[str, str]] = Counter()
        self.queries = 0
        self.results_unknown = 0

    def raws(self, path: Path) -> Iterator[Raw]:
        for file in list_files(path, _SUFFIXES):
            header: str | None = None
            for place, fields in read_records(file, self.findings):
                if (bulk := _bulk_id(fields)) is not None:
                    header = bulk or None
                    continue
                own = fields.get("_id") or header
                header = None
                raw = self._raw(fields, file, place, str(own) if own else None)
                if raw is not None:
                    yield raw

    def _raw(self, fields: dict[str, Any], file: Path, place: int, own: str | None) -> Raw | None:
        is_event = "action_name" in fields
        if not is_event and "user_query" not in fields:
            self.findings.skipped.add("records that are neither a UBI query nor an event")
            return None
        time = read_time(fields.get("timestamp"))
        if time is None:
            self.findings.fault(file, place, "timestamp is missing or is no time")
            return None
        client = _text(fields.get("client_id"))
        shape = self._event if is_event else self._query
        event = shape(fields, time, own or _digest_of(fields))._replace(
            client=digest_of(client), application=_text(fields.get("application")), file=str(file), offset=place
        )
        attributes = fields.get("event_attributes" if is_event else "query_attributes")
        program = client if attributes is None else (_text(_at(attributes, "browser")) or client)
        return Raw(event, program, is_marked(attributes) or is_marked(fields))

    def _query(self, fields: dict[str, Any], time: datetime, own: str) -> Event:
        self.queries += 1
        hits = fields.get("query_response_hit_ids")
        known = isinstance(hits, list)
        self.results_unknown += not known
        return Event(
            time=time,
            kind="search",
            event_id=own,
            query_id=_text(fields.get("query_id")),
            query=_text(fields.get("user_query")) or "",
            n_results=len(hits) if known else None,  # type: ignore[arg-type]
            size_zero=_asks_for_nothing(fields.get("query")),
        )

    def _event(self, fields: dict[str, Any], time: datetime, own: str) -> Event:
        action = str(fields["action_name"])
        kind = self.actions.get(action, "other")
        self.seen[(action, kind)] += 1
        attributes = fields.get("event_attributes")
        ordinal = _at(attributes, "position", "ordinal")
        ordinal = _at(ordinal, "ordinal") if isinstance(ordinal, dict) else ordinal
        shown = _at(attributes, "object", "object_id")
        return Event(
            time=time,
            kind=_ECHO if kind == "search" else kind,  # type: ignore[arg-type]
            event_id=own,
            session=digest_of(_text(fields.get("session_id")) or _text(_at(attributes, "session_id"))),
            person=digest_of(_text(fields.get("user_id"))),
            query_id=_text(fields.get("query_id")),
            query=_text(fields.get("user_query")) or (_text(fields.get("message")) if kind == "search" else None),
            document=None if shown is None else str(shown),
            position=ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else None,
        )

    def notes(self) -> list[str]:
        """Return what a person should know about this log."""
        notes = []
        if self.seen:
            listed = ", ".join(
                f"{action} {count:,}{'' if kind == 'other' else f' ({kind})'}"
                for (action, kind), count in self.seen.most_common(20)
            )
            notes.append(f"actions: {listed}")
        if not self.queries and self.seen:
            notes.append("no query records: searches are taken from events, and how many results they had is unknown")
        if self.results_unknown:
            notes.append(f"{self.results_unknown:,} of {self.queries:,} query records do not say what they returned")
        return notes


def _settle_echoes(table: Any, *, queries: int) -> Any:
    """Return the table with search events as searches only where no query records tell of them."""
    return table.mutate(
        kind=ibis.ifelse(table["kind"] == _ECHO, "other" if queries else "search", table["kind"]),
    )


def _bulk_id(fields: dict[str, Any]) -> str | None:
    """Return the id in a bulk action line, empty when it has none; None for any other record."""
    if len(fields) != 1:
        return None
    action = fields.get("index") or fields.get("create")
    return str(action.get("_id") or "") if isinstance(action, dict) and "_index" in action else None


def _digest_of(fields: dict[str, Any]) -> str:
    """Return an id made from the whole record, so that it is the same in every export."""
    return digest_of(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()) or ""


def _asks_for_nothing(query: object) -> bool:
    """Return whether an engine request, as text or object, has size 0."""
    if isinstance(query, str):
        if '"size"' not in query:
            return False
        try:
            query = json.loads(query)
        except (ValueError, RecursionError):
            return False
    return isinstance(query, dict) and query.get("size") == 0


def _at(value: object, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _checked(actions: Mapping[str, str]) -> Mapping[str, str]:
    """Return an action map whose kinds all exist.

    Raises:
        UsageError: If one does not.
    """
    for action, kind in actions.items():
        if kind not in KINDS:
            raise UsageError(f"the action {action!r} cannot be a {kind!r}", hint=f"kinds are {', '.join(KINDS)}")
    return actions


source = UbiSource()
