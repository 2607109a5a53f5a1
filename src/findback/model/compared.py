"""What comparing systems on one set gave."""

from datetime import datetime
from typing import Literal

from findback.model.case import Stratum
from findback.model.estimate import Estimate
from findback.model.evaluation import Axis, Score, SetMakeUp
from findback.model.record import Record

Verdict = Literal[
    "better",
    "worse",
    "better on its past failures",
    "worse on its past failures",
    "tied",
    "cannot tell",
    "identical",
    "too few",
]
"""Of the first system of a pair against the second."""
Outcome = Literal["better", "worse", "tied"]
Family = Literal["all pairs", "against a baseline"]


class AskedSystem(Record):
    """One system that took part."""

    name: str
    kind: str
    run: str | None = None
    """Id of the stored run, or the file it was read from."""
    created: str | None = None
    """When the run was made, UTC, ISO 8601."""
    reused: bool = False
    """Whether it is a kept run that stands in for asking the retriever again."""
    config_digest: str
    score: Score
    """The primary metric over the cases compared."""
    failed: int = 0
    """Cases compared on which its search failed."""


class ComparedSystem(AskedSystem):
    """One system of a comparison."""

    missing: int = 0
    """Cases compared that a recorded run does not have; they count as missed."""
    selected: int = 0
    """Failure cases compared that were selected on it, or may have been."""
    first_rank: int | None = None
    """Best rank it may have; None where there is no comparison of all pairs."""
    last_rank: int | None = None
    """Worst rank it may have."""
    groups: tuple[int, ...] = ()
    """Places in `Comparison.groups` it belongs to."""


class Needed(Record):
    """How many more cases would settle an open pair."""

    cases: int | None
    """More cases, if difference and spread stay as they are; None where no number helps."""
    outcome: Outcome | None = None
    """What they would settle it as."""
    control: bool = False
    """Whether they have to be control cases: those would show whether an advantage on past failures is everyday."""
    reason: str | None = None
    """Why there is no number."""


class PartDifference(Record):
    """The difference of a pair on some of the cases."""

    axis: Axis
    value: str
    cases: int
    difference: Estimate
    """First minus second; of types the interval holds together with the others of the same axis."""


class MetricDifference(Record):
    """The difference of a pair in another metric: an interval, no verdict."""

    metric: str
    label: str
    difference: Estimate


class StratumDifference(Record):
    """The difference of a pair on one stratum."""

    stratum: Stratum
    cases: int
    difference: Estimate
    """First minus second; with failed searches its value is None."""
    low: float | None
    """Lower end, holding together with the other pairs'; with failed searches that of the lower bound."""
    high: float | None
    verdict: Verdict
    """On this stratum alone."""


class ComparedPair(Record):
    """Two systems on the same cases."""

    first: str
    second: str
    difference: Estimate
    """First minus second in the primary metric, with the interval it would have alone.

    With failed searches its value is None, and `lowest` and `highest` bound it.
    """
    lowest: Estimate | None = None
    """The difference if the first's failed searches had missed and the second's been perfect."""
    highest: Estimate | None = None
    """The other way round."""
    low: float | None
    """Lower end of the interval that holds together with the other pairs'; it carries the verdict."""
    high: float | None
    p: float | None
    """Sign-flip probability, adjusted for the number of pairs, in (0, 1].

    With failed searches the larger one of both bounds, 1 where they point in different directions.
    """
    verdict: Verdict
    why: str = ""
    """What else there is to know about the verdict."""
    detectable: float | None = None
    """True difference that this many cases would find in 8 of 10 sets, from the pair's spread; it decides nothing."""
    wins: int
    """Cases on which the first is better; a failed search is no case of these three."""
    ties: int
    losses: int
    needed: Needed | None = None
    """What would settle it, or show in everyday use what past failures show; None where it is settled."""
    strata: tuple[StratumDifference, ...] = ()
    """Failure and control cases side by side; empty where the set does not say."""
    types: tuple[PartDifference, ...] = ()
    """By origin, wording, answer and language: exploratory, no verdict."""
    metrics: tuple[MetricDifference, ...] = ()
    """Other metrics: exploratory, no verdict."""


class ComparedCase(Record):
    """A case on which systems differ."""

    question: str
    query: str
    wording: str | None
    stratum: Stratum | None
    scores: tuple[float | None, ...]
    """The primary metric of each system, in the order of `Comparison.systems`; None where its search failed."""
    ranks: tuple[int | None, ...]
    """Best rank of a gold document with each system; None where none was returned."""


class Comparison(Record):
    """Systems compared on one set."""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    """Version that computed it."""
    workspace: str
    corpus: str | None
    corpus_digest: str | None
    set: SetMakeUp
    primary: str
    """The metric that carries the verdicts, as ir_measures prints it."""
    label: str
    """How tables head it."""
    family: Family
    baseline: str | None = None
    """The system all others are compared with; None where every pair is."""
    production: str | None = None
    """The system people use, where somebody said so."""
    lenient: bool = False
    """Whether documents confirmed to be the same count as one."""
    margin: float
    """Differences inside ± this are tied."""
    level: float = 0.95
    resamples: int
    seed: int
    compared: int
    """Answerable cases that every system was asked: all figures are over these."""
    unclaimed: int = 0
    """Failure cases of which nobody says whose they are: each system may be it."""
    left_out: int = 0
    """Answerable cases that not every system was asked."""
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[ComparedPair, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    """Systems that cannot be told apart, best first; groups overlap."""
    detectable: tuple[float, float] | None = None
    """Smallest and largest detectable difference of the pairs."""
    cases: tuple[ComparedCase, ...] = ()
    """Those on which not all systems score alike."""
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...]
    limits: tuple[str, ...]
    """What this does not tell, derived from set and systems."""

    def pair(self, first: str, second: str) -> ComparedPair | None:
        """Return a pair by its names, in the order it was compared; None where it was not."""
        return next((one for one in self.pairs if (one.first, one.second) == (first, second)), None)
