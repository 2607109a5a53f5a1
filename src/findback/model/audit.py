"""What auditing a set gave."""

from datetime import datetime
from typing import Literal

from findback.model.estimate import Estimate
from findback.model.evaluation import Count, Score, SetMakeUp
from findback.model.hits import Span
from findback.model.record import Record


class Distribution(Record):
    """How a share in [0, 1] is distributed over questions."""

    n: int
    """Questions measured."""
    median: float | None
    mean: Estimate
    at_least_half: float | None
    """Share of questions at .5 or more."""
    zero: float | None
    """Share of questions at exactly 0."""
    histogram: tuple[int, ...] = ()
    """Questions in ten equal bins of [0, 1]; the last one holds 1."""


class Yardstick(Record):
    """One measure over one set, on the window both sides share."""

    measure: Literal["overlap", "leak", "article overlap", "article leak"]
    figures: Distribution
    floor: float | None
    """What random other documents of like length give: mean over questions."""
    verbatim: float | None = None
    """Median of the same share without stems; None for the articles' measures."""
    weighted: float | None = None
    """Median of the same share weighted by inverse document frequency; None without a corpus."""
    corrected: Distribution | None
    """(figure − floor) / (1 − floor) per question."""


class Hint(Record):
    """A sign that a set looks model-written or edited, with its evidence."""

    sign: str
    evidence: str
    """The numbers behind it."""


class CopiedExample(Record):
    """A question that borrows its answer's words."""

    question: str
    query: str
    query_marks: tuple[Span, ...]
    """Copied words, as code points of `query`."""
    document: str
    title: str | None
    extract: str
    extract_marks: tuple[Span, ...]
    """The same words, as code points of `extract`."""
    leak: float | None
    overlap: float | None
    copied: tuple[str, ...]
    """The query's content words that the window holds, rare or not."""
    rare_words: int


class Side(Record):
    """One set under audit."""

    set: SetMakeUp
    measured: int
    """Questions with gold text, so that wording can be compared."""
    unmeasurable: int
    unmeasurable_reasons: tuple[Count, ...]
    gold_length: float | None
    """Median length of the gold texts, in characters."""
    window: int | None
    """Length of the window everything is measured on, in characters."""
    yardsticks: tuple[Yardstick, ...]
    by_language: dict[str, tuple[Yardstick, ...]]
    hints: tuple[Hint, ...]
    query_words: float | None
    """Median number of words in a query."""

    def yardstick(self, measure: str) -> Yardstick | None:
        """Return one measure's figures, or None."""
        return next((y for y in self.yardsticks if y.measure == measure), None)


class Gap(Record):
    """How far the set lies above the real sample on one measure."""

    measure: str
    corrected: bool
    """True where only the corrected figures can be compared."""
    difference: Estimate
    """Mean of the set minus mean of the sample."""
    superiority: Estimate
    """Probability that a question of the set has more of it than one of the sample; .5 is no gap."""
    set_median: float | None
    sample_median: float | None


class BucketSuccess(Record):
    """A retriever's success among questions of like overlap."""

    bucket: str
    """`0`, `0-.25`, `.25-.5`, `.5-.75`, `.75-1`, or `leaked` and `unleaked`."""
    cases: int
    score: Score


class AuditedRetriever(Record):
    """What the wording does to one retriever's scores."""

    name: str
    kind: str
    set_score: Score
    sample_score: Score | None
    gap: Estimate | None
    """Score on the set minus score on the sample."""
    buckets: tuple[BucketSuccess, ...]
    """Success by overlap, on the set."""
    sample_buckets: tuple[BucketSuccess, ...] = ()
    failed: int = 0
    """Searches that failed on the set."""
    sample_failed: int = 0
    """Searches that failed on the real queries."""
    missing: int = 0
    """Questions that a recorded run does not have."""
    not_applicable: int = 0
    """Questions whose context the retriever cannot honour; left out of its scores."""


class Orientation(Record):
    """Figures of a named public set, on another corpus."""

    name: str
    written: str
    """How its questions came about."""
    n: int
    overlap_median: float
    at_least_half: float
    zero: float
    source: str


class MissingType(Record):
    """A type that the set hardly has, beside the sample."""

    axis: Literal["wording", "answer"]
    type: str
    set_share: float | None
    sample_share: float | None


class Audit(Record):
    """How much of a set's wording leaks from its answers, and what that does to scores."""

    format: Literal[1] = 1
    made: datetime
    findback: str
    tokenizer: str
    seed: int
    corpus: str | None
    documents: int | None
    set: Side
    sample: Side | None
    gaps: tuple[Gap, ...]
    different_corpora: bool
    """True where set and sample have their answers in different documents."""
    metric: str
    retrievers: tuple[AuditedRetriever, ...]
    spread_set: Estimate | None
    """Best minus worst retriever on the set."""
    spread_sample: Estimate | None
    missing_types: tuple[MissingType, ...]
    worst: tuple[CopiedExample, ...]
    orientation: tuple[Orientation, ...]
    lost_gold: tuple[int, int] = (0, 0)
    """Questions of the set, and of the real queries, that name only gold which is no document of their corpus; they are
    left out of every score here."""
    needs_gold: tuple[str, ...] = ()
    """Figures that could not be made because questions have no label."""
    verdict: str
    """One sentence that claims no more than the numbers carry."""
    cautions: tuple[str, ...] = ()
    """What limits the comparison."""
    legend: tuple[str, ...] = ()
