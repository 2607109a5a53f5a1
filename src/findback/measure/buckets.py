"""Buckets of overlap: how closely a question follows the words of its answer."""

EDGES = (0.25, 0.5, 0.75)
"""Upper edges of the buckets above 0; each bucket holds its upper edge but the last."""
NAMES = ("0", "0-.25", ".25-.5", ".5-.75", ".75-1")


def bucket_of(overlap: float) -> str:
    """Return the bucket of an overlap in [0, 1].

    >>> bucket_of(0.0), bucket_of(0.25), bucket_of(1.0)
    ('0', '0-.25', '.75-1')
    """
    if overlap <= 0:
        return NAMES[0]
    return NAMES[1 + sum(overlap > edge for edge in EDGES)]
