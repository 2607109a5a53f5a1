"""One reviewer's review of one candidate: everything they decided about it, saved whole with every change."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from findback.model.case import Context, DocumentId, Judgement, Name, Text
from findback.model.record import Record

REVIEW_FORMAT = 1

Note = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
TextPlace = Literal["query", "title", "line"]
SpanAction = Literal["redact", "keep", "restore"]
Stage = Literal["draft", "submitted"]


class SpanDecision(Record):
    """What a reviewer says about one stretch of a text; the words themselves are never edited."""

    place: TextPlace
    position: Annotated[int, Field(ge=0)] = 0
    """Which line, for `line`; 0 otherwise."""
    start: Annotated[int, Field(ge=0)]
    """First character, in code points of the stored text."""
    end: Annotated[int, Field(ge=1)]
    """Character after the last one."""
    type: Name
    """Type of the placeholder that stands there, or shall."""
    action: SpanAction
    """redact puts a placeholder over it, keep leaves a suggestion as it is, restore gives back what redaction took."""
    original: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None
    """For `restore`: the words that stand in the export, put here by the server after it read them again."""


class DroppedLink(Record):
    """A document the resolver linked that the reviewer does not count as an answer."""

    document: DocumentId
    reason: Note


class Review(Record):
    """One reviewer's review of one candidate."""

    format: Literal[1] = 1
    query_line: Annotated[int, Field(ge=0)] | None = None
    """Line of the thread that is the query; the proposed one when None."""
    spans: tuple[SpanDecision, ...] = ()
    judged: tuple[Judgement, ...] = ()
    dropped: tuple[DroppedLink, ...] = ()
    no_answer_reason: Note | None = None
    document_wanted: bool = False
    """With `no_answer_reason`: whether somebody should write the document."""
    not_visible: bool = False
    """The asker could not open the document that answers."""
    wording: Name | None = None
    context: Context | None = None
    unrateable_reason: Note | None = None
    """Why nobody can judge this; the candidate is then rejected."""
    later_reason: Note | None = None
    """Why it waits for labels: who or what could tell."""
    note: Text | None = None
    tags: tuple[Name, ...] = ()
