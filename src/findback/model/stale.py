"""What became of a set's cases when the documents changed."""

from datetime import datetime
from typing import Literal

from findback.model.case import CaseId
from findback.model.record import Record

STALE_FORMAT = 1

StaleKind = Literal[
    "moved",
    "edited",
    "split",
    "merged",
    "weak",
    "gone",
    "superseded",
    "answered-later",
    "may-answer",
    "vanished-terms",
]
KINDS: dict[StaleKind, str] = {
    "moved": "the document has another id",
    "merged": "its text is inside another document",
    "split": "its text is in several documents",
    "superseded": "a near-duplicate may have taken its place",
    "weak": "little of what was quoted, or of the page, is left",
    "gone": "document or quoted words are nowhere",
    "answered-later": "the document was written after the question was asked",
    "may-answer": "a document new or changed since may answer what had no answer",
    "vanished-terms": "words of the question left the documents",
    "edited": "the text changed, and the label still holds",
}
"""Each kind, in the order in which they are shown, and what it says."""

Proposal = Literal["move", "drop", "relabel", "retire", "look", "none"]
PROPOSALS: dict[Proposal, str] = {
    "move": "move the label to the document's new place",
    "drop": "drop the document: another one answers the same",
    "relabel": "label the part anew: it has no document left",
    "retire": "retire the case: every document is gone",
    "look": "have a lead look",
    "none": "nothing to do",
}


class Staleness(Record):
    """One thing found about one case."""

    case: CaseId
    kind: StaleKind
    document: str | None
    """The judged document; the new one, for superseded and may-answer; None for vanished-terms."""
    part: int | None = None
    """Which part of the need it answers; None where it is no gold."""
    targets: tuple[str, ...] = ()
    """Documents that its text is in now, the fullest first."""
    share: float | None = None
    """Share of the quoted words, or of the earlier text, that stands there now, in [0, 1]; None where not known."""
    proposal: Proposal
    certain: bool = False
    """Whether it may be carried out together with others, without each being looked at."""
    terms: tuple[str, ...] = ()
    """Words of the question that the documents held, and hold no more."""
    why: str
    """A sentence, without words of question or documents."""

    @property
    def is_stale(self) -> bool:
        """Return whether something is to be done about it."""
        return self.proposal != "none"

    @property
    def key(self) -> str:
        """Return what tells this finding from others of its case."""
        return "\n".join((self.kind, self.document or "", *sorted(self.targets), *sorted(self.terms)))


class Refreshed(Record):
    """What reading the corpus again found."""

    format: Literal[1] = 1
    made: datetime
    findback: str
    workspace: str
    corpus: str
    corpus_digest: str
    documents: int
    release: int
    """The newest release."""
    released: str
    """Its date."""
    age_days: int
    oldest_days: int
    """Age from which a release counts as old."""
    since: str | None
    """What limited the work; None where everything was looked at."""
    compared: tuple[int, ...]
    """Releases whose corpus is remembered and was compared with."""
    cases: int
    """Active cases that were looked at; paraphrases share their root's label, and are not counted."""
    golds: int
    """Labels looked at: a document of a case."""
    held: int
    """Labels that hold as they are."""
    found: tuple[Staleness, ...]
    settled: int = 0
    """Findings left out because somebody looked at them before and left the label as it is."""
    moved: tuple[CaseId, ...] = ()
    """Cases whose certain moves were carried out."""
    refused: tuple[str, ...] = ()
    """Why others were not, a sentence each."""
    sent: int | None = None
    """Cases sent to review; None where none were to be sent."""
    waiting: int = 0
    """Cases that waited there already when the others were sent."""
    notes: tuple[str, ...] = ()

    @property
    def too_old(self) -> bool:
        """Return whether the newest release is older than what was set."""
        return self.age_days > self.oldest_days

    @property
    def stale(self) -> tuple[Staleness, ...]:
        """Return what is to be done."""
        return tuple(one for one in self.found if one.is_stale)


class StaleCase(Record):
    """A case that the last refresh found stale, and that nobody has changed since."""

    case: CaseId
    kinds: tuple[StaleKind, ...]
    proposals: tuple[Proposal, ...]
    certain: bool
    """Whether all of it may be carried out without a look."""
    documents: tuple[str, ...]
    why: tuple[str, ...]
    found_on: datetime
