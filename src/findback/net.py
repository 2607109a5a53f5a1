"""The one outgoing HTTP client: what may be reached, how much is read, how long it takes, what is said."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import urljoin

import httpx2

from findback.departures import Departures
from findback.endpoint import check_address, is_forbidden, look_up, origin_of, refuse_special, without_query
from findback.errors import EngineError, RefusedError
from findback.model.settings import EgressLevel

MARKER = {"X-Findback": "evaluation"}
"""Header that tells log readers that a search was made by an evaluation, not by a person."""
USER_AGENT = "findback (evaluation)"
MOST_REDIRECTS = 5
CHECK = "check the address and that the server runs"
RESOLVED_FOR = 60.0
"""Seconds for which a looked-up address is used again."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

LIBRARIES = (
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "stamina",
)
_calling: ContextVar[bool] = ContextVar("findback_calling", default=False)


class UnreachableError(EngineError):
    """Nothing answered at the address."""

    code = "unreachable"


class HttpAnswer(NamedTuple):
    """What a server answered, read whole."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    url: str
    """Address that answered, fit to be shown."""


class HttpClient:
    """Calls the endpoints the user named, and only them.

    Redirects are followed within one origin; everything else is refused, because the query would go to a host
    nobody agreed to. Link-local and metadata addresses are refused after the name was looked up, and the
    connection goes to the address that was checked.
    """

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        max_bytes: int = 20_000_000,
        connections: int = 20,
        resolve: Resolve | None = None,
        departures: Departures | None = None,
        level: EgressLevel = "external",
    ) -> None:
        """Prepare a client; it connects when it is used.

        Args:
            timeout: Seconds one call may take.
            max_bytes: Longest answer that is read.
            connections: Most connections at a time.
            resolve: Looks host names up.
            departures: Is told of every request that was sent.
            level: How far what is sent travels.
        """
        self._timeout, self._max_bytes, self._connections = timeout, max_bytes, connections
        self._departures, self._level = departures, level
        self._resolve = resolve
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        hush(*LIBRARIES)

    @property
    def timeout(self) -> float:
        """Return the seconds one call may take."""
        return self._timeout

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        seconds: float | None = None,
        shown: str | None = None,
    ) -> HttpAnswer:
        """Call an address and return its whole answer, whatever the status.

        Args:
            method: GET, POST or another HTTP method.
            url: An http or https address without user name and password.
            headers: Sent beside the marker and the user agent.
            content: The body.
            seconds: Time for everything, redirects included; the client's own when None.
            shown: How errors call the address, for addresses that hold private text; else the address
                without its query string.

        Raises:
            EngineError: If the server cannot be reached, is too slow, or sends too much.
            RefusedError: If a safety rule forbids the address.
        """
        limit = seconds or self._timeout
        name = shown or without_query(url)
        try:
            with quiet_libraries():
                async with asyncio.timeout(limit):
                    return await self._follow(method, url, dict(headers or {}), content, name)
        except (TimeoutError, httpx2.TimeoutException):
            raise EngineError(
                f"no answer within {limit:g} s from {name}", hint="raise `timeout`, or ask less at once"
            ) from None
        except httpx2.DecodingError:
            raise EngineError(f"the answer's compression is broken: {name}") from None
        except httpx2.ConnectError:
            raise UnreachableError(f"cannot connect: {name}", hint=CHECK) from None
        except httpx2.HTTPError:
            raise UnreachableError(f"the connection broke: {name}", hint=CHECK) from None
        except (httpx2.InvalidURL, UnicodeError, ValueError):
            raise EngineError(f"the address cannot be called: {name}", hint="check `url`") from None

    async def close(self) -> None:
        """Close every connection, and hand over what was counted."""
        if self._departures is not None:
            self._departures.flush()
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            with quiet_libraries():
                await client.aclose()

    async def _follow(
        self, method: str, url: str, headers: dict[str, str], content: bytes | None, name: str
    ) -> HttpAnswer:
        client = self._open()
        for _ in range(MOST_REDIRECTS + 1):
            check_address(url, name)
            request = client.build_request(method, url, headers={**headers, **MARKER}, content=content)
            response = await self._send(client, request)
            try:
                location = response.headers.get("location")
                if not response.has_redirect_location or location is None:
                    body = await self._read(response, name)
                    return HttpAnswer(response.status_code, dict(response.headers), body, name)
            finally:
                await response.aclose()
            target = urljoin(url, location)
            if origin_of(target) != origin_of(url):
                raise RefusedError(
                    f"{name} redirects to another origin ({origin_of(target) or 'unreadable'}): not followed",
                    hint="if that is where queries may go, name it as the `url`",
                )
            if response.status_code == 303:
                method, content = "GET", None
            elif method not in {"GET", "HEAD"} and response.status_code not in {307, 308}:
                raise EngineError(
                    f"{name} answers a {method} with status {response.status_code}, losing the query",
                    hint="name the address it redirects to as the `url`",
                )
            url = target
        raise EngineError(f"more than {MOST_REDIRECTS} redirects from {name}")

    async def _send(self, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        """Send a request and count it, answered or not; what finds no connection is not sent."""
        connected = True
        try:
            return await client.send(request, stream=True)
        except httpx2.ConnectError:
            connected = False
            raise
        finally:
            if connected and self._departures is not None:
                self._departures.add(origin_of(str(request.url)), self._level)

    async def _read(self, response: httpx2.Response, name: str) -> bytes:
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > self._max_bytes:
                raise EngineError(
                    f"the answer of {name} is longer than {self._max_bytes:,} bytes",
                    hint="ask for fewer fields, or raise `max_bytes` in [http]",
                )
            parts.append(part)
        return b"".join(parts)

    def _open(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx2.AsyncClient(
                transport=Pinned(self._connections, self._resolve),
                timeout=None,
                follow_redirects=False,
                trust_env=False,
                headers={"User-Agent": USER_AGENT},
            )
        # A cookie of one search must not change the next one.
        self._client.cookies.clear()
        return self._client


class Pinned(httpx2.AsyncBaseTransport):
    """Connects to addresses that were looked at, so that a name cannot change its mind in between."""

    def __init__(self, connections: int, resolve: Resolve | None = None) -> None:
        """Prepare; it connects when it is used.

        Args:
            connections: Most connections to one host at a time.
            resolve: Looks host names up.
        """
        self._resolve = resolve or look_up
        self._limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._hosts: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._known: dict[tuple[str, int], tuple[float, Sequence[str]]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the address its host was looked up as."""
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        inner = self._hosts.get(host)
        if inner is None:
            inner = self._hosts[host] = httpx2.AsyncHTTPTransport(limits=self._limits, trust_env=False)
        failure: httpx2.ConnectError | None = None
        for address in await self._addresses(host, port):
            pinned = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await inner.handle_async_request(pinned)
            except httpx2.ConnectError as error:
                failure = error
        raise failure or httpx2.ConnectError("no address")

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._hosts.values():
            await transport.aclose()
        self._hosts.clear()

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        now = asyncio.get_running_loop().time()
        since, addresses = self._known.get((host, port), (-RESOLVED_FOR, ()))
        if now - since >= RESOLVED_FOR or not addresses:
            try:
                addresses = tuple(dict.fromkeys(await self._resolve(host, port)))
            except OSError:
                raise httpx2.ConnectError("the host name is not known") from None
            for address in addresses:
                if is_forbidden(address):
                    refuse_special(host)
            self._known[host, port] = (now, addresses)
        return addresses


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep what libraries log about our own calls out of every log while the block runs."""
    token = _calling.set(True)
    try:
        yield
    finally:
        _calling.reset(token)


def hush(*loggers: str) -> None:
    """Have these loggers say nothing about what happens inside `quiet_libraries`."""
    for name in loggers:
        logging.getLogger(name).addFilter(_keep_own_calls_out)


def _keep_own_calls_out(record: logging.LogRecord) -> bool:
    """Drop what the HTTP library logs about our calls (addresses, headers); other people's calls stay."""
    return not _calling.get()
