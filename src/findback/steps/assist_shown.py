"""A model's draft of a judgement, for whoever answered already."""

from findback.model.assisted import Suggestion
from findback.model.reviewer import Reviewer
from findback.steps.review import visible
from findback.steps.reviewdesk import Desk

DECIDED = frozenset({"ready", "rejected", "released"})


def find_suggestion(desk: Desk, reviewer: Reviewer, key: str) -> Suggestion | None:
    """Return the draft of a candidate's judgements; None where there is none, or the reviewer may still answer.

    Raises:
        MissingError: If there is no such candidate for them.
        RefusedError: If they do not review.
    """
    stored = visible(desk, reviewer, key)
    # Where a second opinion is due it may be their own second look, which is to be as blind as the first.
    if stored.state not in DECIDED:
        return None
    own = [one for one in desk.bench.reviews_of(key, stored) if one.reviewer == reviewer.subject]
    if not any(one.stage == "submitted" for one in own):
        return None
    return desk.bench.suggestions([key]).get(key)
