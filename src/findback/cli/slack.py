"""`findback slack`."""

import signal
import sys
from threading import Event
from typing import Any

from findback.cli.asking import ask_for_trust
from findback.registry import load_module
from findback.sources.connectors.open import check_token_address
from findback.steps.kept import now
from findback.steps.opening import trusted_items
from findback.steps.slackflag import SlackSecrets, find_secrets, open_slack_desk
from findback.trust import require
from findback.workspace import Workspace, open_workspace


def slack() -> None:
    """Take in what people in Slack say they could not find.

    Runs until it is stopped: over Socket Mode where `[slack] app_token` is set, else over HTTP.
    """
    workspace = open_workspace()
    settings, secrets = workspace.settings.slack, find_secrets(workspace)
    app, answers = _load("app"), _load("answers")
    require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask_for_trust)
    stop = Event()
    # Over HTTP the server ends by itself when it is terminated, and then asks this once more.
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        with open_slack_desk(workspace) as desk:
            desk.warm()
            said = answers.Answers(desk, settings, base_url=workspace.settings.serve.public_url, clock=now)
            _run(workspace, app.make_app(said, settings), secrets, stop)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(workspace: Workspace, app: Any, secrets: SlackSecrets, stop: Event) -> None:
    settings = workspace.settings.slack
    if secrets.app_token is not None:
        if settings.url is not None:
            check_token_address(settings.url, "[slack]")
        live, connected = _load("live"), lambda: _tell("connected to Slack")
        live.run_socket(app, secrets.app_token, address=settings.url, ready=connected, stop=stop)
        return
    http = _load("http")
    door = http.Door(app, secrets.signing_secret)
    http.run_http(door, settings.host, settings.port, ready=lambda address: _tell(f"listening on {address}"))


def _load(module: str) -> Any:
    return load_module(f"findback.slack.{module}", wanted_for="taking in flags from Slack")


def _tell(said: str) -> None:
    print(said, file=sys.stderr, flush=True)
