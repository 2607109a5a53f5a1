"""What the vector engines have in common; what differs stands in each engine's file."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple, Self

from findback.departures import carrying
from findback.endpoint import origin_of
from findback.errors import EngineError, FindbackError, SettingsError
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Progress, Query, ScoreDirection
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.net import quiet_libraries
from findback.retrievers.build import read_own
from findback.retrievers.context import UnhonouredError
from findback.retrievers.masking import list_words, mask
from findback.retrievers.nearest_settings import (
    NearestSettings,
    Value,
    find_place,
    list_conditions,
    trusted_place,
)
from findback.retrievers.returned import read_id, read_passage, read_score, read_span
from findback.retrievers.service import value_at
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.templates import context_values
from findback.retrievers.workers import Workers

CONNECTING = 60.0
"""Seconds that opening an engine's files, or reaching its server, may take."""
WIDER = 4
"""How many times more results are asked for where equal scores go on beyond those that came."""

Asked = list[float] | str
"""The vector of a query, or its words where the engine takes those."""
Conditions = Sequence[tuple[str, Value]]


class Found(NamedTuple):
    """One result as the engine gives it."""

    id: Any
    """The engine's own id."""
    score: float | None
    fields: Mapping[str, Any]


class NearestRetriever:
    """Asks a vector engine through its own library. Opening, searching and closing happen in threads."""

    kind: ClassVar[str]
    record: ClassVar[type[NearestSettings]]
    library: ClassVar[str]
    """Distribution whose version changes what a folder or file gives."""
    takes_words: ClassVar[bool] = False
    """Whether the engine can search by the words themselves, without `model`."""
    most: ClassVar[int] = 100_000
    """Results it gives at once."""

    def __init__(self, name: str, own: Any, surroundings: Surroundings, settings: RetrieverSettings) -> None:
        self.name = name
        self._own = own
        self._place = find_place(name, own, surroundings.environment, surroundings.base, settings.egress)
        self.egress = self._place.egress
        self.concurrency: int = own.concurrency if own.remote else 1
        self._embed, self._model = find_embedding(name, own, surroundings)
        if self._embed is None and not self.takes_words:
            raise SettingsError(
                f"[retrievers.{name}] model: is needed", hint="name the embedder that the vectors were made with"
            )
        if self._embed is None and own.exact:
            raise SettingsError(f"[retrievers.{name}] exact: is about vectors", hint="leave it out, or name a `model`")
        self.score_direction: ScoreDirection | None = self.direction_of(own)
        self.honours = frozenset(part.split(".")[0] for part in own.match)
        self._departures = None if self.egress == "local" else surroundings.departures
        self._workers = Workers()
        self._opening = asyncio.Lock()
        self._opened: Any = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the server and the variable it is sent, or the files that would be opened."""
        return trusted_place(name, settings, cls.record)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> Self:
        """Return the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense or a variable is not set.
            RefusedError: If the address is one that must not be called.
            MissingError: If the folder, the file or the embedder is not there.
        """
        return cls(name, read_own(name, settings, cls.record), surroundings, settings)

    def direction_of(self, own: Any) -> ScoreDirection | None:
        """Return which scores are better under the metric."""
        raise NotImplementedError

    def open(self) -> Any:
        """Return what searches, once it is known to be there and to have the metric of the settings."""
        raise NotImplementedError

    def find(self, opened: Any, asked: Asked, limit: int, conditions: Conditions) -> list[Found]:
        """Return the first results, best first."""
        raise NotImplementedError

    def look_up(
        self, opened: Any, document: str, fields: list[str], conditions: Conditions
    ) -> Mapping[str, Any] | None:
        """Return these fields of a document, or None where it is not there."""
        raise NotImplementedError

    def shut(self, opened: Any) -> None:
        """Let go of what `open` returned."""
        opened.close()

    def explain(self, error: Exception) -> FindbackError | None:
        """Return what to tell about an error whose meaning is known."""
        raise NotImplementedError

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: place, collection, metric, parameters, filters, the embedder's digest."""
        left_out = {"url", "key", "timeout", "concurrency", "model", "text_field"}
        local = None if self._own.remote else version(self.library)
        return {
            **self._own.model_dump(exclude=left_out),
            "place": self._place.shown,
            "model": self._model,
            self.library: local,
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Open the files, or reach the server.

        Raises:
            FindbackError: If the collection is not there or not as the settings say, or the server does not answer.
        """
        async with self._opening:
            if self._opened is None:
                self._opened = await self._run(self.open, Query(""), CONNECTING)

    async def search(self, query: Query, k: int) -> Answer:
        """Return the nearest `k` results; nothing for an empty query.

        Raises:
            EngineError: If the engine does not answer, not in time, or gives results without ids.
            UnhonouredError: If the question has a filter that `match` does not name.
        """
        lacking = [name for name in _filters(query.context) if f"filters.{name}" not in self._own.match]
        if lacking:
            raise UnhonouredError(f"cannot honour filters {', '.join(sorted(lacking))}")
        if not query.text.strip():
            return Answer((), exhausted=True)
        await self.prepare()
        conditions = list_conditions(self._own, context_values(query.context))
        self._count()
        found = await self._run(lambda: self._rank(query.text, k, conditions), query, self._own.timeout)
        hits = tuple(self._hit(one, rank) for rank, one in enumerate(found[:k], 1))
        return Answer(hits, exhausted=len(hits) < k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the engine holds the document; None where ids name passages, or it does not say for whom.

        Raises:
            EngineError: If the engine does not answer.
        """
        if self._own.split is not None:
            return None
        if context is not None and context.audience and "audience" not in self._own.match:
            return None
        return await self._look_up(document, [], context) is not None

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the engine's own text of a document; None if it has none, or without `text_field`.

        Raises:
            EngineError: If the engine does not answer.
        """
        field = self._own.text_field
        if field is None or self._own.split is not None:
            return None
        found = await self._look_up(document, [field], context)
        text = None if found is None else value_at(found, field)
        return text if isinstance(text, str) else None

    async def close(self) -> None:
        """Let go of files, connections and threads."""
        if self._departures is not None:
            self._departures.flush()
        opened, self._opened = self._opened, None
        if opened is not None:
            await self._run(lambda: self.shut(opened), Query(""), CONNECTING)
        self._workers.stop()

    def refuse_metric(self, found: object) -> SettingsError:
        """Return what to tell where the collection compares its vectors otherwise."""
        return SettingsError(
            f"[retrievers.{self.name}] metric: {self._own.collection} does not compare by {self._own.metric}, "
            f"but by {str(found).lower()[:40]}",
            hint="write the metric that the collection was made with: cosine, dot or l2",
        )

    def _rank(self, text: str, k: int, conditions: Conditions) -> list[Found]:
        asked = text if self._embed is None else self._embed(text)
        k = min(k, self.most)
        if not self._own.exact:
            return self.find(self._opened, asked, k, conditions)
        limit = k + 1
        while True:
            limit = min(limit, self.most)
            found = self.find(self._opened, asked, limit, conditions)
            # A block of equal scores that the limit cuts is read to its end, as the engine cuts it anywhere.
            if len(found) < limit or limit == self.most or found[-1].score != found[k - 1].score:
                break
            limit *= WIDER
        sign = -1 if self.score_direction == "higher" else 1
        return sorted(found, key=lambda one: (sign * (one.score or 0.0), self._document(one), str(one.id)))[:k]

    def _document(self, found: Found) -> str:
        field = self._own.id_field
        whole = str(found.id if field is None else value_at(found.fields, field))
        return whole.rpartition(self._own.split)[0] or whole if self._own.split else whole

    def _hit(self, found: Found, rank: int) -> Hit:
        own, fields = self._own, found.fields
        raw = found.id if own.id_field is None else value_at(fields, own.id_field)
        if raw is None:
            raise EngineError(
                f"result {rank} of [retrievers.{self.name}] has no field {own.id_field}",
                hint="`id_field` names the field that holds a document's id",
            )
        passage, start, end = (
            None if field is None else value_at(fields, field)
            for field in (own.passage_field, own.start_field, own.end_field)
        )
        read_id(raw, rank)
        score = None if self.score_direction is None else read_score(found.score, rank)
        return Hit(self._document(found), score, read_passage(passage, rank), read_span(start, end, rank))

    async def _look_up(self, document: str, fields: list[str], context: Context | None) -> Mapping[str, Any] | None:
        await self.prepare()
        conditions = list_conditions(self._own, context_values(context))
        with carrying("document"):
            self._count()
        asked = Query(document, context)
        return await self._run(  # type: ignore[no-any-return]
            lambda: self.look_up(self._opened, document, fields, conditions), asked, self._own.timeout
        )

    def _count(self) -> None:
        if self._departures is not None:
            self._departures.add(origin_of(self._place.url), self.egress)

    async def _run(self, call: Callable[[], Any], query: Query, seconds: float) -> Any:
        """Return what a thread finds; the words of the query are masked in what the library says went wrong."""
        try:
            async with asyncio.timeout(seconds) as limit:
                found = await self._workers.run(lambda: _caught(call))
        except TimeoutError:
            if not limit.expired():
                raise
            line = f"{self._place.shown} gave [retrievers.{self.name}] no answer within {seconds:g} s"
            raise EngineError(line, hint="look at its load, or raise `timeout`") from None
        if isinstance(found, FindbackError):
            raise found
        if isinstance(found, Exception):
            told = self.explain(found)
            if told is None:
                said = mask(f"{type(found).__name__}: {found}", list_words(query))
                told = EngineError(f"{self._place.shown} cannot answer [retrievers.{self.name}]: {said}")
            raise told
        return found


def find_embedding(
    name: str, own: Any, surroundings: Surroundings
) -> tuple[Callable[[str], list[float]] | None, str | None]:
    """Return what makes the vector of a query, and the digest of its model; neither without `model`.

    Raises:
        MissingError: If the model is not there.
        MissingLibraryError: If the libraries that models need are not.
    """
    if own.model is None:
        return None, None
    from findback.registry import load_module  # noqa: PLC0415 (only where vectors are wanted)

    module = load_module("findback.retrievers.embedder", wanted_for=f"[retrievers.{name}] model")
    folder = surroundings.model_folder(own.model)
    digest: str = module.digest_of_model(folder, own.max_tokens, own.pooling)

    def embed(text: str) -> list[float]:
        embedder = surroundings.once(
            f"model:{digest}", lambda: module.Embedder(folder, max_tokens=own.max_tokens, pooling=own.pooling)
        )
        vector: list[float] = embedder.embed(own.query_prefix + text).text.tolist()
        return vector

    return embed, digest


def _filters(context: Context | None) -> Mapping[str, Any]:
    return (context.filters if context is not None else None) or {}


def _caught(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or what it raises: raised in the thread, its text would go along as context."""
    try:
        with quiet_libraries():
            return call()
    except Exception as error:  # noqa: BLE001 (the libraries raise bare classes)
        return error
