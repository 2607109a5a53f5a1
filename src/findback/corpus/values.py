"""Values of front matter and columns: times, languages, lists and plain text."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

_SPACED_ZONE = re.compile(r"\s+(?=[+-]\d\d:?\d\d$|Z$)")
_LIST_MARKS = re.compile(r"[\n;|]")
_UNKNOWN = frozenset({"", "null", "none", "nan", "nat", "~", "n/a", "unknown"})


def parse_text(value: Any) -> str | None:
    """Return a plain value as text; None for what is empty, nested or no text.

    >>> parse_text(12), parse_text(" a "), parse_text(3.0), parse_text([1]), parse_text("")
    ('12', 'a', '3', None, None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int):
        return str(value).lower()
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        return None if math.isnan(value) else repr(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    return None


def parse_id(value: Any) -> str:
    """Return an id as text.

    Raises:
        ValueError: If there is none, or it cannot be one; the message says why.

    >>> parse_id(7), parse_id("a b")
    ('7', 'a b')
    """
    fault = _judge_id(value)
    if fault is not None:
        raise ValueError(fault)
    text = value if isinstance(value, str) else parse_text(value) or ""
    check_id(text)
    return text


def _judge_id(value: Any) -> str | None:
    if value is None or value == "":
        return "there is no id"
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**53):
        return "the id is a number that loses digits; write it as text"
    if isinstance(value, bool) or not isinstance(value, str | int | float | datetime | date):
        return f"the id is a {type(value).__name__}, not text"
    return None


def check_id(text: str) -> None:
    """Check that a text can be an id.

    Raises:
        ValueError: If it is blank, very long, or holds control characters or lone surrogates.
    """
    if not text.strip():
        raise ValueError("the id is blank")
    if len(text) > 2_000:
        raise ValueError("the id is longer than 2,000 characters")
    if text.isascii() and text.isprintable():
        return
    for character in text:
        code = ord(character)
        if code < 32 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029):
            raise ValueError(f"the id holds a control character (U+{code:04X})")
        if 0xD800 <= code < 0xE000:
            raise ValueError("the id holds half of a surrogate pair")


def parse_list(value: Any) -> tuple[str, ...]:
    """Return a list of texts: a list, a JSON list as text, or text parted by line ends, `;` or `|`.

    >>> parse_list("old.md; older.md"), parse_list(["a", None, 3]), parse_list('["x"]')
    (('old.md', 'older.md'), ('a', '3'), ('x',))
    """
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = orjson.loads(value)
            except orjson.JSONDecodeError:
                value = _LIST_MARKS.split(value)
        else:
            value = _LIST_MARKS.split(value)
    if not isinstance(value, list | tuple):
        value = [value]
    return tuple(dict.fromkeys(text for text in map(parse_text, value) if text is not None))


def parse_roles(value: Any) -> tuple[str, ...]:
    """Return the roles of a list, or of a text that parts them by commas, too.

    >>> parse_roles("staff, partner"), parse_roles(["staff"]), parse_roles("")
    (('staff', 'partner'), ('staff',), ())
    """
    pieces = (piece.strip() for listed in parse_list(value) for piece in listed.split(","))
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def parse_language(value: Any) -> str | None:
    """Return the two-letter code of a language tag, or None.

    >>> parse_language("de-AT"), parse_language("EN_us"), parse_language("german")
    ('de', 'en', None)
    """
    if not isinstance(value, str):
        return None
    primary = re.split(r"[-_]", value.strip(), maxsplit=1)[0].casefold()
    return primary if len(primary) == 2 and primary.isascii() and primary.isalpha() else None


def parse_time(value: Any) -> datetime | None:
    """Return a moment in UTC; None when unknown or no date.

    Takes dates, datetimes, ISO 8601, RFC 2822, and seconds or milliseconds since 1970. What names no zone
    is taken as UTC.

    >>> parse_time("2024-03-01 10:00:00 +0200"), parse_time("soon")
    (datetime.datetime(2024, 3, 1, 8, 0, tzinfo=datetime.timezone.utc), None)
    """
    try:
        moment = _read_time(value)
        if moment is None:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def is_unknown(value: Any) -> bool:
    """Return whether a value says nothing."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and value.strip().casefold() in _UNKNOWN)


def _read_time(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, int | float):
        return _read_epoch(float(value))
    return _read_written(value.strip()) if isinstance(value, str) and len(value) < 100 else None


def _read_written(text: str) -> datetime | None:
    if text.isdecimal() and len(text) in (10, 13):
        return _read_epoch(float(text))
    if not text[:4].isdecimal():
        return parsedate_to_datetime(text)
    return datetime.fromisoformat(_SPACED_ZONE.sub("", text)) if len(text) >= 7 else None


def _read_epoch(number: float) -> datetime | None:
    if 1e8 <= number < 1e10:
        return datetime.fromtimestamp(number, UTC)
    if 1e11 <= number < 1e13:
        return datetime.fromtimestamp(number / 1_000, UTC)
    return None


def flatten(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with those of a nested `metadata` beside them; outer ones win.

    >>> flatten({"id": "a", "metadata": {"id": "b", "url": "u"}})
    {'id': 'a', 'url': 'u'}
    """
    nested = fields.get("metadata")
    if not isinstance(nested, Mapping):
        return dict(fields)
    outer = {key: value for key, value in fields.items() if key != "metadata"}
    return {**{str(key): value for key, value in nested.items()}, **outer}
