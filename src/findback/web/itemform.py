"""The forms of a candidate's page, and the one change to a review that each asks for."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from findback.errors import UsageError
from findback.model.candidate import Candidate
from findback.model.record import Record
from findback.model.review import Review, SpanDecision
from findback.steps import reviewchange as change
from findback.steps.reviewspans import SpanPlace
from findback.web.fields import Empty


class ItemForm(Record):
    """What a form on the page sends: what to do, and the fields of whichever form it was."""

    do: Annotated[str, Field(max_length=100)]
    revision: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    request: Annotated[str | None, Field(max_length=100)] = None
    csrf: str = ""
    document: Annotated[str, Field(max_length=4_000)] = ""
    reason: Annotated[str, Field(max_length=4_000)] = ""
    anchor: Annotated[str, Field(max_length=10_000)] = ""
    words: Annotated[str, Field(max_length=500)] = ""
    wanted: str = ""
    place: Literal["query", "title", "line", ""] = ""
    position: Annotated[int | None, Field(ge=0, le=1_000_000), Empty] = None
    start: Annotated[int | None, Field(ge=0, le=1_000_000), Empty] = None
    end: Annotated[int | None, Field(ge=0, le=1_000_000), Empty] = None
    type: Annotated[str, Field(max_length=40)] = ""
    line: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    job: Annotated[int | None, Field(ge=1, le=2**31 - 1), Empty] = None
    """Number of the job that read an original."""


def apply_change(candidate: Candidate, review: Review, form: ItemForm) -> Review:
    """Return the review with the one change a form asks for.

    Raises:
        UsageError: If the change makes no sense.
    """
    if form.do.startswith("grade-") and form.do[6:] in ("0", "1", "2", "3"):
        return change.grade_document(review, form.document, int(form.do[6:]), found_by="pool")
    if form.do.startswith("wording-"):
        return review.model_copy(update={"wording": form.do.removeprefix("wording-")})
    decision = decision_of(form) if form.do in _ON_WORDS else None
    changes: dict[str, Callable[[], Review]] = {
        "ungrade": lambda: change.grade_document(review, form.document, None),
        "part": lambda: change.turn_part(review, form.document),
        "anchor": lambda: change.anchor_document(review, form.document, form.anchor.strip() or None),
        "drop": lambda: change.drop_document(review, form.document, form.reason),
        "no-answer": lambda: change.refuse_answer(review, form.reason, wanted=form.wanted == "yes"),
        "answer": lambda: review.model_copy(update={"no_answer_reason": None, "document_wanted": False}),
        "visible": lambda: review.model_copy(update={"not_visible": not review.not_visible}),
        "line": lambda: review.model_copy(update={"query_line": form.line}),
    }
    if decision is not None:
        changes |= {
            "redact": lambda: change.decide_span(review, decision),
            "retype": lambda: change.decide_span(review, decision),
            "keep": lambda: change.decide_span(review, decision.model_copy(update={"action": "keep"})),
            "forget": lambda: change.forget_span(review, decision.place, decision.position, decision.start),
            "left": lambda: change.stretch_span(candidate, review, decision, left=1, right=0),
            "right": lambda: change.stretch_span(candidate, review, decision, left=0, right=1),
            "narrow-left": lambda: change.stretch_span(candidate, review, decision, left=-1, right=0),
            "narrow-right": lambda: change.stretch_span(candidate, review, decision, left=0, right=-1),
        }
    if form.do == "add":
        if form.words.strip():
            return change.redact_words(candidate, review, form.words, form.type)
        return change.decide_span(review, decision_of(form))
    if form.do not in changes:
        raise UsageError("there is no such change")
    return changes[form.do]()


_ON_WORDS = frozenset({"redact", "retype", "keep", "forget", "left", "right", "narrow-left", "narrow-right"})


def place_of(form: ItemForm) -> SpanPlace:
    """Return the stretch of text that a form is about.

    Raises:
        UsageError: If it names none.
    """
    if not form.place or form.start is None or form.end is None:
        raise UsageError("say which words are meant")
    return SpanPlace(form.place, form.position or 0, form.start, form.end)


def decision_of(form: ItemForm) -> SpanDecision:
    """Return the redaction that a form asks for.

    Raises:
        UsageError: If no words are selected.
    """
    if not form.place or form.start is None or form.end is None or form.end <= form.start:
        raise UsageError("no words are selected", hint="select some in the text, or write them out")
    return SpanDecision(
        place=form.place,
        position=form.position or 0,
        start=form.start,
        end=form.end,
        type=form.type or "OTHER",
        action="redact",
    )
