"""One change to a review at a time, each giving a new one; nothing here saves."""

from collections.abc import Mapping

from findback.errors import UsageError
from findback.model.candidate import Candidate, RedactedText
from findback.model.case import Judgement
from findback.model.protocols import Documents
from findback.model.review import DroppedLink, Review, SpanDecision, TextPlace
from findback.steps.reviewspans import texts_of

EVIDENCE_GRADE = 3
"""What a document starts with that a resolver named, or a model described."""
MOST_FOUND = 100
"""Places of the same words redacted at once."""


def begin_review(evidence: Mapping[str, str], documents: Documents | None) -> Review:
    """Return what a review starts with: documents that something speaks for, where the corpus has them."""
    known = [one for one in evidence if documents is None or documents.get(one) is not None]
    return Review(judged=tuple(Judgement(doc=one, grade=EVIDENCE_GRADE, found_by=evidence[one]) for one in known))


def grade_document(review: Review, document: str, grade: int | None, *, found_by: str = "pool") -> Review:
    """Return a review with a document graded; None takes its judgement away.

    A document that is new and answers belongs to the first part; one that was dropped is dropped no more.
    """
    kept = [one for one in review.judged if one.doc != document]
    before = [one for one in review.judged if one.doc == document]
    if grade is not None:
        part = next((one.part for one in before if one.grade >= 1), 1) if grade >= 1 else 1
        anchor = next((one.anchor for one in before), None) if grade >= 1 else None
        source = before[0].found_by if before else found_by
        kept.append(Judgement(doc=document, grade=grade, part=part, anchor=anchor, found_by=source))
    dropped = review.dropped
    if grade is not None and grade >= 1:
        dropped = tuple(one for one in dropped if one.document != document)
    return _renumbered(review.model_copy(update={"judged": tuple(kept), "dropped": dropped}))


def turn_part(review: Review, document: str) -> Review:
    """Return a review in which an answer is needed as well instead of also answering, or the other way round.

    Raises:
        UsageError: If the document is no answer yet.
    """
    gold = [one for one in review.judged if one.grade >= 1]
    own = next((one for one in gold if one.doc == document), None)
    if own is None:
        raise UsageError("only a document that answers belongs to a part", hint="grade it 1 to 3 first")
    alone = sum(one.part == own.part for one in gold) == 1
    first = min(one.part for one in gold)
    new = first if own.part != first else max(one.part for one in gold) + 1
    if own.part == first and alone and len(gold) > 1:
        new = min(one.part for one in gold if one.part != first)
    judged = tuple(one.model_copy(update={"part": new}) if one.doc == document else one for one in review.judged)
    return _renumbered(review.model_copy(update={"judged": judged}))


def anchor_document(review: Review, document: str, anchor: str | None) -> Review:
    """Return a review with the sentence of a document that answers; None takes it away.

    Raises:
        UsageError: If the document is no answer yet.
    """
    if not any(one.doc == document and one.grade >= 1 for one in review.judged):
        raise UsageError("only a document that answers is quoted", hint="grade it 1 to 3 first")
    judged = tuple(one.model_copy(update={"anchor": anchor}) if one.doc == document else one for one in review.judged)
    return review.model_copy(update={"judged": judged})


def drop_document(review: Review, document: str, reason: str) -> Review:
    """Return a review in which what something speaks for is no answer, and why.

    Raises:
        UsageError: If there is no reason.
    """
    if not reason.strip():
        raise UsageError("a document the resolver named is not dropped without a reason")
    judged = tuple(one for one in review.judged if one.doc != document)
    others = tuple(one for one in review.dropped if one.document != document)
    dropped = (*others, DroppedLink(document=document, reason=reason.strip()[:2_000]))
    return _renumbered(review.model_copy(update={"judged": judged, "dropped": dropped}))


def decide_span(review: Review, decision: SpanDecision) -> Review:
    """Return a review with a decision on some words; those it overlaps make way."""
    return review.model_copy(
        update={"spans": (*(one for one in review.spans if not _overlap(one, decision)), decision)}
    )


def forget_span(review: Review, place: TextPlace, position: int, start: int) -> Review:
    """Return a review without the decision that stands at a place."""
    kept = tuple(one for one in review.spans if (one.place, one.position, one.start) != (place, position, start))
    return review.model_copy(update={"spans": kept})


def stretch_span(candidate: Candidate, review: Review, decision: SpanDecision, *, left: int, right: int) -> Review:
    """Return a review in which words redacted by hand are wider or narrower, by whole words.

    Args:
        candidate: Whose texts they are.
        review: The review.
        decision: The decision, or what a suggestion would be as one.
        left: Words to add at the beginning; negative takes away.
        right: Words to add at the end; negative takes away.
    """
    text = _text(candidate, decision.place, decision.position).text
    start = _moved(text, decision.start, -left, begins=True)
    end = _moved(text, decision.end, right, begins=False)
    if start >= end:
        raise UsageError("nothing would be left of it", hint="take the decision back instead")
    changed = decision.model_copy(update={"start": start, "end": end, "action": "redact", "original": None})
    return decide_span(forget_span(review, decision.place, decision.position, decision.start), changed)


def redact_words(candidate: Candidate, review: Review, words: str, kind: str) -> Review:
    """Return a review in which every place of some words is redacted, in all texts of the candidate.

    Raises:
        UsageError: If they stand nowhere, or in too many places.
    """
    wanted = words.strip()
    if not wanted:
        raise UsageError("say which words to redact")
    found = 0
    for (place, position), text in texts_of(candidate).items():
        for start in find_words(text.text, wanted):
            found += 1
            if found > MOST_FOUND:
                raise UsageError(f"these words stand in more than {MOST_FOUND} places", hint="give more of them")
            made = SpanDecision(
                place=place,  # type: ignore[arg-type]
                position=position,
                start=start,
                end=start + len(wanted),
                type=kind,
                action="redact",
            )
            review = decide_span(review, made)
    if not found:
        raise UsageError("these words stand in no text of this candidate", hint="write them exactly as they stand")
    return review


def find_words(text: str, wanted: str) -> list[int]:
    """Return where words stand in a text, not inside longer ones.

    >>> find_words("Ann met Anna and Ann", "Ann")
    [0, 17]
    """
    starts, at = [], text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        inside = (at > 0 and text[at - 1].isalnum() and wanted[0].isalnum()) or (
            end < len(text) and text[end].isalnum() and wanted[-1].isalnum()
        )
        if not inside:
            starts.append(at)
        at = text.find(wanted, end if not inside else at + 1)
    return starts


def _renumbered(review: Review) -> Review:
    """Return a review whose parts count from 1 without gaps; what is no answer belongs to the first."""
    parts = sorted({one.part for one in review.judged if one.grade >= 1})
    numbers = {part: number for number, part in enumerate(parts, 1)}
    judged = tuple(one.model_copy(update={"part": numbers[one.part] if one.grade >= 1 else 1}) for one in review.judged)
    return review.model_copy(update={"judged": judged})


def _overlap(one: SpanDecision, other: SpanDecision) -> bool:
    same = (one.place, one.position) == (other.place, other.position)
    return same and one.start < other.end and other.start < one.end


def _text(candidate: Candidate, place: str, position: int) -> RedactedText:
    text = texts_of(candidate).get((place, position))
    if text is None:
        raise UsageError("there is no such text")
    return text


def _moved(text: str, edge: int, words: int, *, begins: bool) -> int:
    """Return the beginning (or end) of a word so many words further on, or back where negative."""
    inside = [False, *(character.isalnum() for character in text), False]
    places = [
        at for at in range(len(text) + 1) if inside[at + 1 if begins else at] and not inside[at if begins else at + 1]
    ]
    before, after = [at for at in places if at < edge], [at for at in places if at > edge]
    if words > 0 and after:
        return after[min(words, len(after)) - 1]
    if words < 0 and before:
        return before[max(0, len(before) + words)]
    return edge


def refuse_answer(review: Review, reason: str, *, wanted: bool) -> Review:
    """Return a review that says why no document answers, and whether one should be written.

    Raises:
        UsageError: If there is no reason.
    """
    if not reason.strip():
        raise UsageError("say why nothing answers it")
    return review.model_copy(update={"no_answer_reason": reason.strip()[:2_000], "document_wanted": wanted})


def describe_review(review: Review) -> list[str]:
    """Return what a review says, a line each."""
    lines = [f"{one.doc}: grade {one.grade}{f', part {one.part}' if one.part > 1 else ''}" for one in review.judged]
    lines += [f"{one.document}: dropped, {one.reason}" for one in review.dropped]
    named = {
        "no document answers": review.no_answer_reason,
        "wording": review.wording,
        "later": review.later_reason,
        "cannot be judged": review.unrateable_reason,
    }
    lines += [f"{name}: {said}" for name, said in named.items() if said]
    if review.not_visible:
        lines.append("the asker could not open what answers")
    return lines
