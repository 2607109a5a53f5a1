"""Whether the verdicts of a run's judge can be trusted."""

from findback.model.record import Record


class LeakBucket(Record):
    """Texts of about the same leak that a judge saw."""

    bucket: str
    """`0`, `0-.1`, `.1-.2`, `.2-.35`, `.35-1`, or `not measurable`."""
    judged: int
    rejected: int
    """Those the fidelity filter turned down."""


class Calibration(Record):
    """What a judge did with texts known to be about something else, and with all of a run by their leak."""

    swapped: int
    """Texts that were laid before it as if written from another document."""
    rejected: int
    """Those it turned down."""
    doubtful: int
    """Those it was not sure about: a person would see them."""
    trusted: bool | None
    """Whether it turned down at least 19 of 20; None where too few texts could be swapped."""
    trusted_reason: str
    """The same in words."""
    buckets: tuple[LeakBucket, ...]
    """Every text of the run that it judged, the swapped ones left out."""
    prefers_leaking: bool | None
    """Whether it turns down more texts the less they leak; None where that cannot be told."""
    prefers_leaking_reason: str
    """The same in words, with the numbers."""
    p: float | None = None
    """Chance of as strong a tendency if leak played no role, in [0, 1]."""
