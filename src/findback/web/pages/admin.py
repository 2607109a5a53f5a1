"""For those who guard privacy and those who run the page: the audit log, the data map, erasure, tokens; no texts."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, UsageError
from findback.model.record import Record
from findback.model.settings import RoleName
from findback.steps.erase import Erasure, ExcludeRequest, PurgeRequest, exclude, purge
from findback.web.access import ROLES
from findback.web.render import render_page
from findback.web.site import Site
from findback.workspace import PLACES

router = APIRouter(include_in_schema=False)

EVENTS = 100
NAMED = frozenset({"original", "token"})
"""Kinds of events whose doer stands in the log. Who reviewed what does not: it would add up to figures about people."""
DAYS = (7, 30, 90, 365)
"""How long a token may be good for."""
LONG = 20_000

Before = Annotated[
    Annotated[int, Field(ge=0, le=2**31 - 1)] | None, BeforeValidator(lambda value: None if value == "" else value)
]


class LogQuery(Record):
    """From where the log is read."""

    before: Before = None


class PersonForm(Record):
    """Whom or what a request is about; values are used and forgotten, never kept or logged."""

    csrf: str = ""
    person: Annotated[str, Field(max_length=LONG)] = ""
    """What a person is known by, one a line."""
    channel: Annotated[str, Field(max_length=LONG)] = ""
    """Channels as source:id, one a line."""
    rejected: str = ""
    sure: str = ""


class TokenForm(Record):
    """A token to be made."""

    csrf: str = ""
    name: Annotated[str, Field(max_length=200)] = ""
    scopes: Annotated[tuple[RoleName, ...], Field(max_length=10)] = ()
    days: Annotated[int, Field(ge=1, le=365)] = 30


class RevokeForm(Record):
    """Taking a token back."""

    csrf: str = ""


@router.get("/privacy")
def privacy(request: Request, asked: Annotated[LogQuery, Query()]) -> Response:
    """Show the audit log, what is kept where, and the forms to keep out and erase."""
    return _show(request, before=asked.before)


@router.post("/privacy/exclude")
def privacy_exclude(request: Request, form: Annotated[PersonForm, Form()]) -> Response:
    """Keep people or channels out from now on, past texts included."""
    site: Site = request.app.state.site
    asked = ExcludeRequest(person=_lines(form.person), channel=_lines(form.channel))
    try:
        done = exclude(site.workspace, asked)
    except UsageError as error:
        return _show(request, status=422, fault=error)
    return _show(request, done=done)


@router.post("/privacy/purge")
def privacy_purge(request: Request, form: Annotated[PersonForm, Form()]) -> Response:
    """Erase every text of people or channels, or all that was rejected, for good."""
    site: Site = request.app.state.site
    asked = PurgeRequest(person=_lines(form.person), channel=_lines(form.channel), rejected=form.rejected == "yes")
    try:
        _require(form.sure == "yes", "tick that it is erased for good")
        done = purge(site.workspace, asked)
    except UsageError as error:
        return _show(request, status=422, fault=error)
    return _show(request, done=done)


@router.get("/tokens")
def tokens(request: Request) -> Response:
    """List the tokens of programs."""
    return _show_tokens(request)


@router.post("/tokens")
def make_token(request: Request, form: Annotated[TokenForm, Form()]) -> Response:
    """Make a token and show it, this once. It can do no more than whoever makes it."""
    site: Site = request.app.state.site
    reviewer = request.state.visitor.reviewer
    try:
        _require(bool(form.scopes), "say what it may do: at least one role")
        _require(set(form.scopes) <= set(reviewer.roles), "a token can have no role that you do not have")
        _require(bool(form.name.strip()), "a token needs a name")
        now = site.now()
        made = site.bench.add_api_token(
            form.name.strip(),
            reviewer=reviewer.subject,
            scopes=form.scopes,
            now=now,
            until=now + timedelta(days=form.days),
        )
    except UsageError as error:
        return _show_tokens(request, status=422, fault=error)
    return _show_tokens(request, made=made)


@router.post("/tokens/{number}/revoke")
def revoke_token(
    request: Request, number: Annotated[int, Path(ge=1, le=2**31 - 1)], form: Annotated[RevokeForm, Form()]
) -> Response:
    """Make a token useless from now on."""
    site: Site = request.app.state.site
    site.bench.revoke_api_token(number, now=site.now())
    return RedirectResponse("/tokens", status_code=303)


def _show(
    request: Request,
    *,
    before: int | None = None,
    status: int = 200,
    fault: FindbackError | None = None,
    done: Erasure | None = None,
) -> Response:
    site: Site = request.app.state.site
    events = site.bench.newest_events(limit=EVENTS, before=before)
    return render_page(
        request,
        "privacy.html",
        status=status,
        events=[event._replace(reviewer=event.reviewer if event.kind in NAMED else None) for event in events],
        earlier=events[-1].number if len(events) == EVENTS else None,
        places=PLACES,
        private=site.workspace.private,
        evalset=site.workspace.evalset,
        fault=fault,
        done=done,
    )


def _show_tokens(
    request: Request, *, status: int = 200, fault: UsageError | None = None, made: str | None = None
) -> Response:
    site: Site = request.app.state.site
    return render_page(
        request,
        "tokens.html",
        status=status,
        tokens=site.bench.api_tokens(),
        now=site.now(),
        roles=[role for role in ROLES if role in request.state.visitor.reviewer.roles],
        days=DAYS,
        fault=fault,
        made=made,
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise UsageError(otherwise)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
