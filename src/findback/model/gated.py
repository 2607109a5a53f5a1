"""What the gate found: whether a system lost something against a baseline."""

from datetime import datetime
from typing import Literal

from findback.model.record import Record
from findback.model.settings import GateAxis

GateVerdict = Literal["pass", "fail", "undecided"]
Policy = Literal["margin", "significance"]
Role = Literal["baseline", "anchor", "last night"]


class LeftOut(Record):
    """Cases that could not be paired, and why."""

    why: str
    cases: tuple[str, ...]
    """Their ids, sorted."""


class GatedCase(Record):
    """A case whose score changed, or whose search failed."""

    question: str
    """Question id."""
    wording: str | None
    answer: str | None
    stratum: str | None
    language: str | None
    before: float | None
    """The baseline's score; None where its search failed."""
    now: float | None
    """The score now; None where the search failed."""
    rank_before: int | None
    """Rank of the best right document; None where none was returned, or the search failed."""
    rank_now: int | None
    query: str | None = None
    """Its words, where they were asked for and are released."""

    @property
    def gap(self) -> float | None:
        """Return now minus before; None where a search failed."""
        return None if self.before is None or self.now is None else self.now - self.before


class GatedType(Record):
    """How the cases of one type fared; counts only, no verdict."""

    axis: GateAxis
    value: str
    cases: int
    lost: int
    won: int


class GateComparison(Record):
    """A system beside one baseline, case by case."""

    role: Role
    name: str
    """The baseline."""
    retriever: str
    """Whose results it holds."""
    heading: str
    """The set it was made on: `release 3`, or `unreleased set, sha256 …`."""
    made: datetime | None
    """When its results were made, UTC; None where that is not known."""
    config_digest: str
    cases: int
    """Cases that were paired."""
    units: int
    """Independent units among them: clusters, or gold groups."""
    before: float | None
    """Mean score of the baseline on them; None where a search of its failed."""
    now: float | None
    """Mean score now; None where a search failed."""
    difference: float | None
    """Now minus before, clusters counting once; None where a search failed."""
    lowest: float | None = None
    """The difference if failed searches now had missed, and those of the baseline had been perfect."""
    highest: float | None = None
    """The difference the other way round."""
    lower: float | None
    """One-sided lower bound of the difference at `level`; of `lowest` where a search failed."""
    upper: float | None
    """One-sided upper bound of the difference at 1 − `alarm`; of `highest` where a search failed."""
    p: float | None
    """One-sided sign-flip probability of so low a difference."""
    interval: str
    """How the bounds were made."""
    verdict: GateVerdict
    why: str
    """What a reader should know about the verdict; empty where the bounds say everything."""
    errors: int
    """Paired cases on which a search failed, on either side."""
    lost: int
    won: int
    detectable: float | None
    """The smallest loss it would have failed on in 8 of 10 such sets; None where there is none."""
    needed: int | None
    """Cases in all that the margin needs, for a system as good as the baseline; None where that is not known."""
    rescored: tuple[str, ...]
    """Cases relabelled since whose baseline was scored again, from the ranks it keeps."""
    left_out: tuple[LeftOut, ...]
    types: tuple[GatedType, ...]
    changed: tuple[GatedCase, ...]
    """The largest loss first; failed searches at the end."""


class GatedFloor(Record):
    """A type that must not fall below a level."""

    axis: GateAxis
    value: str
    floor: float
    cases: int
    mean: float | None
    """None where a search failed or there is no case."""
    lower: float | None
    """One-sided bounds, adjusted for all that is tested together."""
    upper: float | None
    verdict: GateVerdict
    why: str


class Nightly(Record):
    """What a look costs of the year's false alarms."""

    look: int
    """Which look of the past year this is, from 1."""
    alarms_a_year: float
    """False alarms accepted a year."""
    looks_a_year: int
    """Looks they are spread over."""
    tests: int
    """What is tested in this look: baselines and floors."""


class Gated(Record):
    """Whether a system lost something against a baseline."""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    """Version that computed it."""
    workspace: str
    heading: str
    """The set: `release 3`, or `unreleased set, sha256 …`."""
    retriever: str
    """The system under test."""
    config_digest: str
    primary: str
    """Canonical name of the metric."""
    label: str
    policy: Policy
    margin: float
    """Loss that is accepted."""
    level: float
    """Confidence of the bound that passes."""
    alarm: float
    """Chance of a false alarm that each test may have."""
    nightly: Nightly | None
    verdict: GateVerdict
    """The worst of all comparisons and floors."""
    comparisons: tuple[GateComparison, ...]
    floors: tuple[GatedFloor, ...]
    asked: int
    """Answerable cases of the set."""
    failed: int
    """Searches that failed."""
    missing: int
    """Cases a recorded run does not have; they count as missed."""
    method: tuple[str, ...]
    """How it was decided, in sentences."""
    notes: tuple[str, ...]
