"""Weaviate through its GraphQL API."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import orjson
from pydantic import Field, PositiveInt

from findback.errors import SettingsError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query
from findback.model.record import LOCAL_ONLY
from findback.model.settings import RetrieverSettings
from findback.retrievers.build import read_own
from findback.retrievers.http_settings import egress_of
from findback.retrievers.nearest import find_embedding
from findback.retrievers.nearest_settings import Value, check_match, list_conditions
from findback.retrievers.service import Call, Said, SearchService, ServiceSettings, text_of, value_at
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import context_values

GRAPHQL = "/v1/graphql"
Name = Annotated[str, Field(pattern=r"^[_A-Za-z][_0-9A-Za-z]{0,230}$")]

_PROPERTY = re.compile(r"\$\.([_A-Za-z]\w*)")


class WeaviateSettings(ServiceSettings):
    """Settings of kind `weaviate`."""

    collection: Annotated[str, Field(pattern=r"^[A-Z][_0-9A-Za-z]{0,230}$")]
    """Collection that is searched."""
    by: Literal["vector", "text", "hybrid", "words"] = "vector"
    """`vector`: one of findback's own embedder, `text`: one that Weaviate makes, `words`: BM25, `hybrid`: both."""
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.75
    """`hybrid`: how much the vector counts against the words."""
    vector: Name | None = None
    """Name of the vectors, where a collection has several."""
    id_field: Name | None = None
    """Property of the document's id, where it is not the object's own id."""
    match: dict[str, Name] = Field(default_factory=dict)
    """Which property must equal which part of a question's context: `locale`, `audience` or `filters.NAME`."""
    only: dict[Name, Value] = Field(default_factory=dict)
    """Properties that must always have these values."""
    model: Annotated[str | None, LOCAL_ONLY] = None
    """Embedder the vectors were made with; see kind `dense`. For `vector`, and if wanted for `hybrid`."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens of the query that the embedder sees."""
    pooling: Literal["mean", "cls"] = "mean"
    """How the embedder makes one vector of many."""
    query_prefix: str = ""
    """What the embedder wants before a query."""
    max_k: PositiveInt | None = 10_000


class WeaviateRetriever(SearchService):
    """Asks a collection."""

    kind = "weaviate"
    record = WeaviateSettings

    def __init__(self, name: str, own: Any, *, surroundings: Surroundings, **given: Any) -> None:
        scored = {"score": "$._additional.distance", "scores": "lower"}
        if own.by in {"hybrid", "words"}:
            scored = {"score": "$._additional.score", "scores": "higher"}
        super().__init__(name, own.model_copy(update=scored), **given)
        if (own.by == "vector") != (own.model is not None) and own.by != "hybrid":
            raise SettingsError(
                f'[retrievers.{name}] model: goes together with `by = "vector"` or `by = "hybrid"`',
                hint='name the embedder, or let Weaviate make the vector: by = "text"',
            )
        self._embed, self._model = find_embedding(name, own, surroundings)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> Self:
        """Return the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense or a variable is not set.
            RefusedError: If the address is one that must not be called.
            MissingError: If the embedder is not there.
        """
        own = read_own(name, settings, cls.record)
        level = settings.egress or egress_of(own.url)
        client = surroundings.client(level=level, seconds=own.timeout, connections=own.concurrency)
        return cls(
            name,
            own,
            surroundings=surroundings,
            client=client,
            environment=surroundings.environment,
            egress=settings.egress,
        )

    @classmethod
    def check(cls, name: str, own: Any) -> None:
        """Refuse settings that cannot work; nothing is called."""
        super().check(name, own)
        check_match(name, own.match)

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return where a search goes, with the parts of the context that it hands on."""
        return Call("POST", GRAPHQL, {"query": [f"{{{{context.{part}}}}}" for part in own.match]})

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return f"$.{own.id_field}" if own.id_field else "$._additional.id"

    def settings(self) -> Mapping[str, object]:
        """Return what changes results; the embedder by its digest."""
        return {**super().settings(), "model": self._model}

    async def ask(self, query: Query, k: int) -> Answer:
        """Send one search and read its answer; nothing is found for an empty query."""
        if not query.text.strip():
            return Answer((), exhausted=True)
        vector = None if self._embed is None else await asyncio.to_thread(self._embed, query.text)
        conditions = list_conditions(self._own, context_values(query.context))
        how = [self._how(query.text, vector), f"limit: {k}", *_where(conditions)]
        answered, shown = await self.send("POST", GRAPHQL, self._get(how, self._properties()))
        return self._reader.read({"hits": self._objects(self.read(answered, shown, query))}, k, shown)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the collection holds the document; None for an audience, and where ids name passages."""
        return None if self._own.split is not None else await super().exists(document, context)

    def lookup_call(self, document: str) -> Call:
        """Return a search for the object with this id."""
        own = self._own
        asked = (own.id_field or "id", document)
        wanted = [own.id_field or "_additional { id }", *([own.text_field] if own.text_field else [])]
        how = [*_where([asked, *own.only.items()]), "limit: 25"]
        return Call("POST", GRAPHQL, orjson.loads(self._get(how, wanted)))

    async def look_up(self, document: str) -> Mapping[str, Any] | None:
        """Return the properties of a document; an object's own id can only be a UUID."""
        if self._own.id_field is None and not _is_uuid(document):
            return None
        return await super().look_up(document)

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the object that has the id; a property that is searched by words may give others, too."""
        field = self._own.id_field
        for found in self._objects(content):
            if field is None or str(value_at(found, field)) == document:
                return found  # type: ignore[no-any-return]
        return None

    def is_absent(self, said: Said) -> bool:
        """Return False: a search that finds nothing is no error."""
        return False

    def read_error(self, content: Any) -> Said:
        """Return the first message of an error, in any of its three forms."""
        if not isinstance(content, dict):
            return Said()
        listed = content.get("errors") or content.get("error")
        first = listed[0] if isinstance(listed, list) and listed else content
        return Said(message=text_of(first.get("message")) if isinstance(first, dict) else None)

    def find_problem(self, content: Any) -> Said | None:
        """Return the first error beside the data of an answer."""
        if isinstance(content, dict) and content.get("errors"):
            return self.read_error(content)._replace(hint="check `collection`, the properties and `by`")
        return None

    def _objects(self, content: Any) -> list[Any]:
        found = value_at(content, f"data.Get.{self._own.collection}") if isinstance(content, dict) else None
        return found if isinstance(found, list) else []

    def _how(self, text: str, vector: list[float] | None) -> str:
        own, words = self._own, json.dumps(text)
        target = f", targetVectors: [{json.dumps(own.vector)}]" if own.vector else ""
        numbers = "" if vector is None else f"vector: {json.dumps(vector)}"
        if own.by == "words":
            return f"bm25: {{query: {words}}}"
        if own.by == "text":
            return f"nearText: {{concepts: [{words}]{target}}}"
        if own.by == "vector":
            return f"nearVector: {{{numbers}{target}}}"
        return f"hybrid: {{query: {words}, alpha: {own.alpha}{', ' if numbers else ''}{numbers}{target}}}"

    def _properties(self) -> list[str]:
        own = self._own
        paths = (own.passage, own.start, own.end)
        named = [match[1] for path in paths if path and (match := _PROPERTY.match(path))]
        measure = "score" if own.by in {"hybrid", "words"} else "distance"
        return [*dict.fromkeys([*([own.id_field] if own.id_field else []), *named]), f"_additional {{ id {measure} }}"]

    def _get(self, how: list[str], properties: list[str]) -> bytes:
        query = f"{{ Get {{ {self._own.collection}({', '.join(how)}) {{ {' '.join(properties)} }} }} }}"
        return orjson.dumps({"query": query})


def _where(conditions: list[tuple[str, Value]]) -> list[str]:
    """Return conditions as GraphQL.

    >>> _where([("lang", "de")])
    ['where: {operator: And, operands: [{path: ["lang"], operator: Equal, valueText: "de"}]}']
    """
    each = [
        f"{{path: [{json.dumps(field)}], operator: Equal, {_type_of(value)}: {json.dumps(value)}}}"
        for field, value in conditions
    ]
    return [f"where: {{operator: And, operands: [{', '.join(each)}]}}"] if each else []


def _type_of(value: Value) -> str:
    if isinstance(value, bool):
        return "valueBoolean"
    return "valueInt" if isinstance(value, int) else "valueText"


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
