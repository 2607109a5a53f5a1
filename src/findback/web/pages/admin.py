"""For those who guard privacy and those who run the page: the audit log, the data map, erasure, tokens; no texts."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, MissingError, UsageError
from findback.model.record import Record
from findback.model.settings import RoleName
from findback.places import PLACES
from findback.steps.auditlog import NAMED
from findback.steps.erase import (
    Erasure,
    ErasureOrder,
    ExcludeRequest,
    PurgeRequest,
    order_exclusion,
    order_purge,
)
from findback.web.access import ROLES
from findback.web.authorise import Guarded
from findback.web.jobs import Worker, read_result
from findback.web.pages.jobs import REFRESH, Number
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.work import Failure
from findback.workbench.jobs import OVER, Job

router = APIRouter(route_class=Guarded, include_in_schema=False)

EVENTS = 100
DAYS = (7, 30, 90, 365)
"""How long a token may be good for."""
LONG = 20_000

Before = Annotated[
    Annotated[int, Field(ge=0, le=2**31 - 1)] | None, BeforeValidator(lambda value: None if value == "" else value)
]


class LogQuery(Record):
    """From where the log is read, and which erasure is looked at."""

    before: Before = None
    job: Annotated[int | None, Field(ge=1, le=2**31 - 1)] = None


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
    """Show the audit log, what is kept where, the forms to keep out and erase, and how far that is."""
    return _show(request, before=asked.before, number=asked.job)


@router.post("/privacy/exclude")
def privacy_exclude(request: Request, form: Annotated[PersonForm, Form()]) -> Response:
    """Keep people or channels out from now on, past texts included."""
    site: Site = request.app.state.site
    asked = ExcludeRequest(person=_lines(form.person), channel=_lines(form.channel))
    try:
        return _begin(request, order_exclusion(site.bench, site.desk.key, asked))
    except UsageError as error:
        return _show(request, status=422, fault=error)


@router.post("/privacy/purge")
def privacy_purge(request: Request, form: Annotated[PersonForm, Form()]) -> Response:
    """Erase every text of people or channels, or all that was rejected, for good."""
    site: Site = request.app.state.site
    asked = PurgeRequest(person=_lines(form.person), channel=_lines(form.channel), rejected=form.rejected == "yes")
    try:
        _require(form.sure == "yes", "tick that it is erased for good")
        return _begin(request, order_purge(site.bench, site.desk.key, asked))
    except UsageError as error:
        return _show(request, status=422, fault=error)


@router.post("/privacy/jobs/{number}/cancel")
def cancel_erasure(request: Request, number: Number) -> Response:
    """Stop an erasure that has not begun."""
    site: Site = request.app.state.site
    found = _find(request, number)
    if found.state not in ("waiting", *OVER):
        raise UsageError("it runs to its end once it began", hint="half an erasure would be none")
    site.bench.cancel_job(number, now=site.now(), forget=True)
    return RedirectResponse(f"/privacy?job={number}", status_code=303)


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
def revoke_token(request: Request, number: Number, form: Annotated[RevokeForm, Form()]) -> Response:
    """Make a token useless from now on."""
    site: Site = request.app.state.site
    site.bench.revoke_api_token(number, now=site.now())
    return RedirectResponse("/tokens", status_code=303)


def _begin(request: Request, order: ErasureOrder) -> Response:
    """Begin to erase or keep out, and show what came of it, or how far it is."""
    worker: Worker = request.app.state.worker
    number = worker.do_at_once("erase", order, reviewer=request.state.visitor.reviewer.subject)
    worker.wait_for(number)
    return RedirectResponse(f"/privacy?job={number}", status_code=303)


def _find(request: Request, number: int | None) -> Job:
    """Return an erasure that somebody began.

    Raises:
        MissingError: If it is none of theirs.
    """
    site: Site = request.app.state.site
    found = site.bench.job(number or 0)
    if found.kind != "erase" or found.reviewer != request.state.visitor.reviewer.subject:
        raise MissingError(f"there is no job {number}")
    return found


def _under_way(request: Request) -> Job | None:
    """Return the newest erasure that somebody began and that is not over."""
    site: Site = request.app.state.site
    own = site.bench.jobs(reviewer=request.state.visitor.reviewer.subject, limit=200)
    return next((job for job in own if job.kind == "erase" and job.state not in OVER), None)


def _show(
    request: Request,
    *,
    before: int | None = None,
    number: int | None = None,
    status: int = 200,
    fault: FindbackError | None = None,
) -> Response:
    site: Site = request.app.state.site
    events = site.bench.newest_events(limit=EVENTS, before=before)
    job = _find(request, number) if number is not None else _under_way(request)
    result = read_result(site, job) if job is not None and job.state in OVER else None
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
        job=job,
        done=result if isinstance(result, Erasure) else None,
        failed=result if isinstance(result, Failure) else None,
        refresh=REFRESH if job is not None and job.state not in OVER else None,
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
