"""Values of trace records, read leniently where formats differ and refused where they make no sense."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

TEXT_LIMIT = 100_000
"""Most characters of a wording or query; what is longer is no question anybody asked."""
ANSWER_LIMIT = 200_000
"""Most characters of an assistant's answer that are kept."""
DOCUMENTS_LIMIT = 200
"""Most documents of one call whose ids are kept."""
ID_LIMIT = 4_000

QUERY_KEYS = (
    "query", "queries", "search_query", "searchQuery", "q", "question", "search", "search_term", "keywords",
    "input", "text", "pattern",
)  # fmt: skip
_RESULT_KEYS = (
    "documents", "results", "hits", "matches", "items", "chunks", "nodes", "passages", "sources", "data",
)  # fmt: skip
_COUNT_KEYS = ("n_results", "num_results", "total_results", "total_hits", "result_count", "count", "total")
_DOCUMENT_KEYS = (
    "url", "uri", "link", "source", "path", "document_id", "doc_id", "id", "file_id", "filename", "name",
)  # fmt: skip
_OFFSET_KEYS = ("offset", "start", "from", "page", "skip", "cursor_page")
_VERDICTS = dict.fromkeys(
    ("thumbs_down", "down", "negative", "bad", "dislike", "no", "false", "unhelpful", "👎", "0", "_1"), 0.0
) | dict.fromkeys(("thumbs_up", "up", "positive", "good", "like", "yes", "true", "helpful", "👍", "1"), 1.0)
_DEEPEST = 8
_OPENS = re.compile(r"\s*[{\[]")
_SECONDS = (1e8, 1e11)


class FieldError(ValueError):
    """A value is not what its field holds."""


def as_record(value: Any) -> Mapping[str, Any]:
    """Return a value that must be an object.

    Raises:
        FieldError: If it is something else.
    """
    if isinstance(value, dict):
        return value
    raise FieldError(f"an object was expected, and this is {kind_of(value)}")


def as_text(value: Any, field: str) -> str | None:
    """Return a text, or None where there is none.

    Raises:
        FieldError: If it is something else.
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FieldError(f"`{field}` must be text, and is {kind_of(value)}")


def as_list(value: Any, field: str) -> Sequence[Any]:
    """Return a list; none at all is an empty one.

    Raises:
        FieldError: If it is something else.
    """
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise FieldError(f"`{field}` must be a list, and is {kind_of(value)}")


def as_time(value: Any, field: str) -> datetime | None:
    """Return a time in UTC: ISO 8601 (no zone means UTC), or seconds, milli-, micro- or nanoseconds since 1970.

    Raises:
        FieldError: If it is no time.

    >>> as_time("2026-03-01 08:00:00.5", "t").isoformat(), as_time("1772352000000000000", "t").isoformat()
    ('2026-03-01T08:00:00.500000+00:00', '2026-03-01T08:00:00+00:00')
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise FieldError(f"`{field}` must be a time, and is {kind_of(value)}")
    try:
        if isinstance(value, str):
            text = value.strip()
            if re.fullmatch(r"\d{9,20}(\.\d{1,9})?", text) is None:
                at = datetime.fromisoformat(text.removesuffix(" UTC"))
                return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
            value = float(text) if "." in text else int(text)
        return _from_epoch(value)
    except (ValueError, OverflowError, OSError):
        raise FieldError(f"`{field}` is no time that can be read") from None


def _from_epoch(value: float) -> datetime:
    low, high = _SECONDS
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if low <= abs(value) / unit < high:
            whole, rest = divmod(value, unit)
            return datetime.fromtimestamp(int(whole), UTC).replace(microsecond=int(rest * 1_000_000 // unit))
    raise ValueError("out of range")


def as_count(value: Any, field: str) -> int | None:
    """Return a number of 0 or more, or None where there is none.

    Raises:
        FieldError: If it is something else.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, float) and value.is_integer() and 0 <= value < 1e15:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise FieldError(f"`{field}` must be a whole number of 0 or more, and is {kind_of(value)}")


def as_score(value: Any) -> float | None:
    """Return a person's score in [0, 1]: thumbs, yes and no, or a number that lies there; else None.

    >>> as_score("thumbs_down"), as_score(True), as_score(-1), as_score(4)
    (0.0, 1.0, 0.0, None)
    """
    if isinstance(value, str):
        folded = value.strip().casefold().replace("-", "_").replace(" ", "_")
        return _VERDICTS.get(folded)
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value):
        return None
    if value == -1:
        return 0.0
    return float(value) if 0 <= value <= 1 else None


def as_outcome(value: Any) -> bool | None:
    """Return whether a task succeeded, where the value plainly says so.

    >>> as_outcome("success"), as_outcome(0), as_outcome(0.5)
    (True, False, None)
    """
    if isinstance(value, str):
        folded = value.strip().casefold()
        if folded in {"true", "success", "succeeded", "correct", "resolved", "pass", "passed", "yes", "1"}:
            return True
        if folded in {"false", "failure", "failed", "incorrect", "unresolved", "fail", "no", "0"}:
            return False
        return None
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    return None


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words, without the value.

    >>> kind_of([1, 2]), kind_of(True), kind_of({})
    ('a list', 'true or false', 'an object')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, (list, tuple)) else "other data"


def unpack(value: Any) -> Any:
    """Return the JSON value a text holds; anything else, and a text that is no JSON, as it is.

    >>> unpack('{"a": 1}'), unpack("a {b}")
    ({'a': 1}, 'a {b}')
    """
    if isinstance(value, str) and _OPENS.match(value):
        try:
            return orjson.loads(value)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            return value
    return value


def look_up(record: Any, path: str) -> Any:
    """Return what stands under a dotted path; `a | b` takes the first that is there. A key may hold dots itself.

    >>> look_up({"a": {"b": 1}, "c.d": 2}, "x | a.b"), look_up({"a": {"b": 1}, "c.d": 2}, "c.d")
    (1, 2)
    """
    for way in path.split("|"):
        found = _walk(record, way.strip())
        if found is not None:
            return found
    return None


def _walk(record: Any, path: str) -> Any:
    if isinstance(record, dict) and path in record:
        return record[path]
    at = unpack(record)
    for key in path.split("."):
        if isinstance(at, dict):
            at = at.get(key)
        elif isinstance(at, (list, tuple)) and re.fullmatch(r"-?\d{1,6}", key) and -len(at) <= int(key) < len(at):
            at = at[int(key)]
        else:
            return None
        at = unpack(at)
    return at


def queries_in(arguments: Any) -> tuple[str, ...]:
    """Return the queries a tool was asked: several in one call are fan-out.

    >>> queries_in('{"query": "refund window", "k": 5}'), queries_in({"queries": ["a", "b"]}), queries_in({"k": 5})
    (('refund window',), ('a', 'b'), ())
    """
    value = unpack(arguments)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, dict):
        for key in QUERY_KEYS:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return (found,)
            if isinstance(found, (list, tuple)):
                texts = tuple(entry for entry in found if isinstance(entry, str) and entry.strip())
                if texts:
                    return texts
        # Calls are wrapped once or twice: {"input": {"query": …}}, {"kwargs": {…}}.
        for key in ("input", "kwargs", "args", "arguments", "params", "request"):
            inner = value.get(key)
            if isinstance(inner, dict):
                return queries_in(dict(list(inner.items())[:50]))
    return ()


def offset_in(arguments: Any) -> int | None:
    """Return the offset or page a tool was asked for, or None."""
    value = unpack(arguments)
    if isinstance(value, dict):
        for key in _OFFSET_KEYS:
            found = value.get(key)
            if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
                return found
    return None


def results_in(value: Any) -> int | None:
    """Return how many results a tool's answer holds; None where it does not say, which is not 0.

    >>> results_in('{"results": []}'), results_in([{"id": "a"}]), results_in("No manual covers this.")
    (0, 1, None)
    """
    rows = _rows(value, 0)
    if isinstance(rows, int):
        return rows
    return None if rows is None else len(rows)


def documents_in(value: Any) -> tuple[str, ...]:
    """Return the ids or addresses of the results in a tool's answer, best first, without repeats.

    >>> documents_in([{"id": "7", "metadata": {"source": "docs/refunds.md"}}, {"id": "8"}, "plain text"])
    ('docs/refunds.md', '8')
    """
    rows = _rows(value, 0)
    if rows is None or isinstance(rows, int):
        return ()
    found = (document_of(row) for row in rows[:DOCUMENTS_LIMIT])
    return tuple(dict.fromkeys(document for document in found if document))


def document_of(row: Any) -> str | None:
    """Return the id or address of one result, or None."""
    row = unpack(row)
    if not isinstance(row, dict):
        return None
    for inner in ("metadata", "document", "kwargs", "_source"):
        nested = unpack(row.get(inner))
        if isinstance(nested, dict):
            found = _named(nested, _DOCUMENT_KEYS[:7]) or (document_of(nested) if inner == "kwargs" else None)
            if found:
                return found
    return _named(row, _DOCUMENT_KEYS)


def _named(row: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = row.get(key, row.get(f"document.{key}"))
        if isinstance(value, str) and value.strip() and len(value) <= ID_LIMIT:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _rows(value: Any, depth: int) -> Sequence[Any] | int | None:
    """Return the results of an answer, their number alone, or None where it holds no list of results."""
    value = unpack(value)
    if depth > _DEEPEST:
        return None
    if isinstance(value, (list, tuple)):
        blocks = list(_blocks(value))
        return _rows(blocks[0], depth + 1) if len(blocks) == 1 and len(value) == 1 else None if blocks else value
    if isinstance(value, dict):
        return _rows_of_object(value, depth)
    return None


def _rows_of_object(value: Mapping[str, Any], depth: int) -> Sequence[Any] | int | None:
    for key in ("structuredContent", "structured_content"):
        if value.get(key) is not None:
            return _rows(value[key], depth + 1)
    for key in _RESULT_KEYS:
        inner = unpack(value.get(key))
        if isinstance(inner, (list, tuple)):
            return inner
        if isinstance(inner, dict):
            return _rows(inner, depth + 1)
    for key in _COUNT_KEYS:
        count = value.get(key)
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            return count
    for key in ("content", "output", "result", "response", "value", "kwargs"):
        if value.get(key) is not None:
            return _rows(value[key], depth + 1)
    return None


def _blocks(value: Sequence[Any]) -> Iterator[Any]:
    """Yield the texts of a list that holds content blocks, as messages and MCP answers do, not results."""
    for entry in value:
        if isinstance(entry, dict) and entry.get("type") in ("text", "output_text") and "text" in entry:
            yield entry["text"]
