"""A question of any set, released or not: what measuring and searching need of it."""

from typing import Literal

from pydantic import Field

from findback.model.case import Answer, Case, Context, Judgement, Origin, Stratum
from findback.model.record import Record

SetKind = Literal["release", "unreleased set", "sample", "unreviewed links", "unreleased pool"]

UNRELEASED_POOL: SetKind = "unreleased pool"


class Question(Record):
    """One question with what is known about its answer.

    A released case gives every field. A row of an imported file gives the query, and often no more:
    what it does not say stays None, and is never guessed.
    """

    id: str
    query: str
    language: str | None = None
    context: Context | None = None
    judged: tuple[Judgement, ...] | None = None
    """Judgements with resolved document ids; None when the source gave no label at all."""
    gold_texts: tuple[str, ...] = ()
    """Gold given as text, beside or instead of ids (Ragas contexts, quoted chunks)."""
    unresolved: tuple[str, ...] = ()
    """Gold the source named that is no document of the corpus."""
    no_answer_reason: str | None = None
    wording: str | None = None
    origin: Origin | None = None
    stratum: Stratum | None = None
    selected_on: str | None = None
    cluster: str | None = None
    """None means: a cluster of its own."""
    tags: tuple[str, ...] = ()

    @property
    def gold(self) -> tuple[Judgement, ...]:
        """Return the judgements of grade 1 or more; empty when there are none or none are known."""
        return tuple(judgement for judgement in self.judged or () if judgement.grade >= 1)

    @property
    def answer(self) -> Answer | None:
        """Return how the question is answered; None when nobody has labelled it."""
        if self.judged is None or (self.unresolved and not self.gold):
            return None
        parts = {judgement.part for judgement in self.gold}
        if not parts:
            return "no-answer"
        return "one" if len(parts) == 1 else "cross-doc"


class QuestionSet(Record):
    """Questions read from one place, with what was noticed on the way."""

    name: str
    """How reports call it, for example the file's name."""
    place: str | None = None
    """Path of the file or folder as the user named it."""
    kind: SetKind
    questions: tuple[Question, ...]
    sha256: str | None = None
    """Digest of the file or release it came from."""
    release: int | None = None
    part: str | None = None
    """What headings add to a release's number where it is not its dev cases: `holdout, look 3`."""
    format: str = "findback"
    """Name of the reader that understood it."""
    notes: tuple[str, ...] = ()
    """What a reader should know: rows skipped, gold that did not resolve, redactions made."""
    skipped: int = Field(default=0, ge=0)
    """Rows left out at the user's wish."""
    redactions: dict[str, int] = Field(default_factory=dict)
    """Placeholders put in while reading, by type."""
    resolved_in: str | None = None
    """Digest of the corpus its gold was resolved in, where that is known."""
    judged_by_hand: int = Field(default=0, ge=0)
    """Judgements made by hand that were applied on top of it."""

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def heading(self) -> str:
        """Return the words that must stand over every figure made from this set."""
        if self.kind == "release":
            return f"release {self.release}" + (f", {self.part}" if self.part else "")
        if self.kind in ("unreviewed links", UNRELEASED_POOL):
            return f"{self.kind}, n = {len(self)}"
        digest = f", sha256 {self.sha256[:12]}" if self.sha256 else ""
        return f"{self.kind}{digest}"


def question_from_case(case: Case) -> Question:
    """Return the question a case asks."""
    return Question(
        id=case.id,
        query=case.query,
        language=case.language,
        context=case.context,
        judged=case.judged,
        no_answer_reason=case.no_answer_reason,
        wording=case.wording,
        origin=case.origin,
        stratum=case.stratum,
        selected_on=case.selected_on,
        cluster=case.cluster,
        tags=case.tags,
    )
