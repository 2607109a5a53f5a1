"""Scores over time, what was missed, and the report of an evaluation."""

from functools import lru_cache
from typing import Annotated, get_args

from fastapi import APIRouter, Form, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from findback.errors import FindbackError, MissingError
from findback.model.evaluation import Evaluation, MissClass
from findback.model.record import Record
from findback.reporting.blocks import Chart
from findback.steps.caselist import open_head
from findback.steps.evaluate import EvaluateRequest
from findback.steps.scoreboard import (
    ScorePoint,
    find_evaluation,
    list_misses,
    list_scores,
    release_of,
    render_evaluation,
)
from findback.steps.scorechart import draw_scores
from findback.web.authorise import Guarded
from findback.web.jobs import add_job
from findback.web.render import render_page
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)

AXES = ("stratum", "wording", "answer", "origin", "language")
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
MOST_MISSES = 100
DARK = {
    "#24292e": "#a8b0b8", "#d9d9da": "#2d333a", "#0072b2": "#5db3e6", "#d55e00": "#ff9d75", "#009e73": "#57d3aa",
    "#aa4499": "#e28fd3", "#8a6d00": "#d8b84a", "#2f4b7c": "#9db4e0", "#7a5195": "#c3a1dc", "#5f6b6d": "#aab4b6",
}  # fmt: skip
"""What each colour of a chart becomes on a dark page."""


class MissQuery(Record):
    """Which misses."""

    evaluation: Annotated[str, Field(max_length=40)]
    retriever: Annotated[str, Field(max_length=200)] = ""
    kind: Annotated[str, Field(max_length=40)] = ""
    after: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class ScoringForm(Record):
    """Scoring the newest release."""

    csrf: str = ""


class EvaluationQuery(Record):
    """Which evaluation; the newest when left out."""

    evaluation: Annotated[str, Field(max_length=40)] = ""


@router.get("/scores")
def scores(request: Request, asked: Annotated[EvaluationQuery, Query()]) -> Response:
    """Show each search system's scores over time, and by type in one evaluation."""
    site: Site = request.app.state.site
    board = list_scores(site.workspace)
    chosen = asked.evaluation or (board.evaluations[0] if board.evaluations else "")
    evaluation = find_evaluation(site.workspace, chosen) if chosen else None
    chart = _chart(board.points)
    return render_page(
        request,
        "scores.html",
        board=board,
        chosen=chosen,
        evaluation=evaluation,
        release=release_of(evaluation.set.heading) if evaluation is not None else None,
        tables=_tables(evaluation) if evaluation is not None else [],
        chart=chart if isinstance(chart, Chart) else None,
        chart_note=chart if isinstance(chart, str) else None,
    )


@router.get("/scores/chart.svg")
def score_chart(request: Request) -> Response:
    """Draw the scores over time."""
    site: Site = request.app.state.site
    chart = _chart(list_scores(site.workspace).points)
    if not isinstance(chart, Chart):
        raise MissingError("there is nothing to draw")
    headers = {"Content-Security-Policy": PICTURE_POLICY}
    return Response(picture(chart.svg), media_type="image/svg+xml", headers=headers)


@router.get("/scores/misses")
def misses(request: Request, asked: Annotated[MissQuery, Query()]) -> Response:
    """Show what search systems missed, one by one, with what they returned instead."""
    site: Site = request.app.state.site
    evaluation = find_evaluation(site.workspace, asked.evaluation)
    listed = [one for one in list_misses(evaluation, asked.retriever or None) if asked.kind in ("", one.miss.kind)]
    return render_page(
        request,
        "misses.html",
        evaluation=evaluation,
        asked=asked,
        misses=listed[asked.after : asked.after + MOST_MISSES],
        total=len(listed),
        further=asked.after + MOST_MISSES if len(listed) > asked.after + MOST_MISSES else None,
        retrievers=[one.name for one in evaluation.retrievers],
        kinds=get_args(MissClass),
        golds=_golds(site),
    )


@router.get("/scores/report")
def score_report(request: Request, asked: Annotated[EvaluationQuery, Query()]) -> Response:
    """Show the report of an evaluation: a page of its own, in which nothing can run."""
    site: Site = request.app.state.site
    chosen = asked.evaluation or next(iter(list_scores(site.workspace).evaluations), "")
    page = render_evaluation(site.workspace, chosen)
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


@router.post("/scores")
def start_scoring(request: Request, form: Annotated[ScoringForm, Form()]) -> Response:
    """Start to score every search system of findback.toml on the newest release."""
    site: Site = request.app.state.site
    reviewer = request.state.visitor.reviewer
    number = add_job(site, request.app.state.worker, "evaluate", EvaluateRequest(), reviewer=reviewer.subject)
    return RedirectResponse(f"/jobs/{number}", status_code=303)


def picture(svg: str) -> str:
    """Return a chart as a picture of its own, with colours for light and dark.

    >>> picture('<svg width="1"></svg>').startswith('<svg xmlns="http://www.w3.org/2000/svg" width="1"><style>')
    True
    """
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )
    head, body = svg.replace("<svg", f"<svg {NAMESPACE}", 1).split(">", 1)
    return f"{head}><style>@media (prefers-color-scheme:dark){{{rules}}}</style>{body}"


def _chart(points: tuple[ScorePoint, ...]) -> Chart | str | None:
    return _drawn(points) if len({point.evaluation for point in points}) > 1 else None


@lru_cache(maxsize=2)
def _drawn(points: tuple[ScorePoint, ...]) -> Chart | str | None:
    return draw_scores(points)


def _tables(evaluation: Evaluation) -> list[tuple[str, list[str], list[tuple[str, list[object]]]]]:
    """Return a table for each axis: its values down, search systems across, the primary metric in the cells."""
    tables = []
    for axis in AXES:
        groups = {
            (one.name, group.value): group
            for one in evaluation.retrievers
            for group in one.groups
            if group.axis == axis
        }
        values = list(dict.fromkeys(value for _, value in groups))
        if not values:
            continue
        names = [one.name for one in evaluation.retrievers]
        rows: list[tuple[str, list[object]]] = []
        for value in values:
            cells: list[object] = []
            for name in names:
                group = groups.get((name, value))
                found = [score for score in group.scores if score.metric == evaluation.primary] if group else []
                cells.append(found[0].estimate if found else None)
            rows.append((value, cells))
        tables.append((axis, names, rows))
    return tables


def _golds(site: Site) -> dict[str, frozenset[str]]:
    """Return what answers each case of the set that is still asked; nothing where the set cannot be read."""
    try:
        active = [one for one in open_head(site.workspace).cases if one.status == "active"]
    except FindbackError:
        return {}
    return {one.id: frozenset(judgement.doc for judgement in one.gold) for one in active}
