"""What a review was made over: when a text changes later, what was said about its places no longer holds."""

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

from findback.model.candidate import Candidate, RedactedText
from findback.model.review import Review, SpanDecision


class Seen(NamedTuple):
    """One text as the reviewer saw it."""

    place: str
    position: int
    line: str
    """Key of the line; empty for query and title."""
    digest: str


class Rebased(NamedTuple):
    """A review, brought over to the texts as they are now."""

    review: Review
    notices: tuple[str, ...]
    """What of it no longer holds, for the reviewer."""


def text_of(candidate: Candidate, place: str, position: int = 0) -> RedactedText | None:
    """Return the text at a place of a candidate; None where there is none."""
    if place == "query":
        return candidate.query if position == 0 else None
    if place == "title":
        return candidate.title if position == 0 else None
    return candidate.thread[position].body if 0 <= position < len(candidate.thread) else None


def basis_of(candidate: Candidate, review: Review) -> tuple[Seen, ...]:
    """Return the texts a review speaks of."""
    places = {("query", 0), *((one.place, one.position) for one in review.spans)}
    if review.query_line is not None:
        places.add(("line", review.query_line))
    seen = []
    for place, position in sorted(places):
        text = text_of(candidate, place, position)
        if text is not None:
            line = candidate.thread[position].key if place == "line" else ""
            seen.append(Seen(place, position, line, _digest(text)))
    return tuple(seen)


def rebase(review: Review, basis: Sequence[Seen], candidate: Candidate) -> Rebased:
    """Return a review as it holds for the texts as they are now.

    What was said about a text that changed is dropped, with a notice; lines that moved are followed.
    """
    now_at = {line.key: at for at, line in enumerate(candidate.thread)}
    moved: dict[tuple[str, int], int | None] = {}
    for seen in basis:
        position = now_at.get(seen.line) if seen.place == "line" else 0
        text = None if position is None else text_of(candidate, seen.place, position)
        same = text is not None and _digest(text) == seen.digest
        moved[seen.place, seen.position] = position if same else None
    notices: list[str] = []
    kept: list[SpanDecision] = []
    for one in review.spans:
        position = moved.get((one.place, one.position))
        if position is None:
            continue
        kept.append(one if position == one.position else one.model_copy(update={"position": position}))
    lost = len(review.spans) - len(kept)
    if lost:
        notices.append(f"the text was edited or read again since: {lost} of your decisions on its words no longer fit")
    elif moved.get(("query", 0), 0) is None:
        notices.append("the question was edited or read again since you looked at it")
    query_line = review.query_line
    if query_line is not None:
        query_line = now_at.get(next((s.line for s in basis if (s.place, s.position) == ("line", query_line)), ""))
        if query_line is None:
            notices.append("the message you chose as the question is no longer there")
    if not lost and query_line == review.query_line and tuple(kept) == review.spans:
        return Rebased(review, tuple(notices))
    return Rebased(review.model_copy(update={"spans": tuple(kept), "query_line": query_line}), tuple(notices))


def without_lines(review: Review, basis: Sequence[Seen], left: Collection[str]) -> tuple[Review, tuple[Seen, ...]]:
    """Return a review, and what it was made over, without what it says about lines that were erased.

    A chosen message that is gone stays chosen, so that whoever reads the review is told.

    Args:
        review: The review.
        basis: What it was made over.
        left: Keys of the lines that are still there.
    """
    gone = {(seen.place, seen.position) for seen in basis if seen.place == "line" and seen.line not in left}
    spans = tuple(one for one in review.spans if (one.place, one.position) not in gone)
    kept = tuple(seen for seen in basis if (seen.place, seen.position) not in gone)
    return review.model_copy(update={"spans": spans}), kept


def write_basis(basis: Sequence[Seen]) -> str:
    """Return the basis as JSON."""
    return json.dumps(basis)


def read_basis(written: str) -> tuple[Seen, ...]:
    """Return the basis that `write_basis` was given."""
    return tuple(Seen(*one) for one in json.loads(written))


def _digest(text: RedactedText) -> str:
    # The keyed digest of the raw text goes in, so that nobody without the key can try texts against it.
    return hashlib.sha256(f"{text.raw_hmac}\0{text.text}".encode("utf-8", "surrogatepass")).hexdigest()
