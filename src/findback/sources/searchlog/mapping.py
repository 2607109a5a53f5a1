"""A mapping file: where a log keeps what, written as TOML."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from findback.errors import UsageError
from findback.model.record import Record
from findback.sources.searchlog.events import COLUMNS, EventKind
from findback.sources.searchlog.paths import compile_path

Paths = str | tuple[str, ...]


class Test(Record):
    """A condition on a value of a record; without one it asks whether the value is there."""

    path: str
    values: tuple[str, ...] | None = None
    """Texts it may be."""
    matches: Annotated[str, Field(max_length=1000)] | None = None
    """Pattern found in it."""
    without: Annotated[str, Field(max_length=1000)] | None = None
    """Pattern not found in it."""

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record passes."""
        value = compile_path(self.path)(record)
        if value is None:
            return False
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        if self.values is not None and text not in self.values:
            return False
        if self.matches is not None and not _pattern(self.matches).search(text):
            return False
        return self.without is None or not _pattern(self.without).search(text)


class KindTest(Record):
    """The kind of event a record is when it passes every test; the first that fits decides."""

    kind: EventKind
    all: tuple[Test, ...] = ()


class Skip(Test):
    """Records that are none of a person's searches or clicks."""

    reason: str


class Put(Test):
    """A column that has a fixed value, or is unknown, in records that pass."""

    column: str
    value: int | None = None


class Time(Record):
    """Where the time stands and how it is written."""

    path: Paths
    unit: Literal["s", "ms", "us", "ns"] | None = None
    layout: str | None = None
    """strptime format, for what is not ISO 8601."""


class LogMapping(Record):
    """Where one kind of log keeps what findback asks about."""

    format: Literal[1]
    title: str
    tier: Literal["A", "B", "C"]
    """A: rows with sessions; B: rows without; C: each row stands for many searches."""
    rules: tuple[str, ...]
    """Rules it supports as shipped."""
    note: str | None = None
    """What a person should know about such a log."""
    recognise: tuple[str, ...] = ()
    """Paths that a record of it has, all of them in some record."""
    line: Annotated[str, Field(max_length=4000)] | None = None
    """Pattern with named groups, for plain log lines."""
    search_line: str | None = None
    """Pattern that some of the first lines have when a plain log holds searches."""
    time: Time | None = None
    columns: dict[str, Paths] = Field(default_factory=dict)
    """Path of each column; of several the first that has a value. `event_id` is made of all of its paths."""
    program: Paths = ()
    """Client name or user agent, to tell programs from people."""
    marked: tuple[Test, ...] = ()
    """Traffic of an evaluation passes one of these."""
    kinds: tuple[KindTest, ...] = ()
    by_query: bool = False
    """What fits no kind is a search when it has a query."""
    otherwise: EventKind | None = "other"
    """Kind of what fits none; None leaves such records out."""
    skip: tuple[Skip, ...] = ()
    put: tuple[Put, ...] = ()

    def with_columns(self, columns: Mapping[str, str]) -> "LogMapping":
        """Return the mapping with a user's columns over its own.

        Raises:
            UsageError: If there is no such column.
        """
        unknown = sorted(set(columns) - set(COLUMNS))
        if unknown:
            raise UsageError(
                f"a search log has no column {unknown[0]!r}",
                hint=f"columns are {', '.join(COLUMNS)}",
            )
        own = {name: path for name, path in columns.items() if name != "time"}
        time = Time(path=columns["time"]) if "time" in columns else self.time
        return self.model_copy(update={"columns": {**self.columns, **own}, "time": time})


@lru_cache(maxsize=64)
def load_mapping(name: str) -> LogMapping:
    """Return a shipped mapping file."""
    text = files("findback.sources.mappings").joinpath(f"{name}.toml").read_text("utf-8")
    return read_mapping(text, name)


def read_mapping(text: str, name: str) -> LogMapping:
    """Return a mapping from the text of its file.

    Raises:
        UsageError: If it makes no sense.
    """
    try:
        return LogMapping.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the mapping {name} is no TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"the mapping {name} makes no sense at {where}: {first['msg']}") from None


@lru_cache(maxsize=256)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)
