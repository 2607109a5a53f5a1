"""Reviews of candidates, each call a transaction of its own."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from findback.model.review import Review, SpanDecision, Stage
from findback.workbench.database import Database
from findback.workbench.faults import quietly
from findback.workbench.revisions import (
    Dossier,
    Look,
    ReviewConflictError,
    Saved,
    SaveOptions,
    StateRule,
    StoredReview,
    answer_of,
    read_dossier,
    read_history,
    read_redactions,
    read_reviews,
)
from findback.workbench.rows import StoredCandidate, read_by_keys
from findback.workbench.saving import MOST_REVISIONS, store_review, take_back
from findback.workbench.state import State
from findback.workbench.tables import CANDIDATES

__all__ = [
    "MOST_REVISIONS",
    "Dossier",
    "Look",
    "ReviewConflictError",
    "Reviews",
    "SaveOptions",
    "Saved",
    "StateRule",
    "StoredReview",
    "answer_of",
]


_STATE = select(CANDIDATES.c.state, CANDIDATES.c.audience).where(CANDIDATES.c.key == bindparam("key"))


class Reviews:
    """What people said about candidates."""

    _database: Database

    @quietly("keep a review")
    def save_review(
        self,
        key: str,
        review: Review,
        options: SaveOptions,
        *,
        now: datetime,
        rule: StateRule | None = None,
        seen: StoredCandidate | None = None,
    ) -> Saved:
        """Keep a new revision of a review and move the candidate to the state that follows; all or nothing.

        Args:
            key: The candidate.
            review: The whole review.
            options: Whose it is, and which revision they saw.
            now: When it happens.
            rule: Says which state follows; the state stays when None.
            seen: The candidate as it was just read: it is read again only where it changed since.

        Raises:
            MissingError: If there is no such candidate.
            ReviewConflictError: If the revision seen is not the newest one; carries what is stored.
            UsageError: If the candidate is released, or the review is too long.
        """
        with self._database.deciding() as connection:
            return store_review(connection, key, review, options, rule=rule, now=now, seen=seen)

    @quietly("take a review back")
    def undo_review(self, key: str, options: SaveOptions, *, now: datetime, rule: StateRule | None = None) -> Saved:
        """Give back the review as it was before its newest revision; repeated, it goes further back.

        Raises:
            MissingError: If there is no such candidate.
            ReviewConflictError: If the revision seen is not the newest one; carries what is stored.
            UsageError: If there is nothing before it, or the candidate is released.
        """
        with self._database.deciding() as connection:
            return take_back(connection, key, options, rule=rule, now=now)

    @quietly("read a candidate")
    def candidate(self, key: str) -> StoredCandidate | None:
        """Return the candidate of exactly this key; None where there is none."""
        with self._database.reading() as connection:
            return read_by_keys(connection, [key], hold=False).get(key)

    @quietly("read a candidate")
    def dossier(self, key: str) -> Dossier | None:
        """Return the candidate of exactly this key with all that was said about it; None where there is none."""
        with self._database.reading() as connection:
            return read_dossier(connection, key)

    @quietly("read a candidate's state")
    def state_of(self, key: str, *, audiences: Collection[str]) -> State | None:
        """Return the state of a candidate that somebody who may see these audiences has; None for any other."""
        with self._database.reading() as connection:
            row = connection.execute(_STATE, {"key": key}).one_or_none()
        return row.state if row is not None and row.audience in audiences else None

    @quietly("read reviews")
    def reviews_of(self, key: str, stored: StoredCandidate | None = None) -> list[StoredReview]:
        """Return everybody's newest revision, one for each look; the earliest reviewer first.

        Args:
            key: The candidate.
            stored: The candidate, where it was just read.

        Raises:
            MissingError: If there is no such candidate.
        """
        with self._database.reading() as connection:
            return read_reviews(connection, key, stored)

    @quietly("read what reviews redact")
    def redactions_of(self, candidates: Sequence[StoredCandidate]) -> dict[str, list[SpanDecision]]:
        """Return what anybody's newest review redacts in candidates, by their keys: it is masked wherever they show."""
        with self._database.reading() as connection:
            return read_redactions(connection, candidates)

    @quietly("read a review's history")
    def review_history(
        self, key: str, reviewer: str | None = None, *, stage: Stage | None = None, limit: int = 100
    ) -> list[StoredReview]:
        """Return revisions, newest first: of one reviewer or of all, of one stage or of both.

        Raises:
            MissingError: If there is no such candidate.
        """
        with self._database.reading() as connection:
            return read_history(connection, key, reviewer=reviewer, stage=stage, limit=limit)
