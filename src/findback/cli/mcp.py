"""`findback mcp`."""

import sys
from importlib import import_module
from typing import Any

from cyclopts import App

from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table
from findback.errors import MissingLibraryError
from findback.steps.agenttokens import (
    AgentTokenRequest,
    list_agent_tokens,
    make_agent_token,
    revoke_agent_token,
)
from findback.steps.kept import now
from findback.workspace import open_workspace

app = App(name="mcp", help="Give agents tools to flag, expand and search, by MCP.", help_format="plaintext")


@app.default
def mcp(*, http: bool = False, port: int | None = None) -> None:
    """Serve the tools to the program that starts this, by standard input and output.

    Args:
        http: Serve over HTTP instead, to whoever has a token.
        port: Port for HTTP, instead of the one of findback.toml; 0 takes a free one.
    """
    workspace = open_workspace()
    if http:
        # Standard output is free here, and programs that start the server read the address from it.
        _load("findback.mcp.http").serve_http(workspace, port=port, ready=_announce)
        return
    _load("findback.mcp.stdio").serve_stdio(workspace)


@app.command(name="token")
def token(name: str, /, *, scopes: tuple[str, ...] = (), days: int = 30, json: bool = False) -> None:
    """Make a token for agents that call over HTTP, and print it, this once.

    Args:
        name: What the list of tokens calls it.
        scopes: What it may be used for: flag, expand, search; flag and expand when left out.
        days: How long it is good for, up to 365.
        json: Print JSON.
    """
    wanted = make_request(AgentTokenRequest, name=name, days=days, **({"scopes": scopes} if scopes else {}))
    made = make_agent_token(open_workspace(), wanted, now=now())
    if json:
        show_json(made)
        return
    say(made.token)
    print(
        f"for {', '.join(made.scopes)} until {made.until:%Y-%m-%d}; keep it now, it is not shown again", file=sys.stderr
    )


@app.command(name="tokens")
def tokens(*, json: bool = False) -> None:
    """List the tokens of agents.

    Args:
        json: Print JSON instead of a table.
    """
    found = list_agent_tokens(open_workspace(), now=now())
    if json:
        show_json(found)
        return
    if not found.tokens:
        say("there are none")
        return
    rows = [
        (
            one.number,
            one.name,
            ", ".join(one.scopes),
            f"{one.made:%Y-%m-%d}",
            f"{one.used:%Y-%m-%d}" if one.used else "never",
            f"{one.until:%Y-%m-%d}",
            one.state,
        )
        for one in found.tokens
    ]
    show(table(("number", "name", "for", "made", "used", "until", "state"), rows))


@app.command(name="revoke")
def revoke(number: int, /) -> None:
    """Make a token useless from now on.

    Args:
        number: From `findback mcp tokens`.
    """
    revoke_agent_token(open_workspace(), number, now=now())
    say(f"token {number} is of no use any more")


def _announce(address: str) -> None:
    say(f"serving {address}")
    sys.stdout.flush()


def _load(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "findback":
            raise
        raise MissingLibraryError(error.name or "mcp", extra="mcp", wanted_for="serving agents") from error
