"""Doubt the label of a case: what a search returned instead may be right too, or the gold may be wrong."""

from datetime import datetime
from typing import Literal

from findback.errors import UsageError
from findback.model.case import CaseId, DocumentId, Name, Role
from findback.model.record import Request
from findback.model.review import Note
from findback.model.reviewer import Reviewer
from findback.steps.caselist import QUESTIONED, find_case, list_questioned
from findback.steps.reasons import refuse_forbidden
from findback.workbench.store import Workbench
from findback.workspace import Workspace

Doubt = Literal["also-right", "gold-is-wrong"]
DOUBTS: dict[Doubt, str] = {
    "also-right": "this document answers it as well",
    "gold-is-wrong": "this document does not answer it",
}
KEPT = "kept"
"""What a history says where somebody looked at a doubt and left the label as it was."""


class FlagMissRequest(Request):
    """Doubt the label of a case that a search missed."""

    case: CaseId
    document: DocumentId
    said: Doubt
    why: Note | None = None
    retriever: Name | None = None
    """The search system whose miss it was."""


def flag_miss(
    workspace: Workspace, bench: Workbench, reviewer: Reviewer, request: FlagMissRequest, *, now: datetime
) -> None:
    """Write a doubt into a case's history, where it waits for a lead; nothing of the label changes.

    Raises:
        RefusedError: If they do not review.
        MissingError: If the set has no such case.
        UsageError: If the case is not asked any more, the doubt does not fit its label, or the reason may not be kept.
    """
    reviewer.require("reviewer", "lead")
    case = find_case(workspace, request.case)
    if case.status != "active":
        raise UsageError(f"the case is {case.status}")
    is_gold = any(one.doc == request.document for one in case.gold)
    if is_gold is (request.said == "also-right"):
        raise UsageError("it counts as an answer already" if is_gold else "it does not count as an answer")
    if request.why is not None:
        refuse_forbidden(workspace, request.why)
    bench.add_case_change(
        case.id,
        QUESTIONED,
        role=_role(reviewer),
        now=now,
        why=request.why or DOUBTS[request.said],
        reviewer=reviewer.subject,
        after={"said": request.said, "document": request.document, "retriever": request.retriever},
    )


def keep_label(
    workspace: Workspace, bench: Workbench, reviewer: Reviewer, case_id: str, why: str, *, now: datetime
) -> None:
    """Write down that a doubt was looked at, and the label stays as it is.

    Raises:
        RefusedError: If they are no lead.
        MissingError: If the set has no such case.
        UsageError: If nobody doubts it, or no reason is given, or the reason may not be kept.
    """
    reviewer.require("lead")
    case = find_case(workspace, case_id)
    if case.id not in list_questioned(bench):
        raise UsageError("nobody doubts this label")
    if not why.strip():
        raise UsageError("say why the label stays as it is")
    refuse_forbidden(workspace, why)
    bench.add_case_change(case.id, KEPT, role="lead", now=now, why=why.strip()[:2_000], reviewer=reviewer.subject)


def read_doubt(values: object) -> tuple[Doubt, str] | None:
    """Return what a doubt in a history says, and about which document; None where it cannot be told."""
    if not isinstance(values, dict):
        return None
    document = values.get("document")
    said = next((one for one in DOUBTS if one == values.get("said")), None)
    return (said, document) if said is not None and isinstance(document, str) else None


def _role(reviewer: Reviewer) -> Role:
    return "lead" if "lead" in reviewer.roles else "reviewer"
