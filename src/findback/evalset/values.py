"""Cells of foreign files, read as what they are meant to be."""

import ast
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

LITERAL_LIMIT = 2_000_000
"""Most characters of a cell that is read as a list."""

TOP_GRADE = 3

_WHOLE = re.compile(r"[+-]?\d{1,6}(?:\.0{1,6})?")
_TRUE = frozenset({"true", "yes", "y", "1"})
_FALSE = frozenset({"false", "no", "n", "0", ""})


class CellError(ValueError):
    """A cell does not hold what it must; the message says so without the value."""


def look_up(values: Mapping[str, Any], column: str) -> Any:
    """Return the value under a column's name, along a dotted path or a JSONPath (`$…`); None where there is none.

    A dotted path also leads into objects that a table keeps as JSON text.

    >>> look_up({"metadata": {"type": "vague"}}, "metadata.type")
    'vague'
    """
    if column in values:
        return values[column]
    if column.startswith("$"):
        # Takes a parser along, which only who writes such paths needs.
        from findback.evalset.jsonpaths import find_values  # noqa: PLC0415

        return find_values(values, column)
    at: Any = values
    for step in column.split("."):
        if isinstance(at, str) and at.lstrip().startswith("{") and len(at) <= LITERAL_LIMIT:
            try:
                at = orjson.loads(at)
            except orjson.JSONDecodeError:
                return None
        if not isinstance(at, Mapping) or step not in at:
            return None
        at = at[step]
    return at


def as_text(value: Any) -> str | None:
    """Return a value as text; None for nothing and for blanks.

    Raises:
        CellError: If it is a list or an object.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        text = str(value)
        return text if text.strip() else None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    raise CellError("must be text")


def as_list(value: Any) -> list[Any]:
    """Return a value as a list: lists stay, text that is a JSON or Python list is read, nothing is empty.

    Raises:
        CellError: If the text looks like a list and cannot be read as one.

    >>> as_list("['a', 'b']"), as_list('["a"]'), as_list("a, b"), as_list(None)
    (['a', 'b'], ['a'], ['a, b'], [])
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    text = value.strip()
    if not text:
        return []
    if _looks_like_list(text):
        return _read_list(text, value)
    return [value]


def _looks_like_list(text: str) -> bool:
    return (text[0] == "[" and text[-1] == "]") or (text[0] == "{" and text[-1] == "}")


def _read_list(text: str, original: str) -> list[Any]:
    if len(text) > LITERAL_LIMIT:
        raise CellError(f"has more than {LITERAL_LIMIT:,} characters, too many for a list")
    read: Any
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            # Only literals are built, and the length bound above keeps deep nesting from costing much.
            read = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            # A title such as "[draft] notes [old]" is no broken list.
            if re.match(r"""\[\s*['"{\[]|\{\s*['"]""", text):
                raise CellError("looks like a list, but cannot be read as one (cut off?)") from None
            return [original]
    if isinstance(read, (list, tuple)):
        return list(read)
    return [read] if isinstance(read, dict) else [original]


def as_grade(value: Any, grades: Mapping[str, int]) -> int:
    """Return a grade from 0 to 3; negative ones, which TREC gives to junk, are 0.

    Args:
        value: A number or text.
        grades: What the file's grades mean, by their text; what it does not name is read as it stands.

    Raises:
        CellError: If it is no whole number or above 3.

    >>> as_grade("2.0", {}), as_grade(-1, {}), as_grade("10", {"10": 3})
    (2, 0, 3)
    """
    text = str(value).strip()
    if text in grades:
        return grades[text]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        text = str(int(value)) if abs(value) < 1e6 else "1000000"
    if isinstance(value, bool):
        return int(value)
    if not _WHOLE.fullmatch(text):
        if re.fullmatch(r"[+-]?\d+", text):
            raise CellError("grade is above 3 (map the file's grades to 0 … 3)")
        raise CellError("grade must be a whole number from 0 to 3 (map other grades to these)")
    number = int(float(text))
    if number > TOP_GRADE:
        raise CellError("grade is above 3 (map the file's grades to 0 … 3)")
    return max(number, 0)


def as_truth(value: Any) -> bool:
    """Return a yes or no.

    Raises:
        CellError: If it is neither.
    """
    if value is None:
        return False
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise CellError("must be true or false")


def list_cell(values: list[Any] | tuple[Any, ...]) -> str:
    """Return a list as a cell: JSON, so that reading knows one entry from several."""
    return json.dumps(list(values), ensure_ascii=False)
