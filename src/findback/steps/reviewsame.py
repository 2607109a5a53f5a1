"""The same value elsewhere: said once, decided everywhere it still waits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from findback.errors import FindbackError, UsageError
from findback.model.review import SpanDecision
from findback.model.reviewer import Reviewer
from findback.privacy.key import same_value
from findback.steps.review import save_decision, visible
from findback.steps.reviewdesk import Desk
from findback.steps.reviewspans import SpanPlace, texts_of
from findback.workbench.same import SamePlace

MOST = 2_000
"""Places that one decision is applied to."""


class SameCount(NamedTuple):
    """How often a value stands elsewhere."""

    places: int
    candidates: int


class Applied(NamedTuple):
    """What applying a decision elsewhere came to."""

    places: int
    candidates: int
    skipped: int
    """Candidates left as they are: submitted already, or what is decided there overlaps."""


def count_same(desk: Desk, reviewer: Reviewer, key: str, at: SpanPlace) -> SameCount:
    """Return how often the value of one span stands in other candidates that are not decided yet.

    What redaction applied is told by the digest of its value, what it suggested by its words.

    Raises:
        MissingError: If there is no such candidate for them.
        UsageError: If there is no such span.
    """
    found = list(_same(desk, reviewer, key, at))
    return SameCount(len(found), len({one.candidate for one in found}))


def count_suggested(desk: Desk, reviewer: Reviewer, key: str, said: Sequence[tuple[str, str]]) -> list[int]:
    """Return in how many other candidates that are not decided yet each of some suggestions stands.

    Args:
        desk: Where they review.
        reviewer: Who looks; what they may not see is not counted.
        key: The candidate the suggestions are in.
        said: Type and words of each.
    """
    reviewer.require("reviewer", "lead")
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in {kind for kind, _ in said}:
        for one in desk.bench.suggested(kind, audiences=tuple(reviewer.audiences), limit=MOST * 10):
            holders[kind, same_value(kind, one.words)].add(one.candidate)
    return [len(holders[kind, same_value(kind, words)] - {key}) for kind, words in said]


def apply_to_same(desk: Desk, reviewer: Reviewer, key: str, decision: SpanDecision, *, now: datetime) -> Applied:
    """Put the same decision wherever the same value still waits, each in the reviewer's own draft; each can be undone.

    A suggestion can be redacted or kept everywhere, what was applied can get another type. Giving back the words
    behind a placeholder is decided one by one: each is read from the export.

    Raises:
        MissingError: If there is no such candidate for them.
        UsageError: If there is no such span, or the decision is to give something back.
    """
    if decision.action == "restore":
        raise UsageError("what redaction took is given back one by one")
    at = SpanPlace(decision.place, decision.position, decision.start, decision.end)
    by_candidate: dict[str, list[SamePlace]] = {}
    for one in _same(desk, reviewer, key, at):
        by_candidate.setdefault(one.candidate, []).append(one)
    places = skipped = done = 0
    for other, found in by_candidate.items():
        wanted = [
            decision.model_copy(
                update={"place": one.place, "position": one.position, "start": one.start, "end": one.end}
            )
            for one in found
        ]
        try:
            added = save_decision(desk, reviewer, other, wanted, now=now)
        except FindbackError:
            skipped += 1
            continue
        places += added
        done += bool(added)
    return Applied(places, done, skipped)


def _same(desk: Desk, reviewer: Reviewer, key: str, at: SpanPlace) -> Iterator[SamePlace]:
    candidate = visible(desk, reviewer, key).candidate
    place, position, start, end = at
    text = texts_of(candidate).get((place, position))
    span = next((one for one in text.spans if (one.start, one.end) == (start, end)), None) if text is not None else None
    if text is None or span is None:
        raise UsageError("redaction found nothing exactly there")
    audiences = tuple(reviewer.audiences)
    if span.band == "applied":
        if span.value_hmac is None:
            return
        found = desk.bench.same_values(span.value_hmac, span.type, audiences=audiences, limit=MOST)
    else:
        wanted = same_value(span.type, text.text[start:end])
        found = [
            one
            for one in desk.bench.suggested(span.type, audiences=audiences, limit=MOST * 10)
            if same_value(span.type, one.words) == wanted
        ][:MOST]
    yield from (one for one in found if one.candidate != key)
