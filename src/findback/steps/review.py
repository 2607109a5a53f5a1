"""Review: what a person does with one candidate. Pages, terminal and spreadsheets all come through here."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from findback.errors import UsageError
from findback.model.candidate import Candidate
from findback.model.case import Role
from findback.model.review import Note, Review, SpanDecision, Stage
from findback.model.reviewer import Reviewer
from findback.steps.evidence import FoundBy
from findback.steps.reviewcheck import list_excesses
from findback.steps.reviewdesk import Desk, open_desk
from findback.steps.reviewfalse import false_positive_rule
from findback.steps.reviewitem import Item
from findback.steps.reviewlook import Looked, find_obstacles, look_at, open_item, standing, visible
from findback.steps.reviewqueue import QueueFilters, QueuePage, QueueRow, list_queue, next_item, progress, weekly_stack
from findback.steps.reviewspans import check_decisions
from findback.steps.reviewstate import state_rule
from findback.workbench.reservations import Reservation
from findback.workbench.reviews import Look, Saved, SaveOptions, StateRule, StoredReview

__all__ = [
    "Alter",
    "Desk",
    "Item",
    "QueueFilters",
    "QueuePage",
    "QueueRow",
    "Reviewer",
    "change",
    "find_obstacles",
    "hold",
    "leave",
    "list_queue",
    "next_item",
    "open_desk",
    "open_item",
    "progress",
    "reject",
    "reserve",
    "save",
    "settle",
    "submit",
    "undo",
    "visible",
    "weekly_stack",
]

Alter = Callable[[Candidate, Review], Review]
"""Makes of a review as it stands the one to keep."""


def save(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    review: Review,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Keep a review as it stands; nothing is asked of it but that it fits its texts.

    Args:
        desk: Where they review.
        reviewer: Whose review it is.
        key: The candidate.
        review: The whole review.
        revision: The one they saw; 0 for none.
        now: When it happens.
        request_id: Id of the request; given again, it changes nothing and is answered as before.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If a decision does not fit its text, or the candidate is released.
    """
    looked = look_at(desk, reviewer, key, now=now)
    return _keep(desk, reviewer, looked, review, "draft", revision=revision, now=now, request_id=request_id)


def submit(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    review: Review,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Keep a review and hand it in; the candidate moves on.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If something stands in the way: the message says all of it.
    """
    looked = look_at(desk, reviewer, key, now=now)
    return _keep(desk, reviewer, looked, review, "submitted", revision=revision, now=now, request_id=request_id)


def change(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    alter: Alter,
    *,
    stage: Stage = "draft",
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Change somebody's review as it stands, and keep it or hand it in; all that is needed is read once.

    Args:
        desk: Where they review.
        reviewer: Whose review it is.
        key: The candidate.
        alter: The change; what it raises is raised, and nothing is kept.
        stage: draft to keep it, submitted to hand it in.
        revision: The one they saw; 0 for none.
        now: When it happens.
        request_id: Id of the request; given again, it changes nothing and is answered as before.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If a decision does not fit its text, or something stands in the way of handing it in.
    """
    looked = look_at(desk, reviewer, key, now=now)
    review = alter(looked.candidate, standing(desk, looked))
    return _keep(desk, reviewer, looked, review, stage, revision=revision, now=now, request_id=request_id)


def settle(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    review: Review,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Decide a candidate on which opinions differ, as a lead.

    Raises:
        RefusedError: If they are no lead.
        UsageError: If opinions do not differ, or something stands in the way.
    """
    reviewer.require("lead")
    looked = look_at(desk, reviewer, key, now=now)
    if looked.look != 3:
        raise UsageError("there is nothing to settle: opinions do not differ")
    return _keep(desk, reviewer, looked, review, "submitted", revision=revision, now=now, request_id=request_id)


def reject(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    reason: Note,
    *,
    revision: int | None,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Hand in that nobody can judge this; what was said about it so far stays in the review.

    Args:
        desk: Where they review.
        reviewer: Who rejects it.
        key: The candidate.
        reason: Why.
        revision: The one they saw; 0 for none, None for whichever there is.
        now: When it happens.
        request_id: Id of the request; given again, it changes nothing and is answered as before.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If there is no reason.
    """
    if not reason.strip():
        raise UsageError("a rejection needs a reason")
    looked = look_at(desk, reviewer, key, now=now)
    before = looked.own.review if looked.own is not None else Review()
    review = Review.model_validate({**before.model_dump(), "unrateable_reason": reason[:2_000]})
    seen = _revision(looked) if revision is None else revision
    return _keep(desk, reviewer, looked, review, "submitted", revision=seen, now=now, request_id=request_id)


def undo(
    desk: Desk, reviewer: Reviewer, key: str, *, revision: int, now: datetime, request_id: str | None = None
) -> Saved:
    """Take back the newest change of one's own review, submitting included; repeated, it goes further back.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If there is nothing to take back, or the candidate is released.
    """
    looked = look_at(desk, reviewer, key, now=now)
    options = _options(desk, reviewer, looked.look, stage="draft", revision=revision, now=now, request_id=request_id)
    return desk.bench.undo_review(key, options, now=now, rule=_rule(desk, looked.own))


def reserve(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Reservation:
    """Keep a candidate for oneself for a while, or for longer.

    Raises:
        MissingError: If there is no such candidate for them.
        ConflictError: If somebody else has it; says until when, not who.
    """
    visible(desk, reviewer, key)
    return hold(desk, reviewer, key, now=now)


def hold(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Reservation:
    """Keep a candidate for oneself that they were just shown; raises what `reserve` does."""
    return desk.bench.reserve(key, reviewer.subject, now=now, minutes=desk.settings.reservation_minutes)


def leave(desk: Desk, reviewer: Reviewer, key: str) -> None:
    """Let go of a candidate."""
    desk.bench.release_reservation(key, reviewer.subject)


def own_review(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Review:
    """Return somebody's own review of a candidate as it stands; an empty one where there is none.

    Raises:
        MissingError: If there is no such candidate for them.
    """
    own = look_at(desk, reviewer, key, now=now).own
    return own.review if own is not None else Review()


def keep_with_originals(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    review: Review,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Keep a draft whose original words the server itself read; raises what `save` does."""
    looked = look_at(desk, reviewer, key, now=now)
    return _keep(
        desk, reviewer, looked, review, "draft", revision=revision, now=now, request_id=request_id, before=review
    )


def save_decision(desk: Desk, reviewer: Reviewer, key: str, decisions: Sequence[SpanDecision], *, now: datetime) -> int:
    """Add decisions on words to one's own draft of a candidate, which stays in its state; return how many were new.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If the draft changed at the same moment.
        UsageError: If one overlaps what is decided already, or the review is submitted.
    """
    looked = look_at(desk, reviewer, key, now=now)
    own = looked.own
    if own is not None and own.stage == "submitted":
        raise UsageError("the review is submitted already")
    review = own.review if own is not None else Review()
    new = [one for one in decisions if one not in review.spans]
    kept = review.model_copy(update={"spans": (*review.spans, *new)})
    check_decisions(looked.candidate, kept.spans)
    if new:
        revision = _revision(looked)
        options = _options(desk, reviewer, looked.look, stage="draft", revision=revision, now=now, request_id=None)
        desk.bench.save_review(key, kept, options._replace(hold_until=None), now=now, seen=looked.stored)
    return len(new)


def _revision(looked: Looked) -> int:
    return looked.own.revision if looked.own is not None else 0


def _keep(
    desk: Desk,
    reviewer: Reviewer,
    looked: Looked,
    review: Review,
    stage: Stage,
    *,
    revision: int,
    now: datetime,
    request_id: str | None,
    before: Review | None = None,
) -> Saved:
    own = looked.own
    if excesses := list(list_excesses(review)):
        raise UsageError(f"this is more than is kept: {', '.join(excesses)}")
    evidence = looked.evidence
    kept = _normalised(review, before or (own.review if own is not None else Review()), evidence)
    check_decisions(looked.candidate, kept.spans)
    if stage == "submitted" and (obstacles := find_obstacles(desk, looked.stored, kept, evidence)):
        raise UsageError(f"this cannot be submitted yet: {'; '.join(obstacles)}")
    options = _options(desk, reviewer, looked.look, stage=stage, revision=revision, now=now, request_id=request_id)
    return desk.bench.save_review(
        looked.candidate.key,
        kept,
        options._replace(reason=kept.unrateable_reason or kept.later_reason),
        now=now,
        rule=_rule(desk, own),
        seen=looked.stored,
    )


def _options(
    desk: Desk,
    reviewer: Reviewer,
    look: Look,
    *,
    stage: Stage,
    revision: int,
    now: datetime,
    request_id: str | None,
) -> SaveOptions:
    role: Role = "lead" if look == 3 else "reviewer"
    return SaveOptions(
        reviewer=reviewer.subject,
        role=role,
        stage=stage,
        revision=revision,
        look=look,
        request=request_id,
        hold_until=now + timedelta(minutes=desk.settings.reservation_minutes),
        false_positives=false_positive_rule(desk.key),
    )


def _rule(desk: Desk, own: StoredReview | None) -> StateRule:
    reopens = own is not None and own.stage == "submitted"
    return state_rule(desk.key, desk.settings.overlap, reopens=reopens)


def _normalised(review: Review, before: Review, evidence: Mapping[str, FoundBy]) -> Review:
    """Return a review with what only the server may say: original words, and how documents were found."""
    known = {(one.place, one.position, one.start, one.end): one for one in before.spans if one.action == "restore"}
    spans: list[SpanDecision] = []
    for one in review.spans:
        if one.action != "restore":
            spans.append(one.model_copy(update={"original": None}))
            continue
        same = known.get((one.place, one.position, one.start, one.end))
        if same is None:
            raise UsageError(
                "the words behind a placeholder are not known here", hint="have them read again from the export first"
            )
        spans.append(same)
    judged = tuple(
        one.model_copy(update={"found_by": evidence.get(one.doc) or _found_by(one.found_by)}) for one in review.judged
    )
    return review.model_copy(update={"spans": tuple(spans), "judged": judged})


def _found_by(said: str) -> str:
    return said if said in ("pool", "reviewer") else "reviewer"
