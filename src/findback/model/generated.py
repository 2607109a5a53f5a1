"""What a run of `findback generate` gave."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from findback.model.bill import Bill
from findback.model.bill import Estimate as Expected
from findback.model.calibrated import Calibration
from findback.model.case import Name
from findback.model.estimate import Estimate
from findback.model.evaluation import Count
from findback.model.matched import Matching
from findback.model.record import Record
from findback.model.written import Described, Filter, Outcome, Share

GENERATED_FORMAT = 1

Number = Annotated[int, Field(ge=0)]


class Ended(Record):
    """How many sampled documents ended in one way, and why."""

    outcome: Outcome
    count: Number
    reasons: tuple[Count, ...] = ()
    """Most frequent first; of a document that failed the last rejection counts."""


class SubjectRow(Record):
    """One subject in what was sampled from, and in the sample."""

    subject: str
    index: Number
    """Documents, near-duplicates counted once."""
    sample: Number
    """Of them those drawn first."""
    passed: Number = 0
    """Documents whose texts passed, those of the reserve among them."""


class VoiceRow(Record):
    """How often an option of a voice should be drawn, and was."""

    category: str
    option: str
    stated: Share
    drawn: Share | None
    """None where nothing was drawn."""


class Turned(Record):
    """How many texts a filter turned away for one reason."""

    by: Filter
    reason: Name
    count: Number


class LeakRow(Record):
    """What became of the texts of like leak."""

    bucket: Name
    texts: Number
    turned: dict[Filter, int]
    """Texts that each filter turned away."""
    judged: Number
    """Texts that reached the judge."""
    passed: Number


class Leaks(Record):
    """How much a group of texts takes from the documents they describe."""

    texts: Number
    unmeasurable: Number
    """Texts with too few rare words; they never count as clean."""
    mean: Estimate
    median: Share | None
    buckets: dict[str, Number] = Field(default_factory=dict)
    """Texts by bucket of leak."""


class Lengths(Record):
    """How long a group of questions is, in words."""

    questions: Number
    low: float | None
    """A tenth is shorter."""
    median: float | None
    high: float | None
    """A tenth is longer."""


class MixRow(Record):
    """One kind of question, among those people asked and among those the model wrote."""

    axis: Literal["wording", "length", "overlap"]
    value: str
    mined: Number
    generated: Number
    lacking: Literal["never", "rarely"] | None = None
    """Whether the model hardly produced what people often ask."""


class Look(Record):
    """An accepted text that deserves a look before the others."""

    candidate: str
    """First twelve digits of its key, as `findback candidates` and the review page know it."""
    document: str
    text: str
    leak: Share | None
    overlap: Share | None
    sure: str
    """How often the judge chose the document, `2 of 3`."""
    why: str


class Indexed(Record):
    """What the retriever holds of the documents that were to be sampled."""

    retriever: str
    held: Number
    documents: Number
    unknown: Number = 0
    """Documents of which it could not say."""


class Generated(Record):
    """What a model wrote, what the filters let through, and what it cost."""

    format: Literal[1] = 1
    made: datetime
    findback: str
    workspace: str
    corpus: str
    corpus_digest: str
    documents: Number
    seed: Number
    asked: Number
    """How many cases were asked for."""
    accepted: Number = 0
    doubtful: Number = 0
    """Of those in the workbench, the ones a person has to look at first."""
    dry_run: bool = False
    stopped: str | None = None
    """Why the run ended before its end."""
    refused: str | None = None
    """Why nothing was put into the workbench, though texts passed: a real sample could not be followed."""
    ended: tuple[Ended, ...] = ()
    """Every sampled document, by outcome."""
    described: tuple[Described, ...] = ()
    """Every sampled document in sampling order; texts are redacted."""
    reserve: Number = 0
    """Documents that were kept in reserve and not needed."""
    spare: Number = 0
    """Documents that are fit to be described, and were neither drawn nor kept in reserve."""
    writer: str
    """Provider and model."""
    judge: str
    self_judged: bool
    """Whether one model wrote and judged, in fresh calls."""
    for_decisions: bool = True
    prompts: tuple[str, ...] = ()
    voices: tuple[VoiceRow, ...] = ()
    preset: str
    mix: tuple[SubjectRow, ...] = ()
    distance: Share | None = None
    """Total variation between the subjects of sample and index, 0 for the same mix."""
    distance_passed: Share | None = None
    """The same for what passed; None where nothing did."""
    indexed: Indexed | None = None
    leak_limit: Share
    turned: tuple[Turned, ...] = ()
    """Rejections of all attempts by filter and reason, in the order of the filters."""
    buckets: tuple[LeakRow, ...] = ()
    leak_before: Leaks | None = None
    """Of the first text about each document."""
    leak_after: Leaks | None = None
    """Of the texts that passed."""
    calibration: Calibration | None = None
    """Whether the judge can be believed; None where nothing was judged."""
    matching: Matching | None = None
    """How the overlap of the accepted texts follows that of a real sample."""
    lengths: Lengths | None = None
    lengths_mined: Lengths | None = None
    """Of the questions people asked, as far as the set has any."""
    kinds: tuple[MixRow, ...] = ()
    looks: tuple[Look, ...] = ()
    """The accepted texts with the most leak, and those of which the judge was least sure."""
    estimates: tuple[Expected, ...] = ()
    bills: tuple[Bill, ...] = ()
    stored: dict[str, int] = Field(default_factory=dict)
    """What became of the candidates in the workbench."""
    notes: tuple[str, ...] = ()

    @property
    def got(self) -> int:
        """Return how many texts went to the workbench; a person decides on each."""
        return self.accepted + self.doubtful

    @property
    def texts(self) -> int:
        """Return how many texts the model wrote."""
        return sum(len(one.attempts) for one in self.described)
