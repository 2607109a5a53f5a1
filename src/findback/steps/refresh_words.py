"""What is said about a gold that changed: one sentence, without words of documents or questions."""

from findback.measure.fates import Fate
from findback.model.stale import Proposal

_THERE = {
    "edited": "its text changed, and the label holds",
    "moved": "another page stands under this id; {what} is now in {place}",
    "merged": "another page stands under this id; {what} is now in {place}",
    "split": "{what} is now in {place}",
    "superseded": "{what} is not in it any more; {place} has it, as before",
    "weak": "little of {what} is left in it",
    "gone": "{what} is not in it any more",
}
_GONE = {
    "moved": "it is now {place}",
    "merged": "{what} is now inside {place}",
    "split": "{what} is now in {place}",
    "superseded": "it is gone; {place} says nearly the same, and did before",
    "weak": "it is gone, and little of {what} is left",
    "gone": "it is gone, and {what} is nowhere",
}
_AND = {
    "drop": "another document of its part stays",
    "relabel": "its part has no document left",
    "retire": "no document of the case is left",
}
UNKNOWN = {
    "edited": "its text changed; how far cannot be told without a quote or what was remembered of it",
    "gone": "it is gone; where its text went cannot be told without a quote or what was remembered of it",
}
"""What is said where nothing but the id or the digest of a text is known."""


def explain_fate(fate: Fate, proposal: Proposal, *, there: bool, quoted: bool) -> str:
    """Return what became of a gold, and why that is proposed.

    Args:
        fate: What became of it.
        proposal: What is proposed.
        there: Whether a document of its id is still there.
        quoted: Whether the label has a quote.
    """
    if fate.share is None and fate.kind in UNKNOWN:
        return UNKNOWN[fate.kind]
    place = fate.targets[0] if fate.targets else ""
    more = f" and {len(fate.targets) - 1} more" if len(fate.targets) > 1 else ""
    said = (_THERE if there else _GONE)[fate.kind].format(
        what="its quote" if quoted else "its text", place=f"{place}{more}"
    )
    share = "" if fate.share in (None, 1.0) or fate.kind == "gone" else f" ({fate.share:.0%})"
    if fate.kind == "moved" and not fate.certain:
        share += ", as far as can be told"
    return f"{said}{share}; {_AND[proposal]}" if proposal in _AND else f"{said}{share}"
