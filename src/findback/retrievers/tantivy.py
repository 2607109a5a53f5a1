"""Keyword search with tantivy, for corpora of a million documents: an index on disk, BM25 as Lucene has it."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import tantivy
from pydantic import PositiveInt

from findback.files import folder_atomically, private_folder
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Passages, Progress, Query
from findback.model.record import Record
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.surroundings import Surroundings
from findback.text.languages import main_language
from findback.text.stems import stem
from findback.text.words import TOKENIZER_VERSION, words

INDEX_VERSION = 1
"""Raised when the same passages would give another index."""
WIDER = 4
"""How many times more results are asked for where some of them may not be read."""


class TantivySettings(Record):
    """Settings of kind `tantivy`."""

    language: str | None = None
    """Language of the stems; that of most documents when left out."""
    stems: bool = True
    """Whether words are reduced to their stems."""
    memory: PositiveInt = 64
    """Megabytes that making the index may take."""


class TantivyRetriever:
    """Ranks passages by BM25 with tantivy. A query without any word of the corpus finds nothing."""

    kind = "tantivy"
    score_direction: Literal["higher"] = "higher"
    egress: Literal["local", "internal", "external"] = "local"

    def __init__(self, name: str, own: TantivySettings, passages: Passages, surroundings: Surroundings) -> None:
        self.name = name
        self._own, self._passages, self._surroundings = own, passages, surroundings
        self._readers = surroundings.readers
        self.honours = self._readers.honours
        self._language = own.language or main_language(one.language for one in surroundings.documents or ())
        self._index: Any = None
        self._documents: frozenset[str] | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing: no foreign code, no host."""
        read_own(name, settings, TantivySettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "TantivyRetriever":
        """Return the retriever; the index is made or opened by `prepare` or the first search.

        Raises:
            SettingsError: If a setting makes no sense or there is no corpus.
        """
        return cls(name, read_own(name, settings, TantivySettings), surroundings.corpus(name), surroundings)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: language, stems, tokenizer, tantivy's version, the digest of the passages."""
        return {
            "stems": self._own.stems,
            "language": self._language,
            "tokenizer": TOKENIZER_VERSION,
            "tantivy": version("tantivy"),
            "passages": self._passages.digest,
            **self._readers.settings(),
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Open the index of the cache, or make it."""
        if self._index is None:
            self._index = await asyncio.to_thread(self._ready, progress)

    async def search(self, query: Query, k: int) -> Answer:
        """Return the best `k` passages that hold at least one word of the query, and that its audience may read."""
        await self.prepare()
        tokens = self._tokens(query.text)
        if not tokens:
            return Answer((), exhausted=True)
        return await asyncio.to_thread(self._find, tokens, query.context, k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the corpus has a passage of the document that whoever asks may read."""
        if self._documents is None:
            self._documents = frozenset(passage.document for passage in self._passages)
        return document in self._documents and self._readers.admit(document, context)

    async def close(self) -> None:
        """Let go of the index."""
        self._index = None

    def _tokens(self, text: str) -> list[str]:
        found = words(text)
        return [stem(word, self._language) for word in found] if self._own.stems else list(found)

    def _find(self, tokens: list[str], context: Context | None, k: int) -> Answer:
        schema, searcher = self._index.schema, self._index.searcher()
        terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", token, "freq")) for token in tokens]
        asked, most = k, max(1, searcher.num_docs)
        while True:
            found = searcher.search(tantivy.Query.boolean_query(terms), limit=min(asked, most), count=False).hits
            # Equal scores come in the order of the corpus, whatever order the index was written in.
            ranked = sorted((-score, searcher.doc(place)["place"][0]) for score, place in found)
            hits = [self._hit(-score, at, context) for score, at in ranked]
            readable = [hit for hit in hits if hit is not None]
            if len(readable) >= k or len(found) < min(asked, most) or asked >= most:
                return Answer(tuple(readable[:k]), exhausted=len(readable) < k)
            asked *= WIDER

    def _hit(self, score: float, at: int, context: Context | None) -> Hit | None:
        passage = self._passages[at]
        if not self._readers.admit(passage.document, context):
            return None
        return Hit(passage.document, float(score), passage.text, passage.span)

    def _ready(self, progress: Progress) -> Any:
        content = [INDEX_VERSION, {**self.settings(), "readers": None}]
        key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return self._surroundings.once(f"tantivy:{key}", lambda: self._open_or_make(key, progress))

    def _open_or_make(self, key: str, progress: Progress) -> Any:
        if self._surroundings.cache is None:
            return self._make(None, progress)
        folder = self._surroundings.cache / "tantivy" / key[:32]
        index = _open(folder, len(self._passages))
        if index is None:
            private_folder(folder.parent)
            with folder_atomically(folder, private=True) as temporary:
                self._make(temporary, progress)
            index = _open(folder, len(self._passages))
        return index

    def _make(self, folder: Path | None, progress: Progress) -> Any:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        builder.add_unsigned_field("place", stored=True)
        schema = builder.build()
        index = tantivy.Index(schema, None if folder is None else str(folder), reuse=False)
        # One thread, so that the same passages always give the same index.
        writer = index.writer(heap_size=max(15, self._own.memory) * 1_000_000, num_threads=1)
        progress.start(f"Indexing for {self.name}", len(self._passages))
        try:
            for place, passage in enumerate(self._passages):
                writer.add_document(tantivy.Document(text=" ".join(self._tokens(passage.text)), place=place))
                progress.advance()
        finally:
            progress.finish()
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index


def _open(folder: Path, passages: int) -> Any:
    """Return an index of the cache, or None where there is none, or it is not whole (it is removed then)."""
    if not folder.is_dir():
        return None
    try:
        index = tantivy.Index.open(str(folder))
        if index.searcher().num_docs == passages:
            return index
    except (OSError, ValueError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return None
