"""A case: one accepted exam question."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from findback.model.record import Record

CASE_FORMAT = 1

Answer = Literal["one", "cross-doc", "no-answer"]
Origin = Literal["mined", "flagged", "generated", "paraphrase", "imported"]
Stratum = Literal["failure", "control"]
Split = Literal["dev", "holdout"]
Status = Literal["active", "retired", "withdrawn"]
Role = Literal["resolver", "reviewer", "lead"]
Asked = Literal["1", "2-4", "5-19", "20+"]

WORDINGS = ("plain", "vague", "symptom-first", "wrong-name")
"""The wordings findback ships; teams may add their own."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
CaseId = Annotated[str, StringConstraints(pattern=r"^c[a-z0-9]{10}$")]
Month = Annotated[str, StringConstraints(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]


class Judgement(Record):
    """A person's grade for a document."""

    doc: DocumentId
    """Document id."""
    grade: Annotated[int, Field(ge=0, le=3)]
    """0 seen and not an answer; 1 to 3, higher answers better. Gold is grade 1 or more."""
    part: Annotated[int, Field(ge=1, le=99)] = 1
    """Which part of the need it answers. Documents of one part are alternatives."""
    anchor: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] | None = None
    """A quoted sentence of the document that holds the answer."""
    found_by: Name
    """How the document came to be judged: resolver, described, reviewer, pool, import, item-analysis."""


class Context(Record):
    """What the search needs besides the words."""

    locale: Name | None = None
    filters: dict[str, str] | None = None
    audience: Name | None = None
    """A role named in findback.toml."""
    as_of: Name | None = None
    """The date the question was asked about, ISO 8601."""
    turns: tuple[Text, ...] | None = None
    """Earlier turns of the conversation, oldest first, redacted."""


class RedactionNote(Record):
    """What redaction did to the query."""

    types: tuple[Name, ...] = ()
    """Types of the placeholders in the query."""
    ruleset: Name
    """Version of the rules that ran."""


class FilterNote(Record):
    """The filter a generated case passed."""

    leak: Annotated[float, Field(ge=0, le=1)] | None = None
    """Vocabulary leak against the document; None where it could not be measured, and a person decided alone."""
    measure: Name
    """Name and tokenizer version of the leak measure."""
    matched: Name | None = None
    """Sample whose overlap the accepted texts follow, in the place of the flat limit; None where the limit held."""


class Case(Record):
    """One line of `cases.jsonl`, keys in this order."""

    format: Literal[1] = 1
    id: CaseId
    """`c` and ten random characters, never derived from text, kept for life."""
    query: Text
    """The asker's own words; redaction is the only edit they ever get."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    context: Context | None = None
    wording: Name
    judged: tuple[Judgement, ...] = ()
    no_answer_reason: Text | None = None
    origin: Origin
    stratum: Stratum
    selected_on: Name | None = None
    """The search system whose failure brought the case; None when unknown."""
    rule: Name | None = None
    source: Name | None = None
    """A kind of source (`slack`), never a channel."""
    root: CaseId | None = None
    """The case a paraphrase was made from."""
    cluster: Name
    """Cases that share a root, a thread or a near-duplicate query; they count as one."""
    split: Split = "dev"
    status: Status = "active"
    retired_because: Text | None = None
    labelled_by: Role
    confirmations: Annotated[int, Field(ge=0)]
    seen_on: Month
    asked: Asked
    added_in: Annotated[int, Field(ge=1)] | None = None
    filter: FilterNote | None = None
    redaction: RedactionNote
    tags: tuple[Name, ...] = ()

    @property
    def gold(self) -> tuple[Judgement, ...]:
        """Return the judgements of grade 1 or more."""
        return tuple(judgement for judgement in self.judged if judgement.grade >= 1)

    @property
    def answer(self) -> Answer:
        """Return how the case is answered, derived from its judgements."""
        parts = {judgement.part for judgement in self.gold}
        if not parts:
            return "no-answer"
        return "one" if len(parts) == 1 else "cross-doc"
