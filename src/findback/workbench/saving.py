"""Saving a review: a revision of its own in one transaction, the state of the candidate following from it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, insert, select

from findback.errors import UsageError
from findback.model.review import Review
from findback.workbench.basis import basis_of, read_basis, rebase, write_basis
from findback.workbench.decision import hold_candidate, move_candidate, number_of_reviewer
from findback.workbench.event import add_event
from findback.workbench.false_positives import put_false_positives
from findback.workbench.remains import write_review
from findback.workbench.reservations import hold_on
from findback.workbench.revisions import (
    ReviewConflictError,
    Saved,
    SaveOptions,
    StateRule,
    StoredReview,
    answer_of,
    newest_rows,
    read_review,
    stored_review,
)
from findback.workbench.rows import StoredCandidate, read_by_keys
from findback.workbench.state import State
from findback.workbench.tables import REVIEWS

MOST_REVISIONS = 500
"""Revisions kept of one review; the oldest go."""
LONGEST = 1_000_000
"""Characters of one stored review."""
LONGEST_REQUEST = 100

_ASKED = select(REVIEWS).where(REVIEWS.c.reviewer == bindparam("reviewer"), REVIEWS.c.request == bindparam("request"))
_REVISION = select(REVIEWS).where(
    *(REVIEWS.c[name] == bindparam(name) for name in ("candidate", "reviewer", "look", "revision"))
)
_ADDED = insert(REVIEWS)


class _Held(NamedTuple):
    """A candidate that a transaction holds, and what its reviews are at that moment."""

    key: str
    row: Row[*tuple[Any, ...]]
    known: StoredCandidate
    reviewer: int
    reviews: tuple[StoredReview, ...]
    newest: Row[*tuple[Any, ...]] | None
    """The newest revision of the review that is being saved."""


def store_review(
    connection: Connection,
    key: str,
    review: Review,
    options: SaveOptions,
    *,
    rule: StateRule | None,
    now: datetime,
    seen: StoredCandidate | None = None,
) -> Saved:
    """Keep a revision, and move the candidate where the rule says.

    Args:
        connection: Transaction of one who decides.
        key: The candidate.
        review: The whole review.
        options: Whose it is, and which revision they saw.
        rule: Says which state follows.
        now: When it happens.
        seen: The candidate as it was just read; read again where it changed since.

    Raises:
        MissingError: If there is no such candidate.
        ReviewConflictError: If the revision seen is not the newest one.
        UsageError: If it is released, or the review is too long.
    """
    held = _hold(connection, key, options, now, seen)
    if isinstance(held, Saved):
        return held
    parent = held.newest.revision if held.newest is not None else 0
    return _append(connection, held, review, options, parent=parent, rule=rule, now=now)


def take_back(
    connection: Connection, key: str, options: SaveOptions, *, rule: StateRule | None, now: datetime
) -> Saved:
    """Give back what stood before the newest revision; repeated, it goes further back.

    Raises:
        MissingError: If there is no such candidate.
        ReviewConflictError: If the revision seen is not the newest one.
        UsageError: If there is nothing before it, or it is released.
    """
    held = _hold(connection, key, options, now, None)
    if isinstance(held, Saved):
        return held
    newest = held.newest
    if newest is None or (newest.parent == 0 and newest.content == write_review(Review())):
        raise UsageError("there is nothing to take back")
    before = None
    if newest.parent:
        of = {"candidate": held.row.id, "reviewer": held.reviewer, "look": options.look, "revision": newest.parent}
        before = connection.execute(_REVISION, of).one_or_none()
    if before is None:
        restored = options._replace(stage="draft")
        return _append(connection, held, Review(), restored, parent=0, rule=rule, now=now)
    restored = options._replace(stage=before.stage, role=before.role)
    return _append(
        connection,
        held,
        read_review(before.content),
        restored,
        parent=before.parent,
        rule=rule,
        now=now,
        basis=before.basis,
    )


def _hold(
    connection: Connection, key: str, options: SaveOptions, now: datetime, seen: StoredCandidate | None
) -> _Held | Saved:
    """Hold a candidate for one change; or return what the same request was answered before."""
    row = hold_candidate(connection, key)
    number = number_of_reviewer(connection, options.reviewer, now)
    if (answered := _answered(connection, row.id, number, options)) is not None:
        return answered
    same = seen is not None and (seen.number, seen.version) == (row.id, row.version)
    known = seen if seen is not None and same else read_by_keys(connection, [key], hold=False)[key]
    rows = newest_rows(connection, row.id)
    reviews = tuple(stored_review(one, known) for one in rows)
    at = _place(reviews, options)
    held = _Held(key, row, known, number, reviews, None if at is None else rows[at])
    if options.revision != (held.newest.revision if held.newest is not None else 0):
        stored = None if at is None else reviews[at]
        raise ReviewConflictError(stored, state=row.state, version=row.version)
    if row.state == "released":
        raise UsageError("it is released already", hint="change the case in the set browser instead")
    return held


def _place(reviews: Sequence[StoredReview], options: SaveOptions) -> int | None:
    same = (at for at, one in enumerate(reviews) if (one.reviewer, one.look) == (options.reviewer, options.look))
    return next(same, None)


def _append(
    connection: Connection,
    held: _Held,
    review: Review,
    options: SaveOptions,
    *,
    parent: int,
    rule: StateRule | None,
    now: datetime,
    basis: str | None = None,
) -> Saved:
    content = write_review(review)
    if len(content) > LONGEST:
        raise UsageError("a review this long is not kept", hint="shorten notes, anchors or the list of documents")
    row, newest = held.row, held.newest
    written = basis or write_basis(basis_of(held.known.candidate, review))
    revision = (newest.revision if newest is not None else 0) + 1
    state: State = row.state
    version = int(row.version)
    if rule is not None:
        holds, notices = rebase(review, read_basis(written), held.known.candidate)
        own = StoredReview(options.reviewer, options.role, options.stage, options.look, revision, holds, now, notices)
        state = rule(held.known, _with(held.reviews, own, options))
        if state != row.state:
            version = move_candidate(
                connection, held.key, row, state, reviewer=held.reviewer, reason=options.reason, now=now
            )
    values: dict[str, Any] = {
        "candidate": row.id,
        "reviewer": held.reviewer,
        "look": options.look,
        "revision": revision,
        "parent": parent,
        "role": options.role,
        "stage": options.stage,
        "content": content,
        "basis": written,
        "wording": review.wording,
        "answer": answer_of(review),
        "state": state,
        "version": version,
        "request": options.request,
        "at": now,
    }
    connection.execute(_ADDED, values)
    _give_back(connection, held, review, options, now)
    until = None if options.stage == "submitted" else options.hold_until
    if options.stage == "submitted" or until is not None:
        hold_on(connection, row.id, held.reviewer, until, now)
    if options.stage == "submitted":
        details = {"look": options.look, "role": options.role, "revision": revision}
        add_event(connection, "review", now, candidate=held.key, reviewer=held.reviewer, details=details)
    if revision > MOST_REVISIONS:
        old = (REVIEWS.c.candidate == row.id, REVIEWS.c.reviewer == held.reviewer, REVIEWS.c.look == options.look)
        connection.execute(delete(REVIEWS).where(*old, REVIEWS.c.revision <= revision - MOST_REVISIONS))
    return Saved(revision, state, version, options.look)


def _with(reviews: Sequence[StoredReview], own: StoredReview, options: SaveOptions) -> list[StoredReview]:
    at = _place(reviews, options)
    return [*reviews, own] if at is None else [*reviews[:at], own, *reviews[at + 1 :]]


def _give_back(connection: Connection, held: _Held, review: Review, options: SaveOptions, now: datetime) -> None:
    """Remember what a submitted review gives back; forget what one gave that is taken up again."""
    if options.stage == "submitted":
        given = () if options.false_positives is None else options.false_positives(held.known.candidate, review)
        put_false_positives(connection, held.key, held.reviewer, given, now)
    elif held.newest is not None and held.newest.stage == "submitted":
        put_false_positives(connection, held.key, held.reviewer, (), now)


def _answered(connection: Connection, candidate: int, reviewer: int, options: SaveOptions) -> Saved | None:
    """Return what the same request was answered before."""
    if options.request is None:
        return None
    if not 0 < len(options.request) <= LONGEST_REQUEST:
        raise UsageError(f"the id of a request has 1 to {LONGEST_REQUEST} characters")
    row = connection.execute(_ASKED, {"reviewer": reviewer, "request": options.request}).one_or_none()
    if row is None:
        return None
    if row.candidate != candidate:
        raise UsageError("the id of this request was used for another candidate")
    return Saved(row.revision, row.state, row.version, row.look)
