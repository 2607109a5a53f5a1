"""What looking at each case with every system gave: items, documents and floors."""

from datetime import datetime
from typing import Literal

from findback.model.case import Stratum
from findback.model.compared import AskedSystem
from findback.model.estimate import Estimate
from findback.model.evaluation import Score, SetMakeUp
from findback.model.record import Record


class ItemSystem(AskedSystem):
    """One system whose answers are looked at case by case."""

    ahead: Estimate | None = None
    """Score minus that of the higher floor, in [-1, 1]; None where there is no floor."""


class Floor(Record):
    """A retriever that does not read the question."""

    name: str
    """constant or most popular."""
    score: Score
    """The primary metric over the same cases."""


class ItemCase(Record):
    """One case, and how each system did on it."""

    question: str
    query: str
    stratum: Stratum | None
    golds: tuple[str, ...]
    """Documents that answer it."""
    scores: tuple[float | None, ...]
    """The primary metric of each system, in the order of `ItemAnalysis.systems`; None where its search failed."""
    firsts: tuple[str | None, ...]
    """The document each system ranks first; None where it returned nothing."""


class AgainstCase(Record):
    """A case that weak systems answer better than strong ones."""

    case: ItemCase
    correlation: float
    """Over systems, between solving it and the share of all other clusters they solve, in [-1, 1]."""
    low: float
    """Lower end of its 95 % interval (Fisher's), for this case by itself."""
    high: float


class HeavyDocument(Record):
    """A document that answers suspiciously many cases."""

    document: str
    title: str | None = None
    clusters: int
    """Clusters of cases it answers."""
    expected: float
    """Clusters a gold document answers on average."""
    questions: tuple[str, ...]
    """Ids of the cases it answers."""


class SecondDocument(Record):
    """A document nobody judged that several systems rank first."""

    question: str
    query: str
    document: str
    title: str | None = None
    systems: tuple[str, ...]


class ItemAnalysis(Record):
    """Cases, labels and documents of a set that want a look, by how systems do on them."""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    """Version that computed it."""
    workspace: str
    corpus: str | None
    corpus_digest: str | None
    set: SetMakeUp
    metric: str
    """The primary metric, as ir_measures prints it; a case is solved where it is above 0."""
    label: str
    """How tables head it."""
    seed: int
    cases: int
    """Answerable cases that every system was asked."""
    clusters: int
    """Clusters among them."""
    failed: int = 0
    """Cases left out of what is said about single cases, as a search of theirs failed."""
    left_out: int = 0
    """Answerable cases that not every system was asked."""
    systems: tuple[ItemSystem, ...]
    floors: tuple[Floor, ...]
    everybody: tuple[ItemCase, ...]
    """Cases that every system solves."""
    everybody_share: Estimate
    """Their share, in [0, 1]; every cluster counts once."""
    nobody: tuple[ItemCase, ...]
    """Cases that none solves."""
    nobody_share: Estimate
    against: tuple[AgainstCase, ...]
    """Cases that strong systems miss and weak ones solve, the worst first: the gold may be wrong."""
    by_chance: float | None
    """How many such cases there would be if no case had to do with the others; None below five systems."""
    rated: int
    """Cases on which systems differ, whose correlation was looked at."""
    reason: str | None = None
    """Why no correlation was."""
    heavy: tuple[HeavyDocument, ...]
    second: tuple[SecondDocument, ...]
    """Possible second golds, those most systems agree on first."""
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...]
    limits: tuple[str, ...]
    """What this does not tell, derived from the set's make-up."""


class SentItems(Record):
    """Cases sent to be looked at again; which of them were suspicious is said nowhere."""

    cases: int
    """All that were sent."""
    random: int
    """How many of them were drawn at random from those that look right."""
    waiting: int
    """Suspicious cases that wait for another time: there were more than were asked for, or too few to mix them with."""
    notes: tuple[str, ...] = ()


class ItemEffect(Record):
    """What judgements found by item analysis do to one retriever's score."""

    retriever: str
    metric: str
    run: str
    """Id of its newest kept run."""
    with_found: Estimate
    """Its score on the labels as they are."""
    without_found: Estimate
    """Its score on the labels without what item analysis found."""
    moved: Estimate | None
    """With minus without; None where one of them is not defined."""
    own: int | None
    """Golds so found that only this system had put forward; None where nothing tells who had."""
    without_own: Estimate | None
    """Its score without these; None where nothing tells which they are."""
