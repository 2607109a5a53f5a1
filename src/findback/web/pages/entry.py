"""Coming in and going out: the one-time link of local mode, the provider of a team."""

from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from findback.errors import UsageError
from findback.web.authorise import Guarded
from findback.web.oidc import Provider, local_path, roles_of
from findback.web.render import render_page
from findback.web.sessions import end_session, local_visitor, start_session
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)


@router.get("/")
def home(request: Request) -> RedirectResponse:
    """Send everybody to the page their roles begin with."""
    visitor = request.state.visitor
    for route, address in (("queue", "/queue"), ("cases", "/cases"), ("privacy", "/privacy"), ("tokens", "/tokens")):
        if visitor.may(route):
            return RedirectResponse(address, status_code=303)
    raise HTTPException(403, "no role is given to your groups yet; ask whoever runs this page")


@router.get("/enter")
def enter(request: Request, token: str = "") -> Response:
    """Exchange the one-time link for a cookie, so that the token is gone from the address."""
    site: Site = request.app.state.site
    if not site.local:
        return RedirectResponse("/login", status_code=303)
    if not request.app.state.entries.use(token):
        raise HTTPException(401, "this link was used already; findback review prints a new one")
    return _let_in(request, start_session(site, local_visitor()), "/")


@router.get("/login")
async def login(request: Request, next: str = "/") -> Response:  # noqa: A002  (the name the address has)
    """Send a stranger to the team's provider."""
    site: Site = request.app.state.site
    if site.local:
        return RedirectResponse("/", status_code=303)
    return await _provider(request).begin(request, local_path(next))


@router.get("/login/back")
async def login_back(request: Request) -> Response:
    """Take in who comes back from the provider."""
    site: Site = request.app.state.site
    if site.local:
        return RedirectResponse("/", status_code=303)
    claims, access, there = await _provider(request).finish(request)
    if not roles_of(site.serve, claims.groups):
        raise HTTPException(403, "none of your groups has a role here; ask whoever runs this page")
    token = start_session(site, claims)
    request.app.state.claims.keep(token, access)
    return _let_in(request, token, there)


@router.post("/logout")
def logout(request: Request) -> Response:
    """End the session."""
    site: Site = request.app.state.site
    token = request.cookies.get(site.cookie)
    if token:
        end_session(site, token)
    answer = render_page(request, "bye.html")
    answer.delete_cookie(site.cookie, path="/", secure=site.https, httponly=True, samesite="lax")
    return answer


def _let_in(request: Request, token: str, there: str) -> RedirectResponse:
    site: Site = request.app.state.site
    answer = RedirectResponse(quote(there, safe="/?=&%-._~"), status_code=303)
    # Lax, because the provider sends people here from its own site.
    answer.set_cookie(
        site.cookie, token, path="/", secure=site.https, httponly=True, samesite="strict" if site.local else "lax"
    )
    return answer


def _provider(request: Request) -> Provider:
    found: Provider | None = request.app.state.provider
    if found is None:
        raise UsageError("this page has no login", hint="set [serve.oidc] in findback.toml")
    return found
