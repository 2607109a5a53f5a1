"""The application: middleware and routes, each behind the one place that decides who may use it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from urllib.parse import urlsplit

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.sessions import SessionMiddleware
from starlette.staticfiles import StaticFiles

from findback.web.access import ACCESS
from findback.web.authorise import Guarded
from findback.web.claims import ClaimsReader
from findback.web.crossorigin import CrossOrigin
from findback.web.entries import Entries
from findback.web.faults import LastResort, install_faults
from findback.web.flaglimits import FlagLimits
from findback.web.jobs import Worker
from findback.web.limits import Limits
from findback.web.log import RequestLog
from findback.web.oidc import Provider
from findback.web.pages import flags
from findback.web.security import BodyLimit, Headers, HostCheck, security_headers
from findback.web.site import Site

PAGES = (
    "health",
    "entry",
    "queue",
    "item",
    "originals",
    "cases",
    "scores",
    "gaps",
    "glossary",
    "releases",
    "agreement",
    "asks",
    "flags",
    "jobs",
    "admin",
    "api",
)
THREADS = 8
"""Requests worked on at once. More threads than that only take turns in the middle of each other's transactions, and
whoever is unlucky waits long."""
LOGIN_SECONDS = 600
"""How long a login at the provider may take."""


def create_app(site: Site) -> FastAPI:
    """Return the application of one site."""
    app = FastAPI(
        title="findback",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        separate_input_output_schemas=False,
        lifespan=_work,
    )
    app.state.site = site
    app.state.worker = Worker(site)
    app.state.limits = Limits()
    app.state.flag_limits = FlagLimits(site.workspace.settings.flags)
    app.state.entries = Entries(site.entry)
    app.state.provider = None if site.local else Provider(site)
    app.state.claims = None if site.local else ClaimsReader(site, app.state.provider)
    install_faults(app)
    for name in PAGES:
        router: APIRouter = import_module(f"findback.web.pages.{name}").router
        _refuse_unlisted(router)
        app.include_router(router)
    app.mount("/static", StaticFiles(packages=[("findback.web", "static")]), name="static")
    if not site.local:
        app.add_middleware(
            SessionMiddleware,
            secret_key=site.signing_key,
            session_cookie="__Host-findback-login" if site.https else "findback-login",
            max_age=LOGIN_SECONDS,
            same_site="lax",
            https_only=site.https,
        )
    app.add_middleware(BodyLimit)
    origins = site.workspace.settings.flags.origins
    app.add_middleware(CrossOrigin, path=flags.ADDRESS, origins=origins, headers=flags.HEADERS)
    host = urlsplit(site.base_url).hostname or "127.0.0.1"
    app.add_middleware(HostCheck, hosts=frozenset({host, "127.0.0.1", "localhost"}))
    app.add_middleware(LastResort)
    app.add_middleware(Headers, headers=security_headers(https=site.https))
    app.add_middleware(RequestLog)
    return app


@asynccontextmanager
async def _work(app: FastAPI) -> AsyncIterator[None]:
    """Do stored jobs as long as the server runs."""
    current_default_thread_limiter().total_tokens = THREADS
    worker: Worker = app.state.worker
    worker.start()
    site: Site = app.state.site
    if site.workspace.settings.flags.token is not None:
        site.flags.warm()
    yield
    await run_in_threadpool(worker.stop)


def _refuse_unlisted(router: APIRouter) -> None:
    """Stop at start where a route is in no row of the access table, or looks at none."""
    if not all(isinstance(route, Guarded) for route in router.routes):
        raise RuntimeError("a route does not look who asks")
    names = {str(getattr(route, "name", "")) for route in router.routes}
    if unlisted := names - set(ACCESS):
        raise RuntimeError(f"no role is named for {', '.join(sorted(unlisted))}")
