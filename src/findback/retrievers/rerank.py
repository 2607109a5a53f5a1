"""Reranking: the first results of another retriever, ordered again by MaxSim and cosine."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Documents, Progress, Query, Retriever, ScoreDirection
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.dense import EmbedderSettings, load_embedder, model_digest, store_path
from findback.retrievers.embedder import Embedder
from findback.retrievers.foreign import contain, search_contained
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.vectors import Rows, VectorStore, digest_of

KEPT_TEXTS = 2_000
"""Passages whose token vectors are held in memory; the others are read from the cache again."""


class RerankSettings(EmbedderSettings):
    """Settings of kind `rerank`."""

    of: str
    """Name of the retriever whose results are reranked."""
    top: PositiveInt = 30
    """How many of its results; what comes after them keeps its order."""
    share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of MaxSim in the score; the rest is the cosine of the whole texts."""


class RerankRetriever:
    """Compares every token of the query with every token of a result."""

    kind = "rerank"
    score_direction: ScoreDirection | None = "higher"
    concurrency = 1

    def __init__(self, name: str, own: RerankSettings, first: Retriever, surroundings: Surroundings) -> None:
        self.name = name
        self.honours = first.honours
        self.egress: EgressLevel = first.egress
        self._own, self._first, self._surroundings = own, first, surroundings
        self._documents: Documents | None = surroundings.documents
        self._folder = surroundings.model_folder(own.model)
        self._embedder: Embedder | None = None
        self._store: VectorStore | None = None
        self._held: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing of its own: what is reranked is listed under its own name."""
        read_own(name, settings, RerankSettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "RerankRetriever":
        """Build what is reranked, and the retriever.

        Raises:
            SettingsError: If a setting makes no sense, or a name is unknown or contains this one.
            MissingError: If the model is not there.
        """
        own = read_own(name, settings, RerankSettings)
        return cls(name, own, surroundings.other(own.of), surroundings)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results, with the settings of what is reranked."""
        own = self._own.model_dump(exclude={"model", "of"})
        model = model_digest(self._folder, self._own, self._surroundings)
        return {**own, "model": model, "first": [self._first.kind, dict(self._first.settings())]}

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Load the model, and prepare what is reranked."""
        prepare = getattr(self._first, "prepare", None)
        if prepare is not None:
            await contain(lambda: prepare(progress))
        if self._embedder is None:
            self._embedder = await asyncio.to_thread(load_embedder, self._folder, self._own, self._surroundings)
        if self._store is None:
            self._store = VectorStore(store_path(self._surroundings, self._embedder, "tokens"), half=True)

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first results in their new order, the others after them without a score.

        Raises:
            EngineError: If what is reranked fails, or gives neither passages nor documents of the corpus.
        """
        await self.prepare()
        found = await search_contained(self._first, query, max(k, self._own.top))
        head, rest = found.hits[: self._own.top], found.hits[self._own.top :]
        if not head:
            return found
        scores = await asyncio.to_thread(self._score, query.text, [self._text_of(hit) for hit in head])
        order = np.argsort(-scores, kind="stable").tolist()
        ranked = [head[place]._replace(score=float(scores[place])) for place in order]
        return found._replace(hits=(*ranked, *(hit._replace(score=None) for hit in rest)))

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return what the retriever underneath says."""
        return await self._first.exists(document, context)

    async def close(self) -> None:
        """Close the cache and what is reranked."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
        self._embedder = None
        self._held.clear()
        await self._first.close()

    def _text_of(self, hit: Hit) -> str:
        if hit.passage is not None:
            return self._own.passage_prefix + hit.passage
        document = None if self._documents is None else self._documents.get(hit.document)
        if document is None:
            raise EngineError(
                f"{self._first.name} gives no passages, and a result is no document of the corpus",
                hint="name the `passage` in its answers, or the corpus",
            )
        return self._own.passage_prefix + document.text

    def _score(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        if self._embedder is None:
            raise EngineError("the reranker was closed")
        asked = self._embedder.embed(self._own.query_prefix + query)
        scores = []
        for rows in self._vectors(self._embedder, texts):
            cosine = float(rows[0] @ asked.text)
            tokens = asked.tokens @ rows[1:].T
            similar = float(tokens.max(axis=1).mean()) if tokens.size else 0.0
            scores.append(self._own.share * similar + (1 - self._own.share) * cosine)
        return np.array(scores, dtype=np.float64)

    def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return for each text its vector, then one row per token."""
        digests = [digest_of(text) for text in texts]
        absent = [digest for digest in dict.fromkeys(digests) if digest not in self._held]
        kept = {} if self._store is None else self._store.read(absent)
        made: list[tuple[bytes, Rows]] = []
        for digest, text in dict(zip(digests, texts, strict=True)).items():
            if digest in self._held:
                self._held.move_to_end(digest)
                continue
            rows = kept.get(digest)
            if rows is None:
                embedded = embedder.embed(text)
                # Rounded as the cache rounds, so that a second run gives the same scores.
                rows = np.vstack([embedded.text, embedded.tokens]).astype(np.float16)
                made.append((digest, rows))
            self._held[digest] = rows.astype(np.float32)
        if made and self._store is not None:
            self._store.write(made)
        found = [self._held[digest] for digest in digests]
        while len(self._held) > KEPT_TEXTS:
            self._held.popitem(last=False)
        return found
