"""Slack's Web API: the four methods a bot token needs, page by page."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from findback.errors import EngineError
from findback.sources.connectors.caller import Caller

ADDRESS = "https://slack.com/api"
PAGE = 200
"""Things asked for at a time."""
MOST_PAGES = 20_000
_CODE = re.compile(r"[a-z_]{1,60}")
_SCOPES = re.compile(r"[a-z:,._]{1,200}")
_TOKEN = frozenset(("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"))


class SlackRefusalError(EngineError):
    """Slack answered that it will not."""

    code = "slack-refusal"

    def __init__(self, message: str, *, reason: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        """Slack's own word for it, such as `missing_scope`."""


class Window(NamedTuple):
    """A stretch of a channel's time, in Slack's time stamps, edges included."""

    oldest: str
    latest: str | None
    """None for everything up to now."""


class SlackApi:
    """Asks Slack; texts and ids travel in bodies, never in addresses."""

    def __init__(self, caller: Caller, address: str = ADDRESS) -> None:
        self._caller = caller
        self._address = address.rstrip("/")

    def list_people(self) -> Iterator[dict[str, Any]]:
        """Yield everybody in the workspace, those who left included."""
        for page in self._pages("users.list", {}):
            yield from _objects(page, "members")

    def list_channels(self, types: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Yield the channels of these types that the token may see, archived ones included."""
        for page in self._pages("conversations.list", {"types": ",".join(types)}):
            yield from _objects(page, "channels")

    def history(self, channel: str, window: Window) -> Iterator[list[dict[str, Any]]]:
        """Yield pages of the messages in a channel, newest first; replies are not among them."""
        asked = {"channel": channel, "oldest": window.oldest, "inclusive": "true"}
        if window.latest is not None:
            asked["latest"] = window.latest
        for page in self._pages("conversations.history", asked):
            yield list(_objects(page, "messages"))

    def replies(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Return a thread, its first message included; empty where there is none."""
        found: dict[str, dict[str, Any]] = {}
        try:
            for page in self._pages("conversations.replies", {"channel": channel, "ts": ts}):
                found.update({str(one.get("ts")): one for one in _objects(page, "messages")})
        except SlackRefusalError as refusal:
            if refusal.reason not in ("thread_not_found", "message_not_found"):
                raise
        return list(found.values())

    def _pages(self, method: str, asked: dict[str, str]) -> Iterator[dict[str, Any]]:
        cursor, seen = "", set[str]()
        for _ in range(MOST_PAGES):
            page = self._ask(method, {**asked, "limit": str(PAGE)} | ({"cursor": cursor} if cursor else {}))
            yield page
            further = page.get("response_metadata")
            given = further.get("next_cursor") if isinstance(further, dict) else None
            if not isinstance(given, str) or not given:
                return
            if given in seen:
                break
            seen.add(given)
            cursor = given
        raise EngineError(f"{self._caller.name}: {method} never comes to its last page")

    def _ask(self, method: str, asked: dict[str, str]) -> dict[str, Any]:
        content = urlencode(asked).encode()
        answer = self._caller.call("POST", f"{self._address}/{method}", content=content, form=True)
        page = self._caller.read(answer)
        if page.get("ok") is True:
            return page
        raise _refusal(self._caller.name, method, page, answer.status)


def _refusal(name: str, method: str, page: dict[str, Any], status: int) -> SlackRefusalError:
    said, needed = str(page.get("error")), str(page.get("needed"))
    reason = said if _CODE.fullmatch(said) else f"status {status}"
    hint = None
    if reason in _TOKEN:
        hint = "check the token in the variable that `token` names, and that the app is still installed"
    elif reason == "missing_scope":
        scopes = needed if _SCOPES.fullmatch(needed) else "those of docs/connectors.md"
        hint = f"give the app the scopes {scopes}, and install it again"
    return SlackRefusalError(f"{name}: Slack refuses {method}: {reason}", reason=reason, hint=hint)


def _objects(page: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    listed = page.get(key)
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict):
            yield one


def open_socket_address(caller: Caller, address: str) -> str:
    """Return where Slack wants a program with an app-level token to connect.

    Raises:
        EngineError: If Slack refuses, or names nothing.
    """
    method = "apps.connections.open"
    answer = caller.call("POST", f"{address.rstrip('/')}/{method}", content=b"", form=True)
    page = caller.read(answer)
    url = page.get("url")
    if page.get("ok") is not True or not isinstance(url, str):
        raise _refusal(caller.name, method, page, answer.status)
    return url
