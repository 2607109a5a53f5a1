"""What a model did to help with real questions: put them in other words, told their wording, grouped and graded."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from findback.model.bill import Bill
from findback.model.bill import Estimate as CostEstimate
from findback.model.case import Asked, CaseId, Name
from findback.model.estimate import Estimate
from findback.model.record import Record

SUGGESTION_FORMAT = 1

Count = Annotated[int, Field(ge=0)]
Kind = Literal["case", "candidate"]
Ended = Literal["answered", "error", "not reached"]
"""How asking about one thing ended: with an answer; the model failed on it; the run stopped before."""


class Assisted(Record):
    """What every kind of help says about itself."""

    model: Name | None
    """Provider and model; None where none was asked."""
    dry_run: bool = False
    """Whether nothing was asked and nothing stored."""
    estimate: CostEstimate | None = None
    """On a dry run: what the calls are expected to cost at most, the cache not counted."""
    bills: tuple[Bill, ...] = ()
    """What was asked and what it cost."""
    ended: dict[Ended, Count] = Field(default_factory=dict)
    """How many things were asked about, by how that ended; together all that were chosen."""
    errors: dict[str, Count] = Field(default_factory=dict)
    """Why the model failed, and how often."""
    left_out: dict[str, Count] = Field(default_factory=dict)
    """What was not chosen, by reason."""
    notes: tuple[str, ...] = ()


class ParaphrasedRoot(Record):
    """One case, and what came of putting it in other words."""

    case: CaseId
    ended: Ended
    kept: tuple[str, ...] = ()
    """Variants that went to the workbench, or were there already."""
    dropped: dict[str, Count] = Field(default_factory=dict)
    """How many were dropped, by reason."""
    reason: str | None = None
    """For what failed or was not reached: why."""


class Paraphrased(Assisted):
    """Questions in other words."""

    wanted: Count
    """Variants asked for, each case."""
    roots: tuple[ParaphrasedRoot, ...] = ()
    dropped: dict[str, Count] = Field(default_factory=dict)
    """Variants dropped, by reason."""
    stored: dict[str, Count] = Field(default_factory=dict)
    """What the workbench did with the others."""


class ConfusionRow(Record):
    """What the model said about the questions that people gave one wording."""

    wording: Name
    """By people."""
    said: dict[str, Count]
    """By the model."""


class WordingFigures(Record):
    """How well the model tells one wording."""

    wording: Name
    precision: Estimate
    """Share of what the model calls so that people call so."""
    recall: Estimate
    """Share of what people call so that the model calls so."""


class ConfidenceBand(Record):
    """What the model's confidence is worth."""

    low: Annotated[float, Field(ge=0, le=1)]
    high: Annotated[float, Field(ge=0, le=1)]
    """Confidence from `low` up to, and without, `high`; the last band holds 1."""
    agreed: Estimate
    """Share of these questions on which people say the same."""


class Differing(Record):
    """One question that people and the model take for another wording."""

    kind: Kind
    id: Name
    human: Name
    proposed: Name
    confidence: Annotated[float, Field(ge=0, le=1)]


class WordingsProposed(Assisted):
    """How questions are worded, as a model takes them."""

    wordings: tuple[Name, ...]
    confusion: tuple[ConfusionRow, ...] = ()
    """Only questions a person gave a wording."""
    agreed: Estimate
    """Share of them on which the model says the same."""
    kappa: Estimate
    """Cohen's kappa of people and model, in [-1, 1]; the interval resamples whole clusters."""
    figures: tuple[WordingFigures, ...] = ()
    confidence: tuple[ConfidenceBand, ...] = ()
    differing: tuple[Differing, ...] = ()
    """The surest first."""
    proposed: dict[str, Count] = Field(default_factory=dict)
    """Of questions nobody gave a wording yet: how many of each; which ones is not shown before somebody answered."""
    file: str | None = None
    """Where the proposals of these were written."""


class ThemeQuestion(Record):
    """One question of a theme."""

    kind: Kind
    id: Name
    query: str
    """Redacted and masked."""
    asked: Asked
    missed_by: tuple[Name, ...] = ()
    """Retrievers whose newest kept run missed it."""


class CostingTheme(Record):
    """Questions about the same thing, and what it costs that search fails on them."""

    label: str
    named_by: Literal["model", "words", "question"]
    """The model; the words that tell it from the others; or its first question."""
    words: tuple[str, ...]
    """The words that tell it from the others."""
    questions: tuple[ThemeQuestion, ...]
    """The most asked first."""
    cases: Count
    candidates: Count
    clusters: Count
    """Questions that share a thread or a root count once here."""
    times: Count
    """How often they were asked, at least."""
    missed: dict[str, Count] = Field(default_factory=dict)
    """Cases that each retriever's newest kept run missed."""
    scored: dict[str, Count] = Field(default_factory=dict)
    """Cases that run was asked."""


class Themes(Assisted):
    """What people fail to find, by theme."""

    workspace: str
    embedder: Name
    alike: Annotated[float, Field(gt=0, lt=1)]
    """Mean cosine from which questions are about the same thing."""
    themes: tuple[CostingTheme, ...] = ()
    """Themes of two or more questions, the most asked first."""
    single: Count = 0
    """Questions that are like no other."""
    runs: dict[str, str] = Field(default_factory=dict)
    """Id of each retriever's newest kept run."""
    cutoff: Annotated[int, Field(ge=1)] = 10
    """A case is missed when no gold document is among so many first results."""


class SuggestedGrade(Record):
    """What a model would grade one document."""

    document: str
    """Document id in the corpus."""
    grade: Annotated[int, Field(ge=0, le=3)]
    quote: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    """The sentence it goes by, which the document holds."""


class Suggestion(Record):
    """What a model would judge of one candidate; nobody sees it before they judged themselves."""

    format: Literal[1] = 1
    model: Name
    prompt: Name
    for_decisions: bool = True
    at: datetime
    """When the model answered."""
    grades: tuple[SuggestedGrade, ...]
    """Of every document it was shown, in that order."""


class LabelsWanted(Record):
    """How many more labels would make a share known to within so much."""

    more: Count | None
    """Labelled candidates besides those there are; None where it cannot be told."""
    within: Annotated[float, Field(gt=0, lt=1)]
    """No end of the interval further than this from the share."""
    reason: str | None = None
    """Why it cannot be told."""


class Agreed(Record):
    """How far the model's drafts and people's first answers agree on one thing."""

    what: Name
    share: Estimate
    kappa: Estimate | None = None
    """Cohen's kappa, where chance plays a role."""
    wanted: LabelsWanted


class ModelAgreement(Record):
    """How far one model's drafts agree with people's first answers."""

    model: Name
    compared: Count
    """Candidates that have both."""
    figures: tuple[Agreed, ...]


class Suggested(Assisted):
    """Draft judgements."""

    stored: Count = 0
    """Drafts that are new or other than before; hidden until a reviewer answered."""
    graded: Count = 0
    """Documents graded in all drafts of this run."""
    quoted: Count = 0
    """Documents called an answer on the ground of words they hold."""
    misquoted: Count = 0
    """Documents called an answer on the ground of words they do not hold, or of none."""
    agreement: tuple[ModelAgreement, ...] = ()
    """Over everything kept, not this run alone; a model for itself."""
