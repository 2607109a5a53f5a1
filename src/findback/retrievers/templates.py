"""Templates of requests: `{{query}}`, `{{k}}`, `{{context.…}}`, escaped by where they stand."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

import orjson

from findback.errors import SettingsError
from findback.model.case import Context
from findback.model.protocols import Query
from findback.retrievers.context import FIELDS, UnhonouredError

_PLACE = re.compile(r"\{\{\s*([^{}|]+?)\s*(?:\|([^{}]*))?\}\}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NAME = re.compile(r"query|k|id|context\.(?:locale|audience|as_of|turns|filters(?:\.[^.\s]+)?)")

Values = Mapping[str, Any]


def values_of(query: Query, k: int) -> dict[str, Any]:
    """Return what stands for each name when a query is asked."""
    return {"query": query.text, "k": k, **context_values(query.context)}


def context_values(context: Context | None) -> dict[str, Any]:
    """Return what stands for the name of each field of a context."""
    context = context or Context()
    values: dict[str, Any] = {f"context.{field}": getattr(context, field) for field in FIELDS}
    for name, value in (context.filters or {}).items():
        values[f"context.filters.{name}"] = value
    return values


def list_names(templates: Iterable[Any]) -> frozenset[str]:
    """Return the names that templates use; tables and lists are looked into."""
    return frozenset(match[1] for text in _strings(templates) for match in _PLACE.finditer(text))


def check_names(templates: Any, *, allowed: Callable[[str], bool], where: str) -> None:
    """Raise SettingsError where a template names something that does not exist there."""
    for name in sorted(list_names([templates])):
        if not _NAME.fullmatch(name) or not allowed(name):
            raise SettingsError(
                f"{where}: nothing is known by the name {{{{{name}}}}}",
                hint="known: {{query}}, {{k}}, {{context.locale}}, {{context.filters.NAME}}, {{context.audience}}, "
                "{{context.as_of}}, {{context.turns}}; {{id}} in `exists` and `fetch`",
            )


def honoured_fields(names: Iterable[str]) -> frozenset[str]:
    """Return the fields of a context that templates with these names hand on."""
    return frozenset(name.split(".")[1] for name in names if name.startswith("context."))


def check_filters(query: Query, names: frozenset[str]) -> None:
    """Raise UnhonouredError where a question has a filter that no template hands on."""
    if query.context is None or "context.filters" in names:
        return
    lacking = sorted(name for name in query.context.filters or {} if f"context.filters.{name}" not in names)
    if lacking:
        raise UnhonouredError(f"cannot honour filters {', '.join(lacking)}")


def fill_address(template: str, values: Values) -> str:
    """Return an address with every value percent-encoded."""
    return _PLACE.sub(lambda match: quote(_text(_value(match, values)), safe=""), template)


def fill_form(template: str, values: Values) -> bytes:
    """Return a form body with every value percent-encoded."""
    return fill_address(template, values).encode()


def fill_text(template: str, values: Values) -> bytes:
    """Return a plain body with the values as they are."""
    return _PLACE.sub(lambda match: _text(_value(match, values)), template).encode()


def fill_json(template: Any, values: Values) -> bytes:
    """Return a JSON body.

    In a table, a string that is nothing but `{{name}}` becomes the value with its type, and anywhere else in a
    string the value becomes text. In a text, a place between quotation marks is escaped for a string, and one
    outside them becomes a JSON value.
    """
    if not isinstance(template, str):
        return orjson.dumps(_fill_tree(template, values))
    pieces, at = [], 0
    for string in _STRING.finditer(template):
        pieces.append(_PLACE.sub(lambda match: _json(_value(match, values)), template[at : string.start()]))
        pieces.append(_PLACE.sub(lambda match: _json(_text(_value(match, values)))[1:-1], string[0]))
        at = string.end()
    pieces.append(_PLACE.sub(lambda match: _json(_value(match, values)), template[at:]))
    return "".join(pieces).encode()


def _fill_tree(node: Any, values: Values) -> Any:
    if isinstance(node, Mapping):
        return {key: _fill_tree(value, values) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_fill_tree(item, values) for item in node]
    if not isinstance(node, str):
        return node
    if whole := _PLACE.fullmatch(node):
        return _value(whole, values)
    return _PLACE.sub(lambda match: _text(_value(match, values)), node)


def _value(match: re.Match[str], values: Values) -> Any:
    value = values.get(match[1])
    return match[2] if value in (None, "", {}, ()) and match[2] is not None else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple | list):
        return "\n".join(map(str, value))
    return _json(value) if isinstance(value, Mapping) else str(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _strings(node: Any) -> Iterable[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _strings(value)
    elif isinstance(node, Iterable):
        for item in node:
            yield from _strings(item)
