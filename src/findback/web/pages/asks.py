"""Asking whoever solved it: a link for one question, and the page it opens."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import Field
from starlette.responses import Response

from findback.errors import UsageError
from findback.model.record import Record
from findback.steps.reviewasks import answer_ask, make_ask, open_ask
from findback.web.authorise import Guarded, require_login
from findback.web.render import render_page
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)

DAYS = 7
"""How long a link is good for."""


class AskForm(Record):
    """Making a link."""

    csrf: str = ""


class AnswerForm(Record):
    """What a resolver answers."""

    csrf: str = ""
    helped: Annotated[str, Field(pattern="^(some|none)$")] = "some"
    documents: Annotated[str, Field(max_length=20_000)] = ""
    """Addresses or ids, one a line."""
    note: Annotated[str, Field(max_length=2_000)] = ""


@router.post("/items/{key}/ask")
def ask_resolver(request: Request, key: str, form: Annotated[AskForm, Form()]) -> Response:
    """Make a link and show it, this once; whoever made it sends it."""
    site: Site = request.app.state.site
    now = site.now()
    token = make_ask(site.desk, request.state.visitor.reviewer, key, now=now, days=DAYS)
    return render_page(
        request, "asked.html", key=key, link=f"{site.base_url}/ask/{token}", until=now + timedelta(days=DAYS)
    )


@router.get("/ask/{token}", name="answer_ask")
def show_question(request: Request, token: str) -> Response:
    """Show one question to whoever holds its link."""
    return _show(request, token)


@router.post("/ask/{token}")
def give_answer(request: Request, token: str, form: Annotated[AnswerForm, Form()]) -> Response:
    """Keep the answer; the link is used up."""
    require_login(request)
    site: Site = request.app.state.site
    named = [line.strip() for line in form.documents.splitlines() if line.strip()] if form.helped == "some" else []
    if form.helped == "some" and not named:
        fault = UsageError("paste the address of what helped, or say that nothing did")
        return _show(request, token, status=422, fault=fault, given=form)
    try:
        answer_ask(site.desk, token, named, form.note or None, now=site.now())
    except UsageError as error:
        return _show(request, token, status=422, fault=error, given=form)
    return render_page(request, "answered.html")


def _show(
    request: Request, token: str, *, status: int = 200, fault: UsageError | None = None, given: AnswerForm | None = None
) -> Response:
    require_login(request)
    site: Site = request.app.state.site
    found = open_ask(site.desk, token, now=site.now())
    return render_page(
        request, "ask.html", status=status, ask=found, fault=fault, given=given or AnswerForm(), here=f"/ask/{token}"
    )
