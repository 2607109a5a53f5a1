"""How alike opinions are: of two people, of one person a day later, of resolvers and reviewers."""

from collections.abc import Sequence

from findback.measure.intervals import estimate_mean
from findback.measure.rater_agreement import RaterAgreement, rate_agreement
from findback.model.estimate import Estimate
from findback.model.record import Record
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.reviewdesk import Desk
from findback.steps.reviewstate import top_gold
from findback.workbench.doubles import Opinions
from findback.workbench.reviews import answer_of

LONE = "it would tell about one person, and is shown to them alone"


class Agreement(Record):
    """Two opinions on the same candidates."""

    answerable: RaterAgreement
    """Whether a document answers it, none does, or nobody can judge."""
    top_gold: RaterAgreement
    """Which document answers best, where both found one."""
    grades: RaterAgreement
    """Grades of documents that both graded, near misses counted as such; intervals over candidates."""


class ReviewAgreement(Record):
    """How far labels can be trusted."""

    people: Agreement
    """First opinions of two people, given blind."""
    second_looks: Agreement | None
    """One person's first and second look; None for everybody else, or where nobody took one."""
    second_look_count: int
    """Candidates whose second opinion is the same person's second look."""
    resolver_documents: Estimate
    """Share of candidates with a document from a resolver for which the first reviewer counts one of them as gold."""
    resolver_answerable: RaterAgreement
    """Resolvers who were asked and first reviewers, on whether a document answers it."""
    reason: str | None = None
    """Why there are no figures on second looks."""


def measure_agreement(desk: Desk, reviewer: Reviewer) -> ReviewAgreement:
    """Return the figures of agreement; none of them about one person, save to that person.

    Raises:
        RefusedError: If they neither review nor lead.
    """
    reviewer.require("reviewer", "lead")
    opinions = desk.bench.opinions()
    doubles = [one for one in opinions if len(one.reviews) > 1]
    people = [one for one in doubles if not one.same_person]
    looks = [one for one in doubles if one.same_person]
    alone = desk.bench.second_lookers()
    shown = bool(looks) and (alone == [reviewer.subject] or len(alone) > 2)
    named = [one for one in opinions if _named(one)]
    kept = [1.0 if _named(one) & {j.doc for j in one.reviews[0].judged if j.grade >= 1} else 0.0 for one in named]
    asked = [one for one in opinions if one.answers]
    return ReviewAgreement(
        people=compare(people),
        second_looks=compare(looks) if shown else None,
        second_look_count=len(looks),
        resolver_documents=estimate_mean(kept),
        resolver_answerable=rate_agreement(
            [_is_answerable(one.reviews[0]) for one in asked],
            ["yes" if any(answer.documents for answer in one.answers) else "no" for one in asked],
        ),
        reason=LONE if looks and not shown else None,
    )


def compare(doubles: Sequence[Opinions]) -> Agreement:
    """Return how alike the first two opinions on each candidate are."""
    pairs = [(one.candidate, one.reviews[0], one.reviews[1]) for one in doubles]
    both = [(key, *_tops(first, second)) for key, first, second in pairs if top_gold(first) and top_gold(second)]
    grades = [(key, a, b) for key, first, second in pairs for a, b in _grades(first, second)]
    return Agreement(
        answerable=rate_agreement([_is_answerable(one[1]) for one in pairs], [_is_answerable(one[2]) for one in pairs]),
        top_gold=rate_agreement([one[1] for one in both], [one[2] for one in both]),
        grades=rate_agreement(
            [one[1] for one in grades],
            [one[2] for one in grades],
            [one[0] for one in grades],
            weights="linear",
        ),
    )


def _named(one: Opinions) -> set[str]:
    return {*one.linked, *(document for answer in one.answers for document in answer.documents)}


def _is_answerable(review: Review) -> str:
    said = answer_of(review)
    return "yes" if said in ("one", "cross-doc") else "no" if said == "no-answer" else "unrateable"


def _tops(first: Review, second: Review) -> tuple[str, str]:
    one, other = top_gold(first), top_gold(second)
    shared = min(one & other, default=None)
    return (shared, shared) if shared is not None else (min(one), min(other))


def _grades(first: Review, second: Review) -> list[tuple[int, int]]:
    def graded(review: Review) -> dict[str, int]:
        best: dict[str, int] = {}
        for one in review.judged:
            best[one.doc] = max(one.grade, best.get(one.doc, 0))
        return best

    ours, theirs = graded(first), graded(second)
    return [(ours[document], theirs[document]) for document in sorted(ours.keys() & theirs.keys())]
