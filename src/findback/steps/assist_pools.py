"""The documents a model grades for a candidate: shuffled, without rank, score or who found them."""

from collections.abc import Sequence
from typing import NamedTuple

from findback.model.candidate import Candidate
from findback.steps.assist_questions import Question, bare_text
from findback.steps.extracts import extract_matching, without_markup
from findback.steps.reviewdesk import MOST_POOLED, Desk, shuffled
from findback.writing.suggest import Offered

SHOWN = 1_200
"""Most characters of a document: all of a short one, else the part that fits the question best."""


class OfferedPool(NamedTuple):
    """A question with the documents that may answer it."""

    question: Question
    ids: tuple[str, ...]
    documents: tuple[Offered, ...]
    """In the same order."""


def pool_documents(desk: Desk, candidate: Candidate, question: Question, *, seed: int) -> OfferedPool:
    """Return the documents that may answer a candidate's question: those of its links, then what retrievers find.

    Args:
        desk: Finds them; only retrievers that may see unreviewed text are asked.
        candidate: The candidate.
        question: Its question as it may be shown.
        seed: Of the order.
    """
    words = bare_text(question)
    found = [*(link.document for link in candidate.links), *(desk.find(words) if words else ())]
    documents = desk.documents
    known = [one for one in dict.fromkeys(found) if documents is not None and documents.get(one) is not None]
    mixed = shuffled(known[:MOST_POOLED], seed, candidate.key)
    return OfferedPool(question, tuple(mixed), tuple(_offer(desk, mixed, words)))


def _offer(desk: Desk, ids: Sequence[str], words: str) -> list[Offered]:
    offered = []
    for one in ids:
        document = desk.documents.get(one) if desk.documents is not None else None
        if document is not None:
            whole = len(document.text) <= SHOWN
            fitting = extract_matching(document.text, words, document.language, longest=SHOWN)
            text = without_markup(document.text) if whole else fitting
            offered.append(Offered(document.title, text))
    return offered
