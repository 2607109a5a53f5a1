"""Documents from JSON Lines: one object a line."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from findback.corpus.findings import Findings
from findback.corpus.tables import Row, list_tables, name_of, shape_rows
from findback.corpus.textfile import read_lines
from findback.errors import DataError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

SUFFIXES = (".jsonl", ".ndjson")


def read_jsonl(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the documents of a file, or of every such file of a folder, in file order."""
    for file in list_tables(path, SUFFIXES, settings):
        shown = name_of(file, path, settings)
        yield from shape_rows(read_rows(file, shown, findings), shown, settings, findings)


def read_rows(file: Path, shown: str, findings: Findings) -> Iterator[Row]:
    """Yield each object with its line; a line that is none becomes a fault.

    Raises:
        DataError: If the file is one JSON array.
    """
    for number, line in read_lines(file, shown, findings):
        if not line or line.isspace():
            continue
        if number == 1 and line.lstrip().startswith("["):
            raise DataError(
                f"{shown} is one JSON array, not one object a line",
                hint=f"turn it into JSON Lines, for example: jq -c '.[]' {Path(shown).name}",
            )
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as bad:
            if "�" not in line or not _is_reported(findings, shown, number):
                findings.fault(shown, number, f"not valid JSON: {bad.msg} (column {bad.colno})")
            continue
        except RecursionError:
            findings.fault(shown, number, "not valid JSON: nested too deeply")
            continue
        if _is_reported(findings, shown, number):
            continue
        if not isinstance(fields, dict):
            findings.fault(shown, number, f"a JSON {type(fields).__name__} where an object is expected")
            continue
        yield Row(number, fields)


def _is_reported(findings: Findings, shown: str, number: int) -> bool:
    # Encoding faults are recorded while the line is read, just before it comes here.
    last = findings.faults[-1] if findings.faults else None
    return last is not None and last.line == number and last.path == shown
