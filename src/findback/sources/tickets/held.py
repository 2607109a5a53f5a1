"""Records that lie apart from their ticket, packed in memory until it comes."""

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from findback.model.thread import Place


class HeldRecord(NamedTuple):
    """One of them, as it was kept."""

    kind: str
    values: dict[str, Any]
    line: int | None
    place: Place


class Held:
    """Keeps them by ticket; what is still there at the end belongs to none of the export."""

    def __init__(self) -> None:
        self._packed: dict[str, list[bytes]] = {}

    def __len__(self) -> int:
        """Return how many records still wait."""
        return sum(map(len, self._packed.values()))

    def keep(self, ticket: str, values: Mapping[str, Any], line: int | None, place: Place, kind: str = "") -> None:
        """Keep a record until its ticket comes."""
        record = orjson.dumps([kind, values, line, [*place]], default=str)
        self._packed.setdefault(ticket, []).append(zlib.compress(record, 1))

    def take(self, ticket: str) -> list[HeldRecord]:
        """Return the records of a ticket in the order they were kept, and forget them."""
        found = (orjson.loads(zlib.decompress(packed)) for packed in self._packed.pop(ticket, ()))
        return [HeldRecord(kind, values, line, Place(*place)) for kind, values, line, place in found]
