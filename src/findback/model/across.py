"""What comparing the same systems across two sets gave."""

from datetime import datetime
from typing import Literal

from findback.model.effect import FactorEffect
from findback.model.estimate import Estimate
from findback.model.evaluation import SetMakeUp
from findback.model.record import Record

OrderVerdict = Literal["same order", "changed", "cannot tell"]


class OrderNoise(Record):
    """Which tau-b chance alone would leave."""

    median: float
    """In [-1, 1]."""
    floor: float
    """19 of 20 would show this tau-b or a larger one."""
    p: float
    """Share that would show the observed one or a smaller one, in (0, 1]."""


class AcrossSide(Record):
    """One of the two sets, or parts of a set."""

    name: str
    """What the user called it: `generated`, `release 3`."""
    set: SetMakeUp
    n: int
    """Cases that every system has a score for: all figures are over these."""
    clusters: int
    left_out: int = 0
    """Answerable cases that not every system was asked, or could be."""
    failed: int = 0
    """Cases on which a search failed: left out too."""
    spread: Estimate
    """Best minus worst system."""
    apart: int
    """Pairs of systems it tells apart."""
    apart_at_equal_n: float | None
    """Share of pairs, in [0, 1], it would tell apart with as many clusters as the smaller side; None below 8."""


class AcrossSystem(Record):
    """One system on both sides."""

    name: str
    kind: str
    runs: tuple[str | None, str | None]
    """Ids of the stored runs, or the files they were read from."""
    config_digest: str
    levels: tuple[Estimate, Estimate]
    """Its mean on each side."""
    reweighted: Estimate | None = None
    """Its mean on the first side if only overlap differed from the second; None where no overlap was looked at."""
    believe: Literal["reweighted", "real queries"] | None = None
    """Which of the reweighted estimate and the second side's own is the better one of the latter."""
    why: str = ""
    """Why that one."""


class AcrossPair(Record):
    """Two systems on both sides; every interval holds together with the other pairs'."""

    first: str
    second: str
    differences: tuple[Estimate, Estimate]
    """First minus second, on each side."""
    between: Estimate
    """The first side's difference minus the second's."""
    reversed: bool
    """Whether each side by itself shows a difference, and the other way round."""
    differs: bool
    """Whether the two differences are shown to differ."""
    opposed: bool
    """Whether they differ and are seen the other way round."""


class OverlapBucket(Record):
    """How common an overlap is on both sides."""

    bucket: str
    shares: tuple[float, float]
    """Of each side's clusters, in [0, 1]."""
    queries: int
    """The first side's clusters in it."""


class OverlapMix(Record):
    """What the first side was weighted by, to have the second one's overlap."""

    buckets: tuple[OverlapBucket, ...]
    window: int | None
    """Length of the window overlap was measured in, in characters; None where there is no gold text."""
    support: float | None
    """Share of the second side's clusters whose bucket holds any case of the first, in [0, 1]."""
    effective: float | None
    """Clusters that the first side's weighted ones are worth (Kish)."""
    unmeasurable: tuple[int, int]
    """Cases of each side whose overlap cannot be measured."""
    refusal: str | None
    """Why nothing is estimated; None where it is."""


class EffectSystem(Record):
    """One system whose factors are compared."""

    name: str
    kind: str
    run: str | None
    """Id of the stored run, or the file it was read from."""
    config_digest: str


class Effects(Record):
    """What the factors of several systems are worth on one set."""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    workspace: str
    corpus: str | None
    corpus_digest: str | None
    set: SetMakeUp
    primary: str
    label: str
    """How tables head the primary metric."""
    systems: tuple[EffectSystem, ...]
    n: int
    """Cases that every system has a score for: all figures are over these."""
    clusters: int
    left_out: int
    effects: tuple[FactorEffect, ...]
    level: float = 0.95
    seed: int
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...]
    limits: tuple[str, ...]


class Across(Record):
    """Systems compared across two sets: do they come out in the same order?"""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    """Version that computed it."""
    workspace: str
    corpus: str | None
    corpus_digest: str | None
    primary: str
    """The metric everything rests on, as ir_measures prints it."""
    label: str
    """How tables head it."""
    sides: tuple[AcrossSide, AcrossSide]
    systems: tuple[AcrossSystem, ...]
    verdict: OrderVerdict
    why: str
    tau: float | None
    """Kendall's tau-b between the two orders; None below five systems, or where a side has no order."""
    reason: str | None = None
    """Why there is no tau-b."""
    population: OrderNoise | None = None
    """Tau-b of two samples of one population, of these sizes."""
    order: OrderNoise | None = None
    """Tau-b of two sets of one order that may differ in spread and noise."""
    pairs: tuple[AcrossPair, ...]
    overlap: OverlapMix | None = None
    """None where no gold text is at hand on either side."""
    effects: tuple[FactorEffect, ...] = ()
    """Of the factors asked for."""
    level: float = 0.95
    resamples: int
    seed: int
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...]
    limits: tuple[str, ...]
    """What this does not tell."""
