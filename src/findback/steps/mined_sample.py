"""Mined candidates as a sample of real queries, before anybody reviewed them."""

from collections.abc import Iterator
from pathlib import Path

from findback.errors import MissingError
from findback.model.candidate import Candidate
from findback.model.case import Judgement
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.privacy.masking import mask
from findback.steps.bench import has_bench, open_bench
from findback.workbench.state import State
from findback.workbench.store import Workbench
from findback.workspace import Workspace

MINED = Path("candidates")
"""The word that stands for the workbench's candidates where a file of real queries is asked for."""
PAGE = 500
GRADE = 3


def read_mined_sample(workspace: Workspace, documents: Documents | None) -> QuestionSet:
    """Return the failures whose resolver linked a document; that link is taken for the answer, unreviewed.

    Controls, which did not fail, and what was rejected are left out, and so is what became a case: a set is not to be
    compared with itself. Suggested redactions are masked.

    Raises:
        MissingError: If nothing has been mined, or no resolver linked anything.
    """
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")
    seen = released = 0
    questions: list[Question] = []
    with open_bench(workspace) as bench:
        for state, candidate in _failures(bench):
            if state == "released":
                released += 1
                continue
            seen += 1
            linked = dict.fromkeys(link.document for link in candidate.links if link.by == "resolver")
            if linked:
                questions.append(_question(candidate, tuple(linked), documents))
    if not seen and released:
        raise MissingError(
            f"no mined candidate is left to compare with: all {released} have become cases of the set",
            hint="findback mine EXPORT… brings new ones, or name a file of real queries",
        )
    if not questions:
        raise MissingError(
            f"of {seen} mined candidates none has a link by the person who found the answer",
            hint="findback candidates list shows them; mine chat or tickets, or name a file of real queries",
        )
    notes = [f"{seen - len(questions)} of {seen} mined failures have no resolver's link and are left out"]
    if released:
        notes.append(f"{released} more have become cases of the set already and are left out")
    return QuestionSet(
        name="candidates",
        kind="unreviewed links",
        questions=tuple(questions),
        format="workbench",
        notes=tuple(notes),
    )


def _failures(bench: Workbench) -> Iterator[tuple[State, Candidate]]:
    after = 0
    while page := bench.list_candidates(limit=PAGE, after=after):
        after = page[-1].number
        yield from (
            (one.state, one.candidate)
            for one in page
            # What a model wrote is no sample of what people type.
            if one.state != "rejected" and one.candidate.stratum == "failure" and one.candidate.written is None
        )


def _question(candidate: Candidate, linked: tuple[str, ...], documents: Documents | None) -> Question:
    found = {link: documents.resolve(link) if documents is not None else link for link in linked}
    return Question(
        id=candidate.key[:12],
        query=mask(candidate.query).text,
        language=candidate.language,
        judged=tuple(
            Judgement(doc=document, grade=GRADE, found_by="resolver")
            for document in dict.fromkeys(found.values())
            if document is not None
        ),
        unresolved=tuple(link for link, document in found.items() if document is None),
        origin=candidate.origin,
        stratum=candidate.stratum,
        selected_on=candidate.selected_on,
        # Questions of one stretch of talk begin with the same message.
        cluster=candidate.thread[0].key[:12] if candidate.thread else None,
    )
