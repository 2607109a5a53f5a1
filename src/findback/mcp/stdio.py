"""Serving the one program that started the server, by its standard input and output."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

from mcp.server.stdio import stdio_server

from findback.mcp.log import log_to
from findback.mcp.server import make_server, utc_now
from findback.mcp.tools import LOCAL, list_tools, open_desks
from findback.workspace import Workspace


def serve_stdio(workspace: Workspace) -> None:
    """Serve until the program closes its end. Standard output holds the protocol and nothing else.

    Raises:
        FindbackError: What `open_desks` raises, before anything is read.
    """
    log_to()
    asyncio.run(_serve(workspace))


async def _serve(workspace: Workspace) -> None:
    async with AsyncExitStack() as stack:
        with _output_apart():
            desks = await stack.enter_async_context(open_desks(workspace))
        per_minute = workspace.settings.mcp.calls_per_minute
        server = make_server(list_tools(desks), calls_per_minute=per_minute, caller=lambda: LOCAL, clock=utc_now)
        # While it serves, the library keeps what anybody prints away from the protocol.
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())


@contextmanager
def _output_apart() -> Iterator[None]:
    """Send what libraries and their children print to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
