"""Whole JSON files, and JSON Lines, with faults that name the line of what is wrong."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError, Fault
from findback.evalset.jsonplaces import Place, lines_of, show_place
from findback.evalset.rows import JSON_LIMIT, json_trouble
from findback.evalset.textfile import Faults, first_line, open_file, read_lines
from findback.text.lines import BOM, UTF16


class JsonFile:
    """What a file holds, and what was found wrong in it."""

    def __init__(self, path: Path, text: str, value: Any, lines: list[int] | None) -> None:
        self.path = path
        self.value = value
        self.text = text
        self._lines = lines
        self._noted: list[tuple[Place, str]] = []

    def fault(self, place: Place, message: str) -> None:
        """Note what is wrong with the value at a place."""
        self._noted.append((place, message))

    def hand_over(self, faults: Faults) -> None:
        """Give every fault, with its line, to those of the whole set."""
        lines = {} if self._lines is not None else lines_of(self.text, {place for place, _ in self._noted})
        for place, message in self._noted:
            if self._lines is not None:
                line, rest = self._lines[place[0]] if place and isinstance(place[0], int) else None, place[1:]
            else:
                line, rest = lines.get(place), place
            said = show_place(rest)
            faults.add(self.path, line, f"{said}: {message}" if said else message)
        self._noted = []

    def objects(self, place: Place, value: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Yield the objects of a list with their places; what is no list, or holds something else, is noted."""
        if not isinstance(value, list):
            self.fault(place, "must be a list")
            return
        for position, entry in enumerate(value):
            if isinstance(entry, dict):
                yield (*place, position), entry
            else:
                self.fault((*place, position), "must be an object")


def read_json(path: Path, faults: Faults) -> JsonFile:
    """Return what a file of JSON, or of JSON Lines, holds: of the latter the list of its lines.

    Raises:
        MissingError: If nothing is there.
        DataError: If it is too large, no UTF-8, or no JSON; with the line.
    """
    with open_file(path) as file:
        raw = file.read(JSON_LIMIT + 1)
    if len(raw) > JSON_LIMIT:
        raise DataError(f"{path} is too large for one JSON file", hint="write it as JSON Lines, in several files")
    if raw.startswith(UTF16):
        fault = Fault(str(path), 1, "the file is UTF-16")
        raise DataError(f"{path} is not UTF-8", faults=[fault], hint="save it as UTF-8")
    raw = raw.removeprefix(BOM)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if _has_objects_on_lines(path, raw):
            return _read_json_lines(path, faults)
        fault = Fault(str(path), error.lineno, f"no valid JSON: {json_trouble(error)}")
        raise DataError(f"{path.name} cannot be read", faults=[fault]) from None
    return JsonFile(path, raw.decode(), value, None)


def find_entries(file: JsonFile, *wrappers: str) -> list[tuple[Place, dict[str, Any]]]:
    """Return the entries of a list, of lines, of a list under one of the wrappers' keys, or the one object there is."""
    value = file.value
    if isinstance(value, list):
        return list(file.objects((), value))
    place: Place = ()
    while isinstance(value, Mapping):
        key = next((key for key in wrappers if isinstance(value.get(key), (list, dict))), None)
        if key is None:
            return [(place, dict(value))]
        place, value = (*place, key), value[key]
    return list(file.objects(place, value))


def _has_objects_on_lines(path: Path, raw: bytes) -> bool:
    try:
        first = orjson.loads(first_line(path))
    except orjson.JSONDecodeError:
        return False
    return isinstance(first, dict) and b"\n" in raw.strip()


def _read_json_lines(path: Path, faults: Faults) -> JsonFile:
    values: list[Any] = []
    numbers: list[int] = []
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        try:
            values.append(orjson.loads(line.text))
        except orjson.JSONDecodeError as error:
            faults.add(path, line.number, f"no valid JSON: {json_trouble(error)}")
        else:
            numbers.append(line.number)
    return JsonFile(path, "", values, numbers)
