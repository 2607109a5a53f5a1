"""Errors as every route answers them: one JSON shape for programs, one page for people; never a private value."""

import inspect
import logging
from collections.abc import Sequence, Set
from functools import lru_cache

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from findback.errors import FindbackError
from findback.model.record import Record
from findback.web.render import render_page

LOG = logging.getLogger("findback.web")

_NAMES = {
    400: "bad-request",
    401: "login-needed",
    403: "not-allowed",
    404: "missing",
    405: "method",
    409: "conflict",
    413: "too-large",
    415: "media-type",
    422: "usage",
    429: "too-many",
}


class Problem(Record):
    """What an error looks like to a program."""

    code: str
    message: str
    hint: str | None = None


def refusal(status: int, code: str, message: str, hint: str | None = None) -> JSONResponse:
    """Return an error for a program."""
    return JSONResponse(Problem(code=code, message=message, hint=hint).model_dump(), status_code=status)


def wants_page(request: Request) -> bool:
    """Return whether whoever asks is a browser that wants a page."""
    return not request.url.path.startswith("/v1/") and "text/html" in request.headers.get("accept", "")


def answer_fault(request: Request, status: int, code: str, message: str, hint: str | None = None) -> Response:
    """Return an error in the shape the request asks for."""
    if not wants_page(request):
        return refusal(status, code, message, hint)
    return render_page(request, "fault.html", status=status, code=code, message=message, hint=hint)


class StaleFormError(HTTPException):
    """A form without the token of its session: the page may be from an earlier login."""

    def __init__(self, fields: Sequence[tuple[str, str]]) -> None:
        super().__init__(403, "the form is out of date: load the page again")
        self.fields = fields
        """What it holds, so that whoever filled it in can send it once more."""


def install_faults(app: FastAPI) -> None:
    """Make an application answer every error in the one shape."""

    @app.exception_handler(FindbackError)
    async def known(request: Request, error: FindbackError) -> Response:
        return answer_fault(request, error.http_status, error.code, error.message, error.hint)

    @app.exception_handler(StaleFormError)
    async def stale(request: Request, error: StaleFormError) -> Response:
        if not wants_page(request) or not error.fields:
            return answer_fault(request, error.status_code, _NAMES[403], str(error.detail))
        there = f"{request.url.path}{'?' + request.url.query if request.url.query else ''}"
        return render_page(request, "stale.html", status=error.status_code, fields=error.fields, there=there)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code < 400:
            return Response(status_code=error.status_code, headers=error.headers)
        code = _NAMES.get(error.status_code, "error")
        answer = answer_fault(request, error.status_code, code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # The place and the rule, never the value: it may be somebody's words, and so may the name of a field.
        known = _known_names() | set(inspect.signature(request.scope["route"].endpoint).parameters)
        said = [f"{_place(fault['loc'], known)}: {fault['msg']}" for fault in error.errors()[:20]]
        return answer_fault(request, 422, "usage", "; ".join(said)[:2_000])


class LastResort:
    """Answers where a route failed, and logs the kind and the place of the error: its words may be somebody's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = False

        async def watch(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:  # noqa: BLE001  (whatever it is, the server would log its words)
            LOG.error("internal error: %s at %s", type(error).__name__, _origin(error))  # noqa: TRY400
            if not answered:
                answer = answer_fault(Request(scope), 500, "internal", "findback failed here; the log names the place")
                await answer(scope, receive, send)


def _origin(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"


def _place(loc: Sequence[int | str], known: Set[str]) -> str:
    return ".".join(str(part) if isinstance(part, int) or part in known else "?" for part in loc[:6])


@lru_cache
def _known_names() -> frozenset[str]:
    """Return the names of all fields of all records, and the parts of a request."""
    names = {"body", "query", "path", "header", "cookie"}
    kinds: list[type[Record]] = [Record]
    while kinds:
        kind = kinds.pop()
        names |= kind.model_fields.keys()
        kinds += kind.__subclasses__()
    return frozenset(names)
