"""The one outgoing HTTP client: what may be reached, how much is read, how long it takes, what is said."""

import asyncio
import ipaddress
import logging
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Literal, NamedTuple, NoReturn
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import httpx2

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

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    )
)
_LIBRARIES = (
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "stamina",
)
_calling: ContextVar[bool] = ContextVar("findback_calling", default=False)

TextState = Literal["document", "unreviewed", "reviewed"]
"""What a text that is sent is: a document or its id, or a question before or after a person reviewed it."""
_carried: ContextVar[TextState] = ContextVar("findback_carried", default="unreviewed")


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


class Departure(NamedTuple):
    """Where something was sent, and what it was."""

    endpoint: str
    """Scheme, host and port; or the name of the program or function that was handed it."""
    level: EgressLevel
    state: TextState


class Departures:
    """Counts what is sent where, and holds nothing of it."""

    def __init__(self, keep: Callable[[Mapping[Departure, int]], None]) -> None:
        """Begin at nothing.

        Args:
            keep: Takes the counts when a connection closes.
        """
        self._keep = keep
        self._counts: Counter[Departure] = Counter()
        self._lock = Lock()

    def add(self, endpoint: str, level: EgressLevel) -> None:
        """Count one text of the state that `carrying` says; unreviewed where nothing does."""
        with self._lock:
            self._counts[Departure(endpoint, level, _carried.get())] += 1

    def flush(self) -> None:
        """Hand over what was counted, and begin anew."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if counts:
            self._keep(counts)


@contextmanager
def carrying(state: TextState) -> Iterator[None]:
    """Say what is sent while the block runs."""
    token = _carried.set(state)
    try:
        yield
    finally:
        _carried.reset(token)


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
        self._resolve = resolve or look_up
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        for name in _LIBRARIES:
            logging.getLogger(name).addFilter(_keep_own_calls_out)

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
                transport=_Pinned(self._resolve, self._connections),
                timeout=None,
                follow_redirects=False,
                trust_env=False,
                headers={"User-Agent": USER_AGENT},
            )
        # A cookie of one search must not change the next one.
        self._client.cookies.clear()
        return self._client


class _Pinned(httpx2.AsyncBaseTransport):
    """Connects to addresses that were looked at, so that a name cannot change its mind in between."""

    def __init__(self, resolve: Resolve, connections: int) -> None:
        self._resolve = resolve
        self._limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._hosts: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._known: dict[tuple[str, int], tuple[float, Sequence[str]]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
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
                    _refuse(host)
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


async def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host.

    Raises:
        OSError: If the name is not known.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_forbidden(address: str) -> bool:
    """Return whether an IP address is one that no search system has: link-local, metadata, multicast, unset.

    >>> is_forbidden("169.254.169.254"), is_forbidden("::ffff:169.254.1.1"), is_forbidden("127.0.0.1")
    (True, True, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = (
            ip.ipv4_mapped or ip.sixtofour or (ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        )
        if inner is not None:
            return is_forbidden(str(inner))
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA or str(ip) == "255.255.255.255"


def check_address(url: str, shown: str | None = None) -> None:
    """Refuse what is no plain http or https address.

    Raises:
        RefusedError: If the scheme is another one, there is no host, it holds a user name or password, or the
            host is an address that must not be called.
    """
    name = shown or without_query(url)
    parts = _split(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RefusedError(f"not an http or https address: {name}", hint="write it as https://host/path")
    if parts.username is not None or parts.password is not None:
        raise RefusedError(
            f"the address holds a user name or password: {name}",
            hint='send it in a header instead: Authorization = "env:NAME"',
        )
    try:
        forbidden = is_forbidden(parts.hostname)
    except ValueError:
        return
    if forbidden:
        _refuse(parts.hostname)


def without_query(url: str) -> str:
    """Return an address without query string, fragment, user name and password.

    >>> without_query("https://ann:pw@search.example.org/find?q=lost#top")
    'https://search.example.org/find'
    """
    parts = _split(url)
    if parts is None:
        return "(an address that cannot be read)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, the port always written out; nothing where it cannot be read.

    >>> origin_of("https://Search.example.org/find?q=lost"), origin_of("http://[::1]:9200/")
    ('https://search.example.org:443', 'http://[::1]:9200')
    """
    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    port = parts.port if parts.port is not None else {"http": 80, "https": 443}.get(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def host_of(url: str) -> str | None:
    """Return the host of an address, empty where it names none; None where it cannot be read as an address.

    >>> host_of("http://[::1]:9200/"), host_of("/find"), host_of("http://[::1")
    ('::1', '', None)
    """
    parts = _split(url)
    return None if parts is None else parts.hostname or ""


def is_loopback(host: str) -> bool:
    """Return whether a host name certainly means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("search.example.org")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _refuse(host: str) -> NoReturn:
    raise RefusedError(
        f"{host} is a link-local, metadata or otherwise special address, which is never called",
        hint="name the search system's own host",
    )


def _keep_own_calls_out(record: logging.LogRecord) -> bool:
    """Drop what the HTTP library logs about our calls (addresses, headers); other people's calls stay."""
    return not _calling.get()
