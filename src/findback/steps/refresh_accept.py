"""Carry out the certain moves of a refresh, and send the rest to review as doubts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.model.case import Case, Judgement
from findback.model.reviewer import Reviewer
from findback.model.stale import PROPOSALS, Staleness
from findback.steps.bench import open_workspace_key
from findback.steps.casechange import CaseChangeRequest, change_case, digest_case
from findback.steps.caselist import MOST_CHANGES, QUESTIONED, list_questioned, open_head
from findback.steps.flagmiss import KEPT
from findback.steps.reviewfalse import is_false_positive
from findback.text.reattach import attach_anchor
from findback.workbench.store import Workbench
from findback.workspace import Workspace

WHY = "its document has another id; the text it was labelled for is the same"
STALE = "stale"
"""Key under which a doubt keeps what tells its findings from others."""
_MOST_WHY = 2_000


class Accepted(NamedTuple):
    """What came of carrying certain moves out."""

    moved: tuple[str, ...]
    """Ids of the cases that changed."""
    done: frozenset[str]
    """Ids of the cases where nothing was left to move: somebody else was faster."""
    refused: tuple[str, ...]
    """Why others did not, a sentence each."""


def group_by_case(found: Iterable[Staleness]) -> dict[str, list[Staleness]]:
    """Return findings by case, in their order."""
    groups: dict[str, list[Staleness]] = defaultdict(list)
    for one in found:
        groups[one.case].append(one)
    return dict(groups)


def accept_moves(
    workspace: Workspace,
    bench: Workbench,
    reviewer: Reviewer,
    found: Iterable[Staleness],
    documents: Corpus,
    *,
    now: datetime,
) -> Accepted:
    """Move the labels of all certain moves to the new ids, a change a case; the next release has them.

    Grades, parts and who stands behind the label stay. A quote is kept as it stands in the document now. What stands
    in the way of one case keeps none of the others.

    Raises:
        RefusedError: If they are no lead.
        DataError: If the head has faults.
        StorageError: If the disk refuses.
    """
    reviewer.require("lead")
    given_back = is_false_positive(open_workspace_key(workspace), bench.false_positives)
    moved, refused, done = [], [], set()
    certain = group_by_case(one for one in found if one.certain and one.proposal == "move")
    for case_id, findings in certain.items():
        case = next((one for one in open_head(workspace).cases if one.id == case_id), None)
        if case is None or case.status != "active":
            continue
        targets = {one.document: one.targets[0] for one in findings if one.document is not None}
        judged = tuple(_move(one, targets, documents) for one in case.judged)
        if judged == case.judged:
            done.add(case_id)
            continue
        request = CaseChangeRequest(
            case=case_id, seen=digest_case(case), why=WHY, judged=judged, no_answer_reason=case.no_answer_reason
        )
        try:
            change_case(
                workspace, bench, reviewer, request, now=now, documents=documents, given_back=given_back, moved=True
            )
        except UsageError as error:
            refused.append(f"{case_id}: {error}")
        else:
            moved.append(case_id)
    return Accepted(tuple(moved), frozenset(done), tuple(refused))


def _move(judgement: Judgement, targets: Mapping[str, str], documents: Corpus) -> Judgement:
    target = targets.get(judgement.doc)
    document = None if target is None else documents.get(target)
    if document is None:
        return judgement
    anchor = judgement.anchor
    if anchor is not None and anchor not in document.text:
        attached = attach_anchor(anchor, document.text)
        anchor = document.text[attached.spans[0].start : attached.spans[0].end] if attached.fit == "exact" else None
    return judgement.model_copy(update={"doc": document.id, "anchor": anchor})


def send_doubts(
    bench: Workbench, found: Iterable[Staleness], cases: Sequence[Case], *, by: str, now: datetime
) -> tuple[str, ...]:
    """Write what was found into the cases' histories, where it waits for a lead; return the ids of the cases.

    A case that waits for somebody already is not sent twice.
    """
    waiting = list_questioned(bench)
    known = {case.id: case for case in cases}
    sent = []
    for case_id, findings in group_by_case(found).items():
        if case_id in waiting or case_id not in known:
            continue
        said = _doubt(findings, known[case_id])
        keys = [one.key for one in findings]
        bench.add_case_change(
            case_id, QUESTIONED, role="lead", now=now, why=_say(findings), reviewer=by, after={**said, STALE: keys}
        )
        sent.append(case_id)
    return tuple(sent)


def list_settled(bench: Workbench) -> dict[str, Collection[str]]:
    """Return the keys of findings that somebody looked at, and left the label as it was, by case."""
    settled: dict[str, set[str]] = defaultdict(set)
    answered: set[str] = set()
    for change in bench.case_changes(limit=MOST_CHANGES):
        if change.what == KEPT:
            answered.add(change.case_id)
        elif change.case_id in answered:
            answered.discard(change.case_id)
            keys = (change.after or {}).get(STALE)
            if isinstance(keys, list):
                settled[change.case_id].update(one for one in keys if isinstance(one, str))
    return dict(settled)


def _doubt(findings: Sequence[Staleness], case: Case) -> dict[str, str]:
    """Return the doubt that comes nearest to what was found, so that the page of the case has its form filled in."""
    gold = {one.doc for one in case.gold}
    for one in findings:
        if one.proposal in ("drop", "relabel", "retire") and one.document in gold:
            return {"said": "gold-is-wrong", "document": str(one.document)}
    for one in findings:
        new = one.document if one.kind == "may-answer" else one.targets[0] if one.targets else None
        if new is not None and new not in gold:
            return {"said": "also-right", "document": new}
    return {"said": STALE}


def _say(findings: Sequence[Staleness]) -> str:
    lines = []
    for one in findings:
        what = one.document or ", ".join(one.terms)
        lines.append(f"{what}: {one.why}. {PROPOSALS[one.proposal].capitalize()}.")
    return " ".join(lines)[:_MOST_WHY]
