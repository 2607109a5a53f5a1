"""Which column of a foreign file holds what."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from findback.errors import UsageError

FIELDS = (
    "id",
    "query",
    "gold",
    "gold_text",
    "grade",
    "part",
    "anchor",
    "wording",
    "language",
    "no_answer",
    "no_answer_reason",
    "cluster",
    "stratum",
    "origin",
    "selected_on",
    "tags",
    "audience",
)
"""What a column can be mapped to; `audience` by the user alone, as no column's name says that it holds roles."""


@lru_cache(maxsize=1)
def column_names() -> dict[str, dict[str, list[str]]]:
    """Return the known names, by table of `columns.toml`."""
    source = files("findback.evalset").joinpath("columns.toml").read_text("utf-8")
    names: dict[str, dict[str, list[str]]] = tomllib.loads(source)
    return names


def map_columns(header: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the column for each field: those given, else those known by name.

    Args:
        header: Column names of the file.
        given: Columns the user named, by field; dotted paths and JSONPaths reach into objects. An
            empty name means none.

    Raises:
        UsageError: If a field is unknown, or a given column is not in the file.

    >>> map_columns(["Question", "Doc-ID", "lang"], {})
    {'query': 'Question', 'gold': 'Doc-ID', 'language': 'lang'}
    """
    columns = list(header)
    check_fields(given)
    for field, column in given.items():
        named = column in columns or column.partition(".")[0] in columns or column.startswith("$")
        if column and columns and not named:
            raise UsageError(f"there is no column {column!r} for {field}", hint=f"columns: {', '.join(columns)[:500]}")
    folded: dict[str, str] = {}
    for column in columns:
        folded.setdefault(_fold(column), column)
    taken = set(given.values())
    found: dict[str, str] = {}
    tables = column_names()
    for field in FIELDS:
        if field in given:
            if given[field]:
                found[field] = given[field]
            continue
        match = _known(tables["fields"].get(field, ()), folded, taken)
        if match is None and "gold" not in found and field in tables["weak"]:
            match = _known(tables["weak"][field], folded, taken)
        if match is not None:
            found[field] = match
            taken.add(match)
    return found


def check_fields(given: Iterable[str], known: Sequence[str] = FIELDS) -> None:
    """Refuse a field that there is not, or that a format does not take from where the user says.

    Raises:
        UsageError: With the fields there are.
    """
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"no field is named {unknown[0]!r}", hint=f"fields: {', '.join(known)}")


def is_weak(field: str, column: str) -> bool:
    """Say whether a column's name is only a weak sign of its field."""
    return any(_fold(name) == _fold(column) for name in column_names()["weak"].get(field, ()))


def object_value(entry: Mapping[str, Any], what: str) -> Any:
    """Return what an object that stands for a gold document has under one of the known keys, or None."""
    for key in column_names()["object"][what]:
        if entry.get(key) not in (None, ""):
            return entry[key]
    return None


def _known(names: Iterable[str], folded: Mapping[str, str], taken: set[str]) -> str | None:
    for name in names:
        column = folded.get(_fold(name))
        if column is not None and column not in taken:
            return column
    return None


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()
