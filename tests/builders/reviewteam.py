"""A review page for a team that runs, and people who are logged in to it."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import uvicorn

from builders.pagesettings import GROUPS, PORTAL, SECRET, team_settings
from builders.portal import write_pages
from findback.model.settings import RoleName
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.review import open_desk
from findback.web.oidc import Claims
from findback.web.server import configure
from findback.web.sessions import start_session
from findback.web.site import Site
from findback.workspace import Workspace, open_workspace

SETTINGS = f'{PORTAL}[mining]\nworkbench = "env:BENCH"\n{team_settings()}'


class Clock:
    """The time of a site: today's, unless a test moves it."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class Team(NamedTuple):
    """A page that answers on this machine."""

    address: str
    site: Site
    clock: Clock
    browsers: ExitStack
    """Closes every browser at the end."""

    def open_browser(self, **options: Any) -> httpx2.Client:
        """Return a browser; it follows no redirect."""
        values = {"base_url": self.address, "headers": {"accept": "text/html"}, "trust_env": False, "timeout": 60}
        return self.browsers.enter_context(httpx2.Client(**(values | options)))

    def log_in(self, name: str, *roles: RoleName) -> httpx2.Client:
        """Return a browser in which somebody is logged in."""
        claims = Claims(f"issuer|{name}", name, tuple(GROUPS[role] for role in roles or ("reviewer",)))
        return self.open_browser(cookies={self.site.cookie: start_session(self.site, claims)})


def write_team(folder: Path, url: str, *, settings: str = SETTINGS) -> Workspace:
    """Write a workspace with a small portal, whose workbench is the database at an address."""
    write_pages(folder / "portal")
    (folder / "findback.toml").write_text(settings, "utf-8")
    return open_team(folder, url)


def open_team(folder: Path, url: str) -> Workspace:
    """Open the workspace in a folder."""
    return open_workspace(folder, environment={"HOME": str(folder), "BENCH": url, SECRET: "none of it"})


@contextmanager
def open_site(workspace: Workspace, address: str, clock: Clock, *, local: bool = False) -> Iterator[Site]:
    """Open a site with connections to the database of its own."""
    with ExitStack() as stack:
        key = open_workspace_key(workspace)
        bench = stack.enter_context(open_bench(workspace, key))
        desk = stack.enter_context(open_desk(workspace, bench, key=key))
        yield Site(desk=desk, local=local, base_url=address, now=clock)


@contextmanager
def run_site(workspace: Workspace, *, local: bool = False, port: int = 0) -> Iterator[Team]:
    """Run the page in a thread, as findback itself does."""
    clock = Clock()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with open_site(workspace, address, clock, local=local) as site:
            server = uvicorn.Server(configure(site))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
            thread.start()
            try:
                with ExitStack() as browsers:
                    yield Team(address, site, clock, browsers)
            finally:
                server.should_exit = True
                thread.join(timeout=20)


@contextmanager
def run_sites(workspaces: Sequence[Workspace]) -> Iterator[list[Team]]:
    """Run several pages at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(run_site(one)) for one in workspaces]
