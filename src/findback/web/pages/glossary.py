"""The glossary: its terms, and the proposed ones that wait for a lead."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, MissingError
from findback.evalset.glossary import GLOSSARY
from findback.model.glossary import Glossary, Proposals
from findback.model.record import Record
from findback.steps.glossary_accept import AcceptRequest, accept
from findback.steps.glossary_kept import load_proposals
from findback.steps.glossary_suggest import SuggestRequest
from findback.steps.opening import open_glossary
from findback.web.authorise import Guarded
from findback.web.jobs import add_job
from findback.web.render import render_page
from findback.web.site import Site
from findback.workspace import Workspace

router = APIRouter(route_class=Guarded, include_in_schema=False)

Place = Annotated[int, Form(ge=1, le=1_000)]


class DecideForm(Record):
    """What a lead decides about proposed terms, by their numbers."""

    csrf: str = ""
    made: str = ""
    """When the list that was looked at was made: numbers mean nothing in another one."""
    accept: tuple[Place, ...] = ()
    refuse: tuple[Place, ...] = ()


class SuggestForm(Record):
    """Looking for terms."""

    csrf: str = ""


@router.get("/glossary")
def glossary(request: Request) -> Response:
    """Show the terms, and those that are proposed."""
    return _show(request)


@router.post("/glossary")
def decide_terms(request: Request, form: Annotated[DecideForm, Form()]) -> Response:
    """Accept and refuse proposed terms."""
    site: Site = request.app.state.site
    found = _proposed(site.workspace)
    if found is None or found.made.isoformat() != form.made:
        return _show(request, "Meanwhile other terms were proposed, and nothing was decided: look at these.", 409)
    asked = AcceptRequest(terms=tuple(map(str, form.accept)), refuse=tuple(map(str, form.refuse)), role="lead")
    try:
        accept(site.workspace, asked)
    except FindbackError as error:
        return _show(request, str(error), 422)
    return RedirectResponse("/glossary", status_code=303)


@router.post("/glossary/suggest")
def suggest_terms(request: Request, form: Annotated[SuggestForm, Form()]) -> Response:
    """Start to look for terms in the questions of the newest release."""
    reviewer = request.state.visitor.reviewer
    number = add_job(
        request.app.state.site, request.app.state.worker, "glossary", SuggestRequest(), reviewer=reviewer.subject
    )
    return RedirectResponse(f"/jobs/{number}", status_code=303)


def _show(request: Request, fault: str | None = None, status: int = 200) -> Response:
    site: Site = request.app.state.site
    return render_page(
        request,
        "glossary.html",
        status=status,
        terms=_accepted(site.workspace).terms,
        proposed=_proposed(site.workspace),
        fault=fault,
    )


def _accepted(workspace: Workspace) -> Glossary:
    return open_glossary(workspace) if (workspace.evalset / GLOSSARY).exists() else Glossary()


def _proposed(workspace: Workspace) -> Proposals | None:
    try:
        return load_proposals(workspace)
    except MissingError:
        return None
