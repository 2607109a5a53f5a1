"""Documents from Parquet, a batch of rows at a time."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from findback.corpus.findings import Findings
from findback.corpus.tables import Row, list_tables, name_of, shape_rows
from findback.errors import DataError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

SUFFIXES = (".parquet", ".pq")
BATCH_ROWS = 2_000


def read_parquet(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the documents of a file, or of every such file of a folder, in row order.

    Faults count rows from 1, as lines of a text file would be.

    Raises:
        DataError: If a file is no Parquet.
    """
    for file in list_tables(path, SUFFIXES, settings):
        shown = name_of(file, path, settings)
        yield from shape_rows(_read_rows(file, shown), shown, settings, findings)


def _read_rows(file: Path, shown: str) -> Iterator[Row]:
    number = 0
    try:
        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(BATCH_ROWS, use_threads=False):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(number, {name: _as_text(value) for name, value in fields.items()})
    except (pa.ArrowException, OSError, UnicodeError) as bad:
        where = f" (after row {number:,})" if number else ""
        raise DataError(
            f"{shown} cannot be read as Parquet{where}: {type(bad).__name__}",
            hint="is it complete, and really Parquet? It must begin and end with the bytes PAR1",
        ) from None


def _as_text(value: object) -> object:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value
