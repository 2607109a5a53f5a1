"""The app as Bolt runs it: one command, one message shortcut."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from slack_bolt import Ack, App
from slack_bolt.authorization import AuthorizeResult

from findback.endpoint import host_of, is_loopback, origin_of
from findback.errors import FindbackError
from findback.model.settings import SlackSettings
from findback.net import HttpClient
from findback.slack.answers import FAILED, Answers

PATIENCE = 2.0
"""Seconds after which an answer comes later: Slack itself waits for three."""
LATER = "Thank you; one moment."
HOOKS = "https://hooks.slack.com:443"
"""The only place where answers are sent that come later."""

Respond = Callable[[str, str], None]
"""Sends a text to the address a request named."""


def make_app(
    answers: Answers, settings: SlackSettings, *, respond: Respond | None = None, patience: float = PATIENCE
) -> App:
    """Return the app; requests over HTTP have to be verified before they come here.

    Args:
        answers: Says what is answered.
        settings: Names of the command and the shortcut.
        respond: Sends an answer that is not in the acknowledgement; over HTTP when None.
        patience: Seconds after which the answer to a command comes later.
    """
    quiet = quiet_logger()
    app = App(
        name="findback",
        logger=quiet,
        # There is no bot token: nothing is asked of Slack, and nothing said but in answer.
        authorize=_authorize,
        signing_secret="unused",  # noqa: S106 - it is verified at the door
        request_verification_enabled=False,
        ssl_check_enabled=False,
    )
    send = respond or Responder(settings)
    pool = ThreadPoolExecutor(4, thread_name_prefix="findback-slack")

    @app.command(settings.command)
    def command(ack: Ack, body: dict[str, Any]) -> None:
        answering = pool.submit(_answer, answers.to_command, body)
        try:
            ack(response_type="ephemeral", text=answering.result(patience))
        except TimeoutError:
            ack(response_type="ephemeral", text=LATER)
            send(str(body.get("response_url") or ""), answering.result())

    @app.message_shortcut(settings.shortcut)
    def shortcut(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        send(str(body.get("response_url") or ""), _answer(answers.to_shortcut, body))

    return app


def _answer(say: Callable[[Mapping[str, Any]], str], body: Mapping[str, Any]) -> str:
    try:
        return say(body)
    except Exception:  # noqa: BLE001 - whatever it is, nothing of it may reach a log or the channel
        return FAILED


def quiet_logger() -> logging.Logger:
    """Return a logger that says nothing: Bolt's own would write whole requests, with what people typed."""
    quiet = logging.getLogger("findback.slack.quiet")
    quiet.disabled = True
    return quiet


def _authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=None)


class Responder:
    """Sends what only the person who used the shortcut will see."""

    def __init__(self, settings: SlackSettings) -> None:
        self._own = origin_of(settings.url) if settings.url and is_loopback(host_of(settings.url) or "") else None

    def __call__(self, address: str, text: str) -> None:
        """Send a text to the address a request named, where that is Slack's."""
        if origin_of(address) not in (HOOKS, self._own):
            return
        content = orjson.dumps({"response_type": "ephemeral", "replace_original": False, "text": text})
        asyncio.run(_post(address, content))


async def _post(address: str, content: bytes) -> None:
    client = HttpClient(timeout=10, max_bytes=100_000)
    try:
        headers = {"Content-Type": "application/json"}
        await client.request("POST", address, headers=headers, content=content, shown="Slack's response address")
    except FindbackError:
        # The flag is kept all the same; who sent it only goes without an answer.
        return
    finally:
        await client.close()
