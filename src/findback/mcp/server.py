"""The protocol's side of the tools: listing them, calling them, and what is said when one fails."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolType

from findback.errors import FindbackError, RefusedError, UsageError
from findback.mcp.log import note_call, note_fault
from findback.mcp.tools import Call, Caller, Tool
from findback.sources.traces.evaluation import is_marked
from findback.web.limits import Limits, Rate

INSTRUCTIONS = (
    "Use these tools when a person looks for something in the documents. Pass their own words on as they first wrote"
    " them. When nothing answers, say so with flag_not_found instead of guessing."
)
FAILED = "the server could not do this; try again later"


def make_server(
    tools: list[Tool[Any]], *, calls_per_minute: int, caller: Callable[[], Caller], clock: Callable[[], datetime]
) -> Server[Any]:
    """Return a server of the protocol, not yet connected.

    Args:
        tools: What it offers.
        calls_per_minute: Most calls of one client.
        caller: Says who sent the request being answered.
        clock: The time, UTC.
    """
    by_name = {tool.name: tool for tool in tools}
    limits, rate = Limits(), Rate("calls", calls_per_minute)

    async def list_(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        allowed = caller().scopes
        return ListToolsResult(tools=[_describe(tool) for tool in tools if tool.scope in allowed])

    def admit(tool: Tool[Any] | None, who: Caller) -> Tool[Any]:
        if tool is None:
            raise UsageError(f"there is no such tool; there are {', '.join(by_name)}")
        if tool.scope not in who.scopes:
            raise RefusedError(f"this token may not be used for {tool.name}: it lacks the scope {tool.scope}")
        if not limits.allow(rate, who.client.name):
            raise RefusedError(f"too many calls: {rate.amount} in a minute; wait a little")
        return tool

    async def call(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        began, who = time.perf_counter(), caller()
        tool = by_name.get(params.name)
        outcome = "done"
        try:
            told = await admit(tool, who).call(params.arguments or {}, Call(who, clock(), marked=_says_exam(context)))
        except FindbackError as error:
            outcome = error.code
            return _failure(error)
        except Exception as error:  # noqa: BLE001  (what an unknown error says may quote a text)
            outcome = "internal"
            note_fault(error)
            return _say(FAILED)
        else:
            content = told.record.model_dump(mode="json")
            return CallToolResult(content=[TextContent(type="text", text=told.text)], structured_content=content)
        finally:
            note_call(tool.name if tool is not None else "unknown", outcome, time.perf_counter() - began)

    return Server(
        "findback",
        version=version("findback"),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: by_name[name].schema if name in by_name else None,
        on_list_tools=list_,
        on_call_tool=call,
    )


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def _says_exam(context: ServerRequestContext[Any]) -> bool:
    """Return whether the client says that this is an exam, in the call or in a header."""
    headers = dict(context.request.headers) if context.request is not None else {}
    return is_marked(dict(context.meta or {})) or is_marked(headers)


def _describe(tool: Tool[Any]) -> ToolType:
    annotations = ToolAnnotations(
        read_only_hint=not tool.writes, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return ToolType(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=annotations)


def _failure(error: FindbackError) -> CallToolResult:
    if not isinstance(error, (UsageError, RefusedError)):
        # Other messages name files and hosts of this machine.
        note_fault(error)
        return _say(FAILED)
    return _say(error.message)


def _say(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
