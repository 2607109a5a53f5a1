"""Values of trace records, read leniently where formats differ and refused where they make no sense."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

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
