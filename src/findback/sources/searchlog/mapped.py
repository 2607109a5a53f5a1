"""Search logs that a mapping file describes: products with a fixed shape, and whatever a team has."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from findback.errors import UsageError
from findback.sources.answer import Answer
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.searchlog.engines import closed_on_error, load_events, open_duckdb
from findback.sources.searchlog.events import KINDS, Event, EventKind, digest_of
from findback.sources.searchlog.mapping import LogMapping, Paths, load_mapping
from findback.sources.searchlog.paths import compile_path
from findback.sources.searchlog.records import Findings, list_files, peek, peek_lines, read_lines, read_records
from findback.sources.searchlog.scope import Raw, in_scope
from findback.sources.searchlog.times import read_time
from findback.sources.searchlog.warehouse import has_columns, read_flat_file

_DIGESTED = frozenset({"session", "client", "person"})
_NUMBERS = frozenset({"n_results", "position", "asked", "clicks"})
_PLAIN = (".log", ".txt", "")


class MappedSource:
    """Reads logs by one shipped mapping file, with a user's columns over it."""

    family: Family = "searchlog"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def mapping(self) -> LogMapping:
        """Return the shipped mapping."""
        return load_mapping(self.name)

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the rules the mapping supports as shipped."""
        return self.mapping.rules

    def recognise(self, path: Path) -> str | None:
        """Return why a file or folder fits the mapping, or None."""
        mapping = self.mapping
        files = [path] if path.is_file() else list_files(path) if path.is_dir() else []
        for file in files[:5]:
            if mapping.line is not None:
                if _has_lines(file, mapping):
                    return f"lines of {file.name} look like {mapping.title}"
            elif mapping.recognise:
                records = peek(file)
                if records and all(any(_present(record, p) for record in records) for p in mapping.recognise):
                    return f"{file.name} has {', '.join(mapping.recognise)} ({mapping.title})"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Load the events into a table.

        Raises:
            DataError: If records cannot be read and bad ones are not skipped.
            MissingError: If nothing is there.
            UsageError: If the user's columns or actions make no sense.
        """
        mapping = self._mapping(options)
        if self.mapping.by_query and options.mapping and has_columns(path, options.mapping.values()):
            # A flat table whose columns the user names needs no loading.
            return read_flat_file(path, options.mapping, options)
        return _load(mapping, path, options)

    def expect(self, answer: Answer, options: SourceOptions) -> None:
        """Check that the query has the columns that the mapping names, and the time and what was typed.

        Raises:
            SettingsError: If it has not.
            EngineError: If the database does not answer.
            UsageError: If the user's columns make no sense.
        """
        mapping = self._mapping(options)
        time, query = _places(mapping.time.path if mapping.time else ()), _places(mapping.columns.get("query", ()))
        needed = {"query": query} if "asked" in mapping.columns else {"time": time, "query": query}
        answer.expect({name: (path,) for name, path in (options.mapping or {}).items()}, needed, time)

    def read_answer(self, answer: Answer, options: SourceOptions) -> Reading:
        """Load the rows of a query into a table.

        Raises:
            SettingsError: If the query has not the columns that the mapping names.
            DataError: If rows cannot be read and bad ones are not skipped.
            RefusedError: If there are more than may be read.
            EngineError: If the database fails.
        """
        with answer:
            self.expect(answer, options)
            return _load(self._mapping(options), answer, options)

    def _mapping(self, options: SourceOptions) -> LogMapping:
        return self.mapping.with_columns(options.mapping or {})


def _load(mapping: LogMapping, place: Path | Answer, options: SourceOptions) -> Reading:
    reading = Reading()
    findings = Findings(reading.skipped, skip_bad=options.skip_bad, rows=isinstance(place, Answer))
    log = _MappedLog(mapping, options, findings)
    raws = log.raws_of_rows(place) if isinstance(place, Answer) else log.raws(place)
    connection = open_duckdb(options.scratch, threads=options.threads, memory=options.memory)
    with closed_on_error(connection):
        reading.table = load_events(connection, in_scope(raws, options, reading.skipped), reading.skipped)
        findings.settle(str(place.path if isinstance(place, Answer) else place))
    if mapping.note:
        reading.notes.append(mapping.note)
    return reading


def _places(paths: Paths) -> tuple[str, ...]:
    return (paths,) if isinstance(paths, str) else paths


class _MappedLog:
    """The records of one log on their way to events."""

    def __init__(self, mapping: LogMapping, options: SourceOptions, findings: Findings) -> None:
        self.mapping = mapping
        self.findings = findings
        self.actions = dict(options.actions or {})
        for action, kind in self.actions.items():
            if kind not in KINDS:
                raise UsageError(f"the action {action!r} cannot be a {kind!r}", hint=f"kinds are {', '.join(KINDS)}")
        self.aggregated = "asked" in mapping.columns

    def raws(self, path: Path) -> Iterator[Raw]:
        """Yield the events of a file or folder."""
        for file in list_files(path):
            for place, record in self._records(file):
                raw = self._raw(record, file, place)
                if raw is not None:
                    yield raw

    def raws_of_rows(self, answer: Answer) -> Iterator[Raw]:
        """Yield the events of a query's rows."""
        for row in answer.rows():
            raw = self._raw(row.values, answer.path, row.number)
            if raw is not None:
                yield raw

    def _records(self, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        if self.mapping.line is None:
            yield from read_records(file, self.findings)
            return
        pattern = re.compile(self.mapping.line)
        for number, line in read_lines(file, self.findings):
            match = pattern.search(line)
            if match is None:
                self.findings.skipped.add("lines of another shape")
            else:
                yield number, match.groupdict()

    def _raw(self, record: dict[str, Any], file: Path, place: int) -> Raw | None:
        mapping = self.mapping
        for skip in mapping.skip:
            if skip.holds(record):
                self.findings.skipped.add(skip.reason)
                return None
        kind = self._kind(record)
        if kind is None:
            self.findings.skipped.add("neither searches nor clicks")
            return None
        time = None
        if mapping.time is not None:
            time = read_time(_first(record, mapping.time.path), unit=mapping.time.unit, layout=mapping.time.layout)
        if time is None and not self.aggregated:
            self.findings.fault(file, place, "the time is missing or is no time")
            return None
        values = {name: self._column(record, name, paths) for name, paths in mapping.columns.items()}
        for put in mapping.put:
            if put.holds(record):
                values[put.column] = put.value
        if kind == "search" and values.get("query") is None:
            values["query"] = ""
        values.pop("kind", None)
        values["event_id"] = values.get("event_id") or digest_of(_whole(record)) or ""
        event = Event(**{"time": time, "kind": kind, **values, "file": str(file), "offset": place})
        program = _first(record, mapping.program)
        return Raw(event, program if isinstance(program, str) else None, any(t.holds(record) for t in mapping.marked))

    def _kind(self, record: dict[str, Any]) -> EventKind | None:
        named = self.mapping.columns.get("kind")
        if named is not None:
            action = str(_first(record, named) or "")
            kind = self.actions.get(action, action if action in KINDS else None)
            if kind is not None:
                return kind  # type: ignore[return-value]
        for test in self.mapping.kinds:
            if all(each.holds(record) for each in test.all):
                return test.kind
        if self.mapping.by_query and _first(record, self.mapping.columns["query"]) is not None:
            return "search"
        return self.mapping.otherwise

    def _column(self, record: dict[str, Any], name: str, paths: Paths) -> Any:
        if name == "event_id":
            parts = [paths] if isinstance(paths, str) else list(paths)
            found = [_as_text(compile_path(part)(record)) for part in parts]
            joined = "\n".join(text or "" for text in found)
            return (found[0] if len(found) == 1 else digest_of(joined)) if any(found) else None
        return _as(name, _first(record, paths))


def _as(name: str, value: Any) -> Any:
    """Return a value as its column holds it."""
    if name in _NUMBERS or name == "size_zero":
        number = len(value) if name == "n_results" and isinstance(value, list) else _as_number(value)
        return number == 0 if name == "size_zero" else number
    text = _as_text(value)
    return digest_of(text) if name in _DIGESTED else text


def _first(record: Any, paths: Paths) -> Any:
    """Return the value at the first path that has one."""
    for path in (paths,) if isinstance(paths, str) else paths:
        value = compile_path(path)(record)
        if value is not None and value != "":
            return value
    return None


def _present(record: dict[str, Any], path: str) -> bool:
    return compile_path(path)(record) is not None


def _as_text(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value)


def _as_number(value: Any) -> int | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, bool) or value is None:
        return None
    with suppress(ValueError, TypeError, OverflowError):
        return int(float(value))
    return None


def _whole(record: dict[str, Any]) -> str:
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str).decode()


def _has_lines(file: Path, mapping: LogMapping) -> bool:
    if file.suffix.lower() not in _PLAIN or mapping.line is None:
        return False
    lines = peek_lines(file)
    shaped = any(re.search(mapping.line, line) for line in lines)
    return shaped and (mapping.search_line is None or any(re.search(mapping.search_line, line) for line in lines))


ga4 = MappedSource("ga4")
algolia = MappedSource("algolia")
algolia_analytics = MappedSource("algolia-analytics")
elastic = MappedSource("elastic")
solr = MappedSource("solr")
nginx = MappedSource("nginx")
searches = MappedSource("searches")
