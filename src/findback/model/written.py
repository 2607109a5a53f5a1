"""What a model wrote, what the filters said to it, and how it ended."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from findback.model.case import DocumentId, Name, Text
from findback.model.record import Record

WRITTEN_FORMAT = 1

Filter = Literal["form", "leak", "fidelity", "ambiguity", "novelty", "match"]
"""The filters in their order; `match` stands in the place of a flat leak limit where a real sample is followed."""
Outcome = Literal["accepted", "doubtful", "failed", "surplus", "skipped", "error", "not reached"]
"""How a sampled document ended: accepted; for a person to decide first; rejected in every attempt; good but not
needed; not fit to be described; the model failed on it; the run stopped before."""

Share = Annotated[float, Field(ge=0, le=1)]


class Fidelity(Record):
    """What a judge said when it was asked which of eight documents a description is about."""

    asked: Annotated[int, Field(ge=0)]
    """How often, each time in another order."""
    source: Annotated[int, Field(ge=0)]
    """How often it chose the document the text was written from."""
    none: Annotated[int, Field(ge=0)] = 0
    """How often it chose none of them."""
    others: dict[DocumentId, int] = Field(default_factory=dict)
    """How often it chose each other document, or said that it is described as well."""
    self_judged: bool = False
    """Whether the judge is the model that wrote, in a fresh call."""


class Written(Record):
    """How a model came to write a text; it goes with the text for good."""

    format: Literal[1] = 1
    model: Name
    """Provider and model, `openai:gpt-5-mini`."""
    for_decisions: bool = True
    """False for a model fit for trying things out only; a release then refuses what it wrote."""
    parameters: dict[str, str | int | float | None] = Field(default_factory=dict)
    prompt: Name
    """Name of the prompt and the first twelve digits of its digest, `describe@3f2a9c…`."""
    voice: dict[str, Name] = Field(default_factory=dict)
    """The option drawn in each category, by category."""
    preset: Name | None = None
    """Which voices were drawn from."""
    document: DocumentId | None = None
    """The document described; None for a paraphrase, whose writer never sees one."""
    attempt: Annotated[int, Field(ge=1)] = 1
    findback: Name
    """Version that asked."""
    written_on: date
    """When the model answered."""
    leak: Share | None = None
    """Vocabulary leak against the document; None where it cannot be measured."""
    leak_measure: Name | None = None
    overlap: Share | None = None
    fidelity: Fidelity | None = None
    matched: Name | None = None
    """Sample whose overlap the accepted texts follow: its name and first twelve digits of its digest."""
    doubts: tuple[Name, ...] = ()
    """Why a person has to look first: unmeasurable leak, a judge that was not sure, another document that fits."""


class Rejection(Record):
    """Why a filter turned a text away."""

    by: Filter
    reason: Name
    """One of the filter's reasons, such as `copied sentence`; counted over a run."""
    told: Annotated[str, Field(max_length=500)] = ""
    """What the next attempt is told: the reason in words, never the document's."""


class Attempt(Record):
    """One text a model wrote about a document."""

    number: Annotated[int, Field(ge=1)]
    text: Text
    leak: Share | None = None
    overlap: Share | None = None
    fidelity: Fidelity | None = None
    rejections: tuple[Rejection, ...] = ()
    """Empty for a text that passed; the filters stop at the first that rejects."""
    doubts: tuple[Name, ...] = ()


class Described(Record):
    """One sampled document and its outcome."""

    document: DocumentId
    subject: str | None = None
    voice: dict[str, Name] = Field(default_factory=dict)
    outcome: Outcome
    reason: str | None = None
    """For what was skipped, failed, not needed or not reached: why."""
    attempts: tuple[Attempt, ...] = ()
    alternatives: tuple[DocumentId, ...] = ()
    """Other documents that answer as well: near-duplicates and what the judge found described equally."""

    @property
    def last(self) -> Attempt | None:
        """Return the newest attempt; the one that passed where one did."""
        return self.attempts[-1] if self.attempts else None
