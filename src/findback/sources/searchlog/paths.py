"""Paths into records of any shape, as mapping files write them."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_VALUES = ("string_value", "int_value", "double_value", "float_value")

Getter = Callable[[Any], Any]

_PARAMETERS = 200


@lru_cache(maxsize=512)
def compile_path(path: str) -> Getter:
    """Return a function that finds a value in a record, None where there is none.

    `a.b` goes into objects, whether nested or flattened to a key "a.b"; a list on the way gives its first entry.
    `a[key]` finds the entry of a list of {key, value} pairs. `a#` counts a list. `a?q` is a parameter of the URL or
    parameter text in a. `a^x:` is the word after "x:" in a. `a + b` joins two values where both are there. `=text`
    is the text itself.

    >>> compile_path("event.action")({"event.action": "search"})
    'search'
    >>> compile_path("params[term]")({"params": [{"key": "term", "value": {"string_value": "vpn"}}]})
    'vpn'
    >>> compile_path("hits#")({"hits": []}), compile_path("hits#")({}), compile_path("url?q")({"url": "/s?q=a+b%20c"})
    (0, None, 'a b c')
    """
    if path.startswith("="):
        constant = path[1:]
        return lambda record: constant
    if " + " in path:
        parts = [compile_path(part) for part in path.split(" + ")]
        return lambda record: _joined([part(record) for part in parts])
    for sign, closing, find in _FORMS:
        before, found, rest = path.partition(sign)
        if found:
            return _applied(compile_path(before), find, rest.removesuffix(closing))
    names = tuple(path.split("."))
    return lambda record: _walk(record, names)


def _applied(inner: Getter, find: Callable[[Any, str], Any], name: str) -> Getter:
    return lambda record: find(inner(record), name)


def _walk(value: Any, names: tuple[str, ...]) -> Any:
    for at, name in enumerate(names):
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict):
            return None
        if name in value:
            value = value[name]
        else:
            return value.get(".".join(names[at:]))
    return value


def _joined(values: list[Any]) -> str | None:
    return None if any(value is None or value == "" for value in values) else "\n".join(map(str, values))


def _count(value: Any, _: str) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None


def _pair(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    if not isinstance(value, list):
        return None
    for entry in value:
        if isinstance(entry, dict) and entry.get("key") == key:
            inner = entry.get("value")
            if not isinstance(inner, dict):
                return inner
            return next((inner[name] for name in _VALUES if inner.get(name) is not None), None)
    return None


def _word_after(value: Any, sign: str) -> str | None:
    if not isinstance(value, str):
        return None
    rest = value.partition(sign)[2]
    return (re.split(r"[\s\]),;]", rest, maxsplit=1)[0] or None) if rest else None


def _parameter(value: Any, name: str) -> str | None:
    if not isinstance(value, str):
        return None
    text = query_part(value)
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_PARAMETERS)
    except UnicodeDecodeError:
        pairs = parse_qsl(text, keep_blank_values=True, encoding="latin-1", max_num_fields=_PARAMETERS)
    except ValueError:
        return None
    return next((found for key, found in pairs if key == name), None)


def query_part(value: str) -> str:
    """Return the query part of a URL, or the text itself when it is parameters already.

    >>> query_part("https://docs.example.org/s?q=a#top"), query_part("q=a&start=0")
    ('q=a', 'q=a&start=0')
    """
    if "?" not in value:
        return value
    try:
        return urlsplit(value).query
    except ValueError:
        return value.partition("?")[2]


_FORMS = (("^", "", _word_after), ("?", "", _parameter), ("[", "]", _pair), ("#", "", _count))
