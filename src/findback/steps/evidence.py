"""What speaks for a document before anybody graded it: a resolver's link, or that a model described it."""

from collections.abc import Collection
from typing import Literal

from findback.model.candidate import DocumentLink
from findback.workbench.asks import Ask
from findback.workbench.rows import StoredCandidate

FoundBy = Literal["resolver", "described"]

DESCRIBED = ("described", "described-too")
"""Kinds of link from what a model wrote to the document it described, and to others that it fits as well."""


def evidence_of(stored: StoredCandidate, asks: Collection[Ask]) -> dict[str, FoundBy]:
    """Return the documents that are not to be dropped without a reason, and what speaks for each.

    They are what a resolver named, in the thread or when asked, and what a model described.
    """
    found: dict[str, FoundBy] = {}
    for link in stored.candidate.links:
        by = _speaks_for(link)
        if by is not None:
            found.setdefault(link.document, by)
    for one in asks:
        for document in one.answer.documents if one.answer is not None else ():
            found.setdefault(document, "resolver")
    return found


def _speaks_for(link: DocumentLink) -> FoundBy | None:
    if link.by == "resolver":
        return "resolver"
    return "described" if link.kind in DESCRIBED else None
