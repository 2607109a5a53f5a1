"""Change what a case of the set says: its label, and whether it is still asked; never its query."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from findback.errors import MissingError, UsageError
from findback.evalset.cases import case_line, write_cases
from findback.evalset.checks import strings_of
from findback.evalset.head import Head, hold_head, read_head
from findback.evalset.release import CASES
from findback.files import sha256_of
from findback.model.case import WORDINGS, Case, CaseId, Judgement, Name, Role
from findback.model.protocols import Documents
from findback.model.record import Record, Request
from findback.model.review import Note
from findback.model.reviewer import Reviewer
from findback.privacy.finding import Finding
from findback.steps.casemaking import WANTED_TAG
from findback.steps.obstacles import Check, check_text
from findback.steps.publishable import open_check
from findback.steps.reasons import forbidden_in
from findback.workbench.store import Workbench
from findback.workspace import Workspace

LABEL = ("judged", "no_answer_reason", "wording", "tags", "status", "retired_because")
"""Fields that a change may touch; a paraphrase takes the first three over from its root."""
INHERITED = ("judged", "no_answer_reason", "wording")
MOST_JUDGED = 200

MOVED = "moved"
"""What a history says where a label only followed its documents."""
TRIES = 5
"""How often a change is made anew where the file was edited by hand in the middle of it."""


class CaseChangeRequest(Request):
    """Change a case of the set."""

    case: CaseId
    seen: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    """Digest of the case as it was seen; another one means that somebody changed it meanwhile."""
    why: Note
    """Why; kept in its history, and held to what may be published."""
    judged: Annotated[tuple[Judgement, ...] | None, Field(max_length=MOST_JUDGED)] = None
    """All judgements, in place of those there are; what there is when None."""
    no_answer_reason: Note | None = None
    """Why nothing answers it; only looked at where judgements are given."""
    document_wanted: bool = False
    """Whether a document should be written; only where nothing answers."""
    wording: Name | None = None
    """Class of its wording; what it is when None."""
    status: Literal["active", "retired"] | None = None
    """retired takes it out of the next release; what it is when None."""


class CaseConflictError(UsageError):
    """Somebody changed the case since it was looked at."""

    code = "conflict"
    http_status = 409


class ChangedCase(Record):
    """A case after a change."""

    case: Case
    what: str
    """judged, retired, reinstated, reworded or moved, as its history says."""
    with_it: tuple[str, ...] = ()
    """Ids of its paraphrases, which changed with it."""


def digest_case(case: Case) -> str:
    """Return what tells one state of a case from another."""
    return hashlib.sha256(case_line(case)).hexdigest()


def change_case(
    workspace: Workspace,
    bench: Workbench,
    reviewer: Reviewer,
    request: CaseChangeRequest,
    *,
    now: datetime,
    documents: Documents | None = None,
    given_back: Callable[[Finding, str], bool] | None = None,
    moved: bool = False,
) -> ChangedCase:
    """Write a change into the head of the set and into the case's history.

    Releases stay as they are: the change is in the next one. What is new in it must be fit to be published, and the
    whole set must hold together.

    Args:
        workspace: Where the set is.
        bench: The workbench, for the history.
        reviewer: Who changes it; leads only.
        request: The change.
        now: When it happens.
        documents: The corpus; without it documents and quotes are not checked.
        given_back: Says of what a value was taken for whether reviewers said it is nothing of the kind.
        moved: Whether labels only follow their documents to new ids: who stands behind them stays the same.

    Raises:
        RefusedError: If they are no lead.
        MissingError: If the set has no such case.
        CaseConflictError: If somebody changed it meanwhile.
        UsageError: If nothing would change, or something stands in the way: the message says all of it.
        DataError: If the head has faults.
        StorageError: If the disk refuses; the head is then as it was.
    """
    reviewer.require("lead")
    unfit = tuple(forbidden_in(workspace, request.why, "why"))
    check = open_check(workspace, given_back=given_back)
    with hold_head(workspace.evalset):
        for _ in range(TRIES):
            head = read_head(workspace.evalset, leak_limit=workspace.settings.measures.leak_limit)
            before = _find(head.cases, request)
            after = _apply(before, request)
            _refuse_unfit(before, after, (*_check_label(before, after, workspace, documents), *unfit), check)
            after = after if moved else _signed(before, after)
            followers = tuple(one.id for one in head.cases if one.root == before.id and one.status != "withdrawn")
            if _replace(workspace, head, after, followers):
                break
        else:
            raise CaseConflictError("the set is changed elsewhere all the time", hint="send it again")
    what = MOVED if moved else _name(before, after)
    role: Role = "lead"
    bench.add_case_change(
        before.id,
        what,
        role=role,
        now=now,
        why=request.why,
        reviewer=reviewer.subject,
        before=label_of(before),
        after=label_of(after),
    )
    return ChangedCase(case=after, what=what, with_it=followers)


def _refuse_unfit(before: Case, after: Case, said: Sequence[str], check: Check) -> None:
    if all(getattr(before, field) == getattr(after, field) for field in LABEL):
        raise UsageError("nothing would change")
    found = dict.fromkeys([*said, *_check_strings(before, after, check)])
    if found:
        raise UsageError(f"this cannot be kept: {'; '.join(found)}")


def _replace(workspace: Workspace, head: Head, after: Case, followers: Collection[str]) -> bool:
    """Write the head with one case changed, and its paraphrases with it; False where the file is another one by now."""
    path, limit = workspace.evalset / CASES, workspace.settings.measures.leak_limit
    inherited = {field: getattr(after, field) for field in INHERITED}
    new = [
        after if one.id == after.id else one.model_copy(update=inherited) if one.id in followers else one
        for one in head.cases
    ]
    if sha256_of(path) != head.digest:
        return False
    write_cases(path, new, leak_limit=limit)
    return True


def label_of(case: Case) -> dict[str, Any]:
    """Return what of a case a change may touch, as its history keeps it."""
    return case.model_dump(mode="json", include=set(LABEL), exclude_none=True)


def _find(cases: Sequence[Case], request: CaseChangeRequest) -> Case:
    found = next((one for one in cases if one.id == request.case), None)
    if found is None:
        raise MissingError("the set has no such case")
    if found.status == "withdrawn":
        raise UsageError("it was withdrawn, and does not come back")
    if found.root is not None and (request.judged is not None or request.wording is not None):
        raise UsageError(f"it is a paraphrase, and takes its label from {found.root}", hint="change that one")
    if digest_case(found) != request.seen:
        raise CaseConflictError("somebody changed this case meanwhile", hint="look at it as it is now")
    return found


def _apply(before: Case, request: CaseChangeRequest) -> Case:
    update: dict[str, Any] = {}
    if request.judged is not None:
        gold = any(one.grade >= 1 for one in request.judged)
        update["judged"] = _ordered(request.judged)
        update["no_answer_reason"] = request.no_answer_reason
        tags = tuple(tag for tag in before.tags if tag != WANTED_TAG)
        update["tags"] = (*tags, WANTED_TAG) if request.document_wanted and not gold else tags
    if request.wording is not None:
        update["wording"] = request.wording
    if request.status is not None:
        update["status"] = request.status
        update["retired_because"] = request.why if request.status == "retired" else None
    try:
        return Case.model_validate({**before.model_dump(), **update})
    except ValidationError:
        raise UsageError("this does not fit the format of a case") from None


def _ordered(judged: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return judgements as cases keep them: gold by part first, parts counted from 1 without gaps."""
    parts = sorted({one.part for one in judged if one.grade >= 1})
    numbers = {part: number for number, part in enumerate(parts, 1)}
    kept = [
        one.model_copy(
            update={
                "part": numbers[one.part] if one.grade >= 1 else 1,
                "anchor": one.anchor if one.grade >= 1 else None,
            }
        )
        for one in judged
    ]
    return tuple(sorted(kept, key=lambda one: (one.grade == 0, one.part, -one.grade, one.doc)))


def _signed(before: Case, after: Case) -> Case:
    """Return a case that says who stands behind its label: nobody has confirmed a new one yet."""
    if all(getattr(before, field) == getattr(after, field) for field in ("judged", "no_answer_reason")):
        return after
    return after.model_copy(update={"labelled_by": "lead", "confirmations": 0})


def _check_label(before: Case, after: Case, workspace: Workspace, documents: Documents | None) -> Iterator[str]:
    if after.gold and after.no_answer_reason is not None:
        yield "a document answers it, and yet there is a reason why none does: take one of them back"
    if not after.gold and after.no_answer_reason is None:
        yield "no document answers it: grade one, or say why none does"
    known = (*WORDINGS, *workspace.settings.review.wordings)
    if after.wording not in known and after.wording != before.wording:
        yield f"there is no such wording; it is one of {', '.join(known)}"
    listed = [one.doc for one in after.judged]
    if len(set(listed)) != len(listed):
        yield "a document is graded twice"
    if documents is None:
        return
    old = {(one.doc, one.anchor) for one in before.judged} | {(one.doc, None) for one in before.judged}
    for one in after.judged:
        if (one.doc, one.anchor) in old:
            continue
        found = documents.get(one.doc)
        if found is None:
            yield "a document is not in the corpus: search it again"
        elif one.anchor is not None and _folded(one.anchor) not in _folded(found.text):
            yield "a quote is not in its document as it stands there"


def _check_strings(before: Case, after: Case, check: Check) -> Iterator[str]:
    known = {text for _, text in strings_of(before)}
    for place, text in strings_of(after):
        if text not in known:
            for obstacle in check_text(text, place, check):
                yield f"{obstacle.place}: {obstacle.rule}"


def _folded(text: str) -> str:
    return " ".join(text.split())


def _name(before: Case, after: Case) -> str:
    if before.status != after.status:
        return "retired" if after.status == "retired" else "reinstated"
    return "reworded" if all(getattr(before, f) == getattr(after, f) for f in INHERITED[:2]) else "judged"
