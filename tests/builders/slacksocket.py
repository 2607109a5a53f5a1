"""Slack's side of Socket Mode: hands out an address, opens a socket there, sends envelopes and takes what comes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Thread
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from builders.loopback import Answer, Asked
from builders.loopback import serve as serve_http

SECONDS = 20.0
"""Longest wait for what must come."""


class SlackSocket:
    """What plays Slack for one app-level token."""

    def __init__(self, app_token: str) -> None:
        self.app_token = app_token
        self.opened = 0
        """How often a program asked for an address."""
        self.acknowledged: Queue[dict[str, Any]] = Queue()
        """What programs answered to envelopes."""
        self.responses: Queue[dict[str, Any]] = Queue()
        """What was sent to response addresses."""
        self.connections: Queue[ServerConnection] = Queue()
        self.address = ""
        self.socket = ""

    def answer(self, asked: Asked) -> Answer:
        """Answer a call over HTTP."""
        if asked.path == "/api/apps.connections.open":
            if asked.headers.get("authorization") != f"Bearer {self.app_token}":
                return Answer({"ok": False, "error": "invalid_auth"})
            self.opened += 1
            return Answer({"ok": True, "url": f"{self.socket}/link/?ticket={self.opened}&app_id=A1"})
        self.responses.put(json.loads(asked.raw))
        return Answer({"ok": True})

    def take(self, connection: ServerConnection) -> None:
        """Serve one connection."""
        connection.send(json.dumps({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}))
        self.connections.put(connection)
        try:
            for message in connection:
                self.acknowledged.put(json.loads(message))
        except ConnectionClosed:
            return

    def wait(self) -> ServerConnection:
        """Return the next connection, once it is there."""
        return self.connections.get(timeout=SECONDS)

    def send(self, connection: ServerConnection, kind: str, payload: dict[str, Any], envelope: str) -> dict[str, Any]:
        """Send an envelope and return how it was acknowledged."""
        content = {"envelope_id": envelope, "type": kind, "accepts_response_payload": True, "payload": payload}
        connection.send(json.dumps(content))
        return self.acknowledged.get(timeout=SECONDS)


@contextmanager
def run_slack(app_token: str) -> Iterator[SlackSocket]:
    """Run Slack's side on this machine."""
    slack = SlackSocket(app_token)
    server: Server = serve(slack.take, "127.0.0.1", 0)
    task = Thread(target=server.serve_forever)
    task.start()
    try:
        with serve_http(slack) as address:
            slack.address = address
            slack.socket = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
            yield slack
    finally:
        server.shutdown()
        task.join()


def command(text: str, **more: Any) -> dict[str, Any]:
    """Return what Slack sends when somebody types the command."""
    return {
        "token": "unused",
        "team_id": "T1",
        "team_domain": "example",
        "channel_id": "C1",
        "channel_name": "help-desk",
        "user_id": "U1234567",
        "user_name": "minh.tran",
        "command": "/couldnt-find",
        "text": text,
        "api_app_id": "A1",
        "is_enterprise_install": "false",
        "response_url": "https://hooks.slack.com/commands/T1/1/abc",
        "trigger_id": "1.2.abc",
    } | more


def shortcut(message: dict[str, Any], response_url: str, **more: Any) -> dict[str, Any]:
    """Return what Slack sends when somebody uses the shortcut on a message."""
    return {
        "type": "message_action",
        "token": "unused",
        "action_ts": "1790000000.123456",
        "team": {"id": "T1", "domain": "example"},
        "user": {"id": "U1234567", "name": "minh.tran", "team_id": "T1"},
        "channel": {"id": "C1", "name": "help-desk"},
        "is_enterprise_install": False,
        "enterprise": None,
        "callback_id": "couldnt_find",
        "trigger_id": "1.2.abc",
        "response_url": response_url,
        "message_ts": message["ts"],
        "message": message,
    } | more
