"""Reviews: every revision kept whole, one transaction each, the state of the candidate following from them."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from findback.errors import UsageError
from findback.model.case import Role
from findback.model.review import Review, SpanDecision, Stage
from findback.workbench.basis import basis_of, read_basis, rebase, write_basis
from findback.workbench.database import Database
from findback.workbench.decision import hold_candidate, missing_candidate, move_candidate, number_of_reviewer
from findback.workbench.event import add_event
from findback.workbench.false_positives import FalsePositiveRule, put_false_positives
from findback.workbench.faults import ConflictError, quietly
from findback.workbench.listing import is_newest
from findback.workbench.remains import write_review
from findback.workbench.reservations import keep
from findback.workbench.rows import StoredCandidate, in_chunks, read_by_keys
from findback.workbench.state import State
from findback.workbench.tables import RESERVATIONS, REVIEWERS, REVIEWS

Look = Literal[1, 2, 3]
"""2 is the same person's second look, made without seeing the first; 3 is a lead's, who settles a disagreement."""

MOST_REVISIONS = 500
"""Revisions kept of one review; the oldest go."""
LONGEST = 1_000_000
"""Characters of one stored review."""
LONGEST_REQUEST = 100


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


def store_review(
    connection: Connection, key: str, review: Review, options: SaveOptions, *, rule: StateRule | None, now: datetime
) -> Saved:
    """Keep a revision, and move the candidate where the rule says.

    Raises:
        MissingError: If there is no such candidate.
        ReviewConflictError: If the revision seen is not the newest one.
        UsageError: If it is released, or the review is too long.
    """
    row = hold_candidate(connection, key)
    number = number_of_reviewer(connection, options.reviewer, now)
    if (answered := _answered(connection, row.id, number, options)) is not None:
        return answered
    newest = _newest(connection, row.id, number, options.look)
    _refuse_stale(connection, key, row, newest, options)
    return _append(
        connection,
        row,
        review,
        options,
        key=key,
        number=number,
        parent=newest.revision if newest else 0,
        rule=rule,
        now=now,
    )


def take_back(
    connection: Connection, key: str, options: SaveOptions, *, rule: StateRule | None, now: datetime
) -> Saved:
    """Give back what stood before the newest revision; repeated, it goes further back.

    Raises:
        MissingError: If there is no such candidate.
        ReviewConflictError: If the revision seen is not the newest one.
        UsageError: If there is nothing before it, or it is released.
    """
    row = hold_candidate(connection, key)
    number = number_of_reviewer(connection, options.reviewer, now)
    if (answered := _answered(connection, row.id, number, options)) is not None:
        return answered
    newest = _newest(connection, row.id, number, options.look)
    _refuse_stale(connection, key, row, newest, options)
    if newest is None or (newest.parent == 0 and newest.content == write_review(Review())):
        raise UsageError("there is nothing to take back")
    before = None if newest.parent == 0 else _revision(connection, row.id, number, options.look, newest.parent)
    if before is None:
        restored = options._replace(stage="draft")
        return _append(connection, row, Review(), restored, key=key, number=number, parent=0, rule=rule, now=now)
    restored = options._replace(stage=before.stage, role=before.role)
    review = Review.model_validate(json.loads(before.content))
    return _append(
        connection,
        row,
        review,
        restored,
        key=key,
        number=number,
        parent=before.parent,
        rule=rule,
        now=now,
        basis=before.basis,
    )


def read_reviews(connection: Connection, key: str, stored: StoredCandidate | None = None) -> list[StoredReview]:
    """Return the newest revision of everybody's review of a candidate, the earliest reviewer first.

    Raises:
        MissingError: If there is no such candidate.
    """
    known = stored or read_by_keys(connection, [key], hold=False).get(key)
    if known is None:
        raise missing_candidate(key)
    newest = (
        select(
            REVIEWS.c.reviewer,
            REVIEWS.c.look,
            func.max(REVIEWS.c.revision).label("revision"),
            func.min(REVIEWS.c.id).label("first"),
        )
        .where(REVIEWS.c.candidate == known.number)
        .group_by(REVIEWS.c.reviewer, REVIEWS.c.look)
        .subquery()
    )
    query = (
        select(REVIEWS, REVIEWERS.c.subject)
        .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
        .join(
            newest,
            (newest.c.reviewer == REVIEWS.c.reviewer)
            & (newest.c.look == REVIEWS.c.look)
            & (newest.c.revision == REVIEWS.c.revision),
        )
        .where(REVIEWS.c.candidate == known.number)
        .order_by(newest.c.first)
    )
    return [_stored(row, known) for row in connection.execute(query)]


def read_redactions(connection: Connection, candidates: Sequence[StoredCandidate]) -> dict[str, list[SpanDecision]]:
    """Return what anybody's newest review redacts in candidates, by their keys, as it holds for the texts of today."""
    known = {one.number: one for one in candidates}
    found: dict[str, list[SpanDecision]] = {one.candidate.key: [] for one in candidates}
    for chunk in in_chunks(sorted(known)):
        columns = (REVIEWS.c.candidate, REVIEWS.c.content, REVIEWS.c.basis)
        query = select(*columns).where(REVIEWS.c.candidate.in_(chunk), is_newest()).order_by(REVIEWS.c.id)
        for row in connection.execute(query):
            candidate = known[row.candidate].candidate
            review, _ = rebase(Review.model_validate(json.loads(row.content)), read_basis(row.basis), candidate)
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
    return [_stored(row, known) for row in connection.execute(query)]


def _append(
    connection: Connection,
    row: Row[*tuple[Any, ...]],
    review: Review,
    options: SaveOptions,
    *,
    key: str,
    number: int,
    parent: int,
    rule: StateRule | None,
    now: datetime,
    basis: str | None = None,
) -> Saved:
    if row.state == "released":
        raise UsageError("it is released already", hint="change the case in the set browser instead")
    content = write_review(review)
    if len(content) > LONGEST:
        raise UsageError("a review this long is not kept", hint="shorten notes, anchors or the list of documents")
    known = read_by_keys(connection, [key], hold=False)[key]
    revision = (connection.scalar(_revisions(row.id, number, options.look)) or 0) + 1
    values: dict[str, Any] = {
        "candidate": row.id,
        "reviewer": number,
        "look": options.look,
        "revision": revision,
        "parent": parent,
        "role": options.role,
        "stage": options.stage,
        "content": content,
        "basis": basis or write_basis(basis_of(known.candidate, review)),
        "wording": review.wording,
        "answer": answer_of(review),
        "state": row.state,
        "version": row.version,
        "request": options.request,
        "at": now,
    }
    done = connection.execute(insert(REVIEWS).values(**values).returning(REVIEWS.c.id)).scalar_one()
    given = options.false_positives if options.stage == "submitted" else None
    put_false_positives(connection, key, number, () if given is None else given(known.candidate, review), now)
    _hold(connection, row.id, number, options, now)
    state: State = row.state
    version = int(row.version)
    if rule is not None and (state := rule(known, read_reviews(connection, key, known))) != row.state:
        version = move_candidate(connection, key, row, state, reviewer=number, reason=options.reason, now=now)
        written = {"state": state, "version": version}
        connection.execute(update(REVIEWS).where(REVIEWS.c.id == done).values(**written))
    if options.stage == "submitted":
        details = {"look": options.look, "role": options.role, "revision": revision}
        add_event(connection, "review", now, candidate=key, reviewer=number, details=details)
    old = (REVIEWS.c.candidate == row.id, REVIEWS.c.reviewer == number, REVIEWS.c.look == options.look)
    connection.execute(delete(REVIEWS).where(*old, REVIEWS.c.revision <= revision - MOST_REVISIONS))
    return Saved(revision, state, version, options.look)


def _hold(connection: Connection, candidate: int, reviewer: int, options: SaveOptions, now: datetime) -> None:
    held = connection.execute(select(RESERVATIONS).where(RESERVATIONS.c.candidate == candidate)).one_or_none()
    if held is not None and held.reviewer != reviewer and held.until > now:
        return
    if options.stage == "submitted":
        connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.candidate == candidate))
    elif options.hold_until is not None:
        keep(connection, candidate, reviewer, options.hold_until, held=held is not None)


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


def _answered(connection: Connection, candidate: int, reviewer: int, options: SaveOptions) -> Saved | None:
    """Return what the same request was answered before."""
    if options.request is None:
        return None
    if not 0 < len(options.request) <= LONGEST_REQUEST:
        raise UsageError(f"the id of a request has 1 to {LONGEST_REQUEST} characters")
    row = connection.execute(
        select(REVIEWS).where(REVIEWS.c.reviewer == reviewer, REVIEWS.c.request == options.request)
    ).one_or_none()
    if row is None:
        return None
    if row.candidate != candidate:
        raise UsageError("the id of this request was used for another candidate")
    return Saved(row.revision, row.state, row.version, row.look)


def _refuse_stale(
    connection: Connection,
    key: str,
    row: Row[*tuple[Any, ...]],
    newest: Row[*tuple[Any, ...]] | None,
    options: SaveOptions,
) -> None:
    if options.revision == (newest.revision if newest is not None else 0):
        return
    stored = None
    if newest is not None:
        reviews = read_reviews(connection, key)
        stored = next(r for r in reviews if r.reviewer == options.reviewer and r.look == options.look)
    raise ReviewConflictError(stored, state=row.state, version=row.version)


def _revisions(candidate: int, reviewer: int, look: Look) -> Any:
    return select(func.max(REVIEWS.c.revision)).where(
        REVIEWS.c.candidate == candidate, REVIEWS.c.reviewer == reviewer, REVIEWS.c.look == look
    )


def _newest(connection: Connection, candidate: int, reviewer: int, look: Look) -> Row[*tuple[Any, ...]] | None:
    number = connection.scalar(_revisions(candidate, reviewer, look))
    return None if number is None else _revision(connection, candidate, reviewer, look, number)


def _revision(
    connection: Connection, candidate: int, reviewer: int, look: Look, revision: int
) -> Row[*tuple[Any, ...]] | None:
    where = (REVIEWS.c.candidate == candidate, REVIEWS.c.reviewer == reviewer, REVIEWS.c.look == look)
    return connection.execute(select(REVIEWS).where(*where, REVIEWS.c.revision == revision)).one_or_none()


def _stored(row: Row[*tuple[Any, ...]], known: StoredCandidate) -> StoredReview:
    review, notices = rebase(Review.model_validate(json.loads(row.content)), read_basis(row.basis), known.candidate)
    return StoredReview(row.subject, row.role, row.stage, row.look, row.revision, review, row.at, notices)


class Reviews:
    """Reviews, each call a transaction of its own."""

    _database: Database

    @quietly("keep a review")
    def save_review(
        self, key: str, review: Review, options: SaveOptions, *, now: datetime, rule: StateRule | None = None
    ) -> Saved:
        """Keep a new revision of a review and move the candidate to the state that follows; all or nothing.

        Args:
            key: The candidate.
            review: The whole review.
            options: Whose it is, and which revision they saw.
            now: When it happens.
            rule: Says which state follows; the state stays when None.

        Raises:
            MissingError: If there is no such candidate.
            ReviewConflictError: If the revision seen is not the newest one; carries what is stored.
            UsageError: If the candidate is released, or the review is too long.
        """
        with self._database.deciding() as connection:
            return store_review(connection, key, review, options, rule=rule, now=now)

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
