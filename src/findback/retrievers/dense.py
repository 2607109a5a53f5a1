"""Dense search: passages by the cosine of their vectors with the query's."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Passages, Progress, Query
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.embedder import Embedder, Pooling, digest_of_model
from findback.retrievers.ranking import find_best
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.vectors import Rows, VectorStore, digest_of, stack

KEPT_AT_ONCE = 16
"""Texts embedded between two writes; a killed process loses no more."""


class EmbedderSettings(Record):
    """Settings of everything that uses an embedder."""

    model: Annotated[str, LOCAL_ONLY] = "minilm-l6"
    """A name of the catalogue, or a folder with `model.onnx` and `tokenizer.json`, relative to findback.toml."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens of a text that the model sees; the rest is cut off."""
    pooling: Pooling = "mean"
    """How one vector is made of many: their mean, or the first."""
    query_prefix: str = ""
    """What the model wants before a query."""
    passage_prefix: str = ""
    """What the model wants before a passage."""


class DenseRetriever:
    """Ranks passages by cosine. A changed document embeds only its own passages again."""

    kind = "dense"
    score_direction: Literal["higher"] = "higher"
    egress: Literal["local", "internal", "external"] = "local"
    concurrency = 1

    def __init__(self, name: str, own: EmbedderSettings, passages: Passages, surroundings: Surroundings) -> None:
        self.name = name
        self._own, self._passages, self._surroundings = own, passages, surroundings
        self._readers = surroundings.readers
        self.honours = self._readers.honours
        self._folder = surroundings.model_folder(own.model)
        self._model_digest = model_digest(self._folder, own, surroundings)
        self._embedder: Embedder | None = None
        self._matrix: NDArray[np.float32] | None = None
        self._documents: frozenset[str] | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing: a model's files hold numbers, no code."""
        read_own(name, settings, EmbedderSettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "DenseRetriever":
        """Return the retriever; model and vectors are loaded or made by `prepare` or the first search.

        Raises:
            SettingsError: If a setting makes no sense or there is no corpus.
            MissingError: If the model is not there.
            RefusedError: If a file of a catalogue model has other bytes than it must have.
        """
        return cls(name, read_own(name, settings, EmbedderSettings), surroundings.corpus(name), surroundings)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: the model's digest, prefixes and the digest of the passages."""
        own = self._own.model_dump(exclude={"model"})
        return {
            **own,
            "model": self._model_digest,
            "passages": self._passages.digest,
            **self._readers.settings(),
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Load the model and embed what has no vector yet; interrupted, it goes on where it stopped."""
        if self._matrix is not None:
            return
        stop = Event()
        try:
            self._embedder, self._matrix = await asyncio.to_thread(self._ready, progress, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    async def search(self, query: Query, k: int) -> Answer:
        """Return the `k` passages nearest to the query that its audience may read; nothing for an empty one."""
        await self.prepare()
        if not query.text.strip():
            return Answer((), exhausted=True)
        return await asyncio.to_thread(self._find, query, k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the corpus has a passage of the document that whoever asks may read."""
        if self._documents is None:
            self._documents = frozenset(passage.document for passage in self._passages)
        return document in self._documents and self._readers.admit(document, context)

    async def close(self) -> None:
        """Let go of model and vectors."""
        self._embedder = self._matrix = None

    def _find(self, query: Query, k: int) -> Answer:
        if self._embedder is None or self._matrix is None or not len(self._matrix):
            return Answer((), exhausted=True)
        scores = self._matrix @ self._embedder.embed(self._own.query_prefix + query.text).text
        places = self._readers.list_places(self._passages, query.context)
        hits = []
        for place in find_best(scores, k, places).tolist():
            passage = self._passages[place]
            hits.append(Hit(passage.document, float(scores[place]), passage.text, passage.span))
        return Answer(tuple(hits), exhausted=len(hits) < k or len(hits) == len(scores if places is None else places))

    def _ready(self, progress: Progress, stop: Event) -> tuple[Embedder, NDArray[np.float32]]:
        embedder = load_embedder(self._folder, self._own, self._surroundings)
        key = f"vectors:{embedder.digest}:{self._passages.digest}:{self._own.passage_prefix}"
        return embedder, self._surroundings.once(key, lambda: self._embed_all(embedder, progress, stop))

    def _embed_all(self, embedder: Embedder, progress: Progress, stop: Event) -> NDArray[np.float32]:
        texts = [self._own.passage_prefix + passage.text for passage in self._passages]
        digests = [digest_of(text) for text in texts]
        store = VectorStore(store_path(self._surroundings, embedder, "texts"))
        try:
            vectors: dict[bytes, Rows] = store.read(list(dict.fromkeys(digests)))
            wanted = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in vectors}
            if wanted:
                progress.start(f"Embedding for {self.name}", len(wanted))
                try:
                    vectors |= _embed_missing(embedder, wanted, store, progress, stop)
                finally:
                    progress.finish()
        finally:
            store.close()
        return stack(digests, vectors)


def load_embedder(folder: Path, own: EmbedderSettings, surroundings: Surroundings) -> Embedder:
    """Return the model of a folder, loaded once per workspace."""
    key = f"model:{folder}:{own.max_tokens}:{own.pooling}"
    return surroundings.once(key, lambda: Embedder(folder, max_tokens=own.max_tokens, pooling=own.pooling))


def store_path(surroundings: Surroundings, embedder: Embedder, what: str) -> Path | None:
    """Return the file that keeps this model's vectors; None where nothing is kept."""
    return None if surroundings.cache is None else surroundings.cache / "vectors" / f"{embedder.digest}-{what}.sqlite"


def model_digest(folder: Path, own: EmbedderSettings, surroundings: Surroundings) -> str:
    """Return the digest of a model's files and of how it is used, made once per workspace."""
    key = f"digest:{folder}:{own.max_tokens}:{own.pooling}"
    return surroundings.once(key, lambda: digest_of_model(folder, own.max_tokens, own.pooling))


def _embed_missing(
    embedder: Embedder, wanted: Mapping[bytes, str], store: VectorStore, progress: Progress, stop: Event
) -> dict[bytes, Rows]:
    made: dict[bytes, Rows] = {}
    unwritten: list[tuple[bytes, Rows]] = []
    try:
        for digest, text in wanted.items():
            if stop.is_set():
                raise InterruptedError("embedding was interrupted")
            made[digest] = embedder.embed(text).text
            unwritten.append((digest, made[digest]))
            if len(unwritten) >= KEPT_AT_ONCE:
                store.write(unwritten)
                unwritten = []
            progress.advance()
    finally:
        store.write(unwritten)
    return made
