"""The words behind a placeholder: asked for with a reason, read again, shown once."""

import secrets
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, MissingError, RefusedError, UsageError
from findback.model.reviewer import Reviewer
from findback.steps.review import open_item
from findback.steps.revieworiginal import ask_original, note_shown
from findback.web.authorise import Guarded
from findback.web.itemform import ItemForm, place_of
from findback.web.jobs import Worker, read_result
from findback.web.pages.jobs import REFRESH
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.turns import rest_of_query
from findback.web.work import Failure, OriginalRequest
from findback.workbench.jobs import OVER, Job

router = APIRouter(route_class=Guarded, include_in_schema=False)

GONE = MissingError(
    "the words are not here any more", hint="they are shown once, by the server that read them: ask for them again"
)


@router.post("/items/{key}/original")
def show_original(request: Request, key: str, form: Annotated[ItemForm, Form()]) -> Response:
    """Begin to read the words behind a placeholder, or stop it; that they were asked for is logged with the reason."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    if form.do == "cancel":
        job = _find(site, reviewer, form.job or 0)
        site.bench.cancel_job(job.number, now=site.now(), forget=True)
        return RedirectResponse(_back(request, key), status_code=303)
    try:
        at = place_of(form)
        ask_original(site.desk, reviewer, key, at, form.reason, now=site.now())
    except (MissingError, RefusedError, UsageError) as error:
        return _show(request, key, status=error.http_status, fault=error)
    worker: Worker = request.app.state.worker
    asked = OriginalRequest(key=key, place=at.place, position=at.position, start=at.start, end=at.end)
    number = worker.do_at_once("original", asked, reviewer=reviewer.subject)
    worker.wait_for(number)
    query = urlencode([*rest_of_query(request), ("job", str(number))])
    return RedirectResponse(f"/items/{quote(key)}/original?{query}", status_code=303)


@router.get("/items/{key}/original")
def original(request: Request, key: str, job: Annotated[int, Query(ge=1, le=2**31 - 1)]) -> Response:
    """Show the words this once, or how far reading them has come."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    found = _find(site, reviewer, job)
    if found.state not in OVER:
        return _show(request, key, job=found)
    if found.state == "cancelled":
        return _show(request, key, fault=UsageError("it was cancelled, and nothing was shown"))
    if found.state == "failed":
        result = read_result(site, found)
        said = result if isinstance(result, Failure) else Failure(message="the words could not be read")
        return _show(request, key, status=404, fault=MissingError(said.message, hint=said.hint))
    held = site.originals.show(job, reviewer.subject, key, now=site.now())
    if held is None:
        return _show(request, key, status=404, fault=GONE)
    note_shown(site.desk, reviewer, key, now=site.now())
    return _show(request, key, words=held.words, job=found)


def _show(
    request: Request,
    key: str,
    *,
    status: int = 200,
    fault: FindbackError | None = None,
    words: str | None = None,
    job: Job | None = None,
) -> Response:
    site: Site = request.app.state.site
    return render_page(
        request,
        "original.html",
        status=status,
        item=open_item(site.desk, request.state.visitor.reviewer, key, now=site.now()),
        words=words,
        fault=fault,
        job=job,
        refresh=REFRESH if job is not None and job.state not in OVER else None,
        here=_back(request, key),
        request_id=secrets.token_urlsafe(9),
    )


def _find(site: Site, reviewer: Reviewer, number: int) -> Job:
    """Return a job that reads an original; others' do not exist for anybody.

    Raises:
        MissingError: If it is none of theirs.
    """
    found = site.bench.job(number)
    if found.kind != "original" or found.reviewer != reviewer.subject:
        raise MissingError(f"there is no job {number}")
    return found


def _back(request: Request, key: str) -> str:
    rest = urlencode(rest_of_query(request))
    return f"/items/{quote(key)}{'?' + rest if rest else ''}"
