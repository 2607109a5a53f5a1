"""Rows of JSON Lines, JSON, CSV and Parquet files, all of one shape."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from findback.errors import DataError, Fault
from findback.evalset.textfile import Faults, first_line, open_file, read_lines
from findback.registry import load_module
from findback.text.delimited import DelimitedRow, delimited_rows, guess_delimiter

JSON_LIMIT = 500_000_000
"""Most bytes of a JSON file that is one list."""

PEEKED = 200
"""Rows that are looked at to learn a table's columns: JSON rows may leave some out."""

PEEKED_LINE = 100_000
"""Characters of a first line that is looked at to tell rows from one object over several lines."""

_MAGIC = b"PAR1"


class Row(NamedTuple):
    """One row."""

    number: int
    """1-based, the header not counted."""
    line: int | None
    """1-based line where it starts, or None in files without lines."""
    values: Mapping[str, Any]

    def say(self, message: str) -> str:
        """Return a message that says which row, where the line does not."""
        return message if self.line is not None else f"row {self.number}: {message}"


def is_parquet(path: Path) -> bool:
    """Say whether a file is Parquet, by its first bytes."""
    with open_file(path) as file:
        return file.read(4) == _MAGIC


def read_rows(path: Path, faults: Faults, *, guarded: bool = True) -> Iterator[Row]:
    """Yield the rows of a table, whatever it is written in; what is wrong with others goes to `faults`.

    Args:
        path: A file.
        faults: Where bad rows are noted.
        guarded: Take findback's formula guard off CSV cells.

    Raises:
        DataError: If the file as a whole cannot be read.
        MissingLibraryError: If it is Parquet and pyarrow is not installed.
    """
    if is_parquet(path):
        yield from _parquet_rows(path)
        return
    start = first_line(path)
    if start.startswith("{"):
        yield from _json_lines(path, faults)
    elif start.startswith("["):
        yield from _json_list(path, faults)
    else:
        yield from _delimited(path, faults, guarded=guarded)


def read_header(path: Path) -> tuple[str, ...]:
    """Return the names of a table's columns, from its header or first rows; empty when it has none."""
    if _is_laid_out(first_line(path)):
        return ()
    try:
        return _names_of(itertools.islice(read_rows(path, Faults()), PEEKED))
    except DataError:
        return ()


def _is_laid_out(line: str) -> bool:
    """Say whether a file's first line begins an object that goes on below: every line would be tried as a row."""
    if not line.startswith("{") or len(line) > PEEKED_LINE:
        return False
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return True
    return False


def read_columns(path: Path, faults: Faults) -> tuple[str, ...]:
    """Return the names of a table's columns; of JSON rows those of every row, since each may leave some out.

    Raises:
        DataError: If the file as a whole cannot be read.
    """
    rows = read_rows(path, faults)
    if is_parquet(path) or not first_line(path).startswith(("{", "[")):
        return _names_of(itertools.islice(rows, 1))
    return _names_of(rows)


def _names_of(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row.values))


def _json_lines(path: Path, faults: Faults) -> Iterator[Row]:
    number = 0
    for line in read_lines(path, faults):
        if not line.text.strip():
            continue
        number += 1
        try:
            values = orjson.loads(line.text)
        except orjson.JSONDecodeError as error:
            faults.add(path, line.number, f"no valid JSON: {json_trouble(error)}")
            continue
        if isinstance(values, dict):
            yield Row(number, line.number, values)
        else:
            faults.add(path, line.number, "must be a JSON object")


def json_trouble(error: orjson.JSONDecodeError) -> str:
    """Return what a parser found, with its column."""
    message = error.msg.partition(": line ")[0]
    return f"{message} (column {error.colno})"


def _json_list(path: Path, faults: Faults) -> Iterator[Row]:
    with open_file(path) as file:
        raw = file.read(JSON_LIMIT + 1)
    if len(raw) > JSON_LIMIT:
        raise DataError(f"{path} is too large for one JSON list", hint="write it as JSON Lines")
    try:
        entries = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        fault = Fault(str(path), error.lineno, f"no valid JSON: {json_trouble(error)}")
        raise DataError(f"{path.name} cannot be read", faults=[fault]) from None
    for number, values in enumerate(entries, 1):
        if isinstance(values, dict):
            yield Row(number, None, values)
        else:
            faults.add(path, None, f"row {number}: must be a JSON object")


def _delimited(path: Path, faults: Faults, *, guarded: bool) -> Iterator[Row]:
    bad: set[int] = set()

    def texts() -> Iterator[str]:
        for line in read_lines(path, faults, approximate=True):
            if not line.sound:
                bad.add(line.number)
            yield line.text

    records = delimited_rows(texts(), delimiter=guess_delimiter(first_line(path)), guarded=guarded)
    names = _read_names(path, next(records, None), faults)
    for number, record in enumerate(records, 1):
        if not bad.isdisjoint(range(record.line, record.last + 1)):
            # One of its lines is no text: that fault is noted, and the rest is no whole row.
            continue
        if record.fault:
            faults.add(path, record.line, record.fault)
        elif len(record.cells) != len(names):
            faults.add(path, record.line, f"{len(record.cells)} cells under {len(names)} column names")
        else:
            yield Row(number, record.line, dict(zip(names, record.cells, strict=True)))


def _read_names(path: Path, header: DelimitedRow | None, faults: Faults) -> list[str]:
    if header is None:
        lines = path.suffix.lower() in (".jsonl", ".ndjson")
        first = "each line is one JSON object, with a query" if lines else "a table starts with a line of column names"
        raise DataError(f"{path} is empty", hint=first)
    names = [name.strip() for name in header.cells]
    doubled = [name for name, count in Counter(names).items() if count > 1 and name]
    if header.fault:
        faults.add(path, header.line, header.fault)
    if doubled:
        faults.add(path, header.line, f"the header names a column twice: {', '.join(doubled)[:200]}")
    if faults.found:
        raise DataError(f"{path.name} has no header that can be read", faults=faults.found)
    return names


def _parquet_rows(path: Path) -> Iterator[Row]:
    parquet = load_module("findback.text.parquet", wanted_for="reading Parquet")
    for number, values in enumerate(parquet.read_parquet(path), 1):
        yield Row(number, None, values)
