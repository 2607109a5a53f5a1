"""Records of a log file, one at a time: JSON, JSON Lines, CSV, Parquet or plain lines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from findback.errors import DataError, Fault, MissingError, RefusedError, StorageError
from findback.model.thread import Skipped
from findback.registry import load_module
from findback.text.delimited import delimited_records
from findback.text.lines import BOM, raw_lines

LINE_LIMIT = 20_000_000
"""Most bytes one line may have."""

WHOLE_LIMIT = 512_000_000
"""Most bytes of a file that is one JSON value and so has to be held whole."""

PLAIN_LIMIT = 65_536
"""Most characters of a plain line that a pattern is tried on."""

FAULT_LIMIT = 10_000

LINED = (".jsonl", ".ndjson")
SUFFIXES = (*LINED, ".json", ".csv", ".tsv", ".parquet", ".log", ".txt")

_LISTS = ("hits", "results", "events", "searches", "data", "records", "items")


class RecordAt(NamedTuple):
    """One record and where it lies."""

    place: int
    """1-based line, or 1-based position where the file has no lines."""
    fields: dict[str, Any]


class Findings:
    """What went wrong in the files of one reading, and what was left out."""

    def __init__(self, skipped: Skipped, *, skip_bad: bool, rows: bool = False) -> None:
        """Begin with nothing.

        Args:
            skipped: Where what is left out is counted.
            skip_bad: Whether records that cannot be read are.
            rows: Whether places are rows of a query and not lines of a file.
        """
        self.skipped = skipped
        self.skip_bad = skip_bad
        self.rows = rows
        self.faults: list[Fault] = []
        self.count = 0

    def fault(self, path: Path, line: int | None, message: str) -> None:
        """Remember a record that cannot be read."""
        self.count += 1
        if self.skip_bad:
            self.skipped.add("bad records")
        elif len(self.faults) < FAULT_LIMIT:
            where, line = (f"row {line} of the {path}", None) if self.rows else (str(path), line)
            self.faults.append(Fault(where, line, message))

    def settle(self, what: str) -> None:
        """End the reading.

        Raises:
            DataError: If there are faults and nobody asked to skip bad records.
        """
        if self.faults:
            raise DataError(
                f"{what} has {self.count:,} fault{'s' if self.count > 1 else ''}",
                faults=self.faults,
                hint="mend them, or read the good records only with --skip-bad",
            )


def list_files(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Return the file itself, or the folder's own log files by name; links out of the folder are not followed.

    Raises:
        MissingError: If nothing is there.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise MissingError(f"{path} is not there", hint="check the path")
    return sorted(f for f in path.iterdir() if f.suffix.lower() in suffixes and f.is_file() and not f.is_symlink())


def read_records(path: Path, findings: Findings) -> Iterator[RecordAt]:
    """Yield every object of a JSON, JSON Lines, CSV or Parquet file.

    Raises:
        DataError: If the file as a whole is no such thing.
        RefusedError: If it is one JSON value too large to hold.
        StorageError: If it may not be read.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        yield from _read_parquet(path)
    elif suffix in {".csv", ".tsv"}:
        yield from _read_csv(path, findings)
    elif suffix in LINED or _is_lined(path):
        yield from _read_json_lines(path, findings)
    else:
        yield from _read_whole(path, findings)


def read_lines(path: Path, findings: Findings) -> Iterator[tuple[int, str]]:
    """Yield the lines of a plain log; what is not UTF-8 is read as Latin-1, overlong lines are faults."""
    for number, raw in _lines(path, findings):
        if len(raw) > PLAIN_LIMIT:
            findings.fault(path, number, f"a line of more than {PLAIN_LIMIT:,} bytes")
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError:
            yield number, raw.decode("latin-1")


def peek(path: Path, limit: int = 40) -> list[dict[str, Any]]:
    """Return the first objects of a file, none of one that cannot be read; reads little."""
    findings = Findings(Skipped(), skip_bad=True)
    try:
        if path.suffix.lower() == ".json" and not _is_lined(path) and path.stat().st_size > 8_000_000:
            return []
        records = read_records(path, findings)
        found = [record.fields for record, _ in zip(records, range(limit), strict=False)]
        records.close()  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - a file that is rubbish is simply not recognised
        return []
    return found


def peek_lines(path: Path, limit: int = 40) -> list[str]:
    """Return the first lines of a file, none of one that cannot be read."""
    try:
        with path.open("rb") as handle:
            return [handle.readline(PLAIN_LIMIT).decode("utf-8", "replace") for _ in range(limit)]
    except OSError:
        return []


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise MissingError(f"{path} is not there", hint="check the path") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise StorageError(f"{path} cannot be read: {reason}", hint="check its permissions") from None


def _lines(path: Path, findings: Findings) -> Iterator[tuple[int, bytes]]:
    with _open(path) as handle:
        for line in raw_lines(handle, LINE_LIMIT):
            if line.whole:
                yield line.number, line.raw
            else:
                findings.fault(path, line.number, f"a line of more than {LINE_LIMIT:,} bytes")


def _is_lined(path: Path) -> bool:
    """Return whether a .json file is in truth JSON Lines: its first line is a whole object."""
    with _open(path) as handle:
        first = handle.readline(1_000_000).removeprefix(BOM)
        rest = handle.readline(2)
    try:
        return isinstance(orjson.loads(first), dict) and bool(rest.strip())
    except orjson.JSONDecodeError:
        return False


def _read_json_lines(path: Path, findings: Findings) -> Iterator[RecordAt]:
    for number, raw in _lines(path, findings):
        if not raw.strip():
            continue
        fields = _parse(raw, lambda message, number=number: findings.fault(path, number, message))  # type: ignore[misc]
        if fields is None:
            continue
        if isinstance(fields, dict):
            yield RecordAt(number, _unwrap(fields))
        else:
            findings.fault(path, number, f"a JSON {_kind(fields)} where an object is expected")


def _read_whole(path: Path, findings: Findings) -> Iterator[RecordAt]:
    with _open(path) as handle:
        content = handle.read(WHOLE_LIMIT + 1)
    if len(content) > WHOLE_LIMIT:
        raise RefusedError(
            f"{path} is one JSON value of more than {WHOLE_LIMIT:,} bytes",
            hint="export it as JSON Lines, which is read a line at a time",
        )
    value = _parse(content.removeprefix(BOM), lambda message: findings.fault(path, None, message))
    for place, entry in enumerate(_entries(value), start=1):
        if isinstance(entry, dict):
            yield RecordAt(place, _unwrap(entry))
        else:
            findings.fault(path, place, f"entry {place} is a JSON {_kind(entry)} where an object is expected")


def _entries(value: Any) -> list[Any]:
    """Return the list of records in a JSON value: itself, or what it wraps (a search answer, an API page)."""
    for _ in range(3):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            break
        inner = next((value[name] for name in _LISTS if isinstance(value.get(name), (list, dict))), None)
        if inner is None:
            return [value]
        value = inner
    return value if isinstance(value, list) else []


def _unwrap(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a search hit, with its id; other records as they are."""
    source = fields.get("_source")
    return {"_id": fields.get("_id"), **source} if isinstance(source, dict) else fields


def _parse(raw: bytes, fault: Callable[[str], None]) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as bad:
        fault(f"not valid JSON: {bad.msg} (column {bad.colno})")
    except RecursionError:
        fault("not valid JSON: nested too deeply")
    return None


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "null" if value is None else type(value).__name__


def _read_csv(path: Path, findings: Findings) -> Iterator[RecordAt]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else None
    for line, cells, fault in delimited_records(_decoded(path, findings), delimiter=delimiter):
        if fault is not None:
            findings.fault(path, line, fault)
        else:
            yield RecordAt(line, cells)


def _decoded(path: Path, findings: Findings) -> Iterator[str]:
    for _, raw in _lines(path, findings):
        try:
            yield raw.decode("utf-8")
        except UnicodeDecodeError:
            # Spreadsheets save CSV in the Windows code page.
            yield raw.decode("cp1252", "replace")


def _read_parquet(path: Path) -> Iterator[RecordAt]:
    parquet = load_module("findback.text.parquet", wanted_for="reading Parquet")
    for place, fields in enumerate(parquet.read_parquet(path), start=1):
        yield RecordAt(place, fields)
