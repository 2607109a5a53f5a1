"""Where values stand in JSON text: the shape of a file's beginning, and the lines of its faults.

A parser says what a text holds, and no longer where. This walk over its tokens is linear, keeps no values, and
takes text that ends anywhere.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import orjson

from findback.evalset.textfile import open_file

Place = tuple[str | int, ...]
"""Keys and positions that lead to a value, from the outermost on."""

PEEKED_BYTES = 1 << 18
"""Bytes of a file's beginning that are looked at to tell what it is."""

_DEPTH = 5
_MOST_PATHS = 2_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_KINDS = {"{": "object", "[": "list", '"': "text"}


class _Found(NamedTuple):
    """A value on the way."""

    place: list[str | int]
    """Changes as the walk goes on."""
    kind: str
    at: int
    """Position of its first character."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the beginning of a file of JSON or JSON Lines looks like."""

    paths: frozenset[str] = frozenset()
    """Every path down to five steps: `requests[].ratings`; a list at the top, and lines, start with `[]`."""
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What stands at a path: object, list, text, number or word."""
    levels: tuple[frozenset[str], ...] = ()
    """Kinds of values by depth, the outermost first."""

    def is_at(self, path: str, kind: str) -> bool:
        """Say whether a kind of value stands at a path, in an entry of a list or in a single object."""
        return kind in self.kinds.get(path, ()) or kind in self.kinds.get(f"[].{path}", ())

    def has(self, *paths: str) -> bool:
        """Say whether every path is there, in an entry of a list or in a single object."""
        return all(path in self.paths or f"[].{path}" in self.paths for path in paths)


def shape_of(path: Path) -> Shape:
    """Return the shape of a file's beginning; an empty one for what is no JSON, or no file."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return Shape()
    return _shape_of(path, state.st_mtime_ns, state.st_size) if path.is_file() else Shape()


@lru_cache(maxsize=8)
def _shape_of(path: Path, _changed: int, _size: int) -> Shape:
    # Every format asks about every file: one look serves them all.
    with open_file(path) as file:
        text = file.read(PEEKED_BYTES).decode("utf-8-sig", "replace")
    return shape_text(text)


def shape_text(text: str) -> Shape:
    """Return the shape of a text.

    >>> sorted(shape_text('{"requests": [{"id": 1}]}').paths)
    ['requests', 'requests[]', 'requests[].id']
    """
    if not text.lstrip().startswith(("{", "[")):
        return Shape()
    kinds: dict[str, set[str]] = {}
    levels: list[set[str]] = []
    lines = 0
    for place, kind, _ in _walk(text):
        depth = len(place)
        lines += depth == 0
        if depth > _DEPTH or len(kinds) >= _MOST_PATHS:
            continue
        while len(levels) <= depth:
            levels.append(set())
        levels[depth].add(kind)
        kinds.setdefault(_path(place), set()).add(kind)
    kinds.pop("", None)
    if lines > 1:
        kinds = {f"[].{path}": found for path, found in kinds.items()} | {"[]": {"object"}}
    return Shape(
        frozenset(kinds),
        {path: frozenset(found) for path, found in kinds.items()},
        tuple(frozenset(level) for level in levels),
    )


def lines_of(text: str, places: Collection[Place]) -> dict[Place, int]:
    """Return the 1-based line on which each place's value starts; places that are not there are left out."""
    wanted = set(places)
    depths = {len(place) for place in wanted}
    found: dict[Place, int] = {}
    line, counted = 1, 0
    for place, _, at in _walk(text):
        if len(place) not in depths:
            continue
        here = tuple(place)
        if here in wanted and here not in found:
            line += text.count("\n", counted, at)
            counted = at
            found[here] = line
    return found


def show_place(place: Place) -> str:
    """Return a place as messages say it.

    >>> show_place(("requests", 3, "ratings", 0))
    'requests[3].ratings[0]'
    """
    said = ""
    for step in place:
        if isinstance(step, int):
            said += f"[{step}]"
        else:
            key = "".join(c for c in step[:60] if c.isprintable())
            said += f".{key}" if said else key
    return said


def _path(place: list[str | int]) -> str:
    said = ""
    for step in place:
        said += "[]" if isinstance(step, int) else f".{step[:100]}" if said else step[:100]
    return said


def _walk(text: str) -> Iterator[_Found]:
    place: list[str | int] = []
    inside: list[str] = []
    keyed = True
    for match in _TOKEN.finditer(text):
        token, first = match[0], match[0][0]
        if first in "{[":
            yield _Found(place, _KINDS[first], match.start())
            inside.append(first)
            place.append(0 if first == "[" else "")
            keyed = first == "["
        elif first in "}]":
            if inside:
                inside.pop()
                place.pop()
            keyed = True
        elif first == ",":
            if inside and isinstance(place[-1], int):
                place[-1] += 1
            keyed = not inside or inside[-1] == "["
        elif first == ":":
            keyed = True
        elif keyed:
            yield _Found(place, _kind(first), match.start())
        elif place:
            place[-1] = _key(token)


def _kind(first: str) -> str:
    if first == '"':
        return "text"
    return "number" if first == "-" or first.isdigit() else "word"


def _key(token: str) -> str:
    if "\\" not in token:
        return token.strip('"')
    try:
        return str(orjson.loads(token))
    except orjson.JSONDecodeError:
        return token
