"""Chroma: a folder, or a server."""

import warnings
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import chromadb
from chromadb.config import Settings
from chromadb.errors import ChromaError, InvalidArgumentError, NotFoundError

from findback.errors import EngineError, FindbackError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.net import hush
from findback.retrievers.nearest import Asked, Conditions, Found, NearestRetriever
from findback.retrievers.nearest_settings import ServedSettings

SPACES = {"cosine": "cosine", "dot": "ip", "l2": "l2"}


class ChromaSettings(ServedSettings):
    """Settings of kind `chroma`."""

    tenant: str = "default_tenant"
    """Tenant of the collection."""
    database: str = "default_database"
    """Database of the collection."""


class ChromaRetriever(NearestRetriever):
    """Asks a collection. Its index is approximate: `exact` has every entry come back, which takes time."""

    kind = "chroma"
    record = ChromaSettings
    library = "chromadb"

    def direction_of(self, own: Any) -> ScoreDirection:
        """Return which scores are better: distances under every metric."""
        return "lower"

    def open(self) -> tuple[Any, Any]:
        """Return client and collection, once the collection is known to have the metric."""
        hush("httpx", "httpcore", "chromadb")
        own = self._own
        if own.parameters:
            raise SettingsError(f"[retrievers.{self.name}] parameters: Chroma keeps them with the collection")
        client = self._connect()
        try:
            collection = client.get_collection(own.collection, embedding_function=None)
            self._check(collection)
        except BaseException:
            _close(client)
            raise
        return client, collection

    def find(self, opened: Any, asked: Asked, limit: int, conditions: Conditions) -> list[Found]:
        """Return the nearest entries."""
        collection, where = opened[1], _where(conditions)
        wanted = limit
        if self._own.exact:
            # An index from which everything comes back has overlooked nothing.
            wanted = len(collection.get(where=where, include=[])["ids"]) if where else collection.count()
            if wanted == 0:
                return []
        include = ["metadatas", "documents", "distances"]
        got = collection.query(query_embeddings=[list(asked)], n_results=wanted, where=where, include=include)
        columns = (got["ids"][0], got["distances"][0], got["metadatas"][0], got["documents"][0])
        found = [Found(one, distance, _fields(meta, text)) for one, distance, meta, text in zip(*columns, strict=True)]
        if self._own.exact and len(found) < wanted:
            raise EngineError(
                f"the index of {self._own.collection} gave {len(found)} of {wanted} entries",
                hint="it overlooks some: leave out `exact`",
            )
        return found if not self._own.exact else self._first(found, limit)

    def look_up(
        self, opened: Any, document: str, fields: list[str], conditions: Conditions
    ) -> Mapping[str, Any] | None:
        """Return an entry by its id, or the first one whose field holds it."""
        field = self._own.id_field
        found = opened[1].get(
            ids=[document] if field is None else None,
            where=_where([*([] if field is None else [(field, document)]), *conditions]),
            limit=1,
            include=["metadatas", "documents"] if fields else [],
        )
        if not found["ids"]:
            return None
        return _fields(found["metadatas"][0], found["documents"][0]) if fields else {}

    def shut(self, opened: Any) -> None:
        """Close the client."""
        _close(opened[0])

    def explain(self, error: Exception) -> FindbackError | None:
        """Return what to tell about Chroma's errors."""
        shown, said = self._place.shown, str(error)
        if isinstance(error, NotFoundError):
            return SettingsError(f"{shown} has no collection {self._own.collection}")
        if isinstance(error, InvalidArgumentError) and "dimension" in said:
            return SettingsError(f"the vectors of {self._own.collection} have another length than those of `model`")
        if "Could not connect" in said or type(error).__module__.startswith(("httpx", "httpcore")):
            return EngineError(f"{shown} cannot be reached", hint="is the server running there?")
        if isinstance(error, ChromaError) and error.code() in {401, 403}:
            return EngineError(f"{shown} refuses the key", hint='write key = "env:NAME"')
        return None

    def _first(self, found: list[Found], limit: int) -> list[Found]:
        """Return the first results, and those with the score of the last."""
        last = found[limit - 1].score if limit <= len(found) else None
        return found if last is None else [one for one in found if one.score is not None and one.score <= last]

    def _check(self, collection: Any) -> None:
        space = _space_of(collection)
        if space != SPACES[self._own.metric]:
            raise self.refuse_metric(space)

    def _connect(self) -> Any:
        own, place = self._own, self._place
        quiet = Settings(anonymized_telemetry=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not own.remote:
                return chromadb.PersistentClient(place.url, quiet, own.tenant, own.database)
            parts = urlsplit(place.url)
            return chromadb.HttpClient(
                host=parts.hostname or "",
                port=parts.port or (443 if parts.scheme == "https" else 80),
                ssl=parts.scheme == "https",
                headers={} if place.key is None else {"x-chroma-token": place.key},
                settings=quiet,
                tenant=own.tenant,
                database=own.database,
            )


def _close(client: Any) -> None:
    """Close a client, and the connections of a server's, which the library leaves open."""
    holders = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(holder, "_server", None), "_session", None) for holder in holders]
    client.close()
    for session in sessions:
        if session is not None:
            session.close()


def _where(conditions: Conditions) -> dict[str, Any] | None:
    each: list[dict[str, Any]] = [{field: {"$eq": value}} for field, value in conditions]
    return {"$and": each} if len(each) > 1 else (each[0] if each else None)


def _fields(metadata: Mapping[str, Any] | None, text: str | None) -> Mapping[str, Any]:
    """Return metadata as fields; the entry's own text is the field `document`, unless metadata has one."""
    return {"document": text, **(metadata or {})}


def _space_of(collection: Any) -> str:
    """Return the name of a collection's metric; older ones keep it in their metadata."""
    settings = collection.configuration_json or {}
    index = settings.get("hnsw") or settings.get("spann") or {}
    return str(index.get("space") or (collection.metadata or {}).get("hnsw:space") or "l2")
