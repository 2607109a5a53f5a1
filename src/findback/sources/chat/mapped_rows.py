"""Rows of a member as a mapping wants them."""

from collections.abc import Iterator, Mapping
from typing import Any

from findback.model.thread import Place, Skipped
from findback.sources.archive import Archive
from findback.sources.chat.mapping import MessageMapping
from findback.sources.faults import Faults
from findback.sources.paths import Row
from findback.sources.rows import ROOT, read_rows


class MappedRows:
    """Reads the members of one export."""

    def __init__(self, mapping: MessageMapping, archive: Archive, faults: Faults, skipped: Skipped) -> None:
        self._mapping = mapping
        self._archive = archive
        self._faults = faults
        self._skipped = skipped
        self._rooted = any(path.startswith("/") for path in mapping.message.values())

    def read(self, member: str, array: str | None) -> Iterator[tuple[Row, Place]]:
        """Yield the rows of a member, with what its document says beside them where a path asks for that."""
        arrays = array.split(",") if array else None
        held: list[tuple[dict[str, Any], Place]] = []
        root: dict[str, Any] = {}
        for row in read_rows(self._archive, member, self._mapping.arrays, self._faults, self._skipped):
            if row.array == ROOT:
                root = row.value
            elif arrays is not None and row.array not in arrays:
                continue
            elif self._rooted:
                held.append((row.value, row.place))
            else:
                yield Row(row.value, {}), row.place
        for value, place in held:
            yield Row(value, root), place


def find_record(row: Row, part: Mapping[str, str]) -> Row | None:
    """Return the record inside a row, or the row itself where nothing says it lies deeper."""
    path = part.get("record")
    if not path:
        return row
    inner = row.first(path)
    return Row(inner, row.root) if isinstance(inner, Mapping) else None
