"""What a search tool was given and gave back, whatever its own names for queries and results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from findback.sources.traces.values import unpack

DOCUMENTS_LIMIT = 200
"""Most documents of one call whose ids are kept."""
ID_LIMIT = 4_000

_QUERY_KEYS = (
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
_DEEPEST = 8


def queries_in(arguments: Any) -> tuple[str, ...]:
    """Return the queries a tool was asked: several in one call are fan-out.

    >>> queries_in('{"query": "refund window", "k": 5}'), queries_in({"queries": ["a", "b"]}), queries_in({"k": 5})
    (('refund window',), ('a', 'b'), ())
    """
    value = unpack(arguments)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, dict):
        for key in _QUERY_KEYS:
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
