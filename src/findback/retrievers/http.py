"""A search system behind HTTP: a request template, and paths into its JSON answer."""

import asyncio
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import stamina
from pydantic import Field, PositiveInt

from findback.errors import EngineError, RefusedError, SettingsError
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import (
    HttpAnswer,
    HttpClient,
    UnreachableError,
    check_address,
    is_loopback,
    quiet_libraries,
    without_query,
)
from findback.retrievers.build import read_own
from findback.retrievers.json_answer import AnswerReader, PathSettings, compile_path, read_json
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import (
    Values,
    check_filters,
    check_names,
    fill_address,
    fill_form,
    fill_json,
    fill_text,
    honoured_fields,
    list_names,
    values_of,
)

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed."""
LONGEST_WAIT = 60.0
"""Seconds a server may ask to wait; more is an error."""
FROM_ENVIRONMENT = "env:"

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

Body = str | dict[str, Any] | list[Any]


class RequestSettings(Record):
    """A request about one document: `[retrievers.NAME.exists]`, `[retrievers.NAME.fetch]`; `{{id}}` is its id."""

    url: Annotated[str, LOCAL_ONLY]
    method: Literal["GET", "HEAD", "POST"] | None = None
    """POST when there is a body, else GET."""
    body: Body | None = None
    found: str | None = None
    """`exists`: JSONPath that matches something true when the document is there; else status 200 is enough."""
    text: str = "$.text"
    """`fetch`: JSONPath to the document's text."""


class HttpRetrieverSettings(PathSettings):
    """Settings of kind `http`."""

    url: Annotated[str, LOCAL_ONLY]
    """Address with `{{query}}`, `{{k}}` or `{{context.…}}` where they belong."""
    method: Literal["GET", "POST", "PUT"] | None = None
    """POST when there is a body, else GET."""
    headers: dict[str, Annotated[str, LOCAL_ONLY]] = Field(default_factory=dict)
    """Sent with every request. `env:NAME`, or `{{env:NAME}}` inside a text, takes a secret from the environment."""
    body: Body | None = None
    """A table (values are put into its strings), or a text."""
    body_type: Literal["json", "form", "text"] = "json"
    """How values are escaped, and what the content is declared as."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    max_k: PositiveInt | None = None
    """Most results the system gives at once."""
    exists: RequestSettings | None = None
    fetch: RequestSettings | None = None
    concurrency: PositiveInt = 4
    """Most searches at the same time."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Most requests a second."""
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    """Further tries after 429, 502, 503, 504 or a broken connection."""
    timeout: Annotated[float, Field(gt=0, le=600)] | None = None
    """Seconds for one request; `[http] timeout` when left out."""


class _AgainError(EngineError):
    """The same request may succeed later."""

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
        _check(name, own)
        self.name = name
        self.concurrency = own.concurrency
        self.egress: EgressLevel = egress or egress_of(own.url)
        self.score_direction: ScoreDirection | None = None if own.scores == "none" or own.score is None else own.scores
        self._names = list_names([own.url, own.body])
        self.honours = honoured_fields(self._names)
        self._own, self._client = own, client
        self._headers = {key: _fill_secret(name, key, value, environment) for key, value in own.headers.items()}
        self._reader = AnswerReader(name, own)
        self._found = compile_path(name, "exists.found", own.exists.found) if own.exists and own.exists.found else None
        self._text = compile_path(name, "fetch.text", own.fetch.text) if own.fetch else None
        self._free_at = 0.0
        self._reached = False

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the hosts queries would go to and the variables whose values would be sent."""
        own = read_own(name, settings, HttpRetrieverSettings)
        _check(name, own)
        urls = [own.url, *(request.url for request in (own.exists, own.fetch) if request)]
        variables = [variable for value in own.headers.values() for variable in _variables(value)]
        return (
            *(Trusted("host", urlsplit(url).netloc) for url in dict.fromkeys(urls)),
            *(Trusted("variable", variable) for variable in dict.fromkeys(variables)),
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
            client=surroundings.client(seconds=own.timeout, connections=own.concurrency),
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
        content = read_json(_expect_success(answered, shown), shown)
        answer = self._reader.read(content, asked, shown)
        return answer if asked == k else answer._replace(exhausted=True)

    async def exists(self, document: str) -> bool | None:
        """Return whether the system holds the document, None without `[retrievers.NAME.exists]`.

        Raises:
            EngineError: If the system answers neither yes nor no.
        """
        request = self._own.exists
        if request is None:
            return None
        answered = await self._call(request.method, request.url, request.body, "json", {"id": document})
        if answered.status in {404, 410}:
            return False
        answered = _expect_success(answered, without_query(request.url))
        if self._found is None:
            return True
        return any(self._found.findall(read_json(answered, without_query(request.url))))

    async def fetch(self, document: str) -> str | None:
        """Return the system's own text of a document; None if it has none, or without `[retrievers.NAME.fetch]`.

        Raises:
            EngineError: If the system answers neither.
        """
        request = self._own.fetch
        if request is None or self._text is None:
            return None
        answered = await self._call(request.method, request.url, request.body, "json", {"id": document})
        if answered.status in {404, 410}:
            return None
        content = read_json(_expect_success(answered, without_query(request.url)), without_query(request.url))
        found = self._text.findall(content)
        return found[0] if found and isinstance(found[0], str) else None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _call(
        self, method: str | None, url: str, body: Body | None, body_type: str, values: Values
    ) -> HttpAnswer:
        """Send a filled template, again where that may help."""
        content, headers = _fill_body(body, body_type, values)
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
        return _AgainError(message, hint="lower `rate` or `concurrency`, or look at the server", after=after)

    def _wait_for(self, error: Exception) -> bool | float:
        """Return how long to wait before the next try, True for the usual time, False for no next try."""
        if isinstance(error, _AgainError):
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


def egress_of(url: str) -> EgressLevel:
    """Return how far a query travels to an address: this machine, an address of a private network, or further.

    >>> egress_of("http://127.0.0.1:9200"), egress_of("http://10.1.2.3/s"), egress_of("https://search.example.org")
    ('local', 'internal', 'external')
    """
    host = urlsplit(url).hostname or ""
    if is_loopback(host):
        return "local"
    try:
        return "internal" if ipaddress.ip_address(host).is_private else "external"
    except ValueError:
        return "external"


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


def _check(name: str, own: HttpRetrieverSettings) -> None:
    """Refuse addresses and templates that cannot work; nothing is called.

    Raises:
        SettingsError: If a template names something unknown, or the host is a template.
        RefusedError: If an address is one that must not be called.
    """
    where = f"[retrievers.{name}]"
    requests: tuple[tuple[str, str, Body | None, Callable[[str], bool]], ...] = (
        (where, own.url, own.body, lambda used: used != "id"),
        *(
            (f"{where} {key}", request.url, request.body, lambda used: used == "id")
            for key, request in (("exists", own.exists), ("fetch", own.fetch))
            if request is not None
        ),
    )
    for place, url, body, allowed in requests:
        check_names([url, body], allowed=allowed, where=place)
        if "{{" in urlsplit(url.replace("|", "")).netloc:
            raise SettingsError(f"{place} url: the host cannot be a template", hint="name one host")
        try:
            check_address(url)
        except RefusedError as error:
            raise RefusedError(f"{place} url: {error}", hint=error.hint) from None
    for header, value in own.headers.items():
        if set(list_names([value])) - {f"{FROM_ENVIRONMENT}{variable}" for variable in _variables(value)}:
            raise SettingsError(f"{where} headers.{header}: only {{{{env:NAME}}}} may stand in a header")
        if not _HEADER.fullmatch(header) or not value.isprintable() or not value.isascii():
            raise SettingsError(f"{where} headers.{header}: holds characters that no header may have")


def _variables(value: str) -> list[str]:
    if value.startswith(FROM_ENVIRONMENT):
        return [value.removeprefix(FROM_ENVIRONMENT).strip()]
    return [
        used.removeprefix(FROM_ENVIRONMENT).strip() for used in list_names([value]) if used.startswith(FROM_ENVIRONMENT)
    ]


def _fill_secret(name: str, header: str, value: str, environment: Mapping[str, str]) -> str:
    found = {}
    for variable in _variables(value):
        secret = environment.get(variable, "").strip()
        if not secret:
            raise SettingsError(
                f"[retrievers.{name}] headers.{header}: the environment variable {variable} is not set",
                hint=f"export {variable}=…",
            )
        if not secret.isprintable() or not secret.isascii():
            raise SettingsError(f"the environment variable {variable} holds characters that no header may have")
        found[f"{FROM_ENVIRONMENT}{variable}"] = secret
    if value.startswith(FROM_ENVIRONMENT):
        return next(iter(found.values()))
    for used, secret in found.items():
        value = value.replace(f"{{{{{used}}}}}", secret)
    return value


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
