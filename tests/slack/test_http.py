"""Slack calling over HTTP: what is signed, fresh and new comes in, and nothing else."""

import hashlib
import hmac
import json
import secrets
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
import uvicorn
from slack_bolt import App

from builders.slacksocket import command, shortcut
from findback.errors import StorageError
from findback.slack import http
from findback.slack.http import MOST_BYTES, Door, run_http
from findback.steps.bench import open_bench
from findback.workspace import Workspace

AT = 1_790_000_000.0


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.seconds = AT

    def __call__(self) -> float:
        return self.seconds


class Signed:
    """Sends what is signed like Slack's requests, or nearly so."""

    def __init__(self, address: str, secret: str, clock: Clock) -> None:
        self.address, self.secret, self.clock = address, secret, clock

    def headers(self, body: bytes, *, at: float | None = None, secret: str | None = None) -> dict[str, str]:
        stamp = str(int(self.clock() if at is None else at))
        key = (secret or self.secret).encode()
        digest = hmac.new(key, b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": f"v0={digest}",
        }

    def post(self, body: bytes, headers: dict[str, str]) -> httpx2.Response:
        return httpx2.post(self.address, content=body, headers=headers, trust_env=False, timeout=20)

    def send(self, payload: dict[str, Any], **more: Any) -> httpx2.Response:
        body = urlencode(payload).encode()
        return self.post(body, self.headers(body, **more))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def slack(app: App, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signed]:
    """Serve the app on this machine and give what calls it like Slack."""
    secret = secrets.token_hex(16)
    started: list[uvicorn.Server] = []
    addresses: list[str] = []

    class Server(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            started.append(self)

    monkeypatch.setattr(http.uvicorn, "Server", Server)
    door = Door(app, secret, clock=clock)
    task = Thread(target=run_http, args=(door, "127.0.0.1", 0), kwargs={"ready": addresses.append})
    task.start()
    while not addresses or not started[0].started:
        task.join(0.01)
        assert task.is_alive()
    yield Signed(addresses[0], secret, clock)
    started[0].should_exit = True
    task.join(20)
    assert not task.is_alive()


def queries(workspace: Workspace) -> list[str]:
    with open_bench(workspace) as bench:
        return [one.candidate.query.text for one in bench.list_candidates()]


def test_signed_command_is_answered(slack: Signed, workspace: Workspace) -> None:
    """What Slack signed is kept, and answered for one person alone."""
    answered = slack.send(command("where is the card page"))
    assert answered.status_code == 200
    assert answered.json()["response_type"] == "ephemeral"
    assert answered.json()["text"].startswith("Kept")
    assert queries(workspace) == ["where is the card page"]


def test_signed_shortcut_is_kept(slack: Signed, workspace: Workspace) -> None:
    """A shortcut comes as JSON inside a form; an answer address that is not Slack's is never called."""
    message = {"type": "message", "user": "U7654321", "ts": "1790000000.000100", "text": "how do i get in from home"}
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.5)
        payload = shortcut(message, f"http://127.0.0.1:{elsewhere.getsockname()[1]}/hook")
        answered = slack.send({"payload": json.dumps(payload)})
        assert (answered.status_code, answered.text) == (200, "")
        with pytest.raises(TimeoutError):
            elsewhere.accept()
    assert queries(workspace) == ["how do i get in from home"]


@pytest.mark.parametrize("seconds", [-301, 301])
def test_request_of_another_time_is_refused(slack: Signed, workspace: Workspace, seconds: int) -> None:
    """More than five minutes old, or ahead, is refused although the signature is right."""
    assert slack.send(command("where is the card page"), at=AT + seconds).status_code == 401
    assert queries(workspace) == []


@pytest.mark.parametrize("seconds", [-299, 299])
def test_request_within_five_minutes_is_taken(slack: Signed, seconds: int) -> None:
    """A clock that goes a little wrong does no harm."""
    assert slack.send(command("where is the card page"), at=AT + seconds).status_code == 200


def test_replayed_request_is_refused(slack: Signed, clock: Clock, workspace: Workspace) -> None:
    """The very same request a second time is refused for as long as its signature is good."""
    body = urlencode(command("where is the card page")).encode()
    headers = slack.headers(body, at=AT + 299)
    assert slack.post(body, headers).status_code == 200
    assert slack.post(body, headers).status_code == 401
    clock.seconds = AT + 598
    assert slack.post(body, headers).status_code == 401
    with open_bench(workspace) as bench:
        assert [one.candidate.asked for one in bench.list_candidates()] == ["1"]


def test_forged_signature_is_refused(slack: Signed, workspace: Workspace) -> None:
    """Signed with another secret, with none, or with what is no signature: refused."""
    body = urlencode(command("where is the card page")).encode()
    good = slack.headers(body)
    forged = [
        slack.headers(body, secret="another"),
        {name: value for name, value in good.items() if name != "X-Slack-Signature"},
        {name: value for name, value in good.items() if name != "X-Slack-Request-Timestamp"},
        good | {"X-Slack-Signature": "v0="},
        good | {"X-Slack-Signature": good["X-Slack-Signature"].upper()},
        good | {"X-Slack-Request-Timestamp": "nan"},
        good | {"X-Slack-Request-Timestamp": f"-{good['X-Slack-Request-Timestamp']}"},
    ]
    assert [slack.post(body, headers).status_code for headers in forged] == [401] * 7
    assert queries(workspace) == []


def test_altered_body_is_refused(slack: Signed, workspace: Workspace) -> None:
    """One byte more, or the same fields in another order, is another body than the one that was signed."""
    body = urlencode(command("where is the card page")).encode()
    headers = slack.headers(body)
    reordered = b"&".join(reversed(body.split(b"&")))
    assert [slack.post(one, headers).status_code for one in (body + b"x", reordered, b"\xff" + body)] == [401] * 3
    assert queries(workspace) == []
    assert slack.post(body, headers).status_code == 200


def test_unsigned_certificate_check_is_refused(slack: Signed) -> None:
    """What Bolt would answer without a signature does not come so far."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert slack.post(b"ssl_check=1&token=x", headers).status_code == 401


def test_long_body_and_other_places_are_refused(slack: Signed) -> None:
    """A body of more than a megabyte is not read to its end; other paths and methods are not there."""
    body = b"x" * (MOST_BYTES + 1)
    assert slack.post(body, slack.headers(body)).status_code == 413
    assert httpx2.get(slack.address, trust_env=False).status_code == 404
    assert httpx2.post(slack.address + "x", content=b"", trust_env=False).status_code == 404


def test_taken_port_is_said(app: App) -> None:
    """A port that another program has is named, with the setting that names another."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StorageError, match=str(port)):
            run_http(Door(app, "secret"), "127.0.0.1", port, ready=print)
