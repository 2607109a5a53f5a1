"""The questions a model is asked about: cases of the set, and candidates of the workbench as they may be shown."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from findback.departures import TextState
from findback.model.assisted import Kind
from findback.model.case import Asked, Case, Origin, Stratum
from findback.model.review import Review, SpanDecision
from findback.privacy.masking import HIDDEN
from findback.steps.bench import has_bench, open_bench
from findback.steps.caselist import open_head
from findback.steps.casemaking import Reviewed
from findback.steps.reviewitem import mask_text
from findback.steps.reviewspans import published_place, texts_of
from findback.text.placeholders import strip_placeholders
from findback.workbench.listing import CandidateFilters
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workbench.store import Workbench
from findback.workspace import Workspace

What = Literal["all", "cases", "candidates"]
"""Which questions: of cases, of candidates that are no case yet, or of both."""

OPEN: tuple[State, ...] = ("new", "in-review", "needs-labels", "second-opinion", "ready")
"""States of candidates that are neither a case nor rejected."""
PAGE = 200


class Question(NamedTuple):
    """One question."""

    kind: Kind
    id: str
    """Of the case, or key of the candidate."""
    text: str
    """Redacted; what redaction suggests and what anybody redacts is masked."""
    language: str | None
    cluster: str
    origin: Origin
    stratum: Stratum
    asked: Asked
    wording: str | None
    """By a person whose review counts; None where nobody said it yet, or others are still to say it blind."""

    @property
    def state(self) -> TextState:
        """Return whether the text was published, or may still hold what no person looked at."""
        return "reviewed" if self.kind == "case" else "unreviewed"


class Questions(NamedTuple):
    """The questions, and what is not among them."""

    chosen: list[Question]
    left_out: Counter[str]
    """By reason."""


def collect_questions(workspace: Workspace, what: What) -> Questions:
    """Return the questions of active dev cases, by id, then of open candidates as they were stored.

    What says another question in other words is left out: a model wrote it.

    Raises:
        DataError: If the set has faults.
    """
    found = Questions([], Counter())
    for one in _cases(workspace) if what != "candidates" else ():
        _add(found, one)
    if what != "cases" and has_bench(workspace):
        with open_bench(workspace) as bench:
            for one in _candidates(bench):
                _add(found, one)
    return found


def _add(found: Questions, one: Question | str) -> None:
    reason = one if isinstance(one, str) else "paraphrases" if one.origin == "paraphrase" else None
    if reason is not None:
        found.left_out[reason] += 1
    elif isinstance(one, Question):
        found.chosen.append(one)


def _cases(workspace: Workspace) -> Iterator[Question | str]:
    for case in sorted(open_head(workspace).cases, key=lambda case: case.id):
        if case.status != "active":
            yield f"{case.status} cases"
        elif case.split == "holdout":
            yield "held-out cases"
        else:
            yield _of_case(case)


def _of_case(case: Case) -> Question:
    return Question(
        kind="case",
        id=case.id,
        text=case.query,
        language=case.language,
        cluster=case.cluster,
        origin=case.origin,
        stratum=case.stratum,
        asked=case.asked,
        wording=case.wording,
    )


def _candidates(bench: Workbench) -> Iterator[Question]:
    after = 0
    while page := bench.list_candidates(CandidateFilters(states=OPEN), limit=PAGE, after=after):
        after = page[-1].number
        redacted = bench.redactions_of(page)
        for stored in page:
            yield of_candidate(stored, find_review(bench, stored), redacted[stored.candidate.key])


def find_review(bench: Workbench, stored: StoredCandidate) -> Review | None:
    """Return the review that counts for a candidate; None while others are still to judge it blind."""
    if stored.state != "ready":
        return None
    deciding = Reviewed(stored, bench.reviews_of(stored.candidate.key, stored), ()).deciding
    return None if deciding is None else deciding.review


def of_candidate(stored: StoredCandidate, review: Review | None, redacted: Sequence[SpanDecision]) -> Question:
    """Return a candidate's question as it may be shown."""
    candidate = stored.candidate
    return Question(
        kind="candidate",
        id=candidate.key,
        text=shown_text(stored, review, redacted),
        language=candidate.language,
        cluster=candidate.thread[0].key if candidate.thread else candidate.key,
        origin=candidate.origin,
        stratum=candidate.stratum,
        asked=candidate.asked,
        wording=review.wording if review is not None else None,
    )


def shown_text(stored: StoredCandidate, review: Review | None, redacted: Iterable[SpanDecision]) -> str:
    """Return the text that is, or would become, a candidate's question, masked as lists show it."""
    texts = texts_of(stored.candidate)
    place = published_place(stored.candidate, review or Review())
    place = place if place in texts else ("query", 0)
    return mask_text(texts[place], (one for one in redacted if (one.place, one.position) == place))


def bare_text(question: Question) -> str:
    """Return a question's words without placeholders and masks."""
    return " ".join(strip_placeholders(question.text).replace(HIDDEN, " ").split())
