"""What reviewers say about stretches of a text, applied to it: the only edit a question ever gets."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from findback.errors import UsageError
from findback.model.candidate import Candidate, RedactedText
from findback.model.hits import Span
from findback.model.review import Review, SpanDecision
from findback.privacy.joint import PEOPLE_TYPES
from findback.privacy.key import same_value
from findback.text.placeholders import TYPES, find_placeholders, write_placeholder

MOST_SPANS = 500
"""Decisions in one review."""

Place = tuple[str, int]
"""query, title or line; and which line."""


class SpanPlace(NamedTuple):
    """A stretch of one text of a candidate."""

    place: str
    """query, title or line."""
    position: int
    start: int
    """First character, in code points of the stored text."""
    end: int


class DecidedText(NamedTuple):
    """A text with the reviewer's decisions applied."""

    text: str
    placeholders: tuple[Span, ...]
    """Where placeholders stand in it."""
    restored: tuple[Span, ...]
    """Where original words stand again."""
    undecided: tuple[int, ...]
    """Places among the spans of the stored text of suggestions nobody decided."""
    decided: tuple[int, ...]
    """Those somebody decided."""


class Numbers:
    """Numbers of placeholders over the texts of one candidate: on from its own, the same for the same value.

    Names, mentions and addresses of people are counted together, as redaction counts them.
    """

    def __init__(self, candidate: Candidate, digest: Callable[[str], str] | None = None) -> None:
        self._digest = digest
        self._highest: dict[str, int] = {}
        self._by_value: dict[tuple[str, str], int] = {}
        self._by_digest: dict[tuple[str, str], int] = {}
        for body in texts_of(candidate).values():
            hmacs = {(span.start, span.end): span.value_hmac for span in body.spans if span.band == "applied"}
            for one in find_placeholders(body.text):
                group = _group(one.type)
                self._highest[group] = max(one.number, self._highest.get(group, 0))
                hmac = hmacs.get((one.span.start, one.span.end))
                if hmac is not None:
                    self._by_digest.setdefault((group, hmac), one.number)

    def number(self, kind: str, value: str) -> int:
        """Return the number of a value: the one it has already, else the next."""
        group = _group(kind)
        same = (group, same_value(kind, value))
        if same not in self._by_value:
            known = self._of_placeholder(group, value)
            if known is None and self._digest is not None:
                known = self._by_digest.get((group, self._digest(same[1])))
            if known is None:
                known = self._highest[group] = self._highest.get(group, 0) + 1
            self._by_value[same] = known
        return self._by_value[same]

    def _of_placeholder(self, group: str, value: str) -> int | None:
        """Return the number of a placeholder that only gets another type."""
        found = find_placeholders(value)
        whole = len(found) == 1 and found[0].span == (0, len(value)) and _group(found[0].type) == group
        return found[0].number if whole else None


def _group(kind: str) -> str:
    return "people" if kind in PEOPLE_TYPES else kind


def texts_of(candidate: Candidate) -> dict[Place, RedactedText]:
    """Return every text of a candidate by its place: the question, its title, the messages."""
    texts: dict[Place, RedactedText] = {("query", 0): candidate.query}
    if candidate.title is not None:
        texts["title", 0] = candidate.title
    texts |= {("line", at): line.body for at, line in enumerate(candidate.thread)}
    return texts


def published_place(candidate: Candidate, review: Review) -> Place:
    """Return where the text stands that becomes the query."""
    if review.query_line is None or review.query_line == candidate.query_line:
        return ("query", 0)
    return ("line", review.query_line)


def check_decisions(candidate: Candidate, decisions: Sequence[SpanDecision]) -> None:
    """Refuse decisions that do not fit their texts: only whole placeholders, no overlaps, nothing outside.

    Raises:
        UsageError: If one does not fit; says which and why.
    """
    if len(decisions) > MOST_SPANS:
        raise UsageError(f"a review has at most {MOST_SPANS} decisions on words")
    texts = texts_of(candidate)
    last: dict[Place, SpanDecision] = {}
    for one in sorted(decisions, key=lambda one: (one.place, one.position, one.start, one.end)):
        text = texts.get((one.place, one.position))
        if text is None:
            raise UsageError(f"{_name(one)}: there is no such text")
        _check_one(one, text)
        before = last.get((one.place, one.position))
        if before is not None and one.start < before.end:
            raise UsageError(f"{_name(one)}: it overlaps another decision", hint="take the other one back first")
        last[one.place, one.position] = one


def _check_one(one: SpanDecision, text: RedactedText) -> None:
    if not one.start < one.end <= len(text.text):
        raise UsageError(f"{_name(one)}: it lies outside the text")
    if one.type not in TYPES:
        raise UsageError(f"{_name(one)}: there is no such type", hint=f"one of {', '.join(TYPES)}")
    placeholders = [found.span for found in find_placeholders(text.text)]
    if any(at.start < edge < at.end for at in placeholders for edge in (one.start, one.end)):
        raise UsageError(f"{_name(one)}: it cuts a placeholder in two", hint="take all of it or none")
    extents = {(span.start, span.end) for span in text.spans if (span.band == "suggested") is (one.action == "keep")}
    if one.action != "redact" and (one.start, one.end) not in extents:
        what = "a suggestion" if one.action == "keep" else "a placeholder"
        raise UsageError(f"{_name(one)}: {one.action} is for {what}, and there is none exactly there")
    if (one.original is not None) is not (one.action == "restore"):
        raise UsageError(f"{_name(one)}: only what is given back has an original, and the server puts it there")
    if one.original is not None and ("⟦" in one.original or "⟧" in one.original):
        raise UsageError(f"{_name(one)}: what stood there looks like a placeholder itself and is not given back")


def _name(one: SpanDecision) -> str:
    where = one.place if one.place != "line" else f"line {one.position + 1}"
    return f"{where}, characters {one.start} to {one.end}"


def decide_text(text: RedactedText, decisions: Iterable[SpanDecision], numbers: Numbers) -> DecidedText:
    """Return a text with decisions applied, everything around them as it was.

    Args:
        text: The stored text.
        decisions: Those on this text, which `check_decisions` let through.
        numbers: Numbers of the candidate's placeholders.
    """
    changes = sorted((one for one in decisions if one.action != "keep"), key=lambda one: one.start)
    pieces: list[str] = []
    restored: list[Span] = []
    at = length = 0
    for one in changes:
        value = text.text[one.start : one.end]
        new = one.original if one.action == "restore" else write_placeholder(one.type, numbers.number(one.type, value))
        assert new is not None  # noqa: S101  (only what is given back has an original, and it has one)
        length += one.start - at
        if one.action == "restore":
            restored.append(Span(length, length + len(new)))
        pieces += [text.text[at : one.start], new]
        length += len(new)
        at = one.end
    pieces.append(text.text[at:])
    written = "".join(pieces)
    undecided, decided = sort_suggestions(text, decisions)
    placeholders = tuple(found.span for found in find_placeholders(written))
    return DecidedText(written, placeholders, tuple(restored), undecided, decided)


def sort_suggestions(text: RedactedText, decisions: Iterable[SpanDecision]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places among a text's spans of suggestions nobody decided, and of those somebody did.

    A suggestion is decided when it is kept, or when something of it is redacted.
    """
    known = list(decisions)
    undecided: list[int] = []
    decided: list[int] = []
    for index, span in enumerate(text.spans):
        if span.band != "suggested":
            continue
        said = any(
            (one.start, one.end) == (span.start, span.end)
            if one.action == "keep"
            else one.start < span.end and span.start < one.end
            for one in known
        )
        (decided if said else undecided).append(index)
    return tuple(undecided), tuple(decided)


def decisions_on(review: Review, place: Place) -> tuple[SpanDecision, ...]:
    """Return what a review says about one text."""
    return tuple(one for one in review.spans if (one.place, one.position) == place)


def is_only_decided(text: RedactedText, decisions: Iterable[SpanDecision], result: DecidedText) -> bool:
    """Say whether placeholders and what was given back are all that differs between a text and what became of it."""
    changed: list[SpanDecision] = [one for one in decisions if one.action != "keep"]
    taken = [Span(one.start, one.end) for one in changed]
    taken += [
        found.span
        for found in find_placeholders(text.text)
        if not any(one.start <= found.span.start and found.span.end <= one.end for one in changed)
    ]
    put = sorted([*result.placeholders, *result.restored])
    return _without(text.text, sorted(taken)) == _without(result.text, put)


def _without(text: str, spans: Iterable[Span]) -> list[str]:
    pieces, at = [], 0
    for span in spans:
        pieces.append(text[at : span.start])
        at = span.end
    return [*pieces, text[at:]]
