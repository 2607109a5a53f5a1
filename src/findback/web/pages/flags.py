"""Flags from outside: the widget, what it sends, a plain form, and what came of a flag for whoever has its link."""

import hmac
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from findback.errors import FindbackError, MissingError
from findback.model.flag import LONGEST_NOTE, LONGEST_QUERY, FlagReceipt, FlagRequest, FlagSource, FlagStatus
from findback.model.record import Record
from findback.web.authorise import Guarded, is_from_here
from findback.web.render import render_page
from findback.web.site import Site

router = APIRouter(route_class=Guarded, include_in_schema=False)

ADDRESS = "/v1/flags"
TOKEN_HEADER = "x-findback-token"  # noqa: S105  (the name of a header)
HEADERS = ("content-type", TOKEN_HEADER)
"""Headers that a page of another site may send."""
MOST_BYTES = 64_000
"""Largest flag: its bounded texts with room for how JSON writes them."""
SCRIPT_SECONDS = 3_600

Status = Annotated[str, Path(min_length=1, max_length=100)]
_Given = Annotated[str, Field(max_length=20_000)]


class FlagAnswer(FlagReceipt):
    """What the widget gets back."""

    link: str
    """Address of the page that says what came of it."""


class FlagForm(Record):
    """What the form holds. Its texts are bounded as flags are when it becomes one.

    Forms of other sites may hold more, such as the name of a button; that is left out.
    """

    model_config = ConfigDict(extra="ignore")

    csrf: str = ""
    token: _Given = ""
    """Only from forms on other sites."""
    query: _Given = ""
    note: _Given = ""
    page: _Given = ""
    shown: Annotated[tuple[_Given, ...], Field(max_length=200)] = ()


class FormQuery(Record):
    """What a link to the form may fill in; what trackers of links add to it is left out."""

    model_config = ConfigDict(extra="ignore")

    q: _Given = ""
    page: _Given = ""


@router.get("/flag.js")
def flag_script(request: Request) -> Response:
    """Return the widget, which pages of other sites may load, and check by a digest of theirs."""
    headers = {
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Access-Control-Allow-Origin": "*",
        "Cache-Control": f"public, max-age={SCRIPT_SECONDS}",
    }
    script = files("findback.web").joinpath("static", "flag.js").read_bytes()
    return Response(script, headers=headers, media_type="text/javascript")


@router.post(ADDRESS)
async def make_flag(request: Request) -> Response:
    """Keep what a page or a program sends; nothing else can be done with its token."""
    site: Site = request.app.state.site
    origin = request.headers.get("origin")
    if origin is None and not is_from_here(request, site):
        raise HTTPException(403, "flags are not taken from this site")
    _require_token(site, request.headers.get(TOKEN_HEADER, ""))
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "a flag is sent as application/json")
    _take_turn(request, origin)
    flag = _read_flag(await _read_body(request))
    receipt = await run_in_threadpool(_keep, site, flag, "api" if origin is None else "widget")
    answer = FlagAnswer(**receipt.model_dump(), link=_link(site, receipt))
    return JSONResponse(answer.model_dump(), status_code=201)


@router.get(f"{ADDRESS}/{{status}}")
def flag_status(request: Request, status: Status) -> FlagStatus:
    """Say what came of a flag to whoever holds its link."""
    site: Site = request.app.state.site
    return site.flags.status(status)


@router.get("/flag")
def flag_form(request: Request, asked: Annotated[FormQuery, Query()]) -> Response:
    """Show the form."""
    site: Site = request.app.state.site
    _require_flags(site)
    return _show_form(request, FlagForm(query=asked.q, page=asked.page))


@router.post("/flag")
def send_flag(request: Request, form: Annotated[FlagForm, Form()]) -> Response:
    """Keep what the form holds, whether it stands here or on one of the sites named."""
    site: Site = request.app.state.site
    origin = request.headers.get("origin")
    here = is_from_here(request, site)
    if not here:
        if origin not in site.workspace.settings.flags.origins:
            raise HTTPException(403, "flags are not taken from this site")
        _require_token(site, form.token)
    _require_flags(site)
    try:
        flag = _flag_of(form)
        _take_turn(request, None if here else origin)
        receipt = _keep(site, flag, "form")
    except ValidationError:
        said = (
            f"Write what you looked for, in at most {LONGEST_QUERY:,} characters; the note may have {LONGEST_NOTE:,}."
        )
        return _show_form(request, form, said, status=422)
    except HTTPException as error:
        return _show_form(request, form, "Too many flags came in. Try again later.", error.status_code, error.headers)
    except FindbackError as error:
        return _show_form(request, form, error.message, error.http_status)
    return render_page(request, "flagged.html", receipt=receipt)


@router.get("/flag/{status}")
def flag_page(request: Request, status: Status) -> Response:
    """Say what came of a flag, on a page."""
    site: Site = request.app.state.site
    return render_page(request, "flag_status.html", found=site.flags.status(status))


def _require_flags(site: Site) -> str:
    token = site.workspace.settings.flags.token
    if token is None:
        raise MissingError("flags are not taken here", hint="[flags] token in findback.toml takes them; docs/flags.md")
    return token


def _require_token(site: Site, given: str) -> None:
    expected = _require_flags(site)
    if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode()):
        raise HTTPException(403, "this is not the token that flags are sent with")


def _take_turn(request: Request, origin: str | None) -> None:
    """Count a flag.

    Raises:
        HTTPException: 429 where too many came from there, or at all.
    """
    site: Site = request.app.state.site
    address = request.client.host if request.client is not None else "?"
    seconds = request.app.state.flag_limits.wait(address, origin, site.now())
    if seconds:
        raise HTTPException(429, "too many flags", headers={"Retry-After": str(seconds)})


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"a flag has at most {MOST_BYTES:,} bytes")
    return bytes(body)


def _read_flag(body: bytes) -> FlagRequest:
    try:
        return FlagRequest.model_validate_json(body, strict=True)
    except ValidationError as error:
        said = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in said]) from None


def _flag_of(form: FlagForm) -> FlagRequest:
    return FlagRequest(
        query=form.query,
        # Browsers write line breaks of a text field as two characters.
        note=form.note.replace("\r\n", "\n") or None,
        page=path_of(form.page),
        shown=tuple(one for one in form.shown if one)[:50],
    )


def path_of(page: str) -> str | None:
    """Return the path of a page's address as flags hold it; None where there is none that fits.

    >>> path_of("https://docs.example.org/vpn?user=7#top"), path_of("/vpn"), path_of("vpn")
    ('/vpn', '/vpn', None)
    """
    try:
        path = urlsplit(page).path
        return FlagRequest(query="-", page=path).page
    except ValueError:
        return None


def _keep(site: Site, flag: FlagRequest, via: FlagSource) -> FlagReceipt:
    return site.flags.flag(flag, via=via, now=site.now())


def _link(site: Site, receipt: FlagReceipt) -> str:
    return f"{site.base_url}/flag/{receipt.status}"


def _show_form(
    request: Request, form: FlagForm, fault: str | None = None, status: int = 200, headers: Any = None
) -> Response:
    site: Site = request.app.state.site
    answer = render_page(
        request,
        "flag.html",
        status=status,
        form=form,
        fault=fault,
        notice=site.workspace.settings.flags.notice,
        days=site.workspace.settings.retention.undecided,
        longest_query=LONGEST_QUERY,
        longest_note=LONGEST_NOTE,
    )
    answer.headers.update(headers or {})
    return answer
