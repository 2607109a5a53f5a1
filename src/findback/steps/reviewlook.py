"""One person's look at a candidate: what is stored, whose turn it is, and what stands in the way of handing it in."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from findback.model.candidate import Candidate
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.evidence import FoundBy, evidence_of
from findback.steps.reviewchange import begin_review
from findback.steps.reviewcheck import check_review
from findback.steps.reviewdesk import Desk
from findback.steps.reviewfalse import is_false_positive
from findback.steps.reviewitem import Item, OtherOpinion, view_texts
from findback.steps.reviewspans import Place
from findback.steps.reviewstate import (
    ALONE_DAYS,
    find_look,
    is_disagreement,
    needs_second,
    opinions_of,
    published_text,
)
from findback.steps.roots import find_root
from findback.workbench.asks import Ask
from findback.workbench.decision import missing_candidate
from findback.workbench.reviews import Look, StoredReview
from findback.workbench.rows import StoredCandidate

ORDINALS = ("first", "second", "third", "fourth", "fifth")


class Looked(NamedTuple):
    """A candidate with all that was said about it, and which look at it somebody takes."""

    stored: StoredCandidate
    reviews: tuple[StoredReview, ...]
    asks: tuple[Ask, ...]
    look: Look
    own: StoredReview | None
    """Their own review in this look; None while there is none."""

    @property
    def candidate(self) -> Candidate:
        """Return the candidate."""
        return self.stored.candidate

    @property
    def evidence(self) -> dict[str, FoundBy]:
        """Return the documents that something speaks for, and what."""
        return evidence_of(self.stored, self.asks)


def visible(desk: Desk, reviewer: Reviewer, key: str) -> StoredCandidate:
    """Return a candidate that a reviewer may see; others do not exist for them.

    Raises:
        MissingError: If there is none for them.
        RefusedError: If they do not review at all.
    """
    reviewer.require("reviewer", "lead")
    return _visible(desk.bench.candidate(key), reviewer, key)


def _visible(stored: StoredCandidate | None, reviewer: Reviewer, key: str) -> StoredCandidate:
    if stored is None or stored.candidate.audience not in reviewer.audiences:
        raise missing_candidate(key)
    return stored


def look_at(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> Looked:
    """Return what there is about a candidate, all of it read at one moment.

    Raises:
        MissingError: If there is none for them.
        RefusedError: If they do not review at all.
    """
    reviewer.require("reviewer", "lead")
    found = desk.bench.dossier(key)
    stored = _visible(found.stored if found is not None else None, reviewer, key)
    reviews, asks = (found.reviews, found.asks) if found is not None else ((), ())
    look = find_look(
        stored,
        reviews,
        reviewer.subject,
        leads="lead" in reviewer.roles,
        now=now,
        hours=desk.settings.second_look_hours,
        alone=lambda: not desk.bench.others_since(reviewer.subject, now - timedelta(days=ALONE_DAYS)),
    )
    own = next((one for one in reviews if one.reviewer == reviewer.subject and one.look == look), None)
    return Looked(stored, reviews, asks, look, own)


def standing(desk: Desk, looked: Looked) -> Review:
    """Return somebody's review as it stands; one nobody saved yet begins with what something speaks for."""
    return looked.own.review if looked.own is not None else begin_review(looked.evidence, desk.documents)


def open_item(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime, opened: Collection[Place] = ()) -> Item:
    """Return a candidate as a reviewer sees it: blind to what others said until they submitted themselves.

    A review nobody saved yet begins with the documents a resolver named, or a model described.

    Args:
        desk: Where they review.
        reviewer: Who looks.
        key: The candidate.
        now: When.
        opened: Places of texts, such as `("line", 3)`, whose suggestions they asked to see.

    Raises:
        MissingError: If there is none for them.
    """
    looked = look_at(desk, reviewer, key, now=now)
    stored, candidate, own = looked.stored, looked.candidate, looked.own
    evidence = looked.evidence
    review = standing(desk, looked)
    query, title, thread = view_texts(candidate, review, opened)
    differ = is_disagreement(stored.state, looked.reviews)
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
        look=looked.look,
        notices=own.notices if own is not None else (),
        obstacles=find_obstacles(desk, stored, review, evidence),
        second_opinion=stored.state == "second-opinion"
        or needs_second(candidate, [review], desk.key, desk.settings.overlap),
        disagreement=differ and looked.look == 3,
        opinions=_opinions(looked, reviewer) if submitted or looked.look == 3 else (),
        answers=tuple(one.answer for one in looked.asks if one.answer is not None),
        evidence=evidence,
        written=candidate.written,
        root=find_root(desk.workspace, candidate),
        may_show_original=desk.settings.show_original,
    )


def find_obstacles(
    desk: Desk, stored: StoredCandidate, review: Review, evidence: Mapping[str, FoundBy]
) -> tuple[str, ...]:
    """Return what stands in the way of submitting a review; of one that says why there is no judging, nothing does."""
    if review.unrateable_reason is not None or review.later_reason is not None:
        return ()
    return check_review(
        stored.candidate,
        review,
        desk.settings,
        evidence=evidence,
        root=find_root(desk.workspace, stored.candidate),
        documents=desk.documents,
        redactor=desk.redactor,
        is_false=is_false_positive(desk.key, desk.bench.false_positives, review),
    )


def _opinions(looked: Looked, reviewer: Reviewer) -> tuple[OtherOpinion, ...]:
    return tuple(
        OtherOpinion(
            label=ORDINALS[at] if at < len(ORDINALS) else f"{at + 1}th",
            own=one.reviewer == reviewer.subject,
            review=one.review,
            query=published_text(looked.candidate, one.review),
        )
        for at, one in enumerate(opinions_of(looked.reviews))
    )
