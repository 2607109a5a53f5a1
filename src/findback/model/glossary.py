"""A glossary: words people search with, and the words their documents use."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from findback.model.bill import Bill
from findback.model.bill import Estimate as CostEstimate
from findback.model.case import CaseId, Name
from findback.model.estimate import Estimate
from findback.model.record import Record

GLOSSARY_FORMAT = 1

TermKind = Literal["symptom", "nickname", "renamed", "wording"]
"""A symptom and its cause, a nickname and the service, an old name and the new one, or any other pair of words."""
TermSource = Literal["alignment", "aliases", "model", "by hand"]
"""Counted in questions and answers, read off a document's old names, proposed by a model, or written by a person."""
TermText = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Term(Record):
    """One way: a question that holds `when` is searched with `add` as well."""

    when: TermText
    """Words of questions."""
    add: TermText
    """Words of documents."""
    kind: TermKind = "wording"
    source: TermSource = "by hand"
    model: Name | None = None
    """Provider and model, where one proposed it."""
    cases: tuple[CaseId, ...] = ()
    """The questions behind it."""
    clusters: Annotated[int, Field(ge=0)] = 0
    """Clusters among them when it was accepted."""
    release: Annotated[int, Field(ge=1)] | None = None
    """Release whose questions it comes from."""
    accepted_by: Literal["reviewer", "lead"] = "lead"
    """Role of who accepted it."""
    accepted_on: date | None = None


class Glossary(Record):
    """`glossary.toml`."""

    format: Literal[1] = 1
    terms: tuple[Term, ...] = ()

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """Return what is looked for and what is added, in the file's order."""
        return tuple((term.when, term.add) for term in self.terms)


class Effect(Record):
    """What a term alone does to some questions that hold its words."""

    cases: int
    """Questions that hold them."""
    better: int
    """Those whose score rises."""
    worse: int
    """Those whose score falls."""
    gain: float | None
    """Change of the metric's mean over all questions; None where a search failed."""


class Proposal(Record):
    """A term nobody has accepted yet."""

    number: int
    """Place in its list, from 1."""
    when: TermText
    add: TermText
    kind: TermKind
    source: TermSource
    model: Name | None = None
    cases: tuple[str, ...]
    """The questions behind it."""
    examples: tuple[str, ...] = ()
    """Some of them, as they were asked."""
    clusters: int
    golds: int
    """Distinct answers among them."""
    strength: float
    """Log-likelihood ratio of the two going together against chance."""
    lift: float
    own: Effect
    """On questions whose answer is among those it comes from."""
    others: Effect
    """On all other questions that hold its words."""

    @property
    def gain(self) -> float:
        """Return what it would gain over all questions; -1 where a search failed."""
        if self.own.gain is None or self.others.gain is None:
            return -1.0
        return self.own.gain + self.others.gain


class Proposals(Record):
    """What `findback glossary suggest` found."""

    format: Literal[1] = 1
    made: datetime
    workspace: str
    heading: str
    """Which questions."""
    release: int | None
    """None for an unreleased set: nothing of it can be accepted."""
    corpus: str
    corpus_digest: str
    language: str | None
    """Language of the stems."""
    measured_on: str
    """Retriever that gains are estimated on."""
    metric: str
    label: str
    """The metric as tables call it."""
    below: float
    """Overlap under which question and answer share little."""
    questions: int
    """Questions that gains are estimated on."""
    used: int
    """Those of them that share little with their answer."""
    left_out: dict[str, int]
    """Questions not used, by reason."""
    dropped: dict[str, int]
    """Terms not shown, by reason."""
    proposals: tuple[Proposal, ...]
    """The one that would gain most first."""
    model: str | None = None
    """Provider and model that was asked, if any."""
    dry_run: bool = False
    estimate: CostEstimate | None = None
    """What asking the model would cost at most, on a dry run."""
    bills: tuple[Bill, ...] = ()
    notes: tuple[str, ...] = ()


class Accepted(Record):
    """What went into the glossary."""

    file: str
    terms: tuple[Term, ...]
    refused: int = 0
    """Proposals that will not be made again."""
    left: int
    """Proposals that still wait."""


class GlossaryGain(Record):
    """What a glossary changes on some questions."""

    cases: int
    changed: int
    """Questions that a term adds something to."""
    better: int
    worse: int
    without: Estimate
    """The metric without the glossary."""
    with_it: Estimate
    difference: Estimate
    """With minus without."""
    lowest: Estimate | None = None
    """The difference at its least, where searches failed."""
    highest: Estimate | None = None
    failed: int = 0
    """Questions on which a search failed, with or without."""


class StratumGain(Record):
    """The same for the questions of one stratum."""

    stratum: str
    gain: GlossaryGain


class Harmed(Record):
    """A question whose answer the glossary moved down."""

    question: str
    query: str
    added: tuple[str, ...]
    before: int
    """Rank of the best right document without it."""
    after: int | None
    """The same with it; None where it is not returned any more."""


class TermScore(Record):
    """What one accepted term does alone, on questions with unseen answers."""

    when: str
    add: str
    unseen: Effect


class GlossaryScore(Record):
    """One glossary in front of one retriever."""

    retriever: str
    kind: str
    config_digest: str
    glossary: Literal["accepted", "as proposed"]
    """The terms people accepted, or those that would be proposed, rebuilt without the questions scored."""
    terms: float
    """Terms in it; a mean over the folds where it was rebuilt."""
    unseen: GlossaryGain
    """On answers that played no part in building it."""
    seen: GlossaryGain | None
    """On answers it was built from; None where it cannot stand beside unseen ones."""
    seen_reason: str | None = None
    """Why not."""
    strata: tuple[StratumGain, ...] = ()
    """Unseen answers by stratum, where there are several."""
    harmed: tuple[Harmed, ...] = ()
    """Questions with unseen answers that it moved down, the worst first."""
    scored_terms: tuple[TermScore, ...] = ()
    errors: tuple[str, ...] = ()
    """What went wrong in searches, without texts."""


class GlossaryEvaluation(Record):
    """What a glossary is worth."""

    format: Literal[1] = 1
    made: datetime
    findback: str
    workspace: str
    heading: str
    corpus: str
    corpus_digest: str
    metric: str
    label: str
    seed: int
    folds: int
    most: int
    """Most terms of a rebuilt glossary."""
    below: float
    weight: int
    language: str | None
    measured_on: str
    """Retriever that gains were estimated on while building."""
    questions: int
    groups: int
    """Groups of questions joined by cluster or gold document: what folds are made of."""
    left_out: dict[str, int]
    scores: tuple[GlossaryScore, ...]
    notes: tuple[str, ...] = ()


class Exported(Record):
    """A glossary as another system reads it."""

    target: str
    text: str
    rules: int
    warnings: tuple[str, ...] = ()
    """What the other system's analysis makes of it."""
    left_out: tuple[str, ...] = ()
    """Terms that are not in it, each with the reason."""
