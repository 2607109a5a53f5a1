"""The queue, and the weekly half hour."""

from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from findback.model.case import WORDINGS, Origin
from findback.model.reviewer import Reviewer
from findback.steps.caselist import list_questioned
from findback.steps.review import list_queue, progress
from findback.steps.reviewqueue import queue_choices
from findback.steps.reviewweek import open_week
from findback.steps.weekpage import look_beside
from findback.web.authorise import Guarded
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.turns import (
    TO_DO,
    QueueQuery,
    look_back,
    next_of_week,
    parse_filters,
    read_filters,
    take_next,
    write_filters,
)
from findback.workbench.state import STATES

router = APIRouter(route_class=Guarded, include_in_schema=False)

AGES = {"": "any age", "7": "last 7 days", "30": "last 30 days", "-30": "older than 30 days"}
ANSWERS = ("one", "cross-doc", "no-answer", "later", "unrateable")


@router.get("/queue")
def queue(request: Request, asked: Annotated[QueueQuery, Query()]) -> Response:
    """Show what waits, by state, with filters."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    filters = read_filters(asked, site)
    page = list_queue(site.desk, reviewer, filters, limit=50, after=asked.after)
    found = queue_choices(site.desk, reviewer)
    here = write_filters(asked)
    return render_page(
        request,
        "queue.html",
        page=page,
        asked=asked,
        states=STATES,
        to_do=sum(page.counts[state] for state in TO_DO),
        progress=progress(site.desk, reviewer, now=site.now()),
        choices={
            "sources": sorted({*found.sources, *asked.sources}),
            "rules": sorted({*found.rules, *asked.rules}),
            "languages": sorted({*found.languages, *asked.languages}),
            "strata": ["failure", "control"],
            "origins": list(get_args(Origin)),
            "wordings": [*WORDINGS, *site.desk.settings.wordings],
            "answers": list(ANSWERS),
        },
        ages=AGES,
        link=lambda **changed: f"/queue?{write_filters(asked, **changed)}",
        here=here,
        filtered=bool(write_filters(asked, states=[], show="", after=0)),
        before=look_back(site, reviewer, asked.before, f"?{here}" if here else ""),
        leads="lead" in reviewer.roles,
        doubts=len(list_questioned(site.bench)) if "lead" in reviewer.roles else 0,
    )


@router.get("/week")
def week(
    request: Request,
    until: Annotated[str, Query(max_length=40)] = "",
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the half hour's stack, how much time is left, and at the end what came of it."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    now = site.now()
    return render_page(
        request,
        "week.html",
        week=open_week(site.desk, reviewer, until, now=now),
        before=look_back(site, reviewer, before, f"?{urlencode({'week': until})}" if until else ""),
        progress=progress(site.desk, reviewer, now=now),
        minutes=site.desk.settings.week_minutes,
        beside=look_beside(site.desk, reviewer, now=now),
    )


@router.post("/next", name="next_item")
def go_to_next(
    request: Request,
    back: Annotated[str, Form(max_length=4_000)] = "",
    after: Annotated[str, Form(max_length=100)] = "",
    week: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Go to the next candidate that waits, or back where none does."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    if week:
        return RedirectResponse(next_of_week(site, reviewer, week, after=after), status_code=303)
    asked = parse_filters(back)
    found = take_next(site, reviewer, asked, after=after or None)
    if found is None:
        return RedirectResponse(f"/queue?{write_filters(asked)}", status_code=303)
    query = write_filters(asked)
    return RedirectResponse(f"/items/{found}{'?' + query if query else ''}", status_code=303)
