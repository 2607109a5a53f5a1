"""Fields of a record, checked as they are read: what has the wrong type becomes a fault with its place."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from findback.sources.faults import Faults
from findback.sources.searchlog.times import read_time

MOST_TEXT = 2_000_000
"""Most characters of one text; a longer one is no message."""


def read_moment(value: object, *, layout: str | None = None) -> datetime | None:
    """Return a time in UTC, from ISO 8601 with or without zone or an epoch in any unit; None for what is none.

    >>> read_moment("2024-05-03T10:00:00+0200") == read_moment(1714723200) == read_moment("2024-05-03 08:00:00")
    True
    """
    moment = read_time(value, layout=layout)
    return None if moment is None else moment.replace(tzinfo=UTC)


class Fields:
    """A JSON object with its place. Absent and null are the same: None."""

    __slots__ = ("_faults", "_path", "bad", "line", "shown", "values")

    def __init__(self, values: Mapping[str, Any], shown: str, line: int | None, faults: Faults, path: str = "") -> None:
        self.values = values
        self.shown = shown
        self.line = line
        self.bad = False
        """Whether a field was found wrong; the record should then be left out."""
        self._faults = faults
        self._path = path

    def __contains__(self, key: str) -> bool:
        """Return whether the field is there and not null."""
        return self.values.get(key) is not None

    def fault(self, message: str) -> None:
        """Remember that this record is wrong."""
        self.bad = True
        self._faults.add(self.shown, self.line, message)

    def text(self, key: str) -> str | None:
        """Return a text as written."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong(key, value, "text")
            return None
        if "\0" in value:
            self.fault(f"{self._path}{key} holds a NUL character")
            return None
        return value

    def identity(self, key: str, *, needed: bool = False) -> str | None:
        """Return an id, which may be a number or a text, as text."""
        value = self.values.get(key)
        if value is None or value == "":
            if needed:
                self.fault(f"{self._path}{key} is missing")
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            self._wrong(key, value, "an id")
            return None
        found = str(value)
        if "\0" in found or len(found) > 1_000:
            self.fault(f"{self._path}{key} is no usable id")
            return None
        return found

    def moment(self, key: str) -> datetime | None:
        """Return a time in UTC."""
        value = self.values.get(key)
        if value is None or value == "":
            return None
        moment = read_moment(value)
        if moment is None:
            self.fault(f"{self._path}{key} is no time")
        return moment

    def flag(self, key: str) -> bool | None:
        """Return a true or false."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._wrong(key, value, "true or false")
        return None

    def part(self, key: str) -> "Fields | None":
        """Return an object inside this one."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._wrong(key, value, "an object")
            return None
        return Fields(value, self.shown, self.line, self._faults, f"{self._path}{key}.")

    def parts(self, key: str) -> "list[Fields]":
        """Return the objects of a list inside this one."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(key, value, "a list")
            return []
        found = []
        for place, item in enumerate(value):
            if isinstance(item, dict):
                found.append(Fields(item, self.shown, self.line, self._faults, f"{self._path}{key}[{place}]."))
            else:
                self._wrong(f"{key}[{place}]", item, "an object")
        return found

    def beside(self, values: Mapping[str, Any]) -> "Fields":
        """Return another object of the same place."""
        return Fields(values, self.shown, self.line, self._faults, self._path)

    def words(self, key: str) -> tuple[str, ...]:
        """Return the texts of a list, or the names of its objects (labels); others are passed over."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self._wrong(key, value, "a list")
            return ()
        named = (item.get("name") if isinstance(item, dict) else item for item in value)
        return tuple(item for item in named if isinstance(item, str) and item)

    def _wrong(self, key: str, value: object, wanted: str) -> None:
        self.fault(f"{self._path}{key} is a JSON {_KINDS.get(type(value), 'value')} where {wanted} is expected")


_KINDS: dict[type, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
