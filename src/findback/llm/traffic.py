"""What goes out to a model's server, and what comes back: one host, nothing beside the request, bounded, counted."""

from collections.abc import AsyncIterator

import httpx2

from findback.departures import Departures
from findback.endpoint import check_address, origin_of
from findback.errors import EngineError, RefusedError
from findback.model.settings import EgressLevel
from findback.net import USER_AGENT, Pinned

MOST_BYTES = 20_000_000
"""Longest answer that is read."""

_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "anthropic-beta",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)


class Traffic(httpx2.AsyncBaseTransport):
    """Lets requests through to one origin, and to nothing else.

    Of the headers that libraries add, those stay that the protocol needs, and those that carry the key: what
    kind of machine this is, and what other variables hold, is nobody's business.
    """

    def __init__(
        self,
        base_url: str,
        *,
        secret: str | None = None,
        connections: int = 32,
        level: EgressLevel = "external",
        departures: Departures | None = None,
        endpoint: str | None = None,
    ) -> None:
        """Prepare; it connects when it is used.

        Args:
            base_url: Address of the server.
            secret: The key; it goes to this origin only.
            connections: Most connections at a time.
            level: How far what is sent travels.
            departures: Is told of every request that was sent.
            endpoint: How counts call it; its origin when None.

        Raises:
            RefusedError: If the address is one that must not be called.
        """
        check_address(base_url)
        self._origin = origin_of(base_url)
        self._endpoint = endpoint or self._origin
        self._secret, self._level, self._departures = secret, level, departures
        self._inner = Pinned(connections)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; a redirect is not followed."""
        url = str(request.url)
        check_address(url)
        if origin_of(url) != self._origin:
            raise RefusedError(f"a library would call {origin_of(url)} instead of {self._origin}: not called")
        self._strip(request)
        response = await self._send(request)
        if response.has_redirect_location:
            await response.aclose()
            raise RefusedError(
                f"{self._origin} redirects: not followed", hint="name the address it redirects to as `base_url`"
            )
        response.stream = _Bounded(response.stream, self._origin)  # type: ignore[arg-type]
        return response

    async def aclose(self) -> None:
        """Close every connection, and hand over what was counted."""
        await self._inner.aclose()
        if self._departures is not None:
            self._departures.flush()

    def _strip(self, request: httpx2.Request) -> None:
        for name, value in list(request.headers.items()):
            carries_key = self._secret is not None and self._secret in value
            if name.lower() not in _HEADERS and not carries_key:
                del request.headers[name]
        request.headers["User-Agent"] = USER_AGENT

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and count it, answered or not; what finds no connection is not sent."""
        connected = True
        try:
            return await self._inner.handle_async_request(request)
        except httpx2.ConnectError:
            connected = False
            raise
        finally:
            if connected and self._departures is not None:
                self._departures.add(self._endpoint, self._level)


class _Bounded(httpx2.AsyncByteStream):
    """An answer that ends with an error where it becomes too long."""

    def __init__(self, inner: httpx2.AsyncByteStream, origin: str) -> None:
        self._inner, self._origin = inner, origin

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > MOST_BYTES:
                raise EngineError(f"the answer of {self._origin} is longer than {MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
