"""The queue, and the weekly half hour."""

import re
from datetime import timedelta
from typing import Annotated
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import Field, ValidationError
from starlette.responses import RedirectResponse, Response

from findback.model.case import WORDINGS
from findback.model.reviewer import Reviewer
from findback.steps.caselist import list_questioned
from findback.steps.review import QueueFilters, list_queue, next_item, progress, reserve
from findback.steps.reviewqueue import queue_choices
from findback.steps.reviewweek import open_week
from findback.web.fields import Flag
from findback.web.render import render_page
from findback.web.site import Site
from findback.workbench.faults import ConflictError
from findback.workbench.state import STATES

router = APIRouter(include_in_schema=False)

AGES = {"": "any age", "7": "last 7 days", "30": "last 30 days", "-30": "older than 30 days"}
MOST_TRIES = 20
"""How often another candidate is looked for when somebody else took the one that was found."""
ANSWERS = ("one", "cross-doc", "no-answer", "later", "unrateable")


class QueueQuery(QueueFilters):
    """The filters of the queue as an address carries them."""

    age: str = ""
    """Days since it was stored; negative for older."""
    suggestions: Flag = None
    disagreement: Flag = None
    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


@router.get("/queue")
def queue(request: Request, asked: Annotated[QueueQuery, Query()]) -> Response:
    """Show what waits, by state, with filters."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    filters = read_filters(asked, site)
    page = list_queue(site.desk, reviewer, filters, limit=50, after=asked.after)
    found = queue_choices(site.desk, reviewer)
    return render_page(
        request,
        "queue.html",
        page=page,
        asked=asked,
        states=STATES,
        progress=progress(site.desk, reviewer, now=site.now()),
        choices={
            "sources": sorted({*found.sources, *asked.sources}),
            "rules": sorted({*found.rules, *asked.rules}),
            "languages": sorted({*found.languages, *asked.languages}),
            "strata": ["failure", "control"],
            "wordings": [*WORDINGS, *site.desk.settings.wordings],
            "answers": list(ANSWERS),
        },
        ages=AGES,
        link=lambda **changed: f"/queue?{address(asked, **changed)}",
        here=address(asked),
        leads="lead" in reviewer.roles,
        doubts=len(list_questioned(site.bench)) if "lead" in reviewer.roles else 0,
    )


@router.get("/week")
def week(request: Request, until: Annotated[str, Query(max_length=40)] = "") -> Response:
    """Show the half hour's stack, how much time is left, and at the end what came of it."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    now = site.now()
    return render_page(
        request,
        "week.html",
        week=open_week(site.desk, reviewer, until, now=now),
        progress=progress(site.desk, reviewer, now=now),
        minutes=site.desk.settings.week_minutes,
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
        return RedirectResponse(f"/queue?{address(asked)}", status_code=303)
    query = address(asked)
    return RedirectResponse(f"/items/{found}{'?' + query if query else ''}", status_code=303)


def take_next(site: Site, reviewer: Reviewer, asked: QueueQuery, *, after: str | None) -> str | None:
    """Return the next candidate that waits, kept for the reviewer from now on; None where none waits."""
    filters, now = read_filters(asked, site), site.now()
    found = next_item(site.desk, reviewer, filters, now=now, after=after)
    for _ in range(MOST_TRIES):
        if found is None:
            return None
        try:
            reserve(site.desk, reviewer, found, now=now)
        except ConflictError:
            # Somebody asked at the same moment and was faster.
            found = next_item(site.desk, reviewer, filters, now=now, after=after)
        else:
            break
    return found


def next_of_week(site: Site, reviewer: Reviewer, ends: str, *, after: str) -> str:
    """Return the address of the sitting's next candidate, kept for the reviewer; its summary when nothing is left."""
    now = site.now()
    sitting = open_week(site.desk, reviewer, ends, now=now)
    summary = f"/week?{urlencode({'until': ends})}"
    if sitting.over:
        return summary
    for row in sitting.stack:
        if row.key == after:
            continue
        try:
            reserve(site.desk, reviewer, row.key, now=now)
        except ConflictError:
            continue
        return f"/items/{row.key}?{urlencode({'week': ends})}"
    return summary


def read_filters(asked: QueueQuery, site: Site) -> QueueFilters:
    """Return the filters that an address means today."""
    values = asked.model_dump(exclude={"age", "after"})
    days = int(asked.age) if re.fullmatch("-?[0-9]{1,4}", asked.age) else 0
    if days > 0:
        values["stored_since"] = site.now() - timedelta(days=days)
    elif days < 0:
        values["stored_before"] = site.now() + timedelta(days=days)
    return QueueFilters(**values)


def address(asked: QueueQuery, **changed: object) -> str:
    """Return the filters as the query of an address."""
    values = {**asked.model_dump(mode="json", exclude_defaults=True), **changed}
    words = {True: "yes", False: "no"}
    listed = [(name, value if isinstance(value, list | tuple) else [value]) for name, value in values.items()]
    return urlencode(
        [
            (name, words[one] if isinstance(one, bool) else str(one))
            for name, value in listed
            for one in value
            if isinstance(one, bool) or one not in (None, "", 0)
        ]
    )


def parse_filters(query: str) -> QueueQuery:
    """Return the filters of an address' query; what makes no sense is left out."""
    values: dict[str, object] = {}
    for name, found in parse_qs(query, max_num_fields=100).items():
        many = name in ("states", "sources", "rules", "wordings", "answers", "languages", "strata", "origins")
        if name in QueueQuery.model_fields:
            values[name] = tuple(found) if many else found[0]
    try:
        return QueueQuery.model_validate(values)
    except ValidationError:
        return QueueQuery()
