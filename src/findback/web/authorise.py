"""Who asks, and whether they may: runs before every route."""

import hmac
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple
from urllib.parse import quote

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from findback.steps.review import Reviewer
from findback.web.access import FROM_ELSEWHERE, MANY_ASK, is_open, may
from findback.web.faults import StaleFormError, wants_page
from findback.web.limits import ENTRIES, READS, WRITES, Limits
from findback.web.sessions import find_bearer, find_session
from findback.web.site import Site

SAFE = frozenset({"GET", "HEAD"})


class Visitor(NamedTuple):
    """Somebody who is logged in."""

    reviewer: Reviewer
    csrf: str | None
    """What their forms must carry; None for programs with a token, which browsers cannot be made to send."""

    def may(self, route: str) -> bool:
        """Return whether they may use a route."""
        return may(self.reviewer.roles, route)


class Guarded(APIRoute):
    """A route that looks who asks before it reads what they send."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def look_and_answer(request: Request) -> Response:
            await authorise(request)
            return await answer(request)

        return look_and_answer


async def authorise(request: Request) -> None:
    """Let a request through or refuse it; what it finds out is in `request.state`.

    Raises:
        HTTPException: 401 without a login, 403 without the role or the CSRF token, 429 when too often.
    """
    site: Site = request.app.state.site
    limits: Limits = request.app.state.limits
    route = request.scope["route"].name
    if route in FROM_ELSEWHERE:
        # Whoever sends it is nobody here, logged in or not: the route asks for its token and counts by itself.
        request.state.visitor, request.state.csrf = None, ""
        return
    visitor = await recognise(request, site)
    request.state.visitor = visitor
    request.state.csrf = visitor.csrf if visitor is not None else ""
    who = visitor.reviewer.subject if visitor is not None else f"@{request.client.host if request.client else '?'}"
    asked = READS if request.method in SAFE else WRITES
    if not limits.allow(ENTRIES if visitor is None and route not in MANY_ASK else asked, who):
        raise HTTPException(429, "too many requests", headers={"Retry-After": "60"})
    if request.method not in SAFE:
        _refuse_foreign(request, site)
    if not is_open(route):
        if visitor is None:
            raise _ask_to_log_in(request, site)
        if not visitor.may(route):
            raise HTTPException(403, "your roles do not allow this")
    if request.method not in SAFE and visitor is not None and visitor.csrf is not None:
        # Kept whole, so that the route can read it once more, whatever kind it says it is.
        await request.body()
        form = await request.form()
        given = request.headers.get("x-csrf-token") or str(form.get("csrf", ""))
        # A form may claim an encoding in which it holds what is no text.
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), visitor.csrf.encode()):
            texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
            raise StaleFormError([pair for pair in texts if pair[0] != "csrf"])


def require_login(request: Request) -> None:
    """Refuse a stranger on an open route, where the page has a login.

    Raises:
        HTTPException: 401, or the way to the login.
    """
    site: Site = request.app.state.site
    if not site.local and request.state.visitor is None:
        raise _ask_to_log_in(request, site)


async def recognise(request: Request, site: Site) -> Visitor | None:
    """Return who asks: by API token, else by session cookie; None for a stranger."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        reviewer = await run_in_threadpool(find_bearer, site, token.strip())
        return Visitor(reviewer, None) if reviewer is not None else None
    cookie = request.cookies.get(site.cookie)
    found = await run_in_threadpool(find_session, site, cookie) if cookie else None
    if found is not None and cookie and not site.local:
        found = await request.app.state.claims.read_again(cookie, found)
    return Visitor(found.reviewer, found.csrf) if found is not None else None


def _refuse_foreign(request: Request, site: Site) -> None:
    """Refuse what another site's page sends."""
    if not is_from_here(request, site):
        raise HTTPException(403, "sent from another site")


def is_from_here(request: Request, site: Site) -> bool:
    """Return whether a request comes from a page of this site, or from no page at all."""
    origin = request.headers.get("origin")
    if origin is None or origin == "null":
        return origin is None and request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    # The host is checked already. The scheme is that of the page, whatever a proxy in front speaks with this server.
    scheme = site.base_url.partition("://")[0]
    return origin in (site.base_url, f"{scheme}://{request.headers.get('host', '')}")


def _ask_to_log_in(request: Request, site: Site) -> HTTPException:
    if site.local:
        return HTTPException(401, "open the link that findback review printed")
    if wants_page(request) and request.method in SAFE:
        there = quote(request.url.path, safe="/")
        return HTTPException(303, "log in", headers={"Location": f"/login?next={there}"})
    said = "log in first"
    if wants_page(request):
        said = "you are logged out, and nothing was saved: log in in another tab, then send this form again"
    return HTTPException(401, said, headers={"WWW-Authenticate": "Bearer"})
