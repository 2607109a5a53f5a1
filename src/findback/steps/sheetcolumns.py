"""Columns of a label sheet: each says one thing of a review, and puts it back."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from findback.errors import UsageError
from findback.model.candidate import Candidate, RedactedSpan, RedactedText
from findback.model.case import Judgement
from findback.model.review import DroppedLink, Review, SpanDecision
from findback.steps.reviewchange import decide_span, redact_words
from findback.steps.reviewcheck import list_excesses
from findback.steps.reviewspans import Place, check_decisions, decisions_on, published_place, texts_of
from findback.steps.sheetcells import (
    fold,
    list_suggestions,
    read_decisions,
    read_drops,
    read_flag,
    read_grades,
    read_redactions,
    tidy,
    unescape,
    write_decisions,
    write_drops,
    write_flag,
    write_grades,
    write_redactions,
)


class Subject(NamedTuple):
    """What a row is about."""

    candidate: Candidate
    resolve: Callable[[str], str | None]
    """Id of the document that an id, path or address means; None where the corpus has none."""
    wordings: tuple[str, ...]

    def published(self, review: Review) -> tuple[Place, RedactedText]:
        """Return the text that becomes the query, and its place."""
        place = published_place(self.candidate, review)
        texts = texts_of(self.candidate)
        return (place, texts[place]) if place in texts else (("query", 0), self.candidate.query)


class Column(NamedTuple):
    """One thing that a review says."""

    name: str
    write: Callable[[Subject, Review], str]
    read: Callable[[Subject, Review, str], Mapping[str, Any]]
    """Fields of the review with what a cell says."""


class CellFault(NamedTuple):
    """What is wrong with a cell."""

    column: str
    message: str


def read_review(subject: Subject, before: Review, cells: Mapping[str, str]) -> tuple[Review, list[CellFault]]:
    """Return a review with what the cells of a row say; a column that is missing or unchanged changes nothing.

    Args:
        subject: What the row is about.
        before: The review as it stands.
        cells: By name of column.
    """
    review, faults = before, []
    for column in COLUMNS:
        cell = cells.get(column.name)
        if cell is None or fold(cell) == fold(column.write(subject, before)):
            continue
        try:
            review = review.model_copy(update=dict(column.read(subject, review, cell)))
        except UsageError as error:
            faults.append(CellFault(column.name, error.message))
        except ValidationError as error:
            faults += [CellFault(column.name, fault["msg"].lower()) for fault in error.errors(include_input=False)]
    if set(review.spans) == set(before.spans):
        # The order of decisions says nothing.
        review = review.model_copy(update={"spans": before.spans})
    if not faults and review != before:
        faults = list(_faults_of(subject, review))
    return review, faults


def _faults_of(subject: Subject, review: Review) -> Iterator[CellFault]:
    try:
        Review.model_validate(review.model_dump())
        check_decisions(subject.candidate, review.spans)
    except ValidationError as error:
        for fault in error.errors(include_input=False):
            name = str(fault["loc"][0])
            yield CellFault({"judged": "gold", "spans": "redact"}.get(name, name), fault["msg"].lower())
    except UsageError as error:
        yield CellFault("redact", error.message)
    yield from (CellFault("gold", f"this is {excess}") for excess in list_excesses(review))


def _write_suggestions(subject: Subject, review: Review) -> str:
    place, text = subject.published(review)
    return write_decisions([_said_of(span, place, review) for span in list_suggestions(text)])


def _read_suggestions(subject: Subject, review: Review, cell: str) -> Mapping[str, Any]:
    place, text = subject.published(review)
    suggestions = list_suggestions(text)
    for span, said in zip(suggestions, read_decisions(cell, len(suggestions)), strict=True):
        if said == _said_of(span, place, review):
            continue
        kept = tuple(one for one in review.spans if not _on(one, place, span))
        review = review.model_copy(update={"spans": kept})
        if said is not None:
            decision = {"place": place[0], "position": place[1], "start": span.start, "end": span.end}
            review = decide_span(review, SpanDecision.model_validate({**decision, "type": span.type, "action": said}))
    return {"spans": review.spans}


def _said_of(span: RedactedSpan, place: Place, review: Review) -> str | None:
    for one in review.spans:
        exact = (one.start, one.end) == (span.start, span.end)
        if _on(one, place, span) and (one.action == "redact" or (one.action == "keep" and exact)):
            return one.action
    return None


def _on(one: SpanDecision, place: Place, span: RedactedSpan) -> bool:
    return (one.place, one.position) == place and one.start < span.end and span.start < one.end


def _own_redactions(subject: Subject, review: Review) -> list[tuple[str, str]]:
    """Return the words of the question, with types, that the reviewer redacts beside what was suggested."""
    place, text = subject.published(review)
    suggestions = list_suggestions(text)
    own = [
        (one.type, text.text[one.start : one.end])
        for one in decisions_on(review, place)
        if one.action == "redact" and not any(_on(one, place, span) for span in suggestions)
    ]
    return list(dict.fromkeys(own))


def _write_redactions(subject: Subject, review: Review) -> str:
    return write_redactions(_own_redactions(subject, review))


def _read_redactions(subject: Subject, review: Review, cell: str) -> Mapping[str, Any]:
    wanted, there = read_redactions(cell), _own_redactions(subject, review)
    texts = texts_of(subject.candidate)
    gone = {one for one in there if one not in wanted}
    kept = tuple(
        one
        for one in review.spans
        if one.action != "redact" or (one.type, texts[one.place, one.position].text[one.start : one.end]) not in gone
    )
    review = review.model_copy(update={"spans": kept})
    for kind, words in wanted:
        if (kind, words) not in there:
            review = redact_words(subject.candidate, review, words, kind)
    return {"spans": review.spans}


def _read_wording(subject: Subject, review: Review, cell: str) -> Mapping[str, Any]:
    said = tidy(cell)
    known = {one.casefold(): one for one in subject.wordings}
    if said and said.casefold() not in known:
        raise UsageError(f"there is no such wording; it is one of {', '.join(subject.wordings)}")
    return {"wording": known.get(said.casefold())}


def _read_gold(subject: Subject, review: Review, cell: str) -> Mapping[str, Any]:
    judged = []
    for document, grade, part in read_grades(cell):
        known = _document(subject, review, document)
        before = [one for one in review.judged if one.doc == known]
        same = next((one for one in before if one.part == part), before[0] if before else None)
        judged.append(
            Judgement(
                doc=known,
                grade=grade,
                part=part,
                anchor=same.anchor if same is not None and grade >= 1 else None,
                found_by=same.found_by if same is not None else "reviewer",
            )
        )
    return {"judged": tuple(judged)}


def _read_dropped(subject: Subject, review: Review, cell: str) -> Mapping[str, Any]:
    found = [DroppedLink(document=_document(subject, review, one), reason=why) for one, why in read_drops(cell)]
    return {"dropped": tuple(found)}


def _document(subject: Subject, review: Review, named: str) -> str:
    there = {*(one.doc for one in review.judged), *(one.document for one in review.dropped)}
    for words in dict.fromkeys([named, unescape(named)]):
        known = words if words in there else subject.resolve(words)
        if known is not None:
            return known
    raise UsageError(f"the corpus has no document '{named[:80]}'")


def _text(name: str) -> Column:
    return Column(
        name,
        lambda subject, review: getattr(review, name) or "",
        lambda subject, review, cell: {name: tidy(cell) or None},
    )


def _flag(name: str) -> Column:
    return Column(
        name,
        lambda subject, review: write_flag(getattr(review, name)),
        lambda subject, review, cell: {name: read_flag(cell)},
    )


COLUMNS: tuple[Column, ...] = (
    Column("suggestions", _write_suggestions, _read_suggestions),
    Column("redact", _write_redactions, _read_redactions),
    Column("wording", lambda subject, review: review.wording or "", _read_wording),
    Column("gold", lambda subject, review: write_grades(review.judged), _read_gold),
    Column("dropped", lambda subject, review: write_drops(review.dropped), _read_dropped),
    _text("no_answer_reason"),
    _flag("document_wanted"),
    _flag("not_visible"),
    _text("unrateable_reason"),
    _text("later_reason"),
    _text("note"),
)
"""What is filled in, in the order of a sheet; `submit` comes after them."""
