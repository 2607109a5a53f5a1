"""How alike opinions are; nothing here is about one person, save to that person."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from findback.measure.rater_agreement import RaterAgreement
from findback.reporting.figures import NONE, figure, interval
from findback.steps.reviewagreement import Agreement, measure_agreement
from findback.text.safe import show_in_place
from findback.web.authorise import Guarded
from findback.web.render import render_page
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)


@router.get("/agreement")
def agreement(request: Request) -> Response:
    """Show agreement between people, between looks, and with resolvers."""
    site: Site = request.app.state.site
    found = measure_agreement(site.desk, request.state.visitor.reviewer)
    tables = [("Two people, who did not see each other's opinion", _rows(found.people))]
    if found.second_looks is not None:
        tables.append(("First and second look of the same person", _rows(found.second_looks)))
    tables.append(("Resolvers and first reviewers", [("whether a document answers it", found.resolver_answerable)]))
    return render_page(request, "agreement.html", found=found, tables=tables, say=say_kappa, share=say_share)


def say_kappa(rated: RaterAgreement) -> str:
    """Return kappa with its interval, or why there is none."""
    if rated.kappa is None:
        return f"{NONE} ({show_in_place(rated.reason)})" if rated.reason else NONE
    return f"{figure(rated.kappa)} {interval(rated.low, rated.high)}".strip()


def say_share(value: float | None) -> str:
    """Return a share, or a dash."""
    return NONE if value is None else figure(value)


def _rows(found: Agreement) -> list[tuple[str, RaterAgreement]]:
    return [
        ("whether a document answers it", found.answerable),
        ("which document answers best", found.top_gold),
        ("grades", found.grades),
    ]
