"""Documents from CSV and its relatives: a header, one document a record."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from findback.corpus.findings import Findings
from findback.corpus.tables import Row, list_tables, name_of, shape_rows
from findback.corpus.textfile import read_lines
from findback.errors import DataError
from findback.model.document import Document
from findback.model.settings import CorpusSettings
from findback.text.delimited import DelimitedRow, delimited_rows, guess_delimiter

SUFFIXES = (".csv", ".tsv", ".tab")
_NAMES = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def read_csv(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the documents of a file, or of every such file of a folder, in file order.

    The delimiter is recognised from the header (comma, semicolon, tab or vertical bar), and remarked on
    when it is no comma. Quoted cells keep their line ends.
    """
    for file in list_tables(path, SUFFIXES, settings):
        shown = name_of(file, path, settings)
        yield from shape_rows(_read_rows(file, shown, findings), shown, settings, findings)


def read_records(file: Path, shown: str, findings: Findings) -> Iterator[DelimitedRow]:
    """Yield every record of a delimited file, header included; broken ones become faults."""
    lines: Iterator[str] = (line for _, line in read_lines(file, shown, findings))
    first = next((line for line in lines if not line.isspace()), None)
    if first is None:
        return
    stated = first.strip().removeprefix("sep=") if first.startswith("sep=") else ""
    if len(stated) == 1 or first.rstrip("\r\n") == "sep=\t":
        delimiter, skipped, rest = stated or "\t", 1, lines
    else:
        delimiter, skipped, rest = guess_delimiter(first[:100_000].replace("\r", "")), 0, _chain(first, lines)
    if delimiter != ",":
        findings.remark(f"{shown}: cells are parted by {_NAMES.get(delimiter, repr(delimiter))}")
    for row in delimited_rows(rest, delimiter=delimiter, guarded=False):
        if row.fault is not None:
            findings.fault(shown, row.line + skipped, row.fault)
        else:
            yield row._replace(line=row.line + skipped)


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _read_rows(file: Path, shown: str, findings: Findings) -> Iterator[Row]:
    records = read_records(file, shown, findings)
    head = next(records, None)
    if head is None:
        return
    header = [name.strip() for name in head.cells]
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise DataError(
            f"{shown}:{head.line}: the header names a column twice: {', '.join(map(repr, twice[:5]))}",
            hint="the first line must name each column once",
        )
    known = len(findings.faults)
    for row in records:
        if len(findings.faults) > known:
            known = len(findings.faults)
            if findings.faults[-1].line is not None and findings.faults[-1].line >= row.line:
                continue
        if len(row.cells) != len(header):
            findings.fault(shown, row.line, f"{len(row.cells)} cells where the header has {len(header)}")
            known = len(findings.faults)
            continue
        yield Row(row.line, dict(zip(header, row.cells, strict=True)))
