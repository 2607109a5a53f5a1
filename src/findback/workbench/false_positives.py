"""What redaction took and a reviewer gave back, as HMACs: honoured when a set is checked before release."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from findback.errors import RefusedError
from findback.model.candidate import Candidate
from findback.model.review import Review
from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.tables import FALSE_POSITIVES

NEVER = frozenset({"SECRET", "IBAN", "CARD", "NATIONAL_ID"})
"""Types nobody gives back: secrets, and identifiers that a checksum vouches for."""


class FalsePositive(NamedTuple):
    """A value that is not what redaction took it for."""

    value_hmac: str
    type: str
    rule: str


FalsePositiveRule = Callable[[Candidate, Review], Sequence[FalsePositive]]
"""Says what a review gives back."""


def put_false_positives(
    connection: Connection, key: str, reviewer: int, given: Sequence[FalsePositive], now: datetime
) -> None:
    """Put what one reviewer gives back in one candidate in place of what they gave before.

    Raises:
        RefusedError: If one is of a type that nobody gives back.
    """
    for one in given:
        refuse_false_positive(one.type)
    columns = FALSE_POSITIVES.c
    connection.execute(delete(FALSE_POSITIVES).where(columns.candidate_key == key, columns.reviewer == reviewer))
    if given:
        rows = [{"candidate_key": key, "reviewer": reviewer, "at": now, **one._asdict()} for one in set(given)]
        connection.execute(insert(FALSE_POSITIVES), rows)


def refuse_false_positive(kind: str) -> None:
    """Refuse to give back a secret or a checksummed identifier.

    Raises:
        RefusedError: If the type is one of those.
    """
    if kind in NEVER:
        raise RefusedError(
            f"a {kind} is never given back",
            hint="keep the placeholder, or reject the candidate if the question makes no sense with it",
        )


class FalsePositives:
    """What reviewers gave back."""

    _database: Database

    @quietly("read what reviewers gave back")
    def false_positives(self) -> frozenset[FalsePositive]:
        """Return everything that submitted reviews gave back."""
        with self._database.reading() as connection:
            columns = (FALSE_POSITIVES.c.value_hmac, FALSE_POSITIVES.c.type, FALSE_POSITIVES.c.rule)
            return frozenset(FalsePositive(*row) for row in connection.execute(select(*columns).distinct()))
