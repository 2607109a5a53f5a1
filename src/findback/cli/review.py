"""`findback review` and `findback serve`."""

import sys
import webbrowser
from importlib import import_module
from typing import Any

from findback.cli.shown import say
from findback.errors import MissingError, MissingLibraryError, UsageError
from findback.steps.bench import has_bench, open_bench
from findback.steps.localreviewer import local_reviewer
from findback.steps.reviewdesk import open_desk
from findback.workspace import Workspace, open_workspace


def review(*, port: int = 0, no_browser: bool = False, terminal: bool = False) -> None:
    """Review and label candidates, on a page of this machine or in the terminal.

    Args:
        port: Port on this machine; a free one when 0.
        no_browser: Print the link and open nothing.
        terminal: Review here, one line at a time, without a page.
    """
    workspace = _ready(open_workspace(required=False))
    if terminal:
        _review_here(workspace)
        return

    def announce(link: str) -> None:
        say(f"review: {link}")
        say("The link works once; the page stays until Ctrl+C. Every decision is saved when it is made.")
        if not no_browser:
            webbrowser.open(link)

    _server().serve_local(workspace, port=port, ready=announce)


def _review_here(workspace: Workspace) -> None:
    if not sys.stdin.isatty():
        raise UsageError("review --terminal asks a person, so it needs a terminal", hint="run it in one")
    # Only here: the page does without it.
    from findback.cli.reviewing import Reviewing  # noqa: PLC0415

    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        sitting = Reviewing(desk, local_reviewer())
        try:
            sitting.run()
        finally:
            say(f"{sitting.submitted} submitted; everything decided is kept")


def serve() -> None:
    """Serve the review page to a team, behind its login."""
    workspace = _ready(open_workspace())
    _server().serve_team(workspace, ready=lambda address: say(f"serving {address}"))


def _ready(workspace: Workspace) -> Workspace:
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")
    return workspace


def _server() -> Any:
    try:
        return import_module("findback.web.server")
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "findback":
            raise
        raise MissingLibraryError(error.name or "fastapi", extra="web", wanted_for="the review page") from error
