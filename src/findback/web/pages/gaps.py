"""Gaps: the pages nobody has written."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError
from findback.model.gaps import Gaps
from findback.model.record import Record
from findback.reporting.gaps import name_theme, render_gaps, summarise
from findback.steps.gaps import list_gaps, with_nearest
from findback.web.authorise import Guarded
from findback.web.jobs import add_job, newest_result
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.work import NearestDocuments, NoRequest

router = APIRouter(route_class=Guarded, include_in_schema=False)

TYPES = {"md": "text/markdown; charset=utf-8", "csv": "text/csv; charset=utf-8"}


class GapsForm(Record):
    """Looking for the nearest documents."""

    csrf: str = ""


class FileQuery(Record):
    """Which file."""

    format: Literal["md", "csv"] = "md"


@router.get("/gaps")
def gaps(request: Request) -> Response:
    """Show what nothing answers, by theme."""
    found = _find(request)
    return render_page(
        request,
        "gaps.html",
        gaps=found,
        said=summarise(found),
        name=name_theme,
        searched=any(gap.nearest is not None for theme in found.themes for gap in theme.gaps),
    )


@router.get("/gaps/file")
def gaps_file(request: Request, asked: Annotated[FileQuery, Query()]) -> Response:
    """Return the list as a file to keep."""
    headers = {"Content-Disposition": f'attachment; filename="gaps.{asked.format}"'}
    return Response(render_gaps(_find(request), asked.format), media_type=TYPES[asked.format], headers=headers)


@router.post("/gaps")
def start_gaps(request: Request, form: Annotated[GapsForm, Form()]) -> Response:
    """Start to look for the documents that come nearest."""
    site: Site = request.app.state.site
    reviewer = request.state.visitor.reviewer
    number = add_job(site, request.app.state.worker, "gaps", NoRequest(), reviewer=reviewer.subject)
    return RedirectResponse(f"/jobs/{number}", status_code=303)


def _find(request: Request) -> Gaps:
    """Return the gaps, with the documents that were found for them last."""
    site: Site = request.app.state.site
    found = list_gaps(site.workspace)
    last = newest_result(site, "gaps")
    if last is None or not isinstance(last[1], NearestDocuments):
        return found
    try:
        documents = site.desk.documents
    except FindbackError:
        return found
    return found if documents is None else with_nearest(found, documents, last[1].nearest)
