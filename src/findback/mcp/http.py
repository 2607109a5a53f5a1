"""Serving agents over HTTP: where it listens, whom it answers, and what it refuses to do."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from findback.endpoint import is_loopback
from findback.errors import SettingsError, StorageError, UsageError
from findback.mcp.log import log_to
from findback.mcp.server import make_server, utc_now
from findback.mcp.tools import Caller, list_tools, open_desks
from findback.model.settings import McpSettings
from findback.steps.agentsearch import Client
from findback.steps.agenttokens import find_grant, has_grant
from findback.steps.bench import open_bench
from findback.workbench.store import Workbench
from findback.workspace import Workspace

PATH = "/mcp"
MOST_BYTES = 256_000
"""Largest request; the longest arguments of a tool take less."""
ANY = "agent"
"""What every token has that may be used here for anything."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve_http(workspace: Workspace, *, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve until interrupted, with the settings of `[mcp]`.

    Args:
        workspace: Whose tools.
        port: Instead of the one of findback.toml.
        ready: Called with the address once it answers.

    Raises:
        SettingsError: If it would be reachable from other machines without TLS.
        UsageError: If there is no token that could be used.
        StorageError: If the port is taken.
    """
    settings = workspace.settings.mcp
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    options = check_exposure(workspace, settings)
    log_to()
    with open_bench(workspace) as bench:
        if not has_grant(bench, now=utc_now()):
            raise UsageError("no agent has a token, so that nobody could call", hint="findback mcp token NAME")
        # An ending by whoever manages services is one like any other: what was opened is closed.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with _listen(settings) as listener:
            asyncio.run(_serve(workspace, settings, bench, listener, ready=ready, options=options))


async def _serve(
    workspace: Workspace,
    settings: McpSettings,
    bench: Workbench,
    listener: socket.socket,
    *,
    ready: Callable[[str], None],
    options: dict[str, Any],
) -> None:
    async with open_desks(workspace) as desks:
        server = make_server(
            list_tools(desks), calls_per_minute=settings.calls_per_minute, caller=find_caller, clock=utc_now
        )
        address = settings.public_url or f"http://{_bracketed(settings.host)}:{listener.getsockname()[1]}"
        app = make_app(server, settings, bench, port=listener.getsockname()[1])
        config = uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=False,
            timeout_keep_alive=15,
            h11_max_incomplete_event_size=64_000,
            **({"proxy_headers": False} | options),
        )
        await _Server(config, lambda: ready(f"{address.rstrip('/')}{PATH}")).serve(sockets=[listener])


def make_app(server: Server[Any], settings: McpSettings, bench: Workbench, *, port: int) -> ASGIApp:
    """Return what answers HTTP: callers with a token, under exactly these names of the host, from exactly these sites.

    Args:
        server: The tools.
        settings: Names and sites.
        bench: Knows the tokens.
        port: Where it listens.
    """
    address = settings.public_url or f"http://{_bracketed(settings.host)}:{port}"
    hosts = [urlsplit(address).netloc]
    if is_loopback(settings.host):
        hosts += [f"{name}:{port}" for name in LOOPBACK]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # Every request stands alone: nothing is held for a client that went away.
        stateless_http=True,
        json_response=True,
        max_request_body_size=MOST_BYTES,
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(dict.fromkeys(hosts)), allowed_origins=list(settings.origins)
        ),
        auth=AuthSettings(issuer_url=AnyHttpUrl(address), resource_server_url=None, required_scopes=[ANY]),
        token_verifier=Verifier(bench),
    )
    # Tells browsers what the check of the Origin allows; it is no check itself.
    return CORSMiddleware(PostOnly(app), allow_origins=settings.origins, allow_methods=["POST"], allow_headers=["*"])


class PostOnly:
    """Refuses to hold a stream open for a client: every question is a request of its own, and is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] != "POST":
            refused = PlainTextResponse("Method Not Allowed", status_code=405, headers={"Allow": "POST"})
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


class Verifier:
    """Looks tokens up in the workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token allows; None for one that is unknown, revoked or over."""
        found = await asyncio.to_thread(find_grant, self._bench, token, now=utc_now())
        if found is None:
            return None
        scopes = [*sorted(found.scopes), *([ANY] if found.scopes else [])]
        # The token itself goes no further than this.
        return AccessToken(
            token="", client_id=str(found.number), scopes=scopes, expires_at=int(found.until.timestamp())
        )


def find_caller() -> Caller:
    """Return whose token the request being answered came with."""
    token = get_access_token()
    if token is None:
        return Caller(Client("nobody", alone=False), frozenset())
    return Caller(Client(f"token {token.client_id}", alone=False), frozenset(token.scopes))  # type: ignore[arg-type]


def check_exposure(workspace: Workspace, settings: McpSettings) -> dict[str, Any]:
    """Return how the server encrypts, where it is safe to open it.

    Raises:
        SettingsError: If strangers could listen in.
    """
    _check_names(settings)
    if not is_loopback(settings.host):
        if not ((settings.tls_certificate and settings.tls_key) or settings.proxies):
            raise SettingsError(
                f"mcp.host {settings.host} is reachable from other machines, and nothing encrypts what they send",
                hint="set mcp.tls_certificate and mcp.tls_key, or mcp.proxies for a proxy that ends TLS",
            )
        if settings.public_url is None or urlsplit(settings.public_url).scheme != "https":
            raise SettingsError(
                "mcp.public_url must begin with https:// where other machines can call", hint="the address agents get"
            )
    options: dict[str, Any] = {}
    if settings.tls_certificate and settings.tls_key:
        for name, named in (("ssl_certfile", settings.tls_certificate), ("ssl_keyfile", settings.tls_key)):
            file = workspace.path(named)
            if not file.is_file():
                raise SettingsError(f"there is no file {file}", hint="mcp.tls_certificate and mcp.tls_key name files")
            options[name] = str(file)
    if settings.proxies:
        options |= {"proxy_headers": True, "forwarded_allow_ips": list(settings.proxies)}
    return options


def _check_names(settings: McpSettings) -> None:
    """Refuse what is no plain name of a site: the library would read `:*` at its end as any port."""
    named = [("mcp.origins", origin) for origin in settings.origins]
    if settings.public_url is not None:
        named.append(("mcp.public_url", settings.public_url))
    for setting, address in named:
        try:
            parts = urlsplit(address)
            plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            plain = False
        if not plain or parts.path.strip("/") or parts.query or parts.fragment or set("*@\\ ") & set(address):
            raise SettingsError(f"{setting} holds what is no address of a site", hint="write https://host, no path")
        if setting == "mcp.origins" and address.endswith("/"):
            raise SettingsError("mcp.origins are compared exactly as browsers send them", hint="no slash at the end")


def _listen(settings: McpSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=128)
    except OverflowError:
        raise UsageError(f"there is no port {settings.port}", hint="a number up to 65535; 0 takes a free one") from None
    except OSError as error:
        raise StorageError(
            f"cannot listen on {settings.host}:{settings.port}: {(error.strerror or 'refused').lower()}",
            hint="--port 0 takes a free one",
        ) from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer."""
        await super().startup(sockets)
        if self.started:
            self._ready()
