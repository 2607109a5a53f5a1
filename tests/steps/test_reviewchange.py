"""One change to a review at a time."""

import pytest

from findback.corpus.corpus import corpus_of
from findback.errors import UsageError
from findback.model.candidate import Candidate, RedactedText, RuleHit, ThreadLine
from findback.model.document import Document
from findback.model.review import Review, SpanDecision
from findback.steps.reviewchange import (
    anchor_document,
    begin_review,
    decide_span,
    describe_review,
    drop_document,
    find_words,
    forget_span,
    grade_document,
    redact_words,
    refuse_answer,
    stretch_span,
    turn_part,
)


def text(words: str) -> RedactedText:
    return RedactedText(text=words, raw_hmac="0" * 64)


def candidate(query: str, *lines: str) -> Candidate:
    thread = tuple(
        ThreadLine(key=f"{at}", role="asker", author_hmac=None, at=None, body=text(line))
        for at, line in enumerate(lines)
    )
    return Candidate(
        key="k",
        source="slack",
        container_hmac="c",
        audience="public",
        query=text(query),
        query_line=0 if lines else -1,
        thread=thread,
        rules=(RuleHit(rule="cue", strength="weak"),),
    )


def span(start: int, end: int, **fields: object) -> SpanDecision:
    return SpanDecision.model_validate(
        {"place": "query", "start": start, "end": end, "type": "PERSON", "action": "redact", **fields}
    )


def grades(review: Review) -> list[tuple[str, int, int]]:
    return [(one.doc, one.grade, one.part) for one in review.judged]


def test_a_review_begins_with_what_the_resolver_named_and_the_corpus_has() -> None:
    """A resolver's document starts at grade 3; one that is no document any more does not start at all."""
    begun = begin_review({"a.md": "resolver", "gone.md": "resolver"}, corpus_of([Document(id="a.md", text="how to")]))
    assert [(one.doc, one.grade, one.found_by) for one in begun.judged] == [("a.md", 3, "resolver")]


def test_parts_count_from_one_without_gaps() -> None:
    """Turning a part makes two answers two needs and back; taking one away leaves the other as part 1."""
    both = grade_document(grade_document(Review(), "a", 3), "b", 2)
    assert grades(both) == [("a", 3, 1), ("b", 2, 1)]
    needed = turn_part(both, "b")
    assert grades(needed) == [("a", 3, 1), ("b", 2, 2)]
    assert grades(turn_part(needed, "b")) == [("a", 3, 1), ("b", 2, 1)]
    assert grades(grade_document(needed, "a", None)) == [("b", 2, 1)]
    assert grades(grade_document(needed, "a", 0)) == [("b", 2, 1), ("a", 0, 1)]


def test_only_what_answers_has_a_part_and_a_quote() -> None:
    """A document nobody graded, or graded 0, is neither part of an answer nor quoted."""
    refused = grade_document(Review(), "a", 0)
    with pytest.raises(UsageError):
        turn_part(refused, "a")
    with pytest.raises(UsageError):
        anchor_document(refused, "a", "a sentence")


def test_a_quote_goes_when_its_document_is_no_answer_any_more() -> None:
    """The anchor stays while the grade changes among 1 to 3, and goes with grade 0."""
    quoted = anchor_document(grade_document(Review(), "a", 3), "a", "it says so")
    assert grade_document(quoted, "a", 1).judged[0].anchor == "it says so"
    assert grade_document(quoted, "a", 0).judged[0].anchor is None


def test_what_the_resolver_named_is_dropped_only_with_a_reason() -> None:
    """Dropping takes the judgement away and keeps the reason; grading it again forgets the reason."""
    begun = begin_review({"a": "resolver"}, None)
    with pytest.raises(UsageError):
        drop_document(begun, "a", "  ")
    dropped = drop_document(begun, "a", "an older version")
    assert grades(dropped) == []
    assert [(one.document, one.reason) for one in dropped.dropped] == [("a", "an older version")]
    assert grade_document(dropped, "a", 2).dropped == ()


def test_a_new_decision_takes_the_place_of_those_it_overlaps() -> None:
    """Two decisions never stand on the same characters; others stay."""
    review = decide_span(decide_span(Review(), span(0, 3)), span(8, 9))
    changed = decide_span(review, span(2, 5))
    assert [(one.start, one.end) for one in changed.spans] == [(8, 9), (2, 5)]
    assert [one.start for one in forget_span(changed, "query", 0, 2).spans] == [8]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(1, 0, "ask Ann"), (0, 1, "Ann Lee"), (1, 1, "ask Ann Lee"), (9, 9, "ask Ann Lee 👩🏽‍🔧 now")],
)
def test_a_redaction_grows_by_whole_words(left: int, right: int, expected: str) -> None:
    """Widening stops at the ends of words, and at the ends of the text."""
    words = "ask Ann Lee 👩🏽‍🔧 now"
    grown = stretch_span(candidate(words), decide_span(Review(), span(4, 7)), span(4, 7), left=left, right=right)
    assert [words[one.start : one.end] for one in grown.spans] == [expected]


def test_a_redaction_shrinks_to_a_word_and_not_to_nothing() -> None:
    """Narrowing from either end leaves whole words; the last one cannot be narrowed away."""
    words = "ask Ann Lee now"
    both = decide_span(Review(), span(4, 11))
    right = stretch_span(candidate(words), both, span(4, 11), left=0, right=-1)
    assert [words[one.start : one.end] for one in right.spans] == ["Ann"]
    left = stretch_span(candidate(words), both, span(4, 11), left=-1, right=0)
    assert [words[one.start : one.end] for one in left.spans] == ["Lee"]
    with pytest.raises(UsageError):
        stretch_span(candidate(words), left, span(8, 11), left=-1, right=0)


def test_words_are_redacted_wherever_they_stand_as_words() -> None:
    """Writing words out covers each of their places in question and thread, and none inside longer words."""
    review = redact_words(candidate("Ann met Anna", "so Ann said"), Review(), " Ann ", "PERSON")
    assert [(one.place, one.position, one.start, one.end) for one in review.spans] == [
        ("query", 0, 0, 3),
        ("line", 0, 3, 6),
    ]
    with pytest.raises(UsageError):
        redact_words(candidate("Ann met Anna"), Review(), "Bob", "PERSON")


def test_words_with_symbols_are_found() -> None:
    """Emoji and combining characters are characters like others."""
    assert find_words("x e\u0301\U0001f600 y", "e\u0301\U0001f600") == [2]


def test_no_answer_needs_a_reason() -> None:
    """Saying that nothing answers keeps why, and whether a document should be written."""
    with pytest.raises(UsageError):
        refuse_answer(Review(), " ", wanted=True)
    refused = refuse_answer(Review(), " nobody wrote it ", wanted=True)
    assert (refused.no_answer_reason, refused.document_wanted) == ("nobody wrote it", True)
    assert describe_review(refused) == ["no document answers: nobody wrote it"]
