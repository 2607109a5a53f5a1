"""Why no right document came first enough: broken is not missing."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

MissKind = Literal["error", "not visible to this audience", "not in the index", "beyond the cut-off", "not found"]


class GoldState(NamedTuple):
    """What is known of one right document, apart from its rank."""

    indexed: bool | None = None
    """Whether the system holds it; None when it cannot say."""
    visible: bool | None = None
    """Whether the asker may see it; None when nobody knows."""


def classify_miss(best_rank: int, cutoff: int, golds: Sequence[GoldState], *, failed: bool = False) -> MissKind | None:
    """Return why a question was missed, or None when it was not.

    Search is broken as soon as one right document was there to be found; only where each one is known
    to be absent or hidden is it something else.

    Args:
        best_rank: Best rank of a right document, 0 where none was returned.
        cutoff: Last rank that counts.
        golds: What is known of each right document.
        failed: True when the query ended in an error; nothing else matters then.

    >>> classify_miss(12, 10, [GoldState()]), classify_miss(0, 10, [GoldState(indexed=False)])
    ('beyond the cut-off', 'not in the index')
    >>> classify_miss(0, 10, [GoldState(indexed=False), GoldState(indexed=None)])
    'not found'
    >>> classify_miss(3, 10, [GoldState()]) is None
    True
    """
    if failed:
        return "error"
    if best_rank > 0:
        return None if best_rank <= cutoff else "beyond the cut-off"
    if golds and all(gold.indexed is False for gold in golds):
        return "not in the index"
    if golds and all(gold.indexed is False or gold.visible is False for gold in golds):
        return "not visible to this audience"
    return "not found"


def can_tell(golds: Sequence[GoldState]) -> bool:
    """Return whether broken can be told from missing: the system can say of each document if it holds it.

    >>> can_tell([GoldState(indexed=True), GoldState()])
    False
    """
    return all(gold.indexed is not None for gold in golds)
