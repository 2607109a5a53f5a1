"""Connectors as findback.toml names them: where they go, what they send along, who reads what they give."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from findback.endpoint import check_address, host_of, is_loopback, origin_of
from findback.errors import RefusedError, SettingsError
from findback.model.settings import ConnectorSettings
from findback.model.trusted import Trusted
from findback.net import HttpClient
from findback.sources.connectors.batch import Connector
from findback.sources.connectors.caller import Caller, Sleep
from findback.sources.connectors.slack import SlackConnector
from findback.sources.connectors.slack_api import ADDRESS, SlackApi
from findback.sources.connectors.zendesk import ZendeskConnector
from findback.sources.connectors.zendesk_api import ZendeskApi
from findback.sources.format import SourceOptions


def list_trusted_connectors(connectors: Mapping[str, ConnectorSettings]) -> Iterator[Trusted]:
    """Yield what somebody must agree to before a connector sends its token: the host, and each variable."""
    for settings in connectors.values():
        yield Trusted("host", origin_of(_address_of(settings)))
        yield from (
            Trusted("variable", named.removeprefix("env:")) for named in (settings.token, settings.user) if named
        )


def open_caller(
    name: str,
    settings: ConnectorSettings,
    environment: Mapping[str, str],
    *,
    client: HttpClient | None = None,
    sleep: Sleep = asyncio.sleep,
    tick: Callable[[], None] = lambda: None,
) -> Caller:
    """Return what calls a connector's system, its token in hand; nothing is called yet.

    Args:
        name: Its name in findback.toml.
        settings: Its settings.
        environment: Variables, which hold the token.
        client: The HTTP client.
        sleep: Waits.
        tick: Is called with every answer.

    Raises:
        SettingsError: If a variable is not set, or the address cannot be used.
    """
    shown = f"[connectors.{name}]"
    check_token_address(_address_of(settings), shown)
    token = _variable(shown, settings.token, environment)
    said = f"Bearer {token}"
    if settings.user is not None:
        user = _variable(shown, settings.user, environment)
        said = f"Basic {b64encode(f'{user}/token:{token}'.encode()).decode()}"
    return Caller(shown, {"Authorization": said}, client=client, sleep=sleep, tick=tick)


def check_token_address(address: str, shown: str) -> None:
    """Refuse an address that a token must not be sent to.

    Raises:
        SettingsError: If it is none of http or https, is never called, or is plain http and not on this machine.
    """
    try:
        check_address(address, f"{shown} url")
    except RefusedError as refused:
        raise SettingsError(refused.message, hint=refused.hint) from None
    if address.startswith("http:") and not is_loopback(host_of(address) or ""):
        raise SettingsError(f"{shown} url: a token is sent by https only", hint="write it as https://…")


def open_connector(
    name: str, settings: ConnectorSettings, caller: Caller, options: SourceOptions, *, now: datetime
) -> Connector:
    """Return a connector.

    Args:
        name: Its name in findback.toml.
        settings: Its settings.
        caller: Calls its system.
        options: Which channels are read.
        now: When this run began.
    """
    first = options.since or now - timedelta(days=settings.first_days)
    if settings.kind == "zendesk":
        return ZendeskConnector(caller.name, ZendeskApi(caller, _address_of(settings)), first=first, now=now)
    api = SlackApi(caller, _address_of(settings))
    again = timedelta(days=settings.again_days)
    return SlackConnector(caller.name, api, options, first=first, again=again, now=now)


def _address_of(settings: ConnectorSettings) -> str:
    return settings.url or ADDRESS


def _variable(shown: str, named: str, environment: Mapping[str, str]) -> str:
    variable = named.removeprefix("env:")
    value = environment.get(variable, "").strip()
    if not value:
        raise SettingsError(f"{shown} takes a secret from {variable}, which is not set", hint=f"set {variable}")
    if not value.isascii() or not value.isprintable():
        raise SettingsError(f"{shown}: {variable} holds characters that no token has")
    return value
