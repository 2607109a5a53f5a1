"""Reranking by a server: the first results of another retriever, ordered again by a cross-encoder behind HTTP."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, PositiveInt

from findback.endpoint import without_query
from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Documents, Progress, Query, Retriever, ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import HttpAnswer
from findback.retrievers.build import read_own
from findback.retrievers.calling import Caller, trusted_calls
from findback.retrievers.foreign import contain, search_contained
from findback.retrievers.http_settings import CallSettings, check_headers, check_url, egress_of, fill_headers
from findback.retrievers.json_answer import read_json
from findback.retrievers.surroundings import Surroundings

_LEVELS: tuple[EgressLevel, ...] = ("local", "internal", "external")


class RerankHttpSettings(Record):
    """Settings of kind `rerank-http`."""

    of: str
    """Name of the retriever whose results are reranked."""
    url: Annotated[str, LOCAL_ONLY]
    """Address that reranks, such as https://rerank.example.org/v1/rerank."""
    protocol: Literal["cohere", "tei"] = "cohere"
    """How it is asked: as Cohere, Jina, Voyage, vLLM and llama.cpp have it, or as Text Embeddings Inference."""
    model: str | None = None
    """Name of the model there."""
    headers: dict[str, Annotated[str, LOCAL_ONLY]] = Field(default_factory=dict)
    """Sent with every request. `env:NAME`, or `{{env:NAME}}` inside a text, takes a secret from the environment."""
    top: PositiveInt = 30
    """How many results are reranked; what comes after them keeps its order."""
    characters: PositiveInt = 4_000
    """Most characters of a result that are sent."""
    concurrency: PositiveInt = 4
    """Most searches at the same time."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Most requests a second."""
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    """Further tries after 429, 502, 503, 504 or a broken connection."""
    timeout: Annotated[float, Field(gt=0, le=600)] | None = None
    """Seconds for one request; `[http] timeout` when left out."""


class RerankHttpRetriever:
    """Has a server compare the question with each of the first results."""

    kind = "rerank-http"
    score_direction: ScoreDirection | None = "higher"

    def __init__(
        self,
        name: str,
        own: RerankHttpSettings,
        first: Retriever,
        surroundings: Surroundings,
        egress: EgressLevel | None = None,
    ) -> None:
        _check(name, own)
        self.name = name
        self.honours = first.honours
        self.concurrency = own.concurrency
        level = egress or egress_of(own.url)
        # The question goes to both, the passages to the server: the further of the two counts.
        self.egress: EgressLevel = max(level, first.egress, key=_LEVELS.index)
        self._own, self._first = own, first
        self._documents: Documents | None = surroundings.documents
        self._shown = without_query(own.url)
        bounds = CallSettings(concurrency=own.concurrency, rate=own.rate, retries=own.retries, timeout=own.timeout)
        client = surroundings.client(level=level, seconds=own.timeout, connections=own.concurrency)
        self._caller = Caller(bounds, client, fill_headers(name, own.headers, surroundings.environment))

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the server that questions and passages would go to, and which variable's value would."""
        own = read_own(name, settings, RerankHttpSettings)
        _check(name, own)
        return trusted_calls(name, (own.url,), own.headers)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "RerankHttpRetriever":
        """Build what is reranked, and the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense, or a name is unknown or contains this one.
        """
        own = read_own(name, settings, RerankHttpSettings)
        return cls(name, own, surroundings.other(own.of), surroundings, settings.egress)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results, with the settings of what is reranked; headers by name only."""
        own = self._own.model_dump(include={"url", "protocol", "model", "top", "characters"})
        return {**own, "first": [self._first.kind, dict(self._first.settings())]}

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Prepare what is reranked."""
        prepare = getattr(self._first, "prepare", None)
        if prepare is not None:
            await contain(lambda: prepare(progress))

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first results in their new order, the others after them without a score.

        Raises:
            EngineError: If what is reranked fails or gives no texts, or the server does not score each of them.
        """
        found = await search_contained(self._first, query, max(k, self._own.top))
        head, rest = found.hits[: self._own.top], found.hits[self._own.top :]
        if not head:
            return found
        scores = await self._score(query.text, [self._text_of(hit) for hit in head])
        order = sorted(range(len(head)), key=lambda place: -scores[place])
        ranked = [head[place]._replace(score=scores[place]) for place in order]
        return found._replace(hits=(*ranked, *(hit._replace(score=None) for hit in rest)))

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return what the retriever underneath says."""
        return await self._first.exists(document, context)

    async def close(self) -> None:
        """Close the connections and what is reranked."""
        await self._caller.close()
        await self._first.close()

    def _text_of(self, hit: Hit) -> str:
        if hit.passage is not None:
            return hit.passage[: self._own.characters]
        document = None if self._documents is None else self._documents.get(hit.document)
        if document is None:
            raise EngineError(
                f"{self._first.name} gives no passages, and a result is no document of the corpus",
                hint="name the `passage` in its answers, or the corpus",
            )
        return document.text[: self._own.characters]

    async def _score(self, query: str, texts: list[str]) -> list[float]:
        named = {} if self._own.model is None else {"model": self._own.model}
        if self._own.protocol == "cohere":
            body: dict[str, Any] = {**named, "query": query, "documents": texts, "top_n": len(texts)}
        else:
            body = {**named, "query": query, "texts": texts}
        answered = await self._caller.call(
            "POST",
            self._own.url,
            shown=self._shown,
            content=orjson.dumps(body),
            headers={"Accept": "application/json", "Content-Type": "application/json"},
        )
        return self._read(answered, len(texts))

    def _read(self, answered: HttpAnswer, wanted: int) -> list[float]:
        if not 200 <= answered.status < 300:
            hint = "check `headers`" if answered.status in {401, 403} else "check `url`, `protocol` and `model`"
            raise EngineError(f"HTTP {answered.status} from {self._shown}: nothing was reranked", hint=hint)
        content = read_json(answered, self._shown)
        rows = content.get("results", content.get("data")) if isinstance(content, dict) else content
        scores: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else ():
            score = row.get("relevance_score", row.get("score")) if isinstance(row, dict) else None
            if isinstance(score, int | float) and math.isfinite(score) and isinstance(row.get("index"), int):
                scores[row["index"]] = float(score)
        if sorted(scores) != list(range(wanted)):
            raise EngineError(
                f"{self._shown} scored {len(scores)} of {wanted} results", hint="check `protocol`, or lower `top`"
            )
        return [scores[place] for place in range(wanted)]


def _check(name: str, own: RerankHttpSettings) -> None:
    check_url(f"[retrievers.{name}]", own.url)
    check_headers(f"[retrievers.{name}]", own.headers)
