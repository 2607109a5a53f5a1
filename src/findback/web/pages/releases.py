"""The releases of the set: what each holds, what changed between two, and making the next."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import RedirectResponse, Response

from findback.errors import UsageError
from findback.evalset.releasediff import CHANGES
from findback.model.record import Record
from findback.steps.casediff import diff_cases
from findback.steps.release import ReleaseRequest
from findback.steps.releases import DiffRequest, list_releases
from findback.web.authorise import Guarded
from findback.web.jobs import add_job, newest_result
from findback.web.render import render_page
from findback.web.site import Site
from findback.workbench.listing import CandidateFilters

router = APIRouter(route_class=Guarded, include_in_schema=False)

Number = Annotated[
    Annotated[int, Field(ge=1, le=1_000_000)] | None, BeforeValidator(lambda value: None if value == "" else value)
]


class DiffQuery(Record):
    """Which two releases; the head stands for the later one when it is left out."""

    before: Number = None
    after: Number = None


class ReleaseForm(Record):
    """A release as a lead asks for it."""

    csrf: str = ""
    do: Annotated[str, Field(pattern="^(release|look)$")]
    message: Annotated[str, Field(max_length=2_000)] = ""


class DiffForm(DiffQuery):
    """Two releases whose scores are to be compared."""

    csrf: str = ""


@router.get("/releases")
def releases(request: Request) -> Response:
    """List the releases, and what the next one would bring."""
    return _show(request)


@router.post("/releases")
def make_release(request: Request, form: Annotated[ReleaseForm, Form()]) -> Response:
    """Start a release, or a look at what one would hold and what stands in its way."""
    site: Site = request.app.state.site
    if not form.message.strip() and form.do == "release":
        return _show(request, status=422, fault=UsageError("say what is to be said about this release"))
    asked = ReleaseRequest(message=form.message.strip() or "(a look)", dry_run=form.do == "look")
    reviewer = request.state.visitor.reviewer
    number = add_job(site, request.app.state.worker, "release", asked, reviewer=reviewer.subject)
    return RedirectResponse(f"/jobs/{number}", status_code=303)


@router.get("/releases/diff")
def release_diff(request: Request, asked: Annotated[DiffQuery, Query()]) -> Response:
    """Say which cases differ between two releases."""
    site: Site = request.app.state.site
    found = diff_cases(site.workspace, DiffRequest(before=asked.before, after=asked.after))
    listed = list_releases(site.workspace)
    return render_page(
        request,
        "diff.html",
        found=found,
        kinds=[kind for kind in CHANGES if getattr(found.diff, kind)],
        numbers=[one.manifest.number for one in listed.releases],
    )


@router.post("/releases/diff")
def start_diff(request: Request, form: Annotated[DiffForm, Form()]) -> Response:
    """Start to score the kept runs on both releases."""
    site: Site = request.app.state.site
    asked = DiffRequest(before=form.before, after=form.after)
    number = add_job(site, request.app.state.worker, "diff", asked, reviewer=request.state.visitor.reviewer.subject)
    return RedirectResponse(f"/jobs/{number}", status_code=303)


def _show(request: Request, *, status: int = 200, fault: UsageError | None = None) -> Response:
    site: Site = request.app.state.site
    leads = request.state.visitor.may("make_release")
    listed = list_releases(site.workspace)
    last = newest_result(site, "release") if leads else None
    return render_page(
        request,
        "releases.html",
        status=status,
        listed=listed,
        kinds=CHANGES,
        ready=site.bench.count(CandidateFilters(states=("ready",)))["ready"] if leads else 0,
        last=last,
        running=[job for job in site.bench.jobs(limit=20) if job.kind == "release" and job.ended_at is None],
        fault=fault,
    )
