"""What every response says to the browser, and what every request must be before it is looked at."""

from contextlib import suppress
from urllib.parse import urlsplit

from secure import (
    ContentSecurityPolicy,
    CrossOriginOpenerPolicy,
    CrossOriginResourcePolicy,
    CustomHeader,
    PermissionsPolicy,
    ReferrerPolicy,
    Secure,
    StrictTransportSecurity,
    XContentTypeOptions,
    XFrameOptions,
)
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from findback.web.faults import answer_fault

MOST_BYTES = 1_000_000
"""Largest body of a request."""
_NONE = "'none'"
_SELF = "'self'"
_FEATURES = ("camera", "geolocation", "microphone", "payment", "usb")


def security_headers(*, https: bool) -> Secure:
    """Return the headers of every response: nothing from elsewhere, no inline code, no frame, no cache."""
    policy = (
        ContentSecurityPolicy()
        .default_src(_NONE)
        .script_src(_SELF)
        .style_src(_SELF)
        .img_src(_SELF)
        .connect_src(_SELF)
        .form_action(_SELF)
        .base_uri(_NONE)
        .frame_ancestors(_NONE)
    )
    permissions = PermissionsPolicy()
    for feature in _FEATURES:
        permissions = permissions.add_directive(feature, "()")
    return Secure(
        csp=policy,
        coop=CrossOriginOpenerPolicy().same_origin(),
        corp=CrossOriginResourcePolicy().same_origin(),
        # A year is what browsers ask for; only where the page itself came over TLS.
        hsts=StrictTransportSecurity().max_age(31_536_000) if https else None,
        permissions=permissions,
        referrer=ReferrerPolicy().same_origin(),
        xcto=XContentTypeOptions().nosniff(),
        xfo=XFrameOptions().deny(),
        custom=[CustomHeader("X-Robots-Tag", "noindex")],
    )


class Headers:
    """Adds the security headers, and `no-store` to everything but the static files."""

    def __init__(self, app: ASGIApp, headers: Secure) -> None:
        self._app = app
        self._pairs = [(name.lower().encode(), value.encode()) for name, value in headers.headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                pairs = [pair for pair in self._pairs if pair[0] not in given]
                if b"cache-control" not in given:
                    kept = scope["path"].startswith("/static/")
                    pairs.append((b"cache-control", b"no-cache" if kept else b"no-store"))
                message["headers"] = [*message["headers"], *pairs]
            await send(message)

        await self._app(scope, receive, add)


class HostCheck:
    """Refuses requests that name another host: a page elsewhere may have had its name point here."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and _host(scope) not in self._hosts:
            answer = answer_fault(Request(scope), 400, "bad-request", "the page does not answer to this host name")
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _host(scope: Scope) -> str | None:
    named = next((value for name, value in scope["headers"] if name == b"host"), b"")
    try:
        return urlsplit(f"//{named.decode('latin-1')}").hostname
    except ValueError:
        return None


class BodyLimit:
    """Refuses a body that is larger than any form or record here can be, before it is held."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not announced.isdigit() or int(announced[:20]) > self._most:
            await _refuse_size(scope, receive, send)
            return
        read = 0
        answered = False

        async def count() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise TooLargeError
            return message

        async def watch(message: Message) -> None:
            nonlocal answered
            if read <= self._most:
                answered = True
                await send(message)

        # What the application makes of a body that was cut off is not sent.
        with suppress(TooLargeError):
            await self._app(scope, count, watch)
        if read > self._most and not answered:
            await _refuse_size(scope, receive, send)


async def _refuse_size(scope: Scope, receive: Receive, send: Send) -> None:
    await answer_fault(Request(scope), 413, "too-large", "the request is too large")(scope, receive, send)


class TooLargeError(Exception):
    """A body went on after its limit."""
