"""What scoring retrievers on a set gave."""

from datetime import datetime
from typing import Literal

from findback.model.effect import FactorEffect
from findback.model.estimate import Estimate
from findback.model.record import Record

Axis = Literal["all", "origin", "stratum", "wording", "answer", "language", "overlap", "indexed", "lenient"]
MissClass = Literal["error", "not visible to this audience", "not in the index", "beyond the cut-off", "not found"]


class Count(Record):
    """How often something occurs."""

    name: str
    count: int


class Score(Record):
    """One metric of one retriever over one group of cases."""

    metric: str
    """Canonical name, as ir_measures prints it."""
    label: str
    """How tables head it."""
    estimate: Estimate
    """The mean. With errors its value is None, and `lowest` and `highest` bound it."""
    lowest: Estimate | None = None
    """The mean if every failed query had missed; None without errors."""
    highest: Estimate | None = None
    """The mean if every failed query had been answered perfectly; None without errors."""


class ScoreGroup(Record):
    """The scores of one group of cases."""

    axis: Axis
    value: str
    """Which group of that axis, `all` for everything."""
    cases: int
    """Answerable cases in the group."""
    scores: tuple[Score, ...]
    exploratory: bool = False
    """True where the interval carries no verdict."""


class Shown(Record):
    """A document as it stands in a report."""

    document: str
    title: str | None = None
    rank: int | None = None
    """1-based rank over documents; None when it was not returned."""
    score: float | None = None
    extract: str | None = None
    """A matching extract, clipped."""


class Miss(Record):
    """A case whose gold did not come first enough."""

    question: str
    """Question id."""
    query: str
    wording: str | None
    kind: MissClass
    gold: tuple[Shown, ...]
    instead: tuple[Shown, ...]
    """What came first instead."""
    why: str
    """One sentence: what can be told about the reason."""


class Latency(Record):
    """How long searches took."""

    median_ms: float | None
    p95_ms: float | None
    measured: int
    """Searches measured; warm-up is left out."""
    warm_up: int
    concurrency: int


class IndexCoverage(Record):
    """Whether the gold is there to be found."""

    golds: int
    """Distinct gold documents of the set."""
    indexed: int | None
    """How many of them the retriever holds; None when it cannot say."""
    reason: str | None = None
    """Why it cannot be told."""


class Abstention(Record):
    """Whether the retriever can tell that there is no answer."""

    auroc: Estimate
    """Area under the curve of the top score, answerable against no-answer; .5 is chance."""
    false_answer: Estimate
    """Share of no-answer cases answered, at the cross-fitted threshold."""
    false_abstain: Estimate
    """Share of answerable cases refused, at the cross-fitted threshold."""
    own_false_answer: Estimate | None = None
    """Share of no-answer cases for which the engine, by its own decision, returned something."""
    own_false_abstain: Estimate | None = None
    """Share of answerable cases for which the engine, by its own decision, returned nothing."""
    answerable: int
    unanswerable: int


class ErrorKind(Record):
    """One kind of error, with its first occurrence."""

    kind: str
    count: int
    first: str
    """The first message of this kind, without query text."""


class RetrieverScores(Record):
    """Everything about one retriever."""

    name: str
    kind: str
    run: str | None = None
    """Id of the stored run."""
    config_digest: str
    groups: tuple[ScoreGroup, ...]
    ranks: tuple[Count, ...]
    """Distribution of the best gold rank: 1, 2-3, 4-10, 11-100, not returned."""
    misses: tuple[Count, ...]
    """Misses of the primary metric's cut-off, by class."""
    miss_examples: tuple[Miss, ...] = ()
    coverage: IndexCoverage
    abstention: Abstention | None = None
    latency: Latency
    errors: tuple[ErrorKind, ...] = ()
    asked: int = 0
    """Queries the retriever was asked."""
    failed: int = 0
    """Queries that ended in an error."""
    missing: int = 0
    """Queries of the set an imported run does not have; they count as missed."""
    not_applicable: int = 0
    """Cases whose context the retriever cannot honour; left out and counted."""
    outside_corpus: int = 0
    """Returned ids that are no document of the corpus."""
    tied_golds: float | None = None
    """Share of golds in a block of equal scores, for imported runs; None where order is the engine's."""
    unstable: int | None = None
    """Queries whose repeated searches differed; None when each was asked once."""
    notes: tuple[str, ...] = ()

    def group(self, axis: Axis = "all", value: str = "all") -> ScoreGroup | None:
        """Return one group, or None."""
        return next((g for g in self.groups if g.axis == axis and g.value == value), None)


class SubjectMix(Record):
    """What the exam is made of, against what the index holds."""

    subjects: tuple[str, ...]
    exam: tuple[int, ...]
    """Gold documents by subject."""
    index: tuple[int, ...]
    """Documents by subject."""
    distance: float | None
    """Total variation distance, in [0, 1]; 0 is the same mix."""
    expected: float | None
    """The distance that 95 % of random samples of this size stay under."""


class SetMakeUp(Record):
    """What a set is made of."""

    name: str
    heading: str
    """`release 3`, or `unreleased set, sha256 …`."""
    place: str | None = None
    """Path of the set as the user named it; None for a release."""
    questions: int
    answerable: int
    clusters: int
    golds: int
    """Distinct gold documents."""
    unlabelled: int
    unresolved: int
    """Questions whose gold is no document of the corpus."""
    judged_by_hand: int = 0
    """Judgements made by hand that were applied on top of the set."""
    by: dict[str, tuple[Count, ...]]
    """Counts by origin, stratum, wording, answer, language."""
    notes: tuple[str, ...] = ()


class Drift(Record):
    """How agents reworded the questions that search failed on."""

    questions: int = 0
    """Failed questions that an agent searched for."""
    calls: int = 0
    """Searches in all."""
    wordings: int = 0
    """Different wordings of them, by question."""
    shared_words: Estimate
    """Mean share of the person's content words that a rewrite kept, in [0, 1]; every asker counts once."""


class Sweep(Record):
    """The best of the configurations of a sweep, beside what the best of as many equal ones would show."""

    name: str
    """Name of the sweep."""
    best: str
    """The configuration with the largest mean of the primary metric."""
    systems: int
    """How many it is the best of."""
    n: int
    """Cases that every system has a score for: all figures here are over these."""
    clusters: int
    lead: float | None
    """Best minus runner-up."""
    ahead: float | None
    """Best minus the mean of all."""
    luck: float | None
    """How far ahead the best of equal systems is on average: what picking adds to a winner's score."""
    noise: float | None
    """How far ahead the best of equal systems is at most, in 19 of 20 sets."""
    p: float | None
    """Share of sets, in (0, 1], in which the best of equal systems is as far ahead as this one, or further."""
    rivals: tuple[str, ...]
    """Those that cannot be told apart from the best."""
    warning: str | None
    """Why the winner may be none; None where it is told apart from every other system."""
    effects: tuple[FactorEffect, ...]
    """What each value of the grid is worth against each other one."""


class Evaluation(Record):
    """Retrievers scored on one set."""

    format: Literal[1] = 1
    made: datetime
    """UTC."""
    findback: str
    """Version that computed it."""
    workspace: str
    corpus: str | None
    corpus_digest: str | None
    documents: int | None
    set: SetMakeUp
    subjects: SubjectMix | None
    primary: str
    metrics: tuple[str, ...]
    depth: int
    seed: int
    tokenizer: str
    retrievers: tuple[RetrieverScores, ...]
    spread: Estimate | None = None
    """Best minus worst retriever on the primary metric; None with fewer than two."""
    sweep: Sweep | None = None
    """The winner of a sweep; None where none was run, and where a search failed."""
    drift: Drift | None = None
    """From the agents' searches mined in this workspace; None where there are none."""
    legend: tuple[str, ...]
    """What the metric names mean, and which of the articles' names they answer to."""
    limits: tuple[str, ...]
    """What this does not tell, derived from the set's make-up."""
