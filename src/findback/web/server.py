"""Running the page: where it listens, and what it refuses to do."""

import logging
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import uvicorn

from findback.endpoint import is_loopback
from findback.errors import SettingsError, StorageError, UsageError
from findback.model.settings import ServeSettings
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.review import open_desk
from findback.web.app import create_app
from findback.web.log import log_to
from findback.web.site import Site
from findback.workspace import Workspace

LOCAL_HOST = "127.0.0.1"
BACKLOG = 128


def serve_local(workspace: Workspace, *, port: int, ready: Callable[[str], None]) -> None:
    """Serve one person on this machine until interrupted.

    Args:
        workspace: What to review.
        port: Port on the loopback address; 0 takes a free one.
        ready: Called with the one-time link once the page answers.

    Raises:
        StorageError: If the port is taken.
    """
    with _listen(LOCAL_HOST, port) as listener:
        address = f"http://{LOCAL_HOST}:{listener.getsockname()[1]}"
        key = open_workspace_key(workspace)
        with open_bench(workspace, key) as bench, open_desk(workspace, bench, key=key) as desk:
            site = Site(desk=desk, local=True, base_url=address)
            _run(site, listener, lambda: ready(f"{address}/enter?token={site.entry}"))


def serve_team(workspace: Workspace, *, ready: Callable[[str], None]) -> None:
    """Serve a team until interrupted, with the settings of `[serve]`.

    Raises:
        SettingsError: If the page would be reachable without a login or without TLS.
        StorageError: If the port is taken.
    """
    settings = workspace.settings.serve
    address = check_exposure(settings)
    options: dict[str, Any] = {}
    if settings.tls_certificate and settings.tls_key:
        options = {
            "ssl_certfile": str(_file(workspace, settings.tls_certificate)),
            "ssl_keyfile": str(_file(workspace, settings.tls_key)),
        }
    if settings.proxies:
        options |= {"proxy_headers": True, "forwarded_allow_ips": list(settings.proxies)}
    log_to()
    with _listen(settings.host, settings.port) as listener:
        key = open_workspace_key(workspace)
        with open_bench(workspace, key) as bench, open_desk(workspace, bench, key=key) as desk:
            site = Site(desk=desk, local=False, base_url=address)
            _run(site, listener, lambda: ready(address), **options)


def check_exposure(settings: ServeSettings) -> str:
    """Return the address people type, where it is safe to open it.

    Raises:
        SettingsError: If there is no login, or strangers could listen in.
    """
    if settings.oidc is None:
        raise SettingsError(
            "findback serve needs a login",
            hint="set [serve.oidc] in findback.toml; for one person on this machine there is findback review",
        )
    if settings.public_url is None:
        raise SettingsError("serve.public_url is missing", hint="the address people type, https://…")
    parts = _address(settings.public_url)
    encrypted = (settings.tls_certificate and settings.tls_key) or settings.proxies
    if not is_loopback(settings.host) and not encrypted:
        raise SettingsError(
            f"serve.host {settings.host} is reachable from other machines, and nothing encrypts what they send",
            hint="set serve.tls_certificate and serve.tls_key, or serve.proxies for a proxy that ends TLS",
        )
    if parts.scheme == "http" and not (is_loopback(parts.hostname or "") and is_loopback(settings.host)):
        raise SettingsError("serve.public_url must begin with https://", hint="a login is not sent in the clear")
    if not any(settings.roles.values()):
        raise SettingsError(
            "[serve.roles] gives nobody a role", hint='name the groups of each: reviewer = ["search-team"]'
        )
    return f"{parts.scheme}://{parts.netloc}"


def _address(url: str) -> SplitResult:
    fault = SettingsError("serve.public_url is no address of a site", hint="write https://host, without a path")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise fault from None
    plain = re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:]+", parts.hostname or "") and port != 0 and "@" not in parts.netloc
    if parts.scheme not in ("http", "https") or not plain or parts.path.strip("/") or parts.query or parts.fragment:
        raise fault
    return parts


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OverflowError:
        listener.close()
        raise UsageError(f"there is no port {port}", hint="a number up to 65535; 0 takes a free one") from None
    except OSError as error:
        listener.close()
        raise StorageError(
            f"cannot listen on {host}:{port}: {(error.strerror or 'refused').lower()}", hint="--port 0 takes a free one"
        ) from None
    return listener


def _file(workspace: Workspace, named: str) -> Path:
    path = workspace.path(named)
    if not path.is_file():
        raise SettingsError(f"there is no file {path}", hint="serve.tls_certificate and serve.tls_key name files")
    return path


def configure(site: Site, **options: Any) -> uvicorn.Config:
    """Return how the server of a site runs: it says little of itself, and logs no address of a page or a person."""
    # The access log would hold addresses of pages and people; errors are logged by kind and place.
    logging.getLogger("uvicorn.access").disabled = True
    # What is odd about a form is answered; the library's word for it is no line of the log.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    return uvicorn.Config(
        create_app(site),
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_keep_alive=15,
        h11_max_incomplete_event_size=64_000,
        **({"proxy_headers": False} | options),
    )


def _run(site: Site, listener: socket.socket, ready: Callable[[], None], **options: Any) -> None:
    config = configure(site, **options)
    site.desk.warm()
    server = _Server(config, ready)
    server.run(sockets=[listener])


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
