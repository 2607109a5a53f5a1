"""What became of a gold document, told from where its text and its quoted sentence stand now."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from findback.text.reattach import GONE, HELD, Attached

MOSTLY = 0.7
"""Share of a document that one old text makes, from which the document is that text at another place."""
PART = 0.2
"""Share of an old text that a document must hold to be one of the pieces it was split into."""
SURE = 0.8
"""Share of an old text that must stand under a known new name for a move to be certain."""

Standing = Literal["new", "changed", "unchanged", "unknown"]
Kind = Literal["exact", "moved", "edited", "split", "merged", "weak", "gone", "superseded"]
"""What became of a gold; all but exact are findings."""


class Holder(NamedTuple):
    """A document of today that may hold an old text."""

    document: str
    standing: Standing
    """Whether it was there when the label was made, with the same text."""
    text: float | None
    """Share of the old text's runs of words that it holds, in [0, 1]; None where the old text is not remembered."""
    fill: float | None
    """Share of its own runs, repeats counted, that are the old text's; None likewise."""
    anchor: Attached | None
    """How it holds the quoted sentence; None where there is none."""

    @property
    def share(self) -> float | None:
        """Return how much of what was labelled it holds: of the quote where there is one, else of the text."""
        return self.anchor.share if self.anchor is not None else self.text

    @property
    def has_answer(self) -> bool:
        """Return whether it holds the quote, or most of the text where nothing was quoted."""
        return self.anchor.holds if self.anchor is not None else self.text is not None and self.text >= HELD


class Fate(NamedTuple):
    """What became of a gold document."""

    kind: Kind
    targets: tuple[str, ...] = ()
    """Other documents that hold it now, the fullest first."""
    share: float | None = None
    certain: bool = False


def judge_changed(here: Holder, others: Sequence[Holder], *, together: float | None) -> Fate:
    """Return the fate of a document that is still there with another text.

    Args:
        here: The document as it is now.
        others: Other documents that hold some of it.
        together: Share of the old text that it and the others hold together; None where not known.
    """
    if here.anchor is None and here.text is None:
        return Fate("edited")
    if here.has_answer:
        exact = here.anchor is not None and here.anchor.fit == "exact"
        return Fate("exact" if exact else "edited", share=here.share)
    came = _order([one for one in others if one.has_answer and one.standing != "unchanged"])
    if came:
        stays = here.text is None or here.text >= PART
        return Fate("split" if stays else _place(came[0]), _names(came), came[0].share)
    if here.anchor is None and here.text is not None and here.text >= PART and (together or 0.0) >= HELD:
        pieces = _list_pieces(others)
        if pieces:
            return Fate("split", _names(pieces), together)
    return _stand_in(others) or _left(here.share, ())


def judge_removed(
    same: Sequence[str], named: Holder | None, others: Sequence[Holder], *, together: float | None
) -> Fate:
    """Return the fate of a document that is not there any more.

    Args:
        same: Documents with exactly its text.
        named: What its old name leads to by an alias, a redirect or a rename.
        others: Other documents that hold some of it.
        together: Share of the old text that the best of them hold together; None where not known.
    """
    if same or (named is not None and named.anchor is None and named.text is None):
        return _move(same, named)
    everybody = [*others, *([named] if named is not None else [])]
    came = _order([one for one in everybody if _holds_most(one) and (one.standing != "unchanged" or one is named)])
    if came:
        best = named if named is not None and named in came else came[0]
        kind = _place(best)
        certain = kind == "moved" and best is named and best.has_answer and (best.text is None or best.text >= SURE)
        return Fate(kind, _names([best, *came]), best.share, certain)
    pieces = _list_pieces(everybody)
    if len(pieces) > 1 and (together or 0.0) >= HELD:
        return Fate("split", _names(pieces), together)
    quoting = _order([one for one in everybody if one.has_answer and one.standing != "unchanged"])
    if quoting:
        return Fate("merged", _names(quoting), quoting[0].share)
    ranked = sorted(everybody, key=lambda one: -(one.share or 0.0))
    return _stand_in(everybody) or _left(ranked[0].share if ranked else 0.0, ranked)


def _move(same: Sequence[str], named: Holder | None) -> Fate:
    """Return the fate of a document whose text or name is somewhere else; certain where nothing speaks against it."""
    if named is None or named.document in same:
        targets = tuple(same) if named is None else (named.document,)
        return Fate("moved", targets, 1.0, certain=len(targets) == 1)
    return Fate("moved", tuple(same) or (named.document,), 1.0 if same else None)


def _holds_most(holder: Holder) -> bool:
    return holder.has_answer if holder.text is None else holder.text >= HELD


def _list_pieces(holders: Sequence[Holder]) -> list[Holder]:
    """Return documents that hold a part of a text and came by it since; those with the quoted sentence first."""
    pieces = [one for one in holders if (one.text or 0.0) >= PART and one.standing != "unchanged"]
    return sorted(_order(pieces), key=lambda one: not (one.anchor is not None and one.anchor.holds))


def _stand_in(holders: Sequence[Holder]) -> Fate | None:
    """Return the fate of a document whose words stand in another one that had them all along."""
    twins = _order([one for one in holders if one.standing == "unchanged" and (one.has_answer or _holds_most(one))])
    return Fate("superseded", _names(twins), twins[0].share) if twins else None


def _place(holder: Holder) -> Kind:
    """Say whether a document is an old text at another place, or has taken it in."""
    if holder.standing in ("changed", "unchanged"):
        return "merged"
    return "moved" if holder.fill is None or holder.fill >= MOSTLY else "merged"


def _left(share: float | None, ranked: Sequence[Holder]) -> Fate:
    if share is not None and share >= GONE:
        return Fate("weak", _names([one for one in ranked if (one.share or 0.0) >= GONE][:1]), share)
    return Fate("gone", share=share)


def _order(holders: Sequence[Holder]) -> list[Holder]:
    """Return holders the fullest first; of equals, those that are new or changed, then by id."""
    return sorted(
        holders,
        key=lambda one: (-(one.text or 0.0), -(one.share or 0.0), one.standing == "unchanged", one.document),
    )


def _names(holders: Sequence[Holder]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.document for one in holders))
