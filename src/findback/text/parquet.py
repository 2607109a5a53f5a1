"""Parquet files, row by row; the one file of this kind that needs pyarrow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from findback.errors import DataError

_BATCH = 1_000


def read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each row as a dictionary.

    Raises:
        DataError: If the file is damaged.
    """
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path} is no Parquet file that can be read ({type(error).__name__})") from None


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of the columns; none where the file is damaged."""
    try:
        return tuple(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return ()


def parquet_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return rows as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return bytes(sink.getvalue().to_pybytes())
