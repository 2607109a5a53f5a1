"""Scores by release, with what changed in the exam between them."""

import datetime as dt

from findback.model.estimate import Estimate
from findback.model.record import Record


class TrackedScore(Record):
    """One retriever's newest score on one release."""

    retriever: str
    metric: str
    """How tables head it."""
    estimate: Estimate
    lowest: Estimate | None = None
    """With errors: the mean if every failed query had missed."""
    highest: Estimate | None = None
    made: dt.datetime
    by_system: Estimate | None = None
    """What the system moved since the release before, on that release's cases; of the newest release alone, and None
    without runs of both times."""
    by_exam: Estimate | None = None
    """What the exam moved since then: the same run, scored on both."""


class TrackedRelease(Record):
    """One release."""

    number: int
    first: bool
    date: dt.date
    cases: int
    """Active cases."""
    clusters: int
    changes: dict[str, int] | None
    """Cases added, retired, relabelled, … since the release before; None for the first, and where that is damaged."""
    scores: tuple[TrackedScore, ...]


class Tracker(Record):
    """The releases of a set, newest first."""

    releases: tuple[TrackedRelease, ...]
    more: int = 0
    """Older releases that are not listed."""
    notes: tuple[str, ...] = ()
