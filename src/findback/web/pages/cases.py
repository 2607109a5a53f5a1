"""The set as it stands: its cases, each with its history, and what a lead may change about them."""

from collections.abc import Sequence
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, UsageError
from findback.model.case import WORDINGS, Answer, Case, Origin, Status, Stratum
from findback.model.protocols import Documents
from findback.model.reviewer import Reviewer
from findback.steps.casechange import CaseChangeRequest, CaseConflictError, change_case, digest_case
from findback.steps.caselist import (
    describe_label,
    find_case,
    forget_heads,
    list_cases,
    list_questioned,
)
from findback.steps.casemaking import WANTED_TAG
from findback.steps.extracts import extract_matching
from findback.steps.flagmiss import DOUBTS, FlagMissRequest, flag_miss, keep_label, read_doubt
from findback.steps.lookagain import SEEN, answer_look, list_documents, read_pool
from findback.steps.refresh_accept import STALE
from findback.steps.reviewfalse import is_false_positive
from findback.steps.reviewpool import show_text
from findback.steps.scoreboard import forget_evaluations
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.text.placeholders import strip_placeholders
from findback.web.authorise import Guarded
from findback.web.caseform import CaseForm, CasesQuery, DoubtForm, Label, LabelRow, WithdrawForm, judged_of, rows_of
from findback.web.render import render_page
from findback.web.site import Site
from findback.workbench.cases import CaseChange

router = APIRouter(route_class=Guarded, include_in_schema=False)

BACKED_BY = "item-analysis"
"""How a document came to be judged that a search returned instead of the gold."""
MOST_FOUND = 12


@router.get("/cases")
def cases(request: Request, asked: Annotated[CasesQuery, Query()]) -> Response:
    """Show the cases of the set, with filters."""
    site: Site = request.app.state.site
    doubts = list_questioned(site.bench)
    page = list_cases(site.workspace, asked.filters, questioned=doubts.keys(), after=asked.after)
    return render_page(
        request,
        "cases.html",
        page=page,
        asked=asked,
        doubts=doubts,
        choices={
            "wording": list(dict.fromkeys([*WORDINGS, *page.wordings])),
            "answer": get_args(Answer),
            "origin": get_args(Origin),
            "stratum": get_args(Stratum),
        },
        statuses=get_args(Status),
        link=lambda **changed: f"/cases?{urlencode(_pairs(asked, **changed))}",
    )


@router.get("/cases/{case_id}")
def case(request: Request, case_id: str) -> Response:
    """Show a case, its history, and the form to change it."""
    return _show(request, find_case(request.app.state.site.workspace, case_id))


@router.post("/cases/{case_id}", name="change_case")
def send_change(request: Request, case_id: str, form: Annotated[CaseForm, Form()]) -> Response:
    """Change a case, or search documents for its label without losing what stands in the form."""
    site: Site = request.app.state.site
    found = find_case(site.workspace, case_id)
    try:
        if form.do == "search":
            return _show(request, found, label=_searched(site, found, form))
        if form.do == "keep":
            keep_label(site.workspace, site.bench, request.state.visitor.reviewer, case_id, form.why, now=site.now())
        elif form.do == "look":
            _answer(site, request.state.visitor.reviewer, case_id, form)
        else:
            _change(site, request.state.visitor.reviewer, case_id, form)
    except CaseConflictError as error:
        return _show(request, found, label=_label_of(site, found, form), status=409, fault=error)
    except UsageError as error:
        return _show(request, found, label=_label_of(site, found, form), status=422, fault=error, form=form)
    return RedirectResponse(f"/cases/{case_id}", status_code=303)


@router.get("/cases/{case_id}/document")
def case_document(request: Request, case_id: str, id: Annotated[str, Query(max_length=4_000)]) -> Response:  # noqa: A002
    """Show the whole text of a document, to judge it by."""
    site: Site = request.app.state.site
    found = find_case(site.workspace, case_id)
    return render_page(request, "case_document.html", case=found, document=show_text(site.desk, id))


@router.post("/cases/{case_id}/doubt", name="flag_miss")
def send_doubt(request: Request, case_id: str, form: Annotated[DoubtForm, Form()]) -> Response:
    """Write down that a label is doubted; the page of the case goes on from there."""
    site: Site = request.app.state.site
    find_case(site.workspace, case_id)
    asked = FlagMissRequest(
        case=case_id,
        document=form.document,
        said=form.said,
        why=form.why.strip() or None,
        retriever=form.retriever or None,
    )
    flag_miss(site.workspace, site.bench, request.state.visitor.reviewer, asked, now=site.now())
    return RedirectResponse(f"/cases/{case_id}#label", status_code=303)


@router.post("/cases/{case_id}/withdraw")
def withdraw_case(request: Request, case_id: str, form: Annotated[WithdrawForm, Form()]) -> Response:
    """Erase a case from the set and every release, and say what is left to do."""
    site: Site = request.app.state.site
    found = find_case(site.workspace, case_id)
    if form.sure != "yes":
        fault = UsageError("tick that it is erased for good")
        return _show(request, found, status=422, fault=fault, reason=form.reason)
    try:
        asked = WithdrawRequest(cases=(case_id,), reason=form.reason)
        reviewer: Reviewer = request.state.visitor.reviewer
        done = withdraw(site.workspace, asked, made=site.now(), reviewer=reviewer.subject)
    except UsageError as error:
        return _show(request, found, status=422, fault=error, reason=form.reason)
    forget_heads()
    forget_evaluations()
    return render_page(request, "withdrawn.html", done=done)


def _change(site: Site, reviewer: Reviewer, case_id: str, form: CaseForm) -> None:
    values: dict[str, object] = {"case": case_id, "seen": form.seen, "why": form.why.strip()}
    if form.do in ("retired", "active"):
        values["status"] = form.do
    elif form.do == "label":
        values["judged"] = judged_of(form)
        values["no_answer_reason"] = form.reason.strip() or None
        values["document_wanted"] = form.wanted == "yes"
        values["wording"] = form.wording or None
    else:
        raise UsageError("there is no such change")
    if not form.why.strip():
        raise UsageError("say why: it stands in the history of the case")
    try:
        asked = CaseChangeRequest.model_validate(values)
    except ValidationError:
        raise UsageError("this does not fit the format of a case") from None
    if (
        form.do == "label"
        and (before := find_case(site.workspace, case_id)).root is not None
        and not _differs(before, asked)
    ):
        asked = asked.model_copy(update={"judged": None, "wording": None})
    change_case(
        site.workspace,
        site.bench,
        reviewer,
        asked,
        now=site.now(),
        documents=_documents(site),
        given_back=is_false_positive(site.desk.key, site.bench.false_positives()),
    )


def _answer(site: Site, reviewer: Reviewer, case_id: str, form: CaseForm) -> None:
    """Make the label what somebody who looked again says."""
    answer_look(
        site.workspace,
        site.bench,
        reviewer,
        case_id,
        {doc: int(grade) for doc, grade in zip(form.doc, form.grade, strict=False) if grade},
        seen=form.seen,
        now=site.now(),
        why=form.why.strip()[:2_000] or SEEN,
        no_answer_reason=form.reason.strip()[:2_000] or None,
        documents=_documents(site),
        given_back=is_false_positive(site.desk.key, site.bench.false_positives()),
    )


def _differs(before: Case, asked: CaseChangeRequest) -> bool:
    return asked.judged != before.judged or asked.wording != before.wording


def _label_of(
    site: Site, found: Case, form: CaseForm, rows: Sequence[LabelRow] | None = None, *, searched: bool = False
) -> Label:
    try:
        kept = rows_of(form) if rows is None else rows
    except UsageError:
        kept = []
    return Label(
        tuple(_named(site, found, row) for row in kept),
        form.reason,
        form.wanted == "yes",
        form.wording,
        form.why,
        form.search,
        searched,
    )


def _searched(site: Site, case: Case, form: CaseForm) -> Label:
    """Return what stands in the form, and below it what a search found, not judged yet."""
    rows = rows_of(form)
    kept = [row for row in rows if row.grade is not None or row.found_by != "reviewer"]
    found: list[str] = []
    documents = _documents(site)
    if form.search.strip() and documents is not None:
        named = documents.resolve(form.search.strip())
        found = [*([named] if named is not None else []), *site.desk.find(form.search)]
    held = {row.document for row in kept}
    new = [one for one in dict.fromkeys(found) if one not in held][:MOST_FOUND]
    return _label_of(site, case, form, [*kept, *(LabelRow(one, None, None) for one in new)], searched=True)


def _begin(site: Site, found: Case, doubt: tuple[str, str] | None, *, by: str = BACKED_BY) -> Label:
    """Return the label of a case, with what somebody doubts put in already; `by` is how a new document was found."""
    rows = [LabelRow(one.doc, None, one.grade, one.part, one.anchor or "", one.found_by) for one in found.judged]
    if doubt is not None:
        said, document = doubt
        if said == "also-right":
            rows = [row for row in rows if row.document != document]
            rows.append(LabelRow(document, None, 3, found_by=by))
        else:
            rows = [row._replace(grade=0, part=1, anchor="") if row.document == document else row for row in rows]
    return Label(
        tuple(_named(site, found, row) for row in rows),
        found.no_answer_reason or "",
        WANTED_TAG in found.tags,
        found.wording,
    )


def _is_of_refresh(change: CaseChange | None) -> bool:
    """Return whether a doubt came from changed documents, and not from what a search returned."""
    return change is not None and STALE in (change.after or {})


def _looks(site: Site, found: Case, documents: Sequence[str], form: CaseForm | None) -> list[LabelRow]:
    """Return documents to grade, alike whether they are gold or not; with the grades that were just sent."""
    sent = dict(zip(form.doc, form.grade, strict=False)) if form is not None else {}
    rows = [LabelRow(one, None, int(sent[one]) if sent.get(one) else None) for one in documents]
    return [_named(site, found, row) for row in rows]


def _named(site: Site, case: Case, row: LabelRow) -> LabelRow:
    documents = _documents(site)
    known = documents.get(row.document) if documents is not None else None
    if known is None:
        return row._replace(known=documents is None)
    extract = "" if row.anchor else extract_matching(known.text, strip_placeholders(case.query), case.language)
    return row._replace(title=known.title, extract=extract)


def _documents(site: Site) -> Documents | None:
    """Return the documents; None where they cannot be read: labels can still be looked at."""
    try:
        return site.desk.documents
    except FindbackError:
        return None


def _show(
    request: Request,
    found: Case,
    *,
    label: Label | None = None,
    status: int = 200,
    fault: FindbackError | None = None,
    reason: str = "",
    form: CaseForm | None = None,
) -> Response:
    site: Site = request.app.state.site
    changes = site.bench.case_changes(found.id)
    newest = changes[0] if changes else None
    pool = read_pool(newest)
    doubt = read_doubt(newest.after) if newest is not None and newest.what == "questioned" else None
    return render_page(
        request,
        "case.html",
        status=status,
        case=found,
        label=label or _begin(site, found, doubt, by="reviewer" if _is_of_refresh(newest) else BACKED_BY),
        described=describe_label(found),
        seen=digest_case(found),
        # Whoever is to look again is not told what the label was.
        changes=[(one, [], []) if pool else (one, _told(one.before), _told(one.after)) for one in changes],
        looks=None if pool is None else _looks(site, found, list_documents(found, pool), form),
        given=form,
        doubt=doubt,
        doubts=DOUBTS,
        noted=newest is not None and newest.what == "questioned" and doubt is None,
        doubt_why=newest.why if newest is not None and newest.why not in DOUBTS.values() else None,
        wordings=list(dict.fromkeys([*WORDINGS, *site.desk.settings.wordings, found.wording])),
        fault=fault,
        reason=reason,
    )


def _told(values: dict[str, object] | None) -> list[str]:
    """Return what a history keeps of a label, a line each; which cases are held out stays untold."""
    if not values:
        return []
    judged = values.get("judged")
    listed = [one for one in judged if isinstance(one, dict)] if isinstance(judged, list) else []
    said = [f"{one.get('doc')}: grade {one.get('grade')}" for one in listed]
    plain = {
        "no_answer_reason": "no document answers",
        "wording": "wording",
        "status": "status",
        "document": "document",
    }
    said += [f"{name}: {values[key]}" for key, name in plain.items() if values.get(key)]
    return said


def _pairs(asked: CasesQuery, **changed: object) -> list[tuple[str, str]]:
    values = {**asked.model_dump(mode="json"), "after": "", **changed}
    words = {True: "yes", False: "no"}
    return [
        (name, words.get(value, str(value)) if isinstance(value, bool) else str(value))
        for name, value in values.items()
        if value not in (None, "")
    ]
