"""Logs that are read and closed again."""

import pytest

from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close


@pytest.fixture
def read():
    """Read a log with a source; its engine is closed when the test ends."""
    opened = []

    def _read(source, path, **options):
        reading = source.read(path, SourceOptions(**options))
        opened.append(reading.table.get_backend())
        return reading

    yield _read
    for connection in opened:
        close(connection)
