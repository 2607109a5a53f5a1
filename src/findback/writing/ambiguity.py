"""The ambiguity filter: do other documents answer as well?"""

from collections.abc import Collection
from typing import NamedTuple

from findback.model.written import Fidelity, Rejection

MOST_FITTING = 2
"""Other documents that may fit as well, for a person to decide; a text that fits more is too vague."""
ANOTHER = "another document fits"
"""Doubt about a text that a judge found to describe another document as well."""
MANY = "fits many documents"

_TOLD = "It fits many documents equally well. Say what sets this one apart, in ordinary words."


class Ambiguity(NamedTuple):
    """Which other documents a text is about."""

    alternatives: tuple[str, ...]
    """Those that are gold as well: near-duplicates of the source."""
    rejection: Rejection | None
    doubts: tuple[str, ...]


def find_alternatives(fidelity: Fidelity, duplicates: Collection[str]) -> Ambiguity:
    """Return which other documents answer, from what a judge said.

    A near-duplicate of the source answers as well, whatever the judge says. Any other document that the judge named
    in most askings may answer too: that is for a person to say.

    Args:
        fidelity: What the judge said.
        duplicates: Ids of the source's near-duplicates.
    """
    named = [document for document, times in fidelity.others.items() if 2 * times > fidelity.asked]
    fitting = [document for document in named if document not in duplicates]
    alternatives = tuple(sorted(duplicates))
    if len(fitting) > MOST_FITTING:
        return Ambiguity(alternatives, Rejection(by="ambiguity", reason=MANY, told=_TOLD), ())
    return Ambiguity(alternatives, None, (ANOTHER,) if fitting else ())
