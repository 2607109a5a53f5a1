"""Long work: how far it is, stopping it, doing it again."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from findback.errors import MissingError, UsageError
from findback.evalset.releasediff import CHANGES
from findback.web.authorise import Guarded
from findback.web.jobs import add_job, read_result
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.work import CANNOT_STOP, LABELS, PRIVATE, WORK, Failure
from findback.workbench.jobs import OVER, Job

router = APIRouter(route_class=Guarded, include_in_schema=False)

REFRESH = 3
"""Seconds after which the page of a job that is not over loads itself again."""
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("/jobs")
def jobs(request: Request) -> Response:
    """List one's own jobs; a lead sees everybody's, without names."""
    site: Site = request.app.state.site
    own = None if _leads(request) else request.state.visitor.reviewer.subject
    listed = [job for job in site.bench.jobs(reviewer=own, limit=200) if job.kind not in PRIVATE][:50]
    waits = any(job.ended_at is None for job in listed)
    return render_page(request, "jobs.html", jobs=listed, labels=LABELS, refresh=REFRESH if waits else None)


@router.get("/jobs/{number}")
def job(request: Request, number: Number) -> Response:
    """Show how far a job is, or what it gave."""
    site: Site = request.app.state.site
    found = _find(request, number)
    result = read_result(site, found) if found.state in OVER else None
    diff = getattr(result, "diff", None)
    return render_page(
        request,
        "job.html",
        job=found,
        label=LABELS.get(found.kind, found.kind),
        result=result,
        failed=result if isinstance(result, Failure) else None,
        over=found.state in OVER,
        stoppable=found.kind not in CANNOT_STOP or found.state == "waiting",
        known=found.kind in WORK,
        kinds=[kind for kind in CHANGES if getattr(diff, kind, ())],
        refresh=None if found.state in OVER else REFRESH,
    )


@router.post("/jobs/{number}/cancel")
def cancel_job(request: Request, number: Number) -> Response:
    """Ask a job to stop."""
    site: Site = request.app.state.site
    found = _find(request, number)
    if found.kind in CANNOT_STOP and found.state == "running":
        raise UsageError("it runs to its end once it began", hint="what it wrote can be looked at then")
    site.bench.cancel_job(number, now=site.now())
    return RedirectResponse(f"/jobs/{number}", status_code=303)


@router.post("/jobs/{number}/again")
def repeat_job(request: Request, number: Number) -> Response:
    """Do a job again that is over."""
    site: Site = request.app.state.site
    found = _find(request, number)
    if found.state not in OVER or found.kind not in WORK:
        raise UsageError("it is not over yet")
    again = WORK[found.kind][0].model_validate(found.request)
    new = add_job(site, request.app.state.worker, found.kind, again, reviewer=request.state.visitor.reviewer.subject)  # type: ignore[arg-type]
    return RedirectResponse(f"/jobs/{new}", status_code=303)


def _find(request: Request, number: int) -> Job:
    site: Site = request.app.state.site
    found: Job = site.bench.job(number)
    if found.kind in PRIVATE or (found.reviewer != request.state.visitor.reviewer.subject and not _leads(request)):
        raise MissingError(f"there is no job {number}")
    return found


def _leads(request: Request) -> bool:
    return "lead" in request.state.visitor.reviewer.roles
