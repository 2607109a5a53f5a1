"""BM25 over the passages of the corpus: the embedded default."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat

from findback.files import folder_atomically, private_folder
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Passages, Progress, Query
from findback.model.record import Record
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.ranking import find_best
from findback.retrievers.surroundings import Surroundings
from findback.text.frequency import list_function_words
from findback.text.languages import main_language
from findback.text.scripts import primary_language
from findback.text.stems import stem
from findback.text.words import TOKENIZER_VERSION, is_bigram, words

INDEX_VERSION = 1
"""Raised when the same settings would give another index."""


class Bm25Settings(Record):
    """Settings of kind `bm25`."""

    method: Literal["lucene", "atire", "robertson"] = "lucene"
    """Which published formula."""
    k1: NonNegativeFloat = 1.2
    """How soon a repeated word stops counting."""
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    """How much long passages are held back."""
    language: str | None = None
    """ISO 639-1 code for stems and stop words; the corpus' most frequent one when left out, else English."""
    stems: bool = True
    """Compare stems instead of words."""
    stop_words: Literal["short", "long", "none"] = "short"
    """Function words to leave out. `short`: the 33 English ones most BM25 baselines leave out, and `long` for other
    languages. `long`: every function word findback knows of the language."""


class Bm25Retriever:
    """Ranks passages by BM25. A query without any word of the corpus finds nothing."""

    kind = "bm25"
    score_direction: Literal["higher"] = "higher"
    egress: Literal["local", "internal", "external"] = "local"

    def __init__(self, name: str, own: Bm25Settings, passages: Passages, surroundings: Surroundings) -> None:
        self.name = name
        self._own, self._passages, self._surroundings = own, passages, surroundings
        self._readers = surroundings.readers
        self.honours = self._readers.honours
        self._language = own.language or main_language(one.language for one in surroundings.documents or ())
        self._stop: frozenset[str] | None = None
        self._index: Any = None
        self._documents: frozenset[str] | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing: no foreign code, no host."""
        read_own(name, settings, Bm25Settings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "Bm25Retriever":
        """Return the retriever; the index is made or read by `prepare` or the first search.

        Raises:
            SettingsError: If a setting makes no sense or there is no corpus.
        """
        return cls(name, read_own(name, settings, Bm25Settings), surroundings.corpus(name), surroundings)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: formula, language, tokenizer and the digest of the passages."""
        own = self._own.model_dump()
        return {
            **own,
            "language": self._language,
            "tokenizer": TOKENIZER_VERSION,
            "passages": self._passages.digest,
            **self._readers.settings(),
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Read the index from the cache, or make it."""
        if self._index is None:
            self._index = await asyncio.to_thread(self._ready, progress)

    async def search(self, query: Query, k: int) -> Answer:
        """Return the best `k` passages that hold at least one word of the query, and that its audience may read."""
        await self.prepare()
        known = self._index.vocab_dict if self._index is not None else {}
        tokens = [self._token(word) for word in words(query.text)]
        numbers = [known[token] for token in tokens if token in known]
        if not numbers:
            return Answer((), exhausted=True)
        scores = self._index.get_scores_from_ids(numbers)
        best = find_best(scores, k, self._readers.list_places(self._passages, query.context))
        best = best[scores[best] > 0]
        hits = []
        for place in best.tolist():
            passage = self._passages[place]
            hits.append(Hit(passage.document, float(scores[place]), passage.text, passage.span))
        return Answer(tuple(hits), exhausted=len(hits) < k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the corpus has a passage of the document that whoever asks may read."""
        if self._documents is None:
            self._documents = frozenset(passage.document for passage in self._passages)
        return document in self._documents and self._readers.admit(document, context)

    async def close(self) -> None:
        """Let go of the index."""
        self._index = None

    def _token(self, word: str) -> str | None:
        """Return what a word is indexed as; None for function words and single letters."""
        if self._stop is None:
            self._stop = _list_stop_words(self._own.stop_words, self._language)
        if word in self._stop or (len(word) == 1 and not is_bigram(word)):
            return None
        return stem(word, self._language) if self._own.stems else word

    def _ready(self, progress: Progress) -> Any:
        key = hashlib.sha256(json.dumps([INDEX_VERSION, self.settings()], sort_keys=True).encode()).hexdigest()
        return self._surroundings.once(f"bm25:{key}", lambda: self._load_or_make(key, progress))

    def _load_or_make(self, key: str, progress: Progress) -> Any:
        if self._surroundings.cache is None:
            return self._make(progress)
        folder = self._surroundings.cache / "bm25" / key[:32]
        index = _load(folder, len(self._passages))
        if index is None:
            index = self._make(progress)
            private_folder(folder.parent)
            with folder_atomically(folder, private=True) as temporary:
                if index is not None:
                    index.save(temporary, show_progress=False)
        return index

    def _make(self, progress: Progress) -> Any:
        from bm25s import BM25  # noqa: PLC0415 (takes a third of a second)

        progress.start(f"Indexing for {self.name}", len(self._passages))
        numbers = _Numbers(self._token)
        numbered = []
        try:
            for passage in self._passages:
                found = [numbers[word] for word in words(passage.text)]
                numbered.append([number for number in found if number >= 0])
                progress.advance()
        finally:
            progress.finish()
        if not numbers.vocabulary:
            return None
        index = BM25(k1=self._own.k1, b=self._own.b, method=self._own.method, backend="numpy")
        index.index((numbered, numbers.vocabulary), create_empty_token=False, show_progress=False)
        return index


class _Numbers(dict[str, int]):
    """The number of each word's token, worked out once per distinct word; -1 for what is not indexed."""

    def __init__(self, token_of: Callable[[str], str | None]) -> None:
        super().__init__()
        self._token_of = token_of
        self.vocabulary: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        token = self._token_of(word)
        number = -1 if token is None else self.vocabulary.setdefault(token, len(self.vocabulary))
        self[word] = number
        return number


def _load(folder: Path, passages: int) -> Any:
    """Return a cached index, or None where there is none or it is damaged (it is removed then)."""
    if not (folder / "params.index.json").is_file():
        return None
    from bm25s import BM25  # noqa: PLC0415 (takes a third of a second)

    try:
        index = BM25.load(folder, mmap=True, show_progress=False)
        starts, places, values = (index.scores[part] for part in ("indptr", "indices", "data"))
        whole = (
            index.scores["num_docs"] == passages
            and len(starts) == len(index.vocab_dict) + 1
            and len(places) == len(values) == int(starts[-1])
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        whole = False
    if not whole:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return index


def _list_stop_words(which: str, language: str) -> frozenset[str]:
    if which == "none":
        return frozenset()
    if which == "short" and primary_language(language) == "en":
        from bm25s.stopwords import STOPWORDS_EN  # noqa: PLC0415 (takes a third of a second)

        return frozenset(STOPWORDS_EN)
    return list_function_words(language)
