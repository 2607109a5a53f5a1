"""Socket Mode: findback connects to Slack, so that Slack needs no address to reach it."""

import asyncio
import time
from collections.abc import Callable
from threading import Event

import orjson
from slack_bolt import App, BoltRequest
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from findback.endpoint import host_of, is_loopback
from findback.errors import EngineError
from findback.net import HttpClient
from findback.slack.app import quiet_logger
from findback.slack.seen import Seen
from findback.sources.connectors.caller import Caller
from findback.sources.connectors.slack_api import ADDRESS, open_socket_address

REMEMBERED = 3_600.0
"""Seconds for which an envelope that came is not taken again."""


class Socket(SocketModeClient):
    """A connection whose address is asked for with findback's own client."""

    def __init__(self, app_token: str, address: str | None) -> None:
        self._api = address or ADDRESS
        super().__init__(app_token=app_token, logger=quiet_logger(), concurrency=4)

    def issue_new_wss_url(self) -> str:
        """Return where to connect.

        Raises:
            EngineError: If Slack refuses, or names no address of the kind.
        """
        headers = {"Authorization": f"Bearer {self.app_token}"}
        caller = Caller("[slack]", headers, client=HttpClient(timeout=30, max_bytes=100_000), sleep=asyncio.sleep)
        try:
            url = open_socket_address(caller, self._api)
        finally:
            caller.close()
        plain = url.startswith("ws://") and is_loopback(host_of(url) or "")
        if not (url.startswith("wss://") or plain):
            raise EngineError("[slack]: Slack named an address that is no secure socket")
        return url


def run_socket(app: App, app_token: str, *, address: str | None, ready: Callable[[], object], stop: Event) -> None:
    """Take requests in until told to stop; a connection that breaks is made again.

    Args:
        app: Answers.
        app_token: The app-level token.
        address: Of the Web API; Slack's own when None.
        ready: Called once connected.
        stop: Ends it.

    Raises:
        EngineError: If Slack refuses the token, or cannot be reached at first.
    """
    socket = Socket(app_token, address)
    seen = Seen(REMEMBERED, time.monotonic)

    def handle(client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        client.send_socket_mode_response(answer_envelope(app, request, seen))

    socket.socket_mode_request_listeners.append(handle)
    try:
        _connect(socket)
        ready()
        stop.wait()
    finally:
        socket.close()


def answer_envelope(app: App, request: SocketModeRequest, seen: Seen) -> SocketModeResponse:
    """Return the acknowledgement of an envelope; one that came before is acknowledged, and does nothing again."""
    if not seen.add(request.envelope_id):
        return SocketModeResponse(envelope_id=request.envelope_id)
    answered = app.dispatch(BoltRequest(mode="socket_mode", body=request.payload))
    if answered.status != 200 or not answered.body:
        return SocketModeResponse(envelope_id=request.envelope_id)
    content = answered.headers.get("content-type", [""])[0]
    payload = orjson.loads(answered.body) if content.startswith("application/json") else {"text": answered.body}
    return SocketModeResponse(envelope_id=request.envelope_id, payload=payload)


def _connect(socket: Socket) -> None:
    try:
        socket.connect()
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 - the library says what went wrong in many ways
        raise EngineError(
            f"[slack]: the socket cannot be opened: {type(error).__name__}", hint="check the connection to Slack"
        ) from None
