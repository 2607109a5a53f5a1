"""Look at the label of a case again without knowing why: grade documents, some of them gold, in no telling order."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from findback.errors import UsageError
from findback.model.case import Case, Judgement
from findback.model.protocols import Documents
from findback.model.review import Note
from findback.model.reviewer import Reviewer
from findback.privacy.finding import Finding
from findback.steps.casechange import CaseChangeRequest, CaseConflictError, change_case, digest_case
from findback.steps.caselist import LOOK, MOST_CHANGES, find_case, list_questioned
from findback.steps.flagmiss import KEPT
from findback.steps.reasons import refuse_forbidden
from findback.workbench.cases import CaseChange
from findback.workbench.store import Workbench
from findback.workspace import Workspace

FOUND_BY = "item-analysis"
"""How a document came to be judged that is graded here for the first time, or otherwise than before."""
ASKED = "to be looked at again"
SEEN = "looked at again without knowing why"

Pool = Mapping[str, Sequence[str]]
"""Documents to grade, each with the systems that put it forward."""


def ask_for_look(bench: Workbench, case_id: str, pool: Pool, *, by: str, now: datetime) -> None:
    """Have a case looked at again by a lead; nothing says why, and no page shows who put a document forward."""
    found = {document: list(systems) for document, systems in pool.items()}
    bench.add_case_change(case_id, LOOK, role="lead", now=now, why=ASKED, reviewer=by, after={"pool": found})


def read_pool(change: CaseChange | None) -> dict[str, tuple[str, ...]] | None:
    """Return the documents a look was asked for, each with who put it forward; None for any other change."""
    if change is None or change.what != LOOK or change.after is None:
        return None
    pool = change.after.get("pool")
    if not isinstance(pool, dict):
        return None
    return {
        document: tuple(name for name in systems if isinstance(name, str))
        for document, systems in pool.items()
        if isinstance(document, str) and isinstance(systems, list)
    }


def list_pools(bench: Workbench) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return, for each case that was ever sent, the documents it was sent with and who put them forward."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for change in bench.case_changes(limit=MOST_CHANGES):
        for document, systems in (read_pool(change) or {}).items():
            known = found.setdefault(change.case_id, {})
            known[document] = tuple(dict.fromkeys((*known.get(document, ()), *systems)))
    return found


def list_documents(case: Case, pool: Pool) -> tuple[str, ...]:
    """Return what is to be graded: judged and pooled documents, in an order that tells nothing."""
    documents = {*(one.doc for one in case.judged), *pool}
    return tuple(sorted(documents, key=lambda one: hashlib.sha256(f"{case.id}\n{one}".encode()).digest()))


def answer_look(
    workspace: Workspace,
    bench: Workbench,
    reviewer: Reviewer,
    case_id: str,
    grades: Mapping[str, int],
    *,
    seen: str,
    now: datetime,
    why: Note = SEEN,
    no_answer_reason: Note | None = None,
    documents: Documents | None = None,
    given_back: Callable[[Finding, str], bool] | None = None,
) -> bool:
    """Make the label what somebody who did not know it says; return whether it changed.

    Parts and quotes of documents that stay gold are kept. What gets another grade than it had, or its first one,
    says from now on that it was found by item analysis.

    Args:
        workspace: Where the set is.
        bench: The workbench, for the history.
        reviewer: Who looked; leads only.
        case_id: The case.
        grades: A grade for each document that was to be graded.
        seen: Digest of the case as it was seen.
        now: When it happens.
        why: Kept in its history.
        no_answer_reason: Why nothing answers it, where no document got a grade above 0.
        documents: The corpus; without it documents are not checked.
        given_back: As for `change_case`.

    Raises:
        RefusedError: If they are no lead.
        MissingError: If the set has no such case.
        CaseConflictError: If somebody changed it meanwhile.
        UsageError: If nobody asked for it, a document has no grade, or something stands in the way.
    """
    reviewer.require("lead")
    case = find_case(workspace, case_id)
    pool = read_pool(list_questioned(bench).get(case.id))
    if pool is None:
        raise UsageError("nobody asked to have this case looked at again")
    if digest_case(case) != seen:
        raise CaseConflictError("somebody changed this case meanwhile", hint="look at it as it is now")
    wanted = list_documents(case, pool)
    if set(grades) != set(wanted):
        raise UsageError("grade every document: what is left out would tell nothing")
    judged = _judge(case, wanted, grades)
    gold = any(one.grade for one in judged)
    if judged == case.judged:
        refuse_forbidden(workspace, why)
        bench.add_case_change(case.id, KEPT, role="lead", now=now, why=why, reviewer=reviewer.subject)
        return False
    request = CaseChangeRequest(
        case=case.id, seen=seen, why=why, judged=judged, no_answer_reason=None if gold else no_answer_reason
    )
    change_case(workspace, bench, reviewer, request, now=now, documents=documents, given_back=given_back)
    return True


def _judge(case: Case, documents: Sequence[str], grades: Mapping[str, int]) -> tuple[Judgement, ...]:
    kept = []
    for one in case.judged:
        grade = grades[one.doc]
        if grade == one.grade:
            kept.append(one)
        elif grade:
            kept.append(one.model_copy(update={"grade": grade, "found_by": FOUND_BY}))
        else:
            kept.append(Judgement(doc=one.doc, grade=0, found_by=FOUND_BY))
    known = {one.doc for one in case.judged}
    new = [Judgement(doc=one, grade=grades[one], found_by=FOUND_BY) for one in documents if one not in known]
    return (*kept, *new)
