"""Whether the questions that come in are still like those of the exam."""

from datetime import datetime
from typing import Literal

from findback.model.record import Record

Facet = Literal["wording", "subject", "words", "overlap", "language"]
Likeness = Literal["apart", "alike", "cannot tell"]


class IncomingKind(Record):
    """One kind of question: its share of what comes in, and of the exam. Every cluster counts once."""

    name: str
    incoming: float
    """Share in [0, 1], or the mean of a figure."""
    released: float
    low: float
    """Lower end of incoming minus released; the interval holds together with those of the facet's other kinds."""
    high: float
    p: float
    """Adjusted for the facet's kinds, in (0, 1]."""
    lacking: bool
    """Whether the exam has less of it than comes in, beyond noise."""


class IncomingFacet(Record):
    """One way in which questions may differ."""

    facet: Facet
    likeness: Likeness
    p: float | None
    """Adjusted for the number of facets (Holm), in (0, 1]; None where there was no test."""
    basis: str
    """How it was told."""
    incoming: int = 0
    """Clusters that come in, of which it is known."""
    released: int = 0
    """Clusters of the exam of which it is known."""
    unknown: int = 0
    """Questions that come in of which it is not known."""
    widest: float | None = None
    """The largest difference of any kind that the intervals leave open."""
    kinds: tuple[IncomingKind, ...] = ()
    """The clearest differences first; at most so many as are shown."""
    more: int = 0
    """Kinds that are not listed."""
    reason: str | None = None
    """Why there was no test."""


class IncomingMonth(Record):
    """What came in in one month."""

    month: str
    """YYYY-MM."""
    questions: int
    flagged: int
    near: int
    """Questions that are nearly the same as one of the exam."""
    subject: str | None = None
    """The subject most of them are about; None where none is known."""


class Incoming(Record):
    """Questions that came in and no release holds, against the newest release."""

    release: int
    questions: int
    """Mined and flagged, none rejected."""
    flagged: int
    clusters: int
    cases: int
    case_clusters: int
    likeness: Likeness
    """Over all facets together."""
    facets: tuple[IncomingFacet, ...]
    months: tuple[IncomingMonth, ...]
    """The newest last."""
    made: datetime
    seed: int
    notes: tuple[str, ...] = ()
