"""One candidate as its reviewer sees it: what is masked, what is decided, and what stands in the way."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from findback.model.candidate import Candidate, DocumentLink, RedactedText, RoleInThread, RuleHit
from findback.model.case import Case
from findback.model.review import Review, SpanDecision, Stage
from findback.model.written import Written
from findback.privacy.masking import HIDDEN
from findback.steps.evidence import FoundBy
from findback.steps.reviewspans import Place, decisions_on, published_place, texts_of
from findback.text.placeholders import find_placeholders
from findback.workbench.asks import AskAnswer
from findback.workbench.reviews import Look
from findback.workbench.state import State

SegmentKind = Literal["plain", "applied", "suggested", "redact", "keep", "restore"]


class Segment(NamedTuple):
    """A stretch of a stored text, and what is known of it."""

    text: str
    """What to show."""
    kind: SegmentKind
    """plain; applied by redaction; suggested and undecided; or what the reviewer decided: redact, keep, restore."""
    start: int
    """First character, in code points of the stored text: what decisions are written in."""
    end: int
    type: str | None = None
    rule: str | None = None
    hidden: bool = False
    """Whether `text` stands in for words that are masked."""


class TextView(NamedTuple):
    """One text of a candidate."""

    place: str
    """query, title or line."""
    position: int
    """Which line; 0 otherwise."""
    segments: tuple[Segment, ...]
    undecided: int
    """Suggestions nobody decided."""
    length: int
    """Code points of the stored text."""
    role: RoleInThread | None = None
    at: datetime | None = None
    edited: bool = False
    is_query: bool = False
    """Whether this text becomes the query."""

    @property
    def text(self) -> str:
        """Return what is shown, in one piece."""
        return "".join(segment.text for segment in self.segments)


class OtherOpinion(NamedTuple):
    """What somebody said about the candidate; not who."""

    label: str
    """First, second, …; the same person's second look says so."""
    own: bool
    review: Review
    query: str
    """The query as they would publish it."""


class Item(NamedTuple):
    """A candidate on the desk of one reviewer."""

    key: str
    number: int
    state: State
    version: int
    """Of the candidate."""
    source: str
    audience: str
    stratum: str
    origin: str
    language: str | None
    seen_on: str | None
    asked: str
    selected_on: str | None
    rules: tuple[RuleHit, ...]
    links: tuple[DocumentLink, ...]
    no_answer_hint: str | None
    outcome: bool | None
    query: TextView
    """What would be published; the only text in which suggestions are shown and must be decided."""
    title: TextView | None
    thread: tuple[TextView, ...]
    query_line: int
    """Which line is proposed as the query; -1 where there is no thread."""
    cue_line: int | None
    review: Review
    """Their own, as it stands."""
    revision: int
    """0 while there is none."""
    stage: Stage
    look: Look
    """2 for a second look at what they submitted themselves: the first is not shown."""
    notices: tuple[str, ...]
    """What was dropped because a text changed."""
    obstacles: tuple[str, ...]
    """What stands in the way of submitting."""
    second_opinion: bool
    """Whether another opinion is there or needed."""
    disagreement: bool
    opinions: tuple[OtherOpinion, ...]
    """Everybody's; only after one's own is submitted, or for a lead who settles a disagreement."""
    answers: tuple[AskAnswer, ...]
    """What resolvers said who were asked."""
    evidence: Mapping[str, FoundBy]
    """Documents a resolver named, then or when asked, or a model described: none is dropped without a reason."""
    written: Written | None
    """How a model came to write it; None for what a person asked."""
    root: Case | None
    """The case it says in other words, for a paraphrase; None also where the set no longer has it."""
    may_show_original: bool


def view_texts(
    candidate: Candidate, review: Review, opened: Collection[Place] = (), *, masked_query: bool = False
) -> tuple[TextView, TextView | None, tuple[TextView, ...]]:
    """Return query, title and thread; suggestions are masked save in the query and where the reader opened them.

    Args:
        candidate: The candidate.
        review: What its reader decided.
        opened: Places of texts that the reader opened.
        masked_query: Whether the query's suggestions are masked as well.
    """
    published = published_place(candidate, review)
    if published not in texts_of(candidate):
        published = ("query", 0)

    def view(place: Place, text: RedactedText, **fields: object) -> TextView:
        decisions = decisions_on(review, place)
        masked = (masked_query or place != published) and place not in opened
        segments = split_text(text, decisions, masked=masked)
        undecided = sum(one.kind == "suggested" for one in segments)
        return TextView(*place, segments, undecided, len(text.text), is_query=place == published, **fields)  # type: ignore[arg-type]

    thread = tuple(
        view(("line", at), line.body, role=line.role, at=line.at, edited=line.edited)
        for at, line in enumerate(candidate.thread)
    )
    query = view(("query", 0), candidate.query) if published == ("query", 0) else thread[published[1]]
    title = None if candidate.title is None else view(("title", 0), candidate.title)
    return query, title, thread


def split_text(text: RedactedText, decisions: Sequence[SpanDecision], *, masked: bool) -> tuple[Segment, ...]:
    """Return a text in stretches, in order and without gaps.

    What the reviewer redacts is shown as masked everywhere; suggestions are where `masked`.
    """
    marks: list[Segment] = [_decided(one, text.text) for one in decisions]
    taken = [(one.start, one.end) for one in marks]
    for span in sorted(text.spans, key=lambda span: span.start):
        if any(start < span.end and span.start < end for start, end in taken):
            continue
        shown = text.text[span.start : span.end]
        if span.band == "applied":
            marks.append(Segment(shown, "applied", span.start, span.end, span.type, span.rule))
        else:
            marks.append(
                Segment(HIDDEN if masked else shown, "suggested", span.start, span.end, span.type, span.rule, masked)
            )
    segments: list[Segment] = []
    at = 0
    for mark in sorted(marks, key=lambda one: one.start):
        if at < mark.start:
            segments.append(Segment(text.text[at : mark.start], "plain", at, mark.start))
        segments.append(mark)
        at = mark.end
    if at < len(text.text):
        segments.append(Segment(text.text[at:], "plain", at, len(text.text)))
    return tuple(segments)


def mask_text(text: RedactedText, redacted: Iterable[SpanDecision]) -> str:
    """Return a text as lists show it: suggestions masked, and what any reviewer redacts in it.

    Args:
        text: The stored text.
        redacted: What reviewers redact in this text; their decisions may overlap.
    """
    hidden = [(one.start, one.end) for one in redacted]
    hidden += [(span.start, span.end) for span in text.spans if span.band == "suggested"]
    pieces: list[str] = []
    at = 0
    for start, end in sorted(hidden):
        if end <= at:
            continue
        if start >= at:
            pieces += [text.text[at:start], HIDDEN]
        at = end
    return "".join([*pieces, text.text[at:]])


def _decided(one: SpanDecision, text: str) -> Segment:
    words = text[one.start : one.end]
    if one.action == "redact":
        found = find_placeholders(words)
        whole = len(found) == 1 and found[0].span == (0, len(words))
        return Segment(f"⟦{one.type}⟧" if whole else HIDDEN, "redact", one.start, one.end, one.type, hidden=True)
    shown = words if one.action == "keep" else (one.original or words)
    return Segment(shown, one.action, one.start, one.end, one.type)
