"""Spans as OpenTelemetry writes them to files: OTLP JSON, or what the SDKs print."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time

_DEEPEST = 20
_VALUE_KEYS = ("stringValue", "intValue", "boolValue", "doubleValue", "bytesValue")


@dataclass(slots=True, kw_only=True)
class OtelSpan:
    """One span with plain values."""

    trace: str
    id: str
    parent: str | None
    name: str
    started: datetime | None
    ended: datetime | None
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    service: str | None = None
    failed: bool = False
    marked: bool = False


def is_otlp(record: Any) -> bool:
    """Say whether a record is an export request of OTLP, or a span as an SDK prints it."""
    if not isinstance(record, dict):
        return False
    return any(isinstance(record.get(key), list) for key in ("resourceSpans", "resource_spans")) or (
        isinstance(record.get("context"), dict) and "trace_id" in record["context"] and "resource" in record
    )


def spans_of(record: Any) -> Iterator[OtelSpan | str]:
    """Yield the spans of a record; a text says what is wrong with one and where it stands.

    Raises:
        FieldError: If the record is no export request and no span.
    """
    request = as_record(record)
    resources = request.get("resourceSpans", request.get("resource_spans"))
    if resources is None:
        if "context" not in request:
            raise FieldError("neither `resourceSpans` nor a span's `context` is there")
        yield _printed(request)
        return
    for place, resource, scopes in _levels(resources, "resourceSpans", ("scopeSpans", "scope_spans")):
        if isinstance(resource, str):
            yield f"{place}: {resource}"
            continue
        attributes = attributes_of(as_record(resource.get("resource") or {}).get("attributes"))
        service, marked = _service(attributes), is_marked(attributes)
        for inner, scope, spans in _levels(scopes, f"{place}.scopeSpans", ("spans",)):
            if isinstance(scope, str):
                yield f"{inner}: {scope}"
                continue
            for number, entry in enumerate(spans):
                try:
                    yield _span(as_record(entry), service, marked=marked)
                except FieldError as fault:
                    yield f"{inner}.spans[{number}]: {fault}"


def attributes_of(value: Any) -> dict[str, Any]:
    """Return attributes with plain values, from OTLP's list of keys and values or from an object.

    Raises:
        FieldError: If it is neither.
    """
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if isinstance(key, str)}
    found = {}
    for entry in as_list(value, "attributes"):
        pair = as_record(entry)
        key = as_text(pair.get("key"), "key")
        if key is not None:
            found[key] = _plain(pair.get("value"), 0)
    return found


def _levels(value: Any, name: str, inner: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
    for number, entry in enumerate(as_list(value, name)):
        place = f"{name}[{number}]"
        try:
            record = as_record(entry)
            members = as_list(next((record[key] for key in inner if key in record), None), inner[0])
        except FieldError as fault:
            yield place, str(fault), ()
            continue
        yield place, record, members


def _span(entry: Mapping[str, Any], service: str | None, *, marked: bool) -> OtelSpan:
    trace = as_text(entry.get("traceId", entry.get("trace_id")), "traceId")
    identity = as_text(entry.get("spanId", entry.get("span_id")), "spanId")
    if trace is None or identity is None:
        raise FieldError("`traceId` and `spanId` must be there")
    attributes = attributes_of(entry.get("attributes"))
    status = entry.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    return OtelSpan(
        trace=trace,
        id=identity,
        parent=as_text(entry.get("parentSpanId", entry.get("parent_span_id")), "parentSpanId"),
        name=as_text(entry.get("name"), "name") or "",
        started=as_time(_nonzero(entry.get("startTimeUnixNano", entry.get("start_time_unix_nano"))), "startTime"),
        ended=as_time(_nonzero(entry.get("endTimeUnixNano", entry.get("end_time_unix_nano"))), "endTime"),
        attributes=attributes,
        events=_events(entry.get("events")),
        service=service,
        failed=code in (2, "STATUS_CODE_ERROR", "ERROR"),
        marked=marked or is_marked(attributes),
    )


def _printed(entry: Mapping[str, Any]) -> OtelSpan:
    """Return a span as the SDKs' console exporter prints it.

    Raises:
        FieldError: If it is none.
    """
    context = as_record(entry.get("context"))
    trace = as_text(context.get("trace_id"), "trace_id")
    identity = as_text(context.get("span_id"), "span_id")
    if trace is None or identity is None:
        raise FieldError("`trace_id` and `span_id` must be there")
    resource = entry.get("resource")
    around = attributes_of(resource.get("attributes")) if isinstance(resource, dict) else {}
    attributes = attributes_of(entry.get("attributes"))
    status = entry.get("status")
    return OtelSpan(
        trace=trace.removeprefix("0x"),
        id=identity.removeprefix("0x"),
        parent=(as_text(entry.get("parent_id"), "parent_id") or "").removeprefix("0x") or None,
        name=as_text(entry.get("name"), "name") or "",
        started=as_time(entry.get("start_time"), "start_time"),
        ended=as_time(entry.get("end_time"), "end_time"),
        attributes=attributes,
        events=_events(entry.get("events")),
        service=_service(around),
        failed=isinstance(status, dict) and status.get("status_code") == "ERROR",
        marked=is_marked(attributes) or is_marked(around),
    )


def _events(value: Any) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for entry in as_list(value, "events"):
        event = as_record(entry)
        found.append((as_text(event.get("name"), "name") or "", attributes_of(event.get("attributes"))))
    return found


def _service(resource: Mapping[str, Any]) -> str | None:
    for key in ("openinference.project.name", "service.name"):
        value = resource.get(key)
        if isinstance(value, str) and value and not value.startswith("unknown_service"):
            return value
    return None


def _nonzero(value: Any) -> Any:
    return None if value in (0, "0") else value


def _whole(value: Any) -> Any:
    """Return an integer, which OTLP writes as text."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value) else value


def _plain(value: Any, depth: int) -> Any:
    """Return the value of an AnyValue; integers come as text there."""
    if depth > _DEEPEST:
        raise FieldError(f"an attribute nests deeper than {_DEEPEST} levels")
    if not isinstance(value, dict):
        return value
    for key in _VALUE_KEYS:
        if key in value:
            plain = value[key]
            is_number = (
                key == "intValue" and isinstance(plain, str) and plain.lstrip("-").isdecimal() and len(plain) < 20
            )
            return int(plain) if is_number else plain
    if "arrayValue" in value:
        inner = as_record(value["arrayValue"] or {})
        return [_plain(entry, depth + 1) for entry in as_list(inner.get("values"), "values")]
    if "kvlistValue" in value:
        pairs = as_list(as_record(value["kvlistValue"] or {}).get("values"), "values")
        found = {}
        for entry in pairs:
            pair = as_record(entry)
            found[str(pair.get("key"))] = _plain(pair.get("value"), depth + 1)
        return found
    return None
