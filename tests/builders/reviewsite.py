"""A review page that runs, over a workbench and documents of its own."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from builders.pagesettings import PORTAL
from builders.portal import write_pages
from findback.model.candidate import Candidate
from findback.steps.bench import open_bench
from findback.steps.review import Desk, open_desk
from findback.web.app import create_app
from findback.web.site import Site
from findback.workspace import Workspace, open_workspace

SETTINGS = f"{PORTAL}[review]\noverlap = 0\n"


class LivePage(NamedTuple):
    """A page that answers on this machine."""

    address: str
    link: str
    """The one-time link."""
    desk: Desk


def make_workspace(folder: Path, settings: str = SETTINGS) -> Workspace:
    """Write a workspace with a small portal of documents."""
    write_pages(folder / "portal")
    (folder / "findback.toml").write_text(settings, "utf-8")
    return open_workspace(folder, environment={"HOME": str(folder)})


@contextmanager
def serve_page(
    folder: Path, candidates: Sequence[Candidate] = (), *, settings: str = SETTINGS, port: int = 0
) -> Iterator[LivePage]:
    """Run the page of one person over these candidates for a while."""
    workspace = make_workspace(folder, settings)
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk, socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        site = Site(desk=desk, local=True, base_url=address)
        bench.put(candidates, now=site.now())
        server = uvicorn.Server(uvicorn.Config(create_app(site), log_level="error", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield LivePage(address, f"{address}/enter?token={site.entry}", desk)
        finally:
            server.should_exit = True
            thread.join(timeout=10)
