"""The rows a database answers a query with, in the place of an export's files."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import orjson

from findback.errors import RefusedError, SettingsError
from findback.sources.archive import LIMITS, Archive
from findback.sources.columns import Wanted, find_missing
from findback.sources.searchlog.times import read_time

MOST_ROWS = 20_000_000
MOST_CELL = 100_000_000
"""Most characters of one value."""


class Asked(Protocol):
    """What gives columns and rows."""

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        ...

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the rows."""
        ...

    def close(self) -> None:
        """Let go of the connection; a second time does nothing."""
        ...


class NumberedRow(NamedTuple):
    """A row, and which it is."""

    number: int
    """From 1."""
    values: dict[str, Any]

    @property
    def digest(self) -> str:
        """Return a name made of what is in it: another run has other rows before it."""
        raw = orjson.dumps(self.values, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
        return hashlib.sha256(raw).hexdigest()[:32]


class Answer(Archive):
    """The answer to one query; readers take it for an export with a single member that has rows and no bytes."""

    def __init__(self, name: str, asked: Asked, *, most: int = MOST_ROWS) -> None:
        """Take what is asked; nothing is asked yet.

        Args:
            name: Of the source.
            asked: Who answers.
            most: Rows that may come.
        """
        super().__init__(Path(f"query of [sources.{name}]"), replace(LIMITS, members=1))
        self.name = name
        self.newest: datetime | None = None
        """Latest time in the rows that were read, in UTC; none in the future."""
        self._asked = asked
        self._columns: tuple[str, ...] | None = None
        self._most = most
        self._times: tuple[str, ...] = ()
        self.admit({"rows": 0})

    def where(self, name: str) -> str:
        """Return how messages call the rows."""
        return str(self.path)

    def close(self) -> None:
        """Let go of the database; a second time does nothing."""
        super().close()
        self._asked.close()

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns; the database is asked for them once."""
        if self._columns is None:
            self._columns = self._asked.columns()
        return self._columns

    def expect(self, given: Mapping[str, Wanted], needed: Mapping[str, Wanted], times: Wanted) -> None:
        """Check that the columns are there which a mapping names.

        Args:
            given: Where the user's own mapping has each field; one of each field's places has to be there.
            needed: The same for what nothing can be done without.
            times: Columns from which it is told how far the reading came.

        Raises:
            SettingsError: If columns are missing or share a name; it lists those there are.
        """
        columns = self.columns()
        if twice := sorted({column for column in columns if columns.count(column) > 1}):
            raise SettingsError(
                f"the {self.path} has more than one column {twice[0]!r}", hint="name them apart in the query, with AS"
            )
        missing = find_missing(columns, given, needed)
        if missing:
            raise SettingsError(
                f"the {self.path} has no column for {'; '.join(missing)}",
                hint=f"it has {', '.join(columns)[:2_000]}; AS gives them others, [sources.{self.name}] mapping too",
            )
        self._times = tuple(column for column in columns if column in times)

    def rows(self) -> Iterator[NumberedRow]:
        """Ask, and yield the rows as they come.

        Raises:
            RefusedError: If there are more, or larger ones, than may be read.
            EngineError: If the database fails.
        """
        columns, now = self.columns(), datetime.now(UTC)
        for number, row in enumerate(self._asked.rows(), start=1):
            if number > self._most:
                raise RefusedError(f"the {self.path} has more than {self._most:,} rows", hint="narrow its WHERE")
            values = {column: self._plain(value, number) for column, value in zip(columns, row, strict=True)}
            for column in self._times:
                self._look_at(values[column], now)
            yield NumberedRow(number, values)

    def _look_at(self, value: Any, now: datetime) -> None:
        read = read_time(value)
        at = read.replace(tzinfo=UTC) if read is not None else None
        if at is not None and at <= now and (self.newest is None or at > self.newest):
            self.newest = at

    def _plain(self, value: Any, number: int) -> Any:
        """Return a value as a CSV or JSON file would have it; nothing for an empty text and for bytes."""
        if isinstance(value, str):
            if len(value) > MOST_CELL:
                raise RefusedError(f"row {number} of the {self.path} has a value of more than {MOST_CELL:,} characters")
            return value or None
        if value is None or isinstance(value, bool | int | datetime | list | dict):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Decimal):
            return None if not value.is_finite() else int(value) if value == int(value) else float(value)
        return None if isinstance(value, bytes | bytearray | memoryview) else str(value)

    def _open(self, name: str) -> IO[bytes]:
        raise self.damaged(name, "rows of a database have no bytes")
