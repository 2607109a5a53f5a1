"""Qdrant: a folder of the client's local mode, or a server."""

import warnings
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from findback.errors import EngineError, FindbackError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.net import hush
from findback.retrievers.nearest import Asked, Conditions, Found, NearestRetriever
from findback.retrievers.nearest_settings import ServedSettings

DISTANCES = {"cosine": models.Distance.COSINE, "dot": models.Distance.DOT, "l2": models.Distance.EUCLID}


class QdrantSettings(ServedSettings):
    """Settings of kind `qdrant`; `parameters` are those of a search, such as `hnsw_ef`."""


class QdrantRetriever(NearestRetriever):
    """Asks a collection. Local mode compares every vector, whatever `exact` says."""

    kind = "qdrant"
    record = QdrantSettings
    library = "qdrant-client"

    def direction_of(self, own: Any) -> ScoreDirection:
        """Return which scores are better: similarities, and for `l2` distances."""
        return "lower" if own.metric == "l2" else "higher"

    def open(self) -> QdrantClient:
        """Return a client, once the collection is known to have the vector and the metric."""
        hush("httpx", "httpcore", "qdrant_client")
        client = self._connect()
        try:
            self._check(client.get_collection(self._own.collection).config.params.vectors)
        except BaseException:
            client.close()
            raise
        return client

    def find(self, opened: QdrantClient, asked: Asked, limit: int, conditions: Conditions) -> list[Found]:
        """Return the nearest points."""
        own = self._own
        parameters = None
        if own.remote and (own.exact or own.parameters):
            parameters = models.SearchParams(**{**own.parameters, **({"exact": True} if own.exact else {})})
        found = opened.query_points(
            own.collection,
            query=asked,
            using=own.vector,
            limit=limit,
            query_filter=_filter(conditions),
            search_params=parameters,
            with_payload=own.list_fields() or False,
        )
        return [Found(point.id, point.score, point.payload or {}) for point in found.points]

    def look_up(
        self, opened: QdrantClient, document: str, fields: list[str], conditions: Conditions
    ) -> Mapping[str, Any] | None:
        """Return the payload of a point by its id, or of the first one whose field holds it."""
        own = self._own
        asked: list[Any] = [models.FieldCondition(key=own.id_field or "", match=models.MatchValue(value=document))]
        if own.id_field is None:
            point = _point_id(document)
            if point is None:
                return None
            asked = [models.HasIdCondition(has_id=[point])]
        found, _ = opened.scroll(
            own.collection, scroll_filter=_filter(conditions, asked), limit=1, with_payload=fields or False
        )
        return (found[0].payload or {}) if found else None

    def explain(self, error: Exception) -> FindbackError | None:
        """Return what to tell about the errors of both modes."""
        shown, said = self._place.shown, str(error)
        if "already accessed by another instance" in said:
            return EngineError(f"{shown} is open in another process or retriever", hint="one at a time may have it")
        if isinstance(error, UnexpectedResponse):
            return _explain_status(error.status_code or 0, shown, self._own.collection)
        if isinstance(error, ApiException):
            return EngineError(f"{shown} cannot be reached", hint="is the server running there?")
        if said == f"Collection {self._own.collection} not found":
            return SettingsError(f"{shown} has no collection {self._own.collection}")
        if "not aligned" in said or "dimension" in said.lower():
            return SettingsError(f"the vectors of {self._own.collection} have another length than those of `model`")
        return None

    def _connect(self) -> QdrantClient:
        place, seconds = self._place, max(1, round(self._own.timeout))
        with warnings.catch_warnings():
            # A key over plain http on this machine, and a server of another version, are worth no warning here.
            warnings.simplefilter("ignore")
            if not self._own.remote:
                return QdrantClient(path=place.url, force_disable_check_same_thread=True)
            return QdrantClient(url=place.url, port=None, api_key=place.key, timeout=seconds, check_compatibility=False)

    def _check(self, vectors: Any) -> None:
        named = isinstance(vectors, Mapping)
        found = vectors.get(self._own.vector) if named else vectors
        if found is None or named != (self._own.vector is not None):
            known = f"name one of: {', '.join(sorted(vectors))}" if named else "leave it out: there is but one"
            raise SettingsError(f"[retrievers.{self.name}] vector: is not in {self._own.collection}", hint=known)
        if found.distance != DISTANCES[self._own.metric]:
            raise self.refuse_metric(found.distance.value)


def _filter(conditions: Conditions, more: list[Any] | None = None) -> models.Filter | None:
    must = [
        *(more or []),
        *(models.FieldCondition(key=field, match=models.MatchValue(value=value)) for field, value in conditions),
    ]
    return models.Filter(must=must) if must else None


def _point_id(document: str) -> int | str | None:
    """Return an id as Qdrant has them, or None where no point can have it.

    >>> _point_id("17"), _point_id("docs/a.md")
    (17, None)
    """
    if document.isascii() and document.isdigit():
        return int(document)
    try:
        return str(UUID(document))
    except ValueError:
        return None


def _explain_status(status: int, shown: str, collection: str) -> FindbackError:
    if status in {401, 403}:
        return EngineError(f"HTTP {status} from {shown}: the key is missing or wrong", hint='write key = "env:NAME"')
    if status == 404:
        return SettingsError(f"HTTP 404 from {shown}: there is no collection {collection}")
    if status == 429:
        return EngineError(f"HTTP 429 from {shown}: too many requests", hint="lower `concurrency`")
    if status == 400:
        hint = "does the embedder fit the vectors, and are all fields there?"
        return EngineError(f"HTTP 400 from {shown}: the request was refused", hint=hint)
    return EngineError(f"HTTP {status} from {shown}: the server failed", hint="look at the server's log")
