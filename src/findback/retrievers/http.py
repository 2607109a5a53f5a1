"""A search system behind HTTP: a request template, and paths into its JSON answer."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import stamina

from findback.departures import carrying
from findback.endpoint import origin_of, without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import HttpAnswer, HttpClient, UnreachableError, quiet_libraries
from findback.retrievers.build import read_own
from findback.retrievers.http_settings import (
    Body,
    HttpRetrieverSettings,
    check_settings,
    egress_of,
    fill_header,
    list_variables,
)
from findback.retrievers.json_answer import AnswerReader, compile_path, read_json
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import (
    Values,
    check_filters,
    context_values,
    fill_address,
    fill_form,
    fill_json,
    fill_text,
    honoured_fields,
    list_names,
    values_of,
)
from findback.retrievers.workers import Workers

Read = TypeVar("Read")

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed."""
LONGEST_WAIT = 60.0
"""Seconds a server may ask to wait; more is an error."""


class BusyError(EngineError):
    """The server could not answer now; the same request may succeed later."""

    code = "busy"

    def __init__(self, message: str, *, hint: str | None = None, after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.after = after


class HttpRetriever:
    """Asks a search system by HTTP."""

    kind = "http"

    def __init__(
        self,
        name: str,
        own: HttpRetrieverSettings,
        *,
        client: HttpClient,
        environment: Mapping[str, str],
        egress: EgressLevel | None = None,
    ) -> None:
        check_settings(name, own)
        self.name = name
        self.concurrency = own.concurrency
        self.egress: EgressLevel = egress or egress_of(own.url)
        self.score_direction: ScoreDirection | None = None if own.scores == "none" or own.score is None else own.scores
        self._names = list_names([own.url, own.body])
        self.honours = honoured_fields(self._names)
        self._own, self._client = own, client
        self._headers = {key: fill_header(name, key, value, environment) for key, value in own.headers.items()}
        self._reader = AnswerReader(name, own)
        self._found = compile_path(name, "exists.found", own.exists.found) if own.exists and own.exists.found else None
        self._tells_audience = own.exists is not None and "context.audience" in list_names(
            [own.exists.url, own.exists.body]
        )
        self._text = compile_path(name, "fetch.text", own.fetch.text) if own.fetch else None
        self._workers = Workers()
        self._free_at = 0.0
        self._reached = False

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the origins queries would go to, and which variable's value would go to which of them.

        Each says for which retriever, so that an agreement to send a secret to one system covers no other.
        """
        own = read_own(name, settings, HttpRetrieverSettings)
        check_settings(name, own)
        urls = [own.url, *(request.url for request in (own.exists, own.fetch) if request)]
        origins = tuple(dict.fromkeys(origin_of(url) for url in urls))
        return (
            *(Trusted("host", f"{origin}, asked by {name}") for origin in origins),
            *(
                Trusted("variable", f"${variable}, sent to {origin} in header {header} by {name}")
                for header, value in own.headers.items()
                for variable in list_variables(value)
                for origin in origins
            ),
        )

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "HttpRetriever":
        """Return the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense or a variable is not set.
            RefusedError: If an address is one that must not be called.
        """
        own = read_own(name, settings, HttpRetrieverSettings)
        return cls(
            name,
            own,
            client=surroundings.client(
                level=settings.egress or egress_of(own.url), seconds=own.timeout, connections=own.concurrency
            ),
            environment=surroundings.environment,
            egress=settings.egress,
        )

    def settings(self) -> Mapping[str, object]:
        """Return the request template and the paths; headers by name only, the address without credentials."""
        left_out = {"headers", "concurrency", "rate", "retries", "timeout", "exists", "fetch"}
        return {**self._own.model_dump(exclude=left_out), "headers": sorted(self._own.headers)}

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the system answers.

        Raises:
            EngineError: If it cannot be reached, answers another status than 2xx, or no such JSON.
            UnhonouredError: If the question has a filter that the template does not hand on.
        """
        check_filters(query, self._names)
        asked = min(k, self._own.max_k or k)
        values = values_of(query, asked)
        own = self._own
        answered = await self._call(own.method, own.url, own.body, own.body_type, values)
        shown = without_query(own.url)
        answer = await self._read(lambda: self._reader.read(_read_success(answered, shown), asked, shown), shown)
        return answer if asked == k else answer._replace(exhausted=True)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the system holds the document; None without `[retrievers.NAME.exists]`.

        Asked for an audience, 403 is a no as well, and the answer is None where the template does not hand the
        audience on.

        Raises:
            EngineError: If the system answers neither yes nor no.
        """
        request = self._own.exists
        audience = context.audience if context is not None else None
        if request is None or (audience and not self._tells_audience):
            return None
        values = {"id": document, **context_values(context)}
        with carrying("document"):
            answered = await self._call(request.method, request.url, request.body, "json", values)
        if answered.status in {404, 410} or (answered.status == 403 and audience):
            return False
        shown, found = without_query(request.url), self._found
        if found is None:
            _expect_success(answered, shown)
            return True
        return await self._read(lambda: any(found.findall(_read_success(answered, shown))), shown)

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the system's own text of a document; None if it has none, or without `[retrievers.NAME.fetch]`.

        Raises:
            EngineError: If the system answers neither.
        """
        request, text = self._own.fetch, self._text
        if request is None or text is None:
            return None
        values = {"id": document, **context_values(context)}
        with carrying("document"):
            answered = await self._call(request.method, request.url, request.body, "json", values)
        if answered.status in {404, 410}:
            return None
        shown = without_query(request.url)
        found = await self._read(lambda: text.findall(_read_success(answered, shown)), shown)
        return found[0] if found and isinstance(found[0], str) else None

    async def close(self) -> None:
        """Close the connections."""
        self._workers.stop()
        await self._client.close()

    async def _read(self, read: Callable[[], Read], shown: str) -> Read:
        """Return what a large answer holds, without stopping the other searches, and in bounded time."""
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

    async def _call(
        self, method: str | None, url: str, body: Body | None, body_type: str, values: Values
    ) -> HttpAnswer:
        """Send a filled template, again where that may help."""
        content, headers = _fill_body(body, body_type, values)
        named = {header.lower() for header in self._headers}
        headers = {header: value for header, value in headers.items() if header.lower() not in named}
        method = method or ("GET" if body is None else "POST")
        shown, filled = without_query(url), fill_address(url, values)
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
                    await self._pace()
                    answered = await self._client.request(
                        method, filled, headers={**headers, **self._headers}, content=content, shown=shown
                    )
                    self._reached = True
                    if answered.status in AGAIN:
                        raise self._again(answered, shown)
                    return answered
        raise AssertionError

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


def _fill_body(body: Body | None, body_type: str, values: Values) -> tuple[bytes | None, dict[str, str]]:
    accept = {"Accept": "application/json"}
    if body is None:
        return None, accept
    if body_type == "json":
        return fill_json(body, values), {**accept, "Content-Type": "application/json"}
    text = body if isinstance(body, str) else "&".join(f"{key}={value}" for key, value in _pairs(body))
    if body_type == "form":
        return fill_form(text, values), {**accept, "Content-Type": "application/x-www-form-urlencoded"}
    return fill_text(text, values), {**accept, "Content-Type": "text/plain; charset=utf-8"}


def _pairs(body: dict[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    return list(body.items()) if isinstance(body, dict) else [(str(at), value) for at, value in enumerate(body)]


def _read_success(answered: HttpAnswer, shown: str) -> Any:
    return read_json(_expect_success(answered, shown), shown)


def _expect_success(answered: HttpAnswer, shown: str) -> HttpAnswer:
    if 200 <= answered.status < 300:
        return answered
    hints = {
        401: "check the headers",
        403: "check the headers",
        404: "check the `url`",
        405: "check the `method`",
    }
    raise EngineError(
        f"HTTP {answered.status} from {shown}", hint=hints.get(answered.status, "look at the server's log")
    )
