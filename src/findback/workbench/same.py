"""Where the same value stands in candidates that are not decided yet."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, select

from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES, SPANS, TEXTS


class SamePlace(NamedTuple):
    """One stretch of one text."""

    candidate: str
    """Key of the candidate."""
    place: str
    position: int
    start: int
    end: int
    words: str
    """What stands there: a placeholder, or the words of a suggestion."""


def find_places(connection: Connection, query: Select[Any], audiences: Collection[str], limit: int) -> list[SamePlace]:
    """Return the stretches of a query over spans joined to their texts and candidates."""
    waiting = (CANDIDATES.c.state.in_(sorted(UNDECIDED)), CANDIDATES.c.audience.in_(sorted(audiences)))
    ordered = query.where(*waiting).order_by(SPANS.c.candidate, SPANS.c.place, SPANS.c.position, SPANS.c.ordinal)
    return [
        SamePlace(row.key, row.place, row.position, row.begins, row.ends, row.text[row.begins : row.ends])
        for row in connection.execute(ordered.limit(limit))
    ]


def _spans() -> Select[Any]:
    text_of = and_(*(TEXTS.c[name] == SPANS.c[name] for name in ("candidate", "place", "position")))
    columns = (SPANS.c.place, SPANS.c.position, SPANS.c.begins, SPANS.c.ends, TEXTS.c.text, CANDIDATES.c.key)
    return select(*columns).join(TEXTS, text_of).join(CANDIDATES, CANDIDATES.c.id == SPANS.c.candidate)


class SameValues:
    """The same value elsewhere."""

    _database: Database

    @quietly("look for the same value")
    def same_values(self, hmac: str, kind: str, *, audiences: Collection[str], limit: int) -> list[SamePlace]:
        """Return where redaction replaced the same value by the same type, in candidates not decided yet."""
        wanted = (SPANS.c.value_hmac == hmac, SPANS.c.type == kind, SPANS.c.band == "applied")
        with self._database.reading() as connection:
            return find_places(connection, _spans().where(*wanted), audiences, limit)

    @quietly("look for suggestions")
    def suggested(self, kind: str, *, audiences: Collection[str], limit: int) -> list[SamePlace]:
        """Return where redaction suggested something of a type, in candidates not decided yet."""
        wanted = (SPANS.c.type == kind, SPANS.c.band == "suggested")
        with self._database.reading() as connection:
            return find_places(connection, _spans().where(*wanted), audiences, limit)
