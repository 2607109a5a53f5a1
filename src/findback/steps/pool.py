"""The unreleased pool: what a model wrote and nobody released yet, scored apart from every release."""

from collections import Counter
from collections.abc import Iterator, Mapping

from findback.errors import MissingError, UsageError
from findback.evalset.head import read_head
from findback.model.candidate import Candidate
from findback.model.case import Case, Judgement
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.privacy.masking import mask
from findback.steps.bench import has_bench, open_bench
from findback.steps.evidence import DESCRIBED
from findback.steps.opening import SetRequest
from findback.workbench.listing import CandidateFilters
from findback.workbench.state import STATES
from findback.workspace import Workspace

GRADE = 3
"""What the described document counts as: nobody has graded it."""
PAGE = 500
WAITING = CandidateFilters(
    states=tuple(state for state in STATES if state not in ("rejected", "released")),
    origins=("generated", "paraphrase"),
)


def open_pool(workspace: Workspace, request: SetRequest, documents: Documents | None) -> QuestionSet:
    """Return what a model wrote and nobody released or rejected, as questions.

    The described document counts as the answer, unreviewed; a paraphrase has the judgements of the case it was made
    from. Suggested redactions are masked. Paraphrases of what is held out stay out: scoring them would be a look.

    Raises:
        UsageError: If a set or a release is named as well: the two are never one number.
        MissingError: If there is nothing.
    """
    if request.set is not None or request.release is not None:
        raise UsageError("the unreleased pool is scored by itself, never with a set or a release", hint="leave one out")
    if not has_bench(workspace):
        raise MissingError("no model has written anything yet", hint="findback generate")
    roots = {case.id: case for case in read_head(workspace.evalset).cases}
    out: Counter[str] = Counter()
    questions = tuple(
        question
        for candidate in _waiting(workspace)
        if (question := _question(candidate, roots, documents, out)) is not None
    )
    if not questions:
        raise MissingError(
            "nothing that a model wrote waits for release", hint="findback generate, or findback evaluate for a release"
        )
    notes = ["a model wrote every question, and nobody has confirmed that its document answers it"]
    notes += [f"left out: {count} {why}" for why, count in out.items()]
    return QuestionSet(
        name="unreleased pool", kind="unreleased pool", questions=questions, format="workbench", notes=tuple(notes)
    )


def _waiting(workspace: Workspace) -> Iterator[Candidate]:
    after = 0
    with open_bench(workspace) as bench:
        while page := bench.list_candidates(WAITING, limit=PAGE, after=after):
            after = page[-1].number
            yield from (one.candidate for one in page)


def _question(
    candidate: Candidate, roots: Mapping[str, Case], documents: Documents | None, out: Counter[str]
) -> Question | None:
    root = roots.get(candidate.root or "")
    if candidate.root is not None:
        if root is None or root.status != "active":
            out["paraphrases of cases that are no longer asked"] += 1
            return None
        if root.split == "holdout":
            out["paraphrases of cases that are held out"] += 1
            return None
    made = Question(
        id=candidate.key[:12],
        query=mask(candidate.query).text,
        language=candidate.language,
        origin=candidate.origin,
        stratum=candidate.stratum,
        selected_on=candidate.selected_on,
    )
    if root is not None:
        taken = {name: getattr(root, name) for name in ("judged", "no_answer_reason", "context", "wording", "cluster")}
        chosen = {"stratum": root.stratum, "selected_on": root.selected_on}
        return made.model_copy(update={**taken, **chosen})
    linked = dict.fromkeys(link.document for link in candidate.links if link.kind in DESCRIBED)
    found = {link: documents.resolve(link) if documents is not None else link for link in linked}
    known = dict.fromkeys(document for document in found.values() if document is not None)
    return made.model_copy(
        update={
            "judged": tuple(Judgement(doc=document, grade=GRADE, found_by="described") for document in known),
            "unresolved": tuple(link for link, document in found.items() if document is None),
        }
    )
