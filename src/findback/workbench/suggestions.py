"""What a model would judge of candidates: one draft each, the newest, which goes with its candidate."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from findback.model.assisted import Suggestion
from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.rows import in_chunks
from findback.workbench.tables import CANDIDATES, SUGGESTIONS


def read_suggestions(connection: Connection, keys: Collection[str] | None) -> dict[str, Suggestion]:
    """Return the drafts of some candidates, or of all of them, by key."""
    query = select(CANDIDATES.c.key, SUGGESTIONS.c.content).join(CANDIDATES, CANDIDATES.c.id == SUGGESTIONS.c.candidate)
    chunks = [None] if keys is None else list(in_chunks(sorted(keys)))
    return {
        row.key: Suggestion.model_validate(json.loads(row.content))
        for chunk in chunks
        for row in connection.execute(query if chunk is None else query.where(CANDIDATES.c.key.in_(chunk)))
    }


def put_suggestion(connection: Connection, key: str, suggestion: Suggestion, now: datetime) -> bool:
    """Keep a draft in the place of an older one; return whether the candidate is still there."""
    held = select(CANDIDATES.c.id).where(CANDIDATES.c.key == key).with_for_update()
    number = connection.scalar(held)
    if number is None:
        return False
    # A text in a database can hold neither NUL nor half of a surrogate pair; JSON in ASCII has neither.
    values = {"content": json.dumps(suggestion.model_dump(mode="json"), separators=(",", ":")), "at": now}
    where = SUGGESTIONS.c.candidate == number
    if not connection.execute(update(SUGGESTIONS).where(where).values(**values)).rowcount:
        connection.execute(insert(SUGGESTIONS).values(candidate=number, **values))
    return True


class Suggestions:
    """Drafts of judgements. Whoever shows one asks first whether its reader has answered."""

    _database: Database

    @quietly("keep suggestions")
    def put_suggestions(self, given: Mapping[str, Suggestion], *, now: datetime) -> int:
        """Keep drafts by key of their candidate, and return how many are new or other than before."""
        changed = 0
        with self._database.deciding() as connection:
            known = read_suggestions(connection, given.keys())
            for key, suggestion in sorted(given.items()):
                if known.get(key) != suggestion:
                    changed += put_suggestion(connection, key, suggestion, now)
        return changed

    @quietly("read suggestions")
    def suggestions(self, keys: Collection[str] | None = None) -> dict[str, Suggestion]:
        """Return the drafts of some candidates, or of all of them, by key."""
        with self._database.reading() as connection:
            return read_suggestions(connection, keys)
