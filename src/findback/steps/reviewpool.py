"""Documents that may answer a question, shown without rank, score or who found them."""

from collections.abc import Sequence
from typing import NamedTuple

from findback.errors import MissingError, UsageError
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.extracts import extract_matching
from findback.steps.reviewdesk import Desk, shuffled
from findback.steps.reviewitem import Item
from findback.text.placeholders import strip_placeholders

RESOLVER_GRADE = 3
"""Grade that a document a resolver named starts at."""
MOST_FOUND = 20
LONGEST_SEARCH = 1_000
SHOWN = 200_000
"""Characters of a document that are shown."""


class Pooled(NamedTuple):
    """One document that may answer."""

    document: str
    """Id in the corpus."""
    title: str | None
    extract: str | None
    """The part that fits the question best; None where the corpus lacks the document."""
    evidence: bool
    """Whether a resolver named it."""
    grade: int | None
    """What the reviewer gave it; for evidence nobody graded yet the grade it starts at; else None."""
    graded: bool
    """Whether the reviewer gave the grade."""
    dropped: bool
    """Whether the reviewer dropped it with a reason."""
    url: str | None = None


class FullText(NamedTuple):
    """A document to read."""

    document: str
    title: str | None
    text: str
    """Its beginning, where it is very long."""
    whole: bool
    url: str | None = None


def pool(desk: Desk, reviewer: Reviewer, item: Item, *, seed: int = 0) -> list[Pooled]:
    """Return documents that may answer, in an order of the reviewer's own.

    They come from the links in the thread, from resolvers who were asked, from every retriever that may see text
    nobody reviewed, and from what the reviewer graded already.

    Args:
        desk: Where they review.
        reviewer: Who looks: each gets another order, and the same one every time.
        item: The candidate, opened for them.
        seed: Changes the order.
    """
    linked = [*item.evidence, *(link.document for link in item.links)]
    graded = [*(one.doc for one in item.review.judged), *(one.document for one in item.review.dropped)]
    words = _searchable(item)
    found = list(dict.fromkeys([*linked, *(desk.find(words) if words.strip() else ())]))
    mixed = shuffled(found, seed, item.key, reviewer.subject)
    # What one graded after a search comes last, so that nothing on the page moves.
    return [_pooled(desk, item, one, words) for one in dict.fromkeys([*mixed, *graded])]


def search_documents(desk: Desk, item: Item, words: str) -> list[Pooled]:
    """Return documents for other words, best first.

    Raises:
        UsageError: If there are no words, or very many.
    """
    if not words.strip() or len(words) > LONGEST_SEARCH:
        raise UsageError(f"a search has 1 to {LONGEST_SEARCH} characters")
    return [_pooled(desk, item, one, words) for one in desk.find(words)[:MOST_FOUND]]


def find_document(desk: Desk, item: Item, reference: str) -> Pooled | None:
    """Return the document that an id, path or pasted address means, or None; only compared, never fetched."""
    documents = desk.documents
    if documents is None or not reference.strip() or len(reference) > 4_000:
        return None
    found = documents.resolve(reference.strip())
    return None if found is None else _pooled(desk, item, found, _searchable(item))


def show_text(desk: Desk, document: str) -> FullText:
    """Return a document to read, at most its first 200,000 characters.

    Raises:
        MissingError: If the corpus has none of that id.
    """
    found = desk.documents.get(document) if desk.documents is not None and len(document) <= 4_000 else None
    if found is None:
        raise MissingError("the corpus has no such document")
    return FullText(found.id, found.title, found.text[:SHOWN], len(found.text) <= SHOWN, found.url)


def _searchable(item: Item) -> str:
    """Return the words to search by: the question with its redactions applied, without placeholders and masks."""
    shown = [segment.text for segment in item.query.segments if not segment.hidden]
    return " ".join(strip_placeholders("".join(shown)).split())[:LONGEST_SEARCH]


def _pooled(desk: Desk, item: Item, document: str, words: str) -> Pooled:
    found = desk.documents.get(document) if desk.documents is not None else None
    given = _grade(item.review, document)
    evidence = document in item.evidence
    dropped = any(one.document == document for one in item.review.dropped)
    starts = RESOLVER_GRADE if evidence and not dropped else None
    return Pooled(
        document=document,
        title=found.title if found is not None else None,
        extract=extract_matching(found.text, words, found.language) if found is not None else None,
        evidence=evidence,
        grade=given if given is not None else starts,
        graded=given is not None and item.revision > 0,
        dropped=dropped,
        url=found.url if found is not None else None,
    )


def _grade(review: Review, document: str) -> int | None:
    grades: Sequence[int] = [one.grade for one in review.judged if one.doc == document]
    return max(grades, default=None)
