"""Review: what a person does with one candidate. Pages, terminal and spreadsheets all come through here."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from findback.errors import UsageError
from findback.model.case import Role
from findback.model.review import Note, Review, SpanDecision, Stage
from findback.model.reviewer import Reviewer
from findback.steps.reviewchange import begin_review
from findback.steps.reviewcheck import check_review, list_excesses
from findback.steps.reviewdesk import Desk, open_desk
from findback.steps.reviewfalse import false_positive_rule, is_false_positive
from findback.steps.reviewitem import Item, OtherOpinion, view_texts
from findback.steps.reviewqueue import QueueFilters, QueuePage, QueueRow, list_queue, next_item, progress, weekly_stack
from findback.steps.reviewspans import Place, check_decisions
from findback.steps.reviewstate import (
    ALONE_DAYS,
    find_look,
    is_disagreement,
    needs_second,
    opinions_of,
    published_text,
    state_rule,
)
from findback.workbench.asks import Ask
from findback.workbench.decision import missing_candidate
from findback.workbench.reservations import Reservation
from findback.workbench.reviews import Look, Saved, SaveOptions, StateRule, StoredReview
from findback.workbench.rows import StoredCandidate

__all__ = [
    "Desk",
    "Item",
    "QueueFilters",
    "QueuePage",
    "QueueRow",
    "Reviewer",
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
    "weekly_stack",
]


def visible(desk: Desk, reviewer: Reviewer, key: str) -> StoredCandidate:
    """Return a candidate that a reviewer may see; others do not exist for them.

    Raises:
        MissingError: If there is none for them.
        RefusedError: If they do not review at all.
    """
    reviewer.require("reviewer", "lead")
    stored = desk.bench.candidate(key)
    if stored is None or stored.candidate.audience not in reviewer.audiences:
        raise missing_candidate(key)
    return stored


def open_item(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime, opened: Collection[Place] = ()) -> Item:
    """Return a candidate as a reviewer sees it: blind to what others said until they submitted themselves.

    A review nobody saved yet begins with the documents a resolver named.

    Args:
        desk: Where they review.
        reviewer: Who looks.
        key: The candidate.
        now: When.
        opened: Places of texts, such as `("line", 3)`, whose suggestions they asked to see.

    Raises:
        MissingError: If there is none for them.
    """
    stored = visible(desk, reviewer, key)
    candidate = stored.candidate
    reviews = desk.bench.reviews_of(key, stored)
    look = _look(desk, stored, reviews, reviewer, now)
    own = _own(reviews, reviewer, look)
    asks = desk.bench.asks_of(key)
    evidence = evidence_of(stored, asks)
    review = own.review if own is not None else begin_review(evidence, desk.documents)
    query, title, thread = view_texts(candidate, review, opened)
    differ = is_disagreement(stored.state, reviews)
    submitted = own is not None and own.stage == "submitted"
    return Item(
        key=key,
        number=stored.number,
        state=stored.state,
        version=stored.version,
        source=candidate.source,
        audience=candidate.audience,
        stratum=candidate.stratum,
        origin=candidate.origin,
        language=candidate.language,
        seen_on=candidate.seen_on,
        asked=candidate.asked,
        selected_on=candidate.selected_on,
        rules=candidate.rules,
        links=candidate.links,
        no_answer_hint=candidate.no_answer_hint,
        outcome=candidate.outcome,
        query=query,
        title=title,
        thread=thread,
        query_line=candidate.query_line,
        cue_line=candidate.cue_line,
        review=review,
        revision=own.revision if own is not None else 0,
        stage=own.stage if own is not None else "draft",
        look=look,
        notices=own.notices if own is not None else (),
        obstacles=find_obstacles(desk, stored, review, evidence),
        second_opinion=stored.state == "second-opinion"
        or needs_second(candidate, [review], desk.key, desk.settings.overlap),
        disagreement=differ and look == 3,
        opinions=_opinions(stored, reviews, reviewer) if submitted or look == 3 else (),
        answers=tuple(one.answer for one in asks if one.answer is not None),
        evidence=evidence,
        may_show_original=desk.settings.show_original,
    )


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
    return _keep(desk, reviewer, key, review, "draft", revision=revision, now=now, request_id=request_id)


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
    return _keep(desk, reviewer, key, review, "submitted", revision=revision, now=now, request_id=request_id)


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
    stored = visible(desk, reviewer, key)
    if _look(desk, stored, desk.bench.reviews_of(key, stored), reviewer, now) != 3:
        raise UsageError("there is nothing to settle: opinions do not differ")
    return submit(desk, reviewer, key, review, revision=revision, now=now, request_id=request_id)


def reject(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    reason: Note,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Hand in that nobody can judge this; what was said about it so far stays in the review.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If there is no reason.
    """
    if not reason.strip():
        raise UsageError("a rejection needs a reason")
    stored = visible(desk, reviewer, key)
    reviews = desk.bench.reviews_of(key, stored)
    own = _own(reviews, reviewer, _look(desk, stored, reviews, reviewer, now))
    before = own.review if own is not None else Review()
    review = Review.model_validate({**before.model_dump(), "unrateable_reason": reason[:2_000]})
    return submit(desk, reviewer, key, review, revision=revision, now=now, request_id=request_id)


def undo(
    desk: Desk, reviewer: Reviewer, key: str, *, revision: int, now: datetime, request_id: str | None = None
) -> Saved:
    """Take back the newest change of one's own review, submitting included; repeated, it goes further back.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If there is nothing to take back, or the candidate is released.
    """
    stored = visible(desk, reviewer, key)
    reviews = desk.bench.reviews_of(key, stored)
    look = _look(desk, stored, reviews, reviewer, now)
    options = _options(desk, reviewer, look, stage="draft", revision=revision, now=now, request_id=request_id)
    return desk.bench.undo_review(key, options, now=now, rule=_rule(desk, _own(reviews, reviewer, look)))


def reserve(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Reservation:
    """Keep a candidate for oneself for a while, or for longer.

    Raises:
        MissingError: If there is no such candidate for them.
        ConflictError: If somebody else has it; says until when, not who.
    """
    visible(desk, reviewer, key)
    return desk.bench.reserve(key, reviewer.subject, now=now, minutes=desk.settings.reservation_minutes)


def leave(desk: Desk, reviewer: Reviewer, key: str) -> None:
    """Let go of a candidate."""
    desk.bench.release_reservation(key, reviewer.subject)


def own_review(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Review:
    """Return somebody's own review of a candidate as it stands; an empty one where there is none.

    Raises:
        MissingError: If there is no such candidate for them.
    """
    stored = visible(desk, reviewer, key)
    reviews = desk.bench.reviews_of(key, stored)
    own = _own(reviews, reviewer, _look(desk, stored, reviews, reviewer, now))
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
    return _keep(desk, reviewer, key, review, "draft", revision=revision, now=now, request_id=request_id, before=review)


def save_decision(desk: Desk, reviewer: Reviewer, key: str, decisions: Sequence[SpanDecision], *, now: datetime) -> int:
    """Add decisions on words to one's own draft of a candidate, which stays in its state; return how many were new.

    Raises:
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If the draft changed at the same moment.
        UsageError: If one overlaps what is decided already, or the review is submitted.
    """
    stored = visible(desk, reviewer, key)
    reviews = desk.bench.reviews_of(key, stored)
    look = _look(desk, stored, reviews, reviewer, now)
    own = _own(reviews, reviewer, look)
    if own is not None and own.stage == "submitted":
        raise UsageError("the review is submitted already")
    review = own.review if own is not None else Review()
    new = [one for one in decisions if one not in review.spans]
    kept = review.model_copy(update={"spans": (*review.spans, *new)})
    check_decisions(stored.candidate, kept.spans)
    if new:
        revision = own.revision if own is not None else 0
        options = _options(desk, reviewer, look, stage="draft", revision=revision, now=now, request_id=None)
        desk.bench.save_review(key, kept, options._replace(hold_until=None), now=now)
    return len(new)


def evidence_of(stored: StoredCandidate, asks: Collection[Ask]) -> tuple[str, ...]:
    """Return the documents a resolver named, in the thread or when asked; each once."""
    linked = [link.document for link in stored.candidate.links if link.by == "resolver"]
    said = [document for one in asks if one.answer is not None for document in one.answer.documents]
    return tuple(dict.fromkeys([*linked, *said]))


def find_obstacles(desk: Desk, stored: StoredCandidate, review: Review, evidence: Collection[str]) -> tuple[str, ...]:
    """Return what stands in the way of submitting a review."""
    return check_review(
        stored.candidate,
        review,
        desk.settings,
        evidence=tuple(evidence),
        documents=desk.documents,
        redactor=desk.redactor,
        is_false=is_false_positive(desk.key, desk.bench.false_positives(), review),
    )


def _keep(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    review: Review,
    stage: Stage,
    *,
    revision: int,
    now: datetime,
    request_id: str | None,
    before: Review | None = None,
) -> Saved:
    stored = visible(desk, reviewer, key)
    reviews = desk.bench.reviews_of(key, stored)
    look = _look(desk, stored, reviews, reviewer, now)
    own = _own(reviews, reviewer, look)
    if excesses := list(list_excesses(review)):
        raise UsageError(f"this is more than is kept: {', '.join(excesses)}")
    evidence = evidence_of(stored, desk.bench.asks_of(key))
    kept = _normalised(review, before or (own.review if own is not None else Review()), evidence)
    check_decisions(stored.candidate, kept.spans)
    if stage == "submitted" and (obstacles := find_obstacles(desk, stored, kept, evidence)):
        raise UsageError(f"this cannot be submitted yet: {'; '.join(obstacles)}")
    options = _options(desk, reviewer, look, stage=stage, revision=revision, now=now, request_id=request_id)
    return desk.bench.save_review(
        key,
        kept,
        options._replace(reason=kept.unrateable_reason or kept.later_reason),
        now=now,
        rule=_rule(desk, own),
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


def _normalised(review: Review, before: Review, evidence: Collection[str]) -> Review:
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
        one.model_copy(update={"found_by": "resolver" if one.doc in evidence else _found_by(one.found_by)})
        for one in review.judged
    )
    return review.model_copy(update={"spans": tuple(spans), "judged": judged})


def _found_by(said: str) -> str:
    return said if said in ("pool", "reviewer") else "reviewer"


def _look(
    desk: Desk, stored: StoredCandidate, reviews: Collection[StoredReview], reviewer: Reviewer, now: datetime
) -> Look:
    return find_look(
        stored,
        tuple(reviews),
        reviewer.subject,
        leads="lead" in reviewer.roles,
        now=now,
        hours=desk.settings.second_look_hours,
        others=lambda: desk.bench.others_since(reviewer.subject, now - timedelta(days=ALONE_DAYS)),
    )


def _own(reviews: Collection[StoredReview], reviewer: Reviewer, look: Look) -> StoredReview | None:
    return next((one for one in reviews if one.reviewer == reviewer.subject and one.look == look), None)


def _opinions(
    stored: StoredCandidate, reviews: Collection[StoredReview], reviewer: Reviewer
) -> tuple[OtherOpinion, ...]:
    labels = ("first", "second", "third", "fourth", "fifth")
    return tuple(
        OtherOpinion(
            label=labels[at] if at < len(labels) else f"{at + 1}th",
            own=one.reviewer == reviewer.subject,
            review=one.review,
            query=published_text(stored.candidate, one.review),
        )
        for at, one in enumerate(opinions_of(tuple(reviews)))
    )
