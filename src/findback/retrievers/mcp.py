"""A tool of a running MCP server: what an agent really calls."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import orjson
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED

from findback.departures import Departures
from findback.endpoint import without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import LIBRARIES, MARKER, USER_AGENT, Pinned, hush, quiet_libraries
from findback.retrievers.build import read_own
from findback.retrievers.foreign import is_being_cancelled
from findback.retrievers.http_settings import egress_of, fill_headers
from findback.retrievers.json_answer import AnswerReader
from findback.retrievers.masking import list_words, mask
from findback.retrievers.mcp_settings import (
    McpSettings,
    check_mcp,
    compile_pattern,
    endpoint_of,
    read_result,
    trusted_of,
)
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import check_filters, fill_json, honoured_fields, list_names, values_of
from findback.retrievers.workers import Workers

LOGGERS = (
    "client",
    "mcp.client.caching",
    "mcp.client.client",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
    "mcp.shared.tool_name_validation",
)
GRACE = 10.0
"""Seconds a server may take to end."""


class McpRetriever:
    """Calls a tool with the question, over one session that stays open."""

    kind = "mcp"

    def __init__(self, name: str, own: McpSettings, surroundings: Surroundings, egress: EgressLevel | None) -> None:
        check_mcp(name, own)
        self.name = name
        self.concurrency = own.concurrency
        self.egress: EgressLevel = egress or ("local" if own.url is None else egress_of(own.url))
        self.score_direction: ScoreDirection | None = None if own.scores == "none" or own.score is None else own.scores
        self._names = list_names([own.arguments])
        self.honours = honoured_fields(self._names)
        self._own, self._surroundings = own, surroundings
        self._headers = fill_headers(name, own.headers, surroundings.environment)
        self._pattern = compile_pattern(name, own.pattern) if own.pattern is not None else None
        self._reader = AnswerReader(name, own)
        self._shown = without_query(own.url) if own.url is not None else own.command[0]
        self._departures: Departures | None = surroundings.departures if self.egress != "local" else None
        self._workers = Workers()
        self._session: _Session | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the program that would be started, or the address asked, and the variables either would be given."""
        own = read_own(name, settings, McpSettings)
        check_mcp(name, own)
        return trusted_of(name, own)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "McpRetriever":
        """Return the retriever; the server is started or reached by the first search.

        Raises:
            SettingsError: If a setting makes no sense or a variable is not set.
            RefusedError: If the address is one that must not be called.
        """
        return cls(name, read_own(name, settings, McpSettings), surroundings, settings.egress)

    def settings(self) -> Mapping[str, object]:
        """Return the server, the tool, its arguments and how its results are read; headers by name only."""
        left_out = {"headers", "environment", "concurrency", "timeout"}
        return {**self._own.model_dump(exclude=left_out), "headers": sorted(self._own.headers)}

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the tool returns, read as results.

        Raises:
            EngineError: If the server cannot be reached, the tool fails, takes too long, or returns something else.
            UnhonouredError: If the question has a filter that the arguments do not hand on.
        """
        check_filters(query, self._names)
        arguments = _filled(self._own.arguments, query, k)
        if self._departures is not None:
            self._departures.add(endpoint_of(self._own), self.egress)
        result = await self._call(arguments, query)
        if getattr(result, "is_error", False):
            said = " ".join(block.text for block in result.content if getattr(block, "type", None) == "text")
            reason = mask(said, list_words(query)) or "no reason given"
            raise EngineError(
                f"the tool {self._own.tool} of {self._shown} failed: {reason}",
                hint="check `arguments` against the tool's own description",
            )
        answer: Answer = await self._workers.run(
            lambda: self._reader.read(read_result(result, self._own, self._pattern), k, f"{self._own.tool}")
        )
        # Without a k of its own a tool gives what it gives: asking again for more would give the same.
        return answer if "k" in self._names else answer._replace(hits=answer.hits[:k], exhausted=len(answer.hits) <= k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return None: a tool that searches cannot say."""
        return None

    async def close(self) -> None:
        """End the session, and the server where it was started."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        if self._departures is not None:
            self._departures.flush()
        self._workers.stop()

    async def _call(self, arguments: dict[str, Any], query: Query) -> Any:
        own = self._own
        with quiet_libraries():
            # What the session's own task logs may hold questions, too.
            session = self._session = self._session or _Session(self._connect, self._shown)
        try:
            async with asyncio.timeout(own.timeout) as limit:
                with quiet_libraries():
                    client = await session.client()
                    return await client.call_tool(own.tool, arguments)
        except TimeoutError:
            if not limit.expired():
                raise
            late = f"no answer within {own.timeout:g} s from {self._shown}"
            raise EngineError(late, hint="raise `timeout`") from None
        except EngineError:
            await self._leave(session)
            raise
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                # What the protocol itself refuses: no such tool, or arguments of another shape.
                said = mask(str(error), list_words(query))
                line = f"{self._shown} refuses the call of {own.tool}: {said}"
                raise EngineError(line, hint="check `tool` and `arguments`") from None
        except asyncio.CancelledError:
            if is_being_cancelled():
                raise
        except Exception:  # noqa: BLE001, S110 (transports raise what their libraries raise: the session is over)
            pass
        await self._leave(session)
        raise EngineError(f"the session with {self._shown} ended", hint="look at the server's own log")

    async def _leave(self, session: "_Session") -> None:
        """Let go of a session that is over, so that the next question opens another."""
        if self._session is session:
            self._session = None
            await session.close()

    async def _connect(self, stack: AsyncExitStack) -> Client:
        own = self._own
        if own.url is not None:
            http = httpx2.AsyncClient(
                transport=Pinned(own.concurrency + 2),
                timeout=httpx2.Timeout(own.timeout),
                follow_redirects=False,
                trust_env=False,
                headers={"User-Agent": USER_AGENT, **MARKER, **self._headers},
            )
            await stack.enter_async_context(http)
            transport: Any = streamable_http_client(own.url, http_client=http)
        else:
            given = {name: self._surroundings.environment.get(name) for name in own.environment}
            environment = {**get_default_environment(), **{name: value for name, value in given.items() if value}}
            parameters = StdioServerParameters(
                command=own.command[0],
                args=list(own.command[1:]),
                env=environment,
                cwd=self._surroundings.base,
            )
            # What a server says to people may hold the question.
            nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: ASYNC230, SIM115 (no disk)
            transport = stdio_client(parameters, errlog=nowhere)
        return await stack.enter_async_context(Client(transport))


class _Session:
    """A client in a task of its own: it must be closed by the task that opened it."""

    def __init__(self, connect: Any, shown: str) -> None:
        hush(*LIBRARIES, *LOGGERS)
        self._shown = shown
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._hold(connect))

    async def client(self) -> Client:
        """Return the client once it is connected."""
        return await asyncio.shield(self._ready)

    async def close(self) -> None:
        """End the session; one that does not end is cancelled."""
        self._stop.set()
        done, _ = await asyncio.wait({self._task}, timeout=GRACE)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=GRACE)
        with suppress(BaseException):
            self._task.exception()

    async def _hold(self, connect: Any) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = await connect(stack)
                self._ready.set_result(client)
                await self._stop.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(_unreachable(error, self._shown))
                # Somebody may have given up waiting; it is no error then that nobody looks.
                self._ready.exception()
            if isinstance(error, asyncio.CancelledError):
                raise


def _unreachable(error: BaseException, shown: str) -> EngineError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in {401, 403}:
        return EngineError(f"HTTP {status} from {shown}: the credentials are missing or wrong", hint="check `headers`")
    said = f"HTTP {status}" if status is not None else type(error).__name__
    return EngineError(
        f"no MCP session with {shown}: {said}", hint="check `command` or `url`, and that the server starts by itself"
    )


def _filled(arguments: Mapping[str, Any], query: Query, k: int) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(fill_json(dict(arguments), values_of(query, k)))
    return found
