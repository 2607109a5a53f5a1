"""HTTP: Slack calls findback, which checks each request's signature over its raw bytes, its age, and that it is new."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import uvicorn
from slack_bolt import App, BoltRequest
from slack_sdk.signature import Clock, SignatureVerifier

from findback.errors import StorageError
from findback.slack.seen import Seen

PATH = "/slack/events"
MOST_BYTES = 1_000_000
READING = 10.0
"""Seconds a request's body may take to come."""
WINDOW = 300
"""Seconds a signature is good for, before and after."""
_SIGNATURE, _TIME = "x-slack-signature", "x-slack-request-timestamp"

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Door:
    """Lets in what Slack signed within five minutes and has not sent before; an ASGI application."""

    def __init__(self, app: App, signing_secret: str, *, clock: Callable[[], float] = time.time) -> None:
        """Take what answers.

        Args:
            app: Answers.
            signing_secret: What Slack signs with.
            clock: Returns POSIX seconds.
        """
        self._app = app
        self._verifier = SignatureVerifier(signing_secret, clock=_Clock(clock))
        # A signature may be sent again as long as it is good: from its time's five minutes before to those after.
        self._seen = Seen(2.0 * WINDOW, clock)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"] != PATH or scope["method"] != "POST":
            await _reply(send, 404)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            raw = await asyncio.wait_for(_read(receive), READING)
        except TimeoutError:
            raw = None
        if raw is None:
            await _reply(send, 413)
        elif not self.admits(raw, headers):
            await _reply(send, 401)
        else:
            await self._answer(raw, headers, send)

    def admits(self, raw: bytes, headers: Mapping[str, str]) -> bool:
        """Return whether a request is Slack's, of the last five minutes, and not one that came before."""
        signature, at = headers.get(_SIGNATURE, ""), headers.get(_TIME, "")
        if not (at.isascii() and at.isdecimal() and len(at) < 12) or not signature.isascii():
            return False
        try:
            body = raw.decode()
        except UnicodeDecodeError:
            return False
        return self._verifier.is_valid(body=body, timestamp=at, signature=signature) and self._seen.add(signature)

    async def _answer(self, raw: bytes, headers: Mapping[str, str], send: Send) -> None:
        request = BoltRequest(body=raw.decode(), headers=dict(headers))
        answered = await asyncio.to_thread(self._app.dispatch, request)
        kind = answered.headers.get("content-type", ["text/plain; charset=utf-8"])[0]
        await _reply(send, answered.status, (answered.body or "").encode(), kind)


class _Clock(Clock):
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock()


async def _read(receive: Receive) -> bytes | None:
    """Return a request's body; None where it is too long or never comes whole."""
    raw = b""
    while True:
        event = await receive()
        if event["type"] != "http.request":
            return None
        part: bytes = event.get("body", b"")
        raw += part
        if len(raw) > MOST_BYTES:
            return None
        if not event.get("more_body"):
            return raw


async def _reply(send: Send, status: int, body: bytes = b"", kind: str = "text/plain; charset=utf-8") -> None:
    headers = [(b"content-type", kind.encode("latin-1")), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def run_http(door: Door, host: str, port: int, *, ready: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        door: What is served.
        host: Address to listen on.
        port: Port; 0 takes a free one.
        ready: Called with the address once it listens.

    Raises:
        StorageError: If the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError:
        raise StorageError(f"port {port} of {host} cannot be listened on", hint="[slack] port names another") from None
    config = uvicorn.Config(door, log_config=None, access_log=False, server_header=False, limit_concurrency=64)
    with listener:
        name, taken = listener.getsockname()[:2]
        ready(f"http://{f'[{name}]' if ':' in name else name}:{taken}{PATH}")
        uvicorn.Server(config).run(sockets=[listener])
