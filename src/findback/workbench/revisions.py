"""Reviews as they are kept: every revision whole, read back as it holds for the texts of today."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, select

from findback.model.case import Role
from findback.model.review import Review, SpanDecision, Stage
from findback.workbench.asks import Ask, read_asks
from findback.workbench.basis import read_basis, rebase
from findback.workbench.decision import missing_candidate
from findback.workbench.false_positives import FalsePositiveRule
from findback.workbench.faults import ConflictError
from findback.workbench.listing import is_newest
from findback.workbench.rows import StoredCandidate, in_chunks, read_by_keys
from findback.workbench.state import State
from findback.workbench.tables import REVIEWERS, REVIEWS

Look = Literal[1, 2, 3]
"""2 is the same person's second look, made without seeing the first; 3 is a lead's, who settles a disagreement."""


class StoredReview(NamedTuple):
    """A revision of a review, as it holds for the texts of today."""

    reviewer: str
    role: Role
    stage: Stage
    look: Look
    revision: int
    review: Review
    at: datetime
    notices: tuple[str, ...] = ()
    """What of it was dropped because a text changed."""


class Saved(NamedTuple):
    """What a saved review led to."""

    revision: int
    state: State
    """State of the candidate now."""
    version: int
    """Version of the candidate now."""
    look: Look = 1


class Dossier(NamedTuple):
    """A candidate with all that was said about it, read at one moment."""

    stored: StoredCandidate
    reviews: tuple[StoredReview, ...]
    """Everybody's newest revision, one for each look; the earliest reviewer first."""
    asks: tuple[Ask, ...]
    """Links made for it, oldest first, with their answers."""


class ReviewConflictError(ConflictError):
    """The review was changed elsewhere, in another window perhaps."""

    def __init__(self, stored: StoredReview | None, *, state: str, version: int) -> None:
        super().__init__("this review was changed elsewhere meanwhile", state=state, version=version)
        self.revision = stored.revision if stored is not None else 0
        """The stored revision; 0 where there is none."""
        self.stored = stored
        """What is stored, to be shown beside what was sent."""


StateRule = Callable[[StoredCandidate, Sequence[StoredReview]], State]
"""Says which state follows from the newest revision of everybody's review; runs inside the transaction."""


class SaveOptions(NamedTuple):
    """How a review is saved."""

    reviewer: str
    role: Role
    stage: Stage
    revision: int
    """The one the caller saw; 0 for none."""
    look: Look = 1
    request: str | None = None
    """Id of the request; given again, it changes nothing and is answered as before."""
    reason: str | None = None
    hold_until: datetime | None = None
    """Until when the candidate is kept for the reviewer, where nobody else has it; a submitted one is let go of."""
    false_positives: FalsePositiveRule | None = None
    """Says what a submitted review gives back."""


def _newest_of() -> Any:
    of: Any = bindparam("candidate")
    newest = (
        select(
            REVIEWS.c.reviewer,
            REVIEWS.c.look,
            func.max(REVIEWS.c.revision).label("revision"),
            func.min(REVIEWS.c.id).label("first"),
        )
        .where(REVIEWS.c.candidate == of)
        .group_by(REVIEWS.c.reviewer, REVIEWS.c.look)
        .subquery()
    )
    same = (
        (newest.c.reviewer == REVIEWS.c.reviewer)
        & (newest.c.look == REVIEWS.c.look)
        & (newest.c.revision == REVIEWS.c.revision)
    )
    return (
        select(REVIEWS, REVIEWERS.c.subject)
        .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
        .join(newest, same)
        .where(REVIEWS.c.candidate == of)
        .order_by(newest.c.first)
    )


_NEWEST = _newest_of()
"""Built once: every look at a page and every change asks it."""


def newest_rows(connection: Connection, candidate: int) -> Sequence[Row[Any]]:
    """Return the newest revision of everybody's review of a candidate, the earliest reviewer first."""
    return connection.execute(_NEWEST, {"candidate": candidate}).all()


def read_dossier(connection: Connection, key: str) -> Dossier | None:
    """Return a candidate with everybody's reviews of it and what resolvers said; None where there is none."""
    known = read_by_keys(connection, [key], hold=False).get(key)
    if known is None:
        return None
    reviews = tuple(stored_review(row, known) for row in newest_rows(connection, known.number))
    return Dossier(known, reviews, tuple(read_asks(connection, key)))


def read_reviews(connection: Connection, key: str, stored: StoredCandidate | None = None) -> list[StoredReview]:
    """Return the newest revision of everybody's review of a candidate, the earliest reviewer first.

    Raises:
        MissingError: If there is no such candidate.
    """
    known = stored or read_by_keys(connection, [key], hold=False).get(key)
    if known is None:
        raise missing_candidate(key)
    return [stored_review(row, known) for row in newest_rows(connection, known.number)]


def read_redactions(connection: Connection, candidates: Sequence[StoredCandidate]) -> dict[str, list[SpanDecision]]:
    """Return what anybody's newest review redacts in candidates, by their keys, as it holds for the texts of today."""
    known = {one.number: one for one in candidates}
    found: dict[str, list[SpanDecision]] = {one.candidate.key: [] for one in candidates}
    for chunk in in_chunks(sorted(known)):
        columns = (REVIEWS.c.candidate, REVIEWS.c.content, REVIEWS.c.basis)
        query = select(*columns).where(REVIEWS.c.candidate.in_(chunk), is_newest()).order_by(REVIEWS.c.id)
        for row in connection.execute(query):
            candidate = known[row.candidate].candidate
            review, _ = rebase(read_review(row.content), read_basis(row.basis), candidate)
            found[candidate.key] += [one for one in review.spans if one.action == "redact"]
    return found


def read_history(
    connection: Connection, key: str, *, reviewer: str | None = None, stage: Stage | None = None, limit: int
) -> list[StoredReview]:
    """Return revisions of a candidate's reviews, newest first.

    Raises:
        MissingError: If there is no such candidate.
    """
    known = read_by_keys(connection, [key], hold=False).get(key)
    if known is None:
        raise missing_candidate(key)
    query = (
        select(REVIEWS, REVIEWERS.c.subject)
        .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
        .where(REVIEWS.c.candidate == known.number)
        .order_by(REVIEWS.c.id.desc())
        .limit(limit)
    )
    if reviewer is not None:
        query = query.where(REVIEWERS.c.subject == reviewer)
    if stage is not None:
        query = query.where(REVIEWS.c.stage == stage)
    return [stored_review(row, known) for row in connection.execute(query)]


def stored_review(row: Row[Any], known: StoredCandidate) -> StoredReview:
    """Return a revision as it holds for the texts of today."""
    review, notices = rebase(read_review(row.content), read_basis(row.basis), known.candidate)
    return StoredReview(row.subject, row.role, row.stage, row.look, row.revision, review, row.at, notices)


def read_review(content: str) -> Review:
    """Return the review that `write_review` was given."""
    return Review.model_validate(json.loads(content))


def answer_of(review: Review) -> str | None:
    """Return what a review comes to: one, cross-doc, no-answer, unrateable, later, or None where it does not say."""
    if review.unrateable_reason is not None:
        return "unrateable"
    if review.later_reason is not None:
        return "later"
    parts = {one.part for one in review.judged if one.grade >= 1}
    if parts:
        return "one" if len(parts) == 1 else "cross-doc"
    return "no-answer" if review.no_answer_reason is not None else None
