"""Which state a candidate is in: it follows from everybody's reviews and nothing else."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from findback.model.candidate import Candidate
from findback.model.review import Review
from findback.privacy.key import Key
from findback.steps.reviewspans import Numbers, decide_text, decisions_on, published_place, texts_of
from findback.workbench.reviews import Look, StateRule, StoredReview, answer_of
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State

DELICATE = frozenset({"SECRET", "CUSTOMER_ID", "ORG"})
"""What a second person looks at wherever it was found."""

ALONE_DAYS = 30
"""A reviewer is the only one when nobody else submitted anything for so long."""


class Opinion(NamedTuple):
    """One submitted review."""

    reviewer: str
    look: Look
    review: Review
    at: datetime


def needs_second(candidate: Candidate, reviews: Sequence[Review], key: Key, overlap: float) -> bool:
    """Return whether two opinions are needed: for secrets and customers in what is published, and a drawn share.

    Args:
        candidate: The candidate.
        reviews: What was said about it so far.
        key: Draws the share: nobody without it can tell which ones.
        overlap: The share, in [0, 1].
    """
    texts = texts_of(candidate)
    for review in reviews or (Review(),):
        place = published_place(candidate, review)
        spans = texts[place].spans if place in texts else ()
        types = {span.type for span in spans} | {one.type for one in decisions_on(review, place)}
        if types & DELICATE:
            return True
    drawn = int(key.hmac(f"second opinion\0{candidate.key}")[:13], 16) / 16**13
    return drawn < overlap


def top_gold(review: Review) -> frozenset[str]:
    """Return the documents of the highest grade; empty where nothing answers."""
    best = max((one.grade for one in review.judged), default=0)
    return frozenset(one.doc for one in review.judged if one.grade == best and best >= 1)


def agree(candidate: Candidate, first: Review, second: Review) -> bool:
    """Return whether two reviews say the same: whether it can be answered, by which document, in which words.

    Of a paraphrase both say that it asks the same, and nothing else.
    """
    if candidate.origin == "paraphrase":
        return published_text(candidate, first) == published_text(candidate, second)
    answers = [answer_of(one) for one in (first, second)]
    if (answers[0] == "no-answer") is not (answers[1] == "no-answer"):
        return False
    if answers[0] != "no-answer" and not top_gold(first) & top_gold(second):
        return False
    return published_text(candidate, first) == published_text(candidate, second)


def published_text(candidate: Candidate, review: Review) -> str:
    """Return the words of a review's query, with its decisions applied."""
    place = published_place(candidate, review)
    text = texts_of(candidate).get(place, candidate.query)
    return decide_text(text, decisions_on(review, place), Numbers(candidate)).text


def opinions_of(reviews: Sequence[StoredReview]) -> list[Opinion]:
    """Return what was submitted and says something: a review that only waits is none."""
    return [
        Opinion(one.reviewer, one.look, one.review, one.at)
        for one in reviews
        if one.stage == "submitted" and answer_of(one.review) != "later"
    ]


def find_state(
    stored: StoredCandidate, reviews: Sequence[StoredReview], key: Key, overlap: float, *, reopens: bool = False
) -> State:
    """Return the state that follows from everybody's reviews.

    Args:
        stored: The candidate.
        reviews: Everybody's newest reviews of it.
        key: Draws the share that is reviewed twice.
        overlap: That share, in [0, 1].
        reopens: Whether the change takes a submitted review back; a draft alone reopens nothing that was rejected.
    """
    submitted = [one for one in reviews if one.stage == "submitted"]
    if not submitted:
        if stored.state == "rejected" and not reopens:
            return "rejected"
        return "in-review" if any(one.review != Review() for one in reviews) else "new"
    leads = [one for one in submitted if one.role == "lead"]
    if leads:
        said = answer_of(max(leads, key=lambda one: one.at).review)
        return "rejected" if said == "unrateable" else "needs-labels" if said == "later" else "ready"
    given = [one.review for one in opinions_of(submitted)]
    return _from_opinions(stored.candidate, given, key, overlap) if given else "needs-labels"


def _from_opinions(candidate: Candidate, given: Sequence[Review], key: Key, overlap: float) -> State:
    rejected = [answer_of(one) == "unrateable" for one in given]
    if all(rejected):
        return "rejected"
    if any(rejected):
        return "second-opinion"
    if len(given) == 1:
        return "second-opinion" if needs_second(candidate, given, key, overlap) else "ready"
    return "ready" if all(agree(candidate, given[0], other) for other in given[1:]) else "second-opinion"


def state_rule(key: Key, overlap: float, *, reopens: bool) -> StateRule:
    """Return the rule by which the workbench moves a candidate when a review is saved; see `find_state`."""

    def rule(stored: StoredCandidate, reviews: Sequence[StoredReview]) -> State:
        return find_state(stored, reviews, key, overlap, reopens=reopens)

    return rule


def is_disagreement(state: State, reviews: Sequence[StoredReview]) -> bool:
    """Return whether a candidate waits for a lead because opinions differ."""
    return state == "second-opinion" and len(opinions_of(reviews)) > 1


def find_look(
    stored: StoredCandidate,
    reviews: Sequence[StoredReview],
    reviewer: str,
    *,
    leads: bool,
    now: datetime,
    hours: int,
    alone: Callable[[], bool],
) -> Look:
    """Return which look at a candidate somebody takes.

    A lead's third look settles a disagreement; a second one comes when the first waits long enough and its
    reviewer is alone.

    Args:
        stored: The candidate.
        reviews: Everybody's newest reviews of it.
        reviewer: Who looks.
        leads: Whether they settle disagreements.
        now: When.
        hours: How long must lie between the two looks.
        alone: Says whether nobody else reviewed anything lately; asked only where it matters.
    """
    own = {one.look: one for one in reviews if one.reviewer == reviewer}
    if leads and (3 in own or is_disagreement(stored.state, reviews)):
        return 3
    if 2 in own:
        return 2
    first = own.get(1)
    if first is None or first.stage != "submitted" or stored.state != "second-opinion":
        return 1
    if len(opinions_of(reviews)) != 1 or now - first.at < timedelta(hours=hours):
        return 1
    return 2 if alone() else 1
