"""Elasticsearch and OpenSearch through their REST API, without a client library."""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import orjson

from findback.endpoint import without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query
from findback.net import HttpAnswer
from findback.retrievers.batches import Batches
from findback.retrievers.calling import AGAIN
from findback.retrievers.elastic_answers import (
    MisfitError,
    Product,
    check_header,
    check_server,
    find_missing,
    read_error,
)
from findback.retrievers.elasticsearch_settings import (
    ElasticsearchSettings,
    OpenSearchSettings,
    body_of,
    check_body,
    id_path,
    parameters_of,
    path_of,
)
from findback.retrievers.json_answer import read_json
from findback.retrievers.service import JSON, NOT_RESULTS, Call, Said, SearchService, value_at
from findback.retrievers.templates import fill_json, values_of

EXACT = frozenset({"keyword", "constant_keyword", "wildcard", "version", "long", "integer", "short", "unsigned_long"})
"""Types of fields that a whole id can be looked up in."""


class ElasticsearchRetriever(SearchService):
    """Asks an index of Elasticsearch 7, 8 or 9."""

    kind = "elasticsearch"
    record = ElasticsearchSettings
    product: ClassVar[Product] = Product("Elasticsearch", "elasticsearch", 7, 9)

    def __init__(self, name: str, own: ElasticsearchSettings, **options: Any) -> None:
        super().__init__(name, own, **options)
        self._settings = own
        self._greeted = not own.check_product
        self._greeting: asyncio.Future[None] | None = None
        self._misfit: MisfitError | None = None
        self._id_field: str | None = None
        self._batches = Batches(self._ask_together, own.batch) if own.batch > 1 else None
        self.concurrency = own.concurrency * own.batch

    @classmethod
    def check(cls, name: str, own: Any) -> None:
        """Refuse settings that cannot work; nothing is called."""
        super().check(name, own)
        check_body(name, own)

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search."""
        return Call("POST", f"{path_of(own, '_search')}{parameters_of(own)}", body_of(own))

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return id_path(own)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results; headers by name only."""
        dumped = self._own.model_dump(exclude=NOT_RESULTS | {"batch", "check_product"})
        return {**dumped, "headers": sorted(self._own.headers)}

    async def ask(self, query: Query, k: int) -> Answer:
        """Send one search, alone or with others."""
        await self._greet()
        if self._batches is None:
            return await super().ask(query, k)
        found = await self._batches.ask(fill_json(self._template.body, values_of(query, k)))
        content = found if isinstance(found, dict) else {}
        status = content.get("status")
        if status in AGAIN:
            # Asked again alone, with the pauses that a busy server needs.
            return await super().ask(query, k)
        shown = self._shown(path_of(self._settings, "_msearch"))
        if "error" in content:
            raise self.refuse(status if isinstance(status, int) else 500, read_error(content), shown, query)
        if (missing := find_missing(content)) is not None:
            raise self.refuse(200, missing, shown, query)
        return await self._caller.read(lambda: self._reader.read(content, k, shown), shown)

    async def send(self, method: str, path: str, content: bytes | None) -> tuple[HttpAnswer, str]:
        """Return what the server answers; another product's answer is refused."""
        answered, shown = await super().send(method, path, content)
        if self._settings.check_product:
            check_header(self.product, answered.headers, shown)
        return answered, shown

    def read_error(self, content: Any) -> Said:
        """Return type and reason of an error."""
        return read_error(content)

    def find_problem(self, content: Any) -> Said | None:
        """Return what is missing in an answer."""
        return find_missing(content)

    def is_absent(self, said: Said) -> bool:
        """Return False: a document is looked for by a search, which is 200 where it is not there."""
        return False

    def lookup_call(self, document: str) -> Call:
        """Return a search for the document's id."""
        own, field = self._settings, self._id_field
        query: dict[str, Any] = {"term": {field: document}} if field else {"ids": {"values": [document]}}
        wanted = [name for name in (own.id_field, own.text_field) if name]
        return Call("POST", path_of(own, "_search"), {"query": query, "size": 1, "_source": wanted or False})

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the fields of the hit, where there is one."""
        hits = value_at(content, "hits.hits") if isinstance(content, dict) else None
        if not isinstance(hits, list):
            raise EngineError("the answer to a look-up holds no hits", hint="check `url`")
        if not hits:
            return None
        source = hits[0].get("_source") if isinstance(hits[0], dict) else None
        return source if isinstance(source, dict) else {}

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the index holds the document; None where its id stands in a field of words."""
        return await super().exists(document, context) if await self._can_look_up() else None

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the index' own text of a document; None if it has none, or without `text_field`."""
        return await super().fetch(document, context) if await self._can_look_up() else None

    async def _can_look_up(self) -> bool:
        await self._greet()
        if self._settings.id_field is not None and self._id_field is None:
            self._id_field = await self._find_exact(self._settings.id_field)
        return self._settings.id_field is None or self._id_field is not None

    async def _find_exact(self, field: str) -> str | None:
        """Return the field a whole id can be looked up in: the field, or its keyword; None where there is neither.

        Raises:
            EngineError: If the field is something else in each of several indices.
        """
        names = (field, f"{field}.keyword")
        answered, shown = await self.send(
            "GET", f"{path_of(self._settings, '_field_caps')}?fields={quote(','.join(names))}", None
        )
        if answered.status == 403:
            return field
        known = self.read(answered, shown, Query(field)).get("fields") or {}
        types = {name: sorted(kind for kind in known.get(name) or {} if kind != "unmapped") for name in names}
        if len(types[field]) > 1:
            raise EngineError(
                f"the field {field} has several types in the indices of {self._own.index}: {', '.join(types[field])}",
                hint="name one index, or reindex so that the mappings agree",
            )
        return next((name for name in names if types[name] and set(types[name]) <= EXACT), None)

    async def _greet(self) -> None:
        """Look once at what answers; a server that is not what the settings say is asked nothing more."""
        if not self._greeted:
            # Those that come meanwhile wait for the same answer.
            greeting = self._greeting = self._greeting or asyncio.ensure_future(self._look_at_server())
            try:
                await asyncio.shield(greeting)
            except MisfitError as misfit:
                self._misfit = misfit
            finally:
                self._greeting = None if greeting.done() else greeting
            self._greeted = True
        if self._misfit is not None:
            raise EngineError(str(self._misfit), hint=self._misfit.hint)

    async def _look_at_server(self) -> None:
        shown = self._shown("/")
        url = f"{self._own.url.rstrip('/')}/"
        answered = await self._caller.call("GET", url, shown=shown, headers=JSON)
        if answered.status == 401:
            refused = self.refuse(401, self.read_refusal(answered), shown, Query(""))
            raise MisfitError(str(refused), hint=refused.hint)
        if answered.status == 403:
            # Credentials that may search and nothing else; the header of the searches decides.
            return
        check_server(self.product, self.read(answered, shown, Query("")), answered.headers, shown)

    async def _ask_together(self, bodies: list[bytes]) -> list[Any]:
        """Return the answers to several searches, in order."""
        header = orjson.dumps(self._settings.parameters)
        path = path_of(self._settings, "_msearch")
        shown = self._shown(path)
        answered = await self._caller.call(
            "POST",
            f"{self._own.url.rstrip('/')}{path}",
            shown=shown,
            content=b"".join(b"%b\n%b\n" % (header, body) for body in bodies),
            headers={**JSON, "Content-Type": "application/x-ndjson"},
        )
        if self._settings.check_product:
            check_header(self.product, answered.headers, shown)
        if answered.status != 200:
            # What it says is not shown: it may quote any of the searches.
            raise self.refuse(answered.status, Said(self.read_refusal(answered).code), shown, Query(""))
        content = await self._caller.read(lambda: read_json(answered, shown), shown)
        responses = content.get("responses") if isinstance(content, dict) else None
        if not isinstance(responses, list) or len(responses) != len(bodies):
            raise EngineError(f"{shown} did not answer each of {len(bodies)} searches", hint="lower `batch`")
        return responses

    def _shown(self, path: str) -> str:
        return without_query(f"{self._own.url.rstrip('/')}{path}")


class OpenSearchRetriever(ElasticsearchRetriever):
    """Asks an index of OpenSearch 1, 2 or 3."""

    kind = "opensearch"
    record = OpenSearchSettings
    product = Product("OpenSearch", "opensearch", 1, 3)
