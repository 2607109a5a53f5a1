"""What stands in the way of submitting a review: said while one works, not at the release."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from findback.model.candidate import Candidate
from findback.model.case import WORDINGS, Case
from findback.model.protocols import Documents
from findback.model.review import Review
from findback.model.settings import ReviewSettings
from findback.privacy.core import CoreRedactor
from findback.privacy.finding import Finding
from findback.steps.evidence import FoundBy
from findback.steps.reviewspans import Numbers, decide_text, decisions_on, published_place, texts_of
from findback.steps.roots import refuse_root
from findback.text.placeholders import list_faults, strip_placeholders
from findback.text.words import words

MOST_JUDGED = 200
MOST_DROPPED = 100
MOST_TAGS = 20

IsFalsePositive = Callable[[Finding, str], bool]
"""Whether a reviewer said that what a rule found in a text is none."""


def check_review(
    candidate: Candidate,
    review: Review,
    settings: ReviewSettings,
    *,
    evidence: Mapping[str, FoundBy] | None = None,
    root: Case | None = None,
    documents: Documents | None = None,
    redactor: CoreRedactor | None = None,
    is_false: IsFalsePositive | None = None,
) -> tuple[str, ...]:
    """Return what stands in the way of submitting a review; nothing for one that can be.

    Args:
        candidate: What is reviewed.
        review: The review.
        settings: The team's own wordings.
        evidence: Documents that something speaks for, and what.
        root: The case a paraphrase was made from; its judgements are the paraphrase's.
        documents: The corpus; without it ids and anchors are not checked.
        redactor: Today's rules; without them strings are not checked again.
        is_false: What reviewers gave back; nothing when None.
    """
    if review.unrateable_reason is not None or review.later_reason is not None:
        return ()
    if candidate.origin == "paraphrase":
        return (
            *_check_query(candidate, review, redactor, is_false),
            *_check_paraphrase(review, root),
            *_check_strings(review, redactor),
        )
    return (
        *_check_query(candidate, review, redactor, is_false),
        *_check_wording(review, settings),
        *_check_answer(review),
        *_check_evidence(review, evidence or {}),
        *_check_documents(review, documents),
        *_check_strings(review, redactor),
    )


def _check_query(
    candidate: Candidate, review: Review, redactor: CoreRedactor | None, is_false: IsFalsePositive | None
) -> Iterator[str]:
    place = published_place(candidate, review)
    text = texts_of(candidate).get(place)
    if text is None:
        yield "the message chosen as the question is not there"
        return
    result = decide_text(text, decisions_on(review, place), Numbers(candidate))
    if result.undecided:
        yield f"{len(result.undecided)} suggested redaction(s) in the question are not decided"
    if not words(strip_placeholders(result.text)):
        yield "redaction leaves no word of the question: reject it, or choose another message"
    yield from (f"the question has a malformed placeholder: {fault}" for fault in list_faults(result.text))
    if redactor is not None:
        for finding in redactor.find(result.text):
            value = result.text[finding.start : finding.end]
            if is_false is None or not is_false(finding, value):
                yield f"today's rules see a {finding.type} in the question at character {finding.start + 1}: redact it"


def _check_wording(review: Review, settings: ReviewSettings) -> Iterator[str]:
    known = (*WORDINGS, *settings.wordings)
    if review.wording is None:
        yield "the wording is not said"
    elif review.wording not in known:
        yield f"there is no such wording; it is one of {', '.join(known)}"


def _check_answer(review: Review) -> Iterator[str]:
    gold = [one for one in review.judged if one.grade >= 1]
    if gold and review.no_answer_reason is not None:
        yield "a document answers it, and yet there is a reason why none does: take one of them back"
    if not gold and review.no_answer_reason is None:
        yield "no document answers it yet: grade one, or say why none does"
    parts = sorted({one.part for one in gold})
    if parts and parts != list(range(1, len(parts) + 1)):
        yield f"parts count from 1 without gaps, and these are {', '.join(map(str, parts))}"
    judged = Counter((one.doc, one.part) for one in review.judged)
    twice = sum(1 for count in judged.values() if count > 1)
    if twice:
        yield f"{twice} document(s) are graded twice for one part"
    answering = {one.doc for one in gold}
    for one in review.judged:
        if one.grade == 0 and one.doc in answering:
            yield "a document is no answer and an answer at once"
        if one.grade == 0 and one.part not in (parts or [1]):
            yield "a document that is no answer belongs to a part that has none"
        if one.anchor is not None and (one.grade == 0 or not words(one.anchor)):
            yield "only what answers is quoted, and a quote has words"


def _check_paraphrase(review: Review, root: Case | None) -> Iterator[str]:
    if refusal := refuse_root(root):
        yield f"{refusal}: reject it"
    own = (review.judged, review.dropped, review.no_answer_reason, review.wording, review.context)
    if any(own) or review.document_wanted or review.not_visible:
        yield "a paraphrase takes its label from the case it was made from: take back what is said besides"


def _check_evidence(review: Review, evidence: Mapping[str, FoundBy]) -> Iterator[str]:
    answering = {one.doc for one in review.judged if one.grade >= 1}
    dropped = {one.document for one in review.dropped}
    missing = Counter[str](by for one, by in evidence.items() if one not in answering | dropped)
    for by, said in (("resolver", "the resolver named"), ("described", "the model described")):
        if missing[by]:
            yield f"{missing[by]} document(s) {said} are neither an answer nor dropped with a reason"
    if answering & dropped:
        yield "a document is dropped and an answer at once"


def _check_documents(review: Review, documents: Documents | None) -> Iterator[str]:
    if documents is None:
        return
    for one in review.judged:
        found = documents.get(one.doc)
        if found is None:
            if one.grade >= 1:
                yield "a graded document is not in the corpus: search it again, or take the grade back"
        elif one.anchor is not None and _folded(one.anchor) not in _folded(found.text):
            yield "an anchor is not in its document as quoted"


def _check_strings(review: Review, redactor: CoreRedactor | None) -> Iterator[str]:
    if redactor is None:
        return
    context = review.context
    named = [
        ("the reason why nothing answers", review.no_answer_reason),
        *(("an anchor", one.anchor) for one in review.judged if one.anchor is not None),
        *(("a tag", one) for one in review.tags),
    ]
    if context is not None:
        named += [("the context", one) for one in (context.locale, context.audience, context.as_of)]
        named += [("the context", one) for pair in (context.filters or {}).items() for one in pair]
        named += [("an earlier turn", one) for one in context.turns or ()]
    for place, text in named:
        if text is not None and (types := redactor.redact(text).types):
            yield f"{place} holds what looks like {', '.join(sorted(set(types)))}: take it out"


def _folded(text: str) -> str:
    return " ".join(text.split())


def list_excesses(review: Review) -> Iterator[str]:
    """Yield what of a review is more than is kept."""
    if len(review.judged) > MOST_JUDGED:
        yield f"more than {MOST_JUDGED} graded documents"
    if len(review.dropped) > MOST_DROPPED:
        yield f"more than {MOST_DROPPED} dropped documents"
    if len(review.tags) > MOST_TAGS:
        yield f"more than {MOST_TAGS} tags"
    context = review.context
    if context is not None:
        if len(context.turns or ()) > 50 or len(context.filters or {}) > 50:
            yield "more than 50 turns or filters"
        if any(len(one) > 4_000 for pair in (context.filters or {}).items() for one in pair):
            yield "a filter of more than 4,000 characters"
