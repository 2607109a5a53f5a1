"""Labels of a set as scoring needs them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from findback.errors import DataError
from findback.measure.metrics.anchors import Containment
from findback.model.gold import Gold, Judged, make_gold
from findback.model.hits import Span
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.text.shingles import containment, word_shingles
from findback.text.words import words

ANCHOR_SHINGLE = 3
"""Words per shingle when an anchor is looked for in a passage without a span."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Questions that can be scored, with their gold in columns."""

    questions: tuple[Question, ...]
    """Those with a label, in the set's order; `gold.queries` are their ids."""
    gold: Gold


def label_columns(questions: Sequence[Question], documents: Documents | None) -> Labelled:
    """Return the questions that have a label, and their judgements in columns.

    Gold that is no document of the corpus stays gold: it is a document search cannot find, and is scored so.
    """
    kept = tuple(question for question in questions if question.judged is not None or question.unresolved)
    rows = [row for question in kept for row in _rows(question, documents)]
    gold = make_gold([question.id for question in kept], rows)
    return Labelled(questions=kept, gold=gold)


def is_found(question: Question) -> bool:
    """Return whether a question has gold that is a document of the corpus, as far as that was checked."""
    return any(judgement.doc not in question.unresolved for judgement in question.gold)


def refuse_unscorable(questions: QuestionSet, documents: Documents | None) -> None:
    """Stop where no score could mean anything.

    Raises:
        DataError: If there are no questions, no labels, or no gold that is a document of the corpus.
    """
    asked = questions.questions
    if not asked:
        raise DataError(f"{questions.name} holds no question")
    if not any(question.judged is not None or question.unresolved for question in asked):
        raise DataError(
            f"none of the {len(asked)} questions of {questions.name} has a label to score against",
            hint="name the gold column with --columns.gold COLUMN; or label them: findback label quick",
        )
    with_gold = [question for question in asked if question.gold or question.unresolved]
    if documents is not None and with_gold and not any(is_found(question) for question in with_gold):
        raise DataError(
            f"no gold of {questions.name} is a document of {documents.name}, so every score would be 0",
            hint="; ".join(questions.notes[-3:]) or "check that set and documents belong together",
        )


def _rows(question: Question, documents: Documents | None) -> Iterator[Judged]:
    for judgement in question.judged or ():
        span = _locate(judgement.anchor, judgement.doc, documents)
        yield Judged(question.id, judgement.doc, judgement.grade, judgement.part, judgement.anchor, span)
    judged = {judgement.doc for judgement in question.judged or ()}
    for reference in question.unresolved:
        if reference not in judged:
            # A quoted text that no document holds: gold that search cannot find.
            yield Judged(question.id, reference)


def _locate(anchor: str | None, document: str, documents: Documents | None) -> Span | None:
    found = documents.get(document) if anchor and documents is not None else None
    if found is None or anchor is None:
        return None
    start = found.text.find(anchor)
    return None if start < 0 else Span(start, start + len(anchor))


def anchor_share(anchor: str, passage: str) -> float | None:
    """Return the share of an anchor's word shingles that a passage contains, in [0, 1]; None without words."""
    size = min(ANCHOR_SHINGLE, max(len(words(anchor)), 1))
    return containment(word_shingles(anchor, size), word_shingles(passage, size))


HOLDS: Containment = anchor_share
