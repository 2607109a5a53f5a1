"""A search system behind HTTP: a request template, and paths into its JSON answer."""

from collections.abc import Mapping
from typing import Any

from findback.departures import carrying
from findback.endpoint import without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import HttpAnswer, HttpClient
from findback.retrievers.build import read_own
from findback.retrievers.calling import SMALL, Caller, trusted_calls
from findback.retrievers.http_settings import (
    Body,
    HttpRetrieverSettings,
    check_settings,
    egress_of,
    fill_headers,
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
        self._own = own
        self._caller = Caller(own, client, fill_headers(name, own.headers, environment))
        self._reader = AnswerReader(name, own)
        self._found = compile_path(name, "exists.found", own.exists.found) if own.exists and own.exists.found else None
        self._tells_audience = own.exists is not None and "context.audience" in list_names(
            [own.exists.url, own.exists.body]
        )
        self._text = compile_path(name, "fetch.text", own.fetch.text) if own.fetch else None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the origins queries would go to, and which variable's value would go to which of them."""
        own = read_own(name, settings, HttpRetrieverSettings)
        check_settings(name, own)
        urls = [own.url, *(request.url for request in (own.exists, own.fetch) if request)]
        return trusted_calls(name, tuple(urls), own.headers)

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
        answer = await self._caller.read(
            lambda: self._reader.read(_read_success(answered, shown), asked, shown),
            shown,
            at_once=self._reader.plain and len(answered.body) <= SMALL,
        )
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
        return await self._caller.read(lambda: any(found.findall(_read_success(answered, shown))), shown)

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
        found = await self._caller.read(lambda: text.findall(_read_success(answered, shown)), shown)
        return found[0] if found and isinstance(found[0], str) else None

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()

    async def _call(
        self, method: str | None, url: str, body: Body | None, body_type: str, values: Values
    ) -> HttpAnswer:
        """Send a filled template, again where that may help."""
        content, headers = _fill_body(body, body_type, values)
        method = method or ("GET" if body is None else "POST")
        return await self._caller.call(
            method, fill_address(url, values), shown=without_query(url), content=content, headers=headers
        )


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
