"""Calls to a search system over HTTP: again where that may help, no faster than wanted, read in bounded time."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import stamina

from findback.endpoint import origin_of
from findback.errors import EngineError
from findback.model.trusted import Trusted
from findback.net import HttpAnswer, HttpClient, UnreachableError, quiet_libraries
from findback.retrievers.http_settings import CallSettings, list_variables
from findback.retrievers.workers import Workers

Read = TypeVar("Read")

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed."""
SMALL = 50_000
"""Bytes of an answer that may be read at once."""
LONGEST_WAIT = 60.0
"""Seconds a server may ask to wait; more is an error."""


class BusyError(EngineError):
    """The server could not answer now; the same request may succeed later."""

    code = "busy"

    def __init__(self, message: str, *, hint: str | None = None, after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.after = after


class Caller:
    """Sends the requests of one retriever."""

    def __init__(self, own: CallSettings, client: HttpClient, headers: Mapping[str, str]) -> None:
        """Take the bounds, the client, and the headers with their secrets."""
        self._own, self._client, self._headers = own, client, dict(headers)
        self._named = {header.lower() for header in headers}
        self._workers = Workers()
        self._free_at = 0.0
        self._reached = False

    async def call(
        self, method: str, url: str, *, shown: str, content: bytes | None = None, headers: Mapping[str, str]
    ) -> HttpAnswer:
        """Return what the server answers, after further tries where the first found it busy.

        Args:
            method: GET, POST or another HTTP method.
            url: The filled address.
            shown: How errors call the address.
            content: The body.
            headers: Sent beside those of the settings, which win.

        Raises:
            EngineError: If it cannot be reached, is too slow or busy, or sends too much.
        """
        sent = {header: value for header, value in headers.items() if header.lower() not in self._named}
        sent.update(self._headers)
        try:
            return await self._try(method, url, sent, content, shown)
        except (BusyError, UnreachableError) as error:
            if not self._own.retries or self._wait_for(error) is False:
                raise
            first = error
        with quiet_libraries():
            async for attempt in stamina.retry_context(
                on=self._wait_for,
                attempts=self._own.retries + 1,
                timeout=None,
                wait_initial=0.5,
                wait_max=10.0,
                wait_jitter=0.5,
            ):
                with attempt:
                    if attempt.num == 1:
                        raise first
                    return await self._try(method, url, sent, content, shown)
        raise AssertionError

    async def _try(
        self, method: str, url: str, sent: Mapping[str, str], content: bytes | None, shown: str
    ) -> HttpAnswer:
        await self._pace()
        answered = await self._client.request(method, url, headers=sent, content=content, shown=shown)
        self._reached = True
        if answered.status in AGAIN:
            raise self._again(answered, shown)
        return answered

    async def read(self, read: Callable[[], Read], shown: str, *, at_once: bool = False) -> Read:
        """Return what a large answer holds, without stopping the other searches, and in bounded time.

        Args:
            read: Reads it.
            shown: How errors call the address.
            at_once: It is small and plainly read: a thread for it would cost more than it does.

        Raises:
            EngineError: If reading takes longer than a call may.
        """
        if at_once:
            return read()
        try:
            async with asyncio.timeout(self._client.timeout) as limit:
                return await self._workers.run(read)  # type: ignore[no-any-return]
        except TimeoutError:
            if not limit.expired():
                raise
            raise EngineError(
                f"the answer of {shown} could not be read within {self._client.timeout:g} s",
                hint="ask for fewer results or fields, or raise `timeout`",
            ) from None

    async def close(self) -> None:
        """End the threads and close the connections."""
        self._workers.stop()
        await self._client.close()

    def _again(self, answered: HttpAnswer, shown: str) -> EngineError:
        after = read_retry_after(answered.headers.get("retry-after"), datetime.now(UTC))
        message = f"HTTP {answered.status} from {shown}"
        if after is not None and after > LONGEST_WAIT:
            return EngineError(f"{message}, asking to wait {after:.0f} s", hint="lower `rate` or `concurrency`")
        if after is not None:
            self._free_at = max(self._free_at, asyncio.get_running_loop().time() + after)
        return BusyError(message, hint="lower `rate` or `concurrency`, or look at the server", after=after)

    def _wait_for(self, error: Exception) -> bool | float:
        """Return how long to wait before the next try, True for the usual time, False for no next try."""
        if isinstance(error, BusyError):
            return True if error.after is None else error.after
        # A server that never answered is not going to: the first question shall say so at once.
        return isinstance(error, UnreachableError) and self._reached

    async def _pace(self) -> None:
        now = asyncio.get_running_loop().time()
        begin = max(now, self._free_at)
        if self._own.rate is not None:
            self._free_at = begin + 1 / self._own.rate
        if begin > now:
            await asyncio.sleep(begin - now)


def trusted_calls(name: str, urls: tuple[str, ...], headers: Mapping[str, str]) -> tuple[Trusted, ...]:
    """Return the origins queries would go to, and which variable's value would go to which of them.

    Each says for which retriever, so that an agreement to send a secret to one system covers no other.
    """
    origins = tuple(dict.fromkeys(origin_of(url) for url in urls))
    return (
        *(Trusted("host", f"{origin}, asked by {name}") for origin in origins),
        *(
            Trusted("variable", f"${variable}, sent to {origin} in header {header} by {name}")
            for header, value in headers.items()
            for variable in list_variables(value)
            for origin in origins
        ),
    )


def read_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks to wait; None where it says nothing readable.

    >>> read_retry_after("7", datetime(2026, 1, 1, tzinfo=UTC))
    7.0
    >>> read_retry_after("Thu, 01 Jan 2026 00:00:09 GMT", datetime(2026, 1, 1, tzinfo=UTC))
    9.0
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())
