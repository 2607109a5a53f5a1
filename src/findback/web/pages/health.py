"""Whether the page is up, and counts for whoever watches it."""

import hmac

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from findback.web.authorise import Guarded
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)

_FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
LOOPBACK = frozenset({"127.0.0.1", "::1"})


@router.get("/healthz")
def health(request: Request) -> PlainTextResponse:
    """Answer when the workbench answers."""
    site: Site = request.app.state.site
    site.bench.count()
    return PlainTextResponse("ok\n")


@router.get("/metrics")
def metrics(request: Request) -> PlainTextResponse:
    """Return counts in Prometheus' text format; from this machine, or with the token."""
    site: Site = request.app.state.site
    _require_token(request, site)
    lines = ["# TYPE findback_candidates gauge"]
    lines += [f'findback_candidates{{state="{state}"}} {count}' for state, count in site.bench.count().items()]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _require_token(request: Request, site: Site) -> None:
    expected = site.workspace.named_secret(site.serve.metrics_token)
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if expected:
        if hmac.compare_digest(given.encode(), expected.encode()):
            return
    elif request.client is not None and request.client.host in LOOPBACK and not _FORWARDED & set(request.headers):
        return
    raise HTTPException(403, "metrics need the token of serve.metrics_token, or this machine")
