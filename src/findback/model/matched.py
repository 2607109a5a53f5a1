"""How far accepted texts follow the overlap of a real sample."""

from findback.model.record import Record


class MatchedBucket(Record):
    """One stretch of overlap."""

    bucket: str
    """`0`, `0-.25`, `.25-.5`, `.5-.75` or `.75-1`."""
    real: int
    """Real queries in it."""
    effective: float
    """As how many independent queries they count, by their weights."""
    share: float
    """Their share of the real sample, by weight, in [0, 1]."""
    quota: int
    """Texts wanted."""
    accepted: int = 0
    tried: int = 0
    """Texts written whose overlap fell into it, those that other filters rejected among them."""


class Matching(Record):
    """The accepted texts beside the real sample."""

    sample: str
    """Name of the real sample."""
    wanted: int
    buckets: tuple[MatchedBucket, ...]
    effective: float
    """As how many independent queries the real sample counts."""
    left_out: int = 0
    """Real queries whose overlap cannot be measured."""
    unmeasured: int = 0
    """Texts accepted whose overlap cannot be measured; they are in no bucket."""
    refusal: str | None = None
    """Why the accepted texts cannot stand for the real sample; None where they can."""

    @property
    def accepted(self) -> int:
        """Return how many texts took a place."""
        return sum(bucket.accepted for bucket in self.buckets)
