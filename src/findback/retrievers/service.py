"""What the engines with an HTTP API of their own have in common; what differs stands in each engine's file."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, Self
from urllib.parse import quote

import orjson

from findback.departures import carrying
from findback.endpoint import without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.record import LOCAL_ONLY
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import HttpAnswer, HttpClient
from findback.retrievers.build import read_own
from findback.retrievers.calling import SMALL, Caller, trusted_calls
from findback.retrievers.http_settings import Body, CallSettings, check_headers, check_url, egress_of, fill_headers
from findback.retrievers.json_answer import AnswerReader, read_json
from findback.retrievers.masking import list_words, mask
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import (
    check_filters,
    check_names,
    fill_address,
    fill_json,
    honoured_fields,
    list_names,
    values_of,
)

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
NOT_RESULTS = frozenset({"headers", "concurrency", "rate", "retries", "timeout", "text_field"})
"""Settings that change how an engine is asked, and no result."""

_MEANINGS = {
    400: ("the request was refused", "check the settings against the server's version and its fields"),
    401: ("the credentials are missing or wrong", "check `headers` and the variable they name"),
    403: ("these credentials may not do that", "give them the right to search, or check `headers`"),
    404: ("it is not there", "check the names in the settings"),
    405: ("the request was refused", "check `url`: it names the server, without the path of its API"),
    413: ("the request is too long", "shorten the body"),
}


class ServiceSettings(CallSettings):
    """What every engine with an API of its own can be told."""

    url: Annotated[str, LOCAL_ONLY]
    """Address of the server, without the path of its API."""
    id: str = ""
    """JSONPath from a result to the id of its document; by default where the engine has it."""
    text_field: str | None = None
    """Field that holds a document's text, to fetch it by id."""


class Call(NamedTuple):
    """A request; templates where it is a search."""

    method: str
    path: str
    """Behind the address of the server."""
    body: Body | None = None


class Said(NamedTuple):
    """What an engine says went wrong."""

    code: str | None = None
    """Its own name for it."""
    message: str | None = None
    status: int | None = None
    """Where it stands inside an answer."""
    hint: str | None = None


class SearchService:
    """Asks an engine through its HTTP API. An engine's file says how a search, a look-up and an error look there."""

    kind: ClassVar[str]
    record: ClassVar[type[ServiceSettings]]

    def __init__(
        self,
        name: str,
        own: Any,
        *,
        client: HttpClient,
        environment: Mapping[str, str],
        egress: EgressLevel | None = None,
    ) -> None:
        self.check(name, own)
        self.name = name
        self.concurrency: int = own.concurrency
        self.egress: EgressLevel = egress or egress_of(own.url)
        self.score_direction: ScoreDirection | None = None if own.scores == "none" or own.score is None else own.scores
        self._own = own
        self._template = self.search_call(own)
        self._names = list_names([self._template.path, self._template.body])
        self.honours = honoured_fields(self._names)
        self._caller = Caller(own, client, fill_headers(name, own.headers, environment))
        self._reader = AnswerReader(name, own if own.id else own.model_copy(update={"id": self.id_path(own)}))

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the server queries would go to, and which variable's value would go there."""
        own = read_own(name, settings, cls.record)
        cls.check(name, own)
        return trusted_calls(name, (own.url,), own.headers)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> Self:
        """Return the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense or a variable is not set.
            RefusedError: If the address is one that must not be called.
        """
        own = read_own(name, settings, cls.record)
        level = settings.egress or egress_of(own.url)
        client = surroundings.client(level=level, seconds=own.timeout, connections=own.concurrency)
        return cls(name, own, client=client, environment=surroundings.environment, egress=settings.egress)

    @classmethod
    def check(cls, name: str, own: Any) -> None:
        """Refuse settings that cannot work; nothing is called.

        Raises:
            SettingsError: If a template names something unknown, or a header holds a secret itself.
            RefusedError: If the address is one that must not be called.
        """
        where, template = f"[retrievers.{name}]", cls.search_call(own)
        check_url(where, own.url)
        check_names([template.path, template.body], allowed=lambda used: used != "id", where=where)
        check_headers(where, own.headers)

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search."""
        raise NotImplementedError

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id, where the settings do not say."""
        raise NotImplementedError

    def lookup_call(self, document: str) -> Call:
        """Return the request for one document."""
        raise NotImplementedError

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the fields of a document out of the answer to a look-up, or None where it is not there."""
        raise NotImplementedError

    def is_absent(self, said: Said) -> bool:
        """Return whether a refused look-up means that the document is not there, rather than the index."""
        raise NotImplementedError

    def read_error(self, content: Any) -> Said:
        """Return what an error's body says."""
        raise NotImplementedError

    def find_problem(self, content: Any) -> Said | None:
        """Return what is wrong with an answer of status 200; None where it is whole."""
        return None

    def settings(self) -> Mapping[str, object]:
        """Return what changes results; headers by name only."""
        return {**self._own.model_dump(exclude=NOT_RESULTS), "headers": sorted(self._own.headers)}

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the engine answers.

        Raises:
            EngineError: If it cannot be reached, refuses, or answers in part only.
            UnhonouredError: If the question has a filter that the template does not hand on.
        """
        check_filters(query, self._names)
        asked = min(k, self._own.max_k or k)
        answer = await self.ask(query, asked)
        return answer if asked == k else answer._replace(exhausted=True)

    async def ask(self, query: Query, k: int) -> Answer:
        """Send one search and read its answer."""
        template, values = self._template, values_of(query, k)
        content = None if template.body is None else fill_json(template.body, values)
        answered, shown = await self.send(template.method, fill_address(template.path, values), content)
        return await self._caller.read(
            lambda: self._reader.read(self.read(answered, shown, query), k, shown),
            shown,
            at_once=self._reader.plain and len(answered.body) <= SMALL,
        )

    async def send(self, method: str, path: str, content: bytes | None) -> tuple[HttpAnswer, str]:
        """Return what the server answers, and how errors call the address."""
        url = f"{self._own.url.rstrip('/')}{path}"
        shown = without_query(url)
        return await self._caller.call(method, url, shown=shown, content=content, headers=JSON), shown

    def read(self, answered: HttpAnswer, shown: str, query: Query) -> Any:
        """Return the JSON of a whole answer.

        Raises:
            EngineError: If the server refuses, or has no whole answer.
        """
        if not 200 <= answered.status < 300:
            raise self.refuse(answered.status, self.read_refusal(answered), shown, query)
        content = read_json(answered, shown)
        if (problem := self.find_problem(content)) is not None:
            raise self.refuse(problem.status or answered.status, problem, shown, query)
        return content

    def read_refusal(self, answered: HttpAnswer) -> Said:
        """Return what the body of an error says; nothing where it is in no known form."""
        try:
            content = orjson.loads(answered.body)
        except orjson.JSONDecodeError:
            return Said()
        return self.read_error(content)

    def refuse(self, status: int, said: Said, shown: str, query: Query) -> EngineError:
        """Return one line on what went wrong; the words of the query are masked in what the engine says of it."""
        meaning, hint = _MEANINGS.get(status, ("the server failed", "look at the server's log"))
        if 200 <= status < 300:
            meaning, hint = "the answer is not whole", "look at the server's log"
        told = ": ".join(mask(part, list_words(query)) for part in (said.code, said.message) if part)
        line = f"HTTP {status} from {shown}: {meaning}"
        return EngineError(f"{line} ({told})" if told else line, hint=said.hint or hint)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the engine holds the document; None for an audience, which a look-up cannot stand for.

        Raises:
            EngineError: If the engine answers neither yes nor no.
        """
        if context is not None and context.audience:
            return None
        return await self.look_up(document) is not None

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the engine's own text of a document; None if it has none, or without `text_field`.

        Raises:
            EngineError: If the engine answers neither.
        """
        if self._own.text_field is None or (context is not None and context.audience):
            return None
        found = await self.look_up(document)
        text = None if found is None else value_at(found, self._own.text_field)
        return text if isinstance(text, str) else None

    async def look_up(self, document: str) -> Mapping[str, Any] | None:
        """Return the fields of a document, or None where the engine does not hold it."""
        call = self.lookup_call(document)
        with carrying("document"):
            answered, shown = await self.send(
                call.method, call.path, None if call.body is None else orjson.dumps(call.body)
            )
        if answered.status in {400, 404} and self.is_absent(self.read_refusal(answered)):
            return None
        return self.find_document(self.read(answered, shown, Query(document)), document)

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()


def value_at(fields: Mapping[str, Any], path: str) -> Any:
    """Return the value of a field; `a.b` is a field of that name, or `b` inside `a`.

    >>> value_at({"meta": {"path": "a.md"}}, "meta.path"), value_at({"meta.path": "a.md"}, "meta.path")
    ('a.md', 'a.md')
    """
    if path in fields:
        return fields[path]
    found: Any = fields
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def in_path(text: str) -> str:
    """Return a text as one part of an address.

    >>> in_path("docs/a b.md")
    'docs%2Fa%20b.md'
    """
    return quote(text, safe="")


def text_of(value: Any) -> str | None:
    """Return a value of an error's body where it is text."""
    return value if isinstance(value, str) and value else None
