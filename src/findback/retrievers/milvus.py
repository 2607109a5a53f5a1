"""Milvus: a file of Milvus Lite, or a server."""

import json
import logging
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from pymilvus import (  # type: ignore[import-untyped]
    DataType,
    MilvusClient,
    MilvusException,
)

from findback.errors import EngineError, FindbackError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.retrievers.nearest import Asked, Conditions, Found, NearestRetriever
from findback.retrievers.nearest_settings import ServedSettings

METRICS = {"cosine": "COSINE", "dot": "IP", "l2": "L2"}
_MISSING = 100
_UNREACHABLE = 2


class MilvusSettings(ServedSettings):
    """Settings of kind `milvus`; `parameters` are those of the index, such as `ef` or `nprobe`."""

    database: str = ""
    """Database of the collection, where it is not the server's default."""


class Opened(NamedTuple):
    """A client, and what is known of the collection."""

    client: Any
    key: str
    """Name of the primary key."""
    whole: bool
    """Whether the primary key is a whole number."""


class MilvusRetriever(NearestRetriever):
    """Asks a collection by vector; without `model` by words, where its BM25 function makes vectors of them."""

    kind = "milvus"
    record = MilvusSettings
    library = "milvus-lite"
    takes_words = True
    most = 16_384

    def direction_of(self, own: Any) -> ScoreDirection | None:
        """Return which scores are better; those of words have had either sign, so that only their order counts."""
        if own.model is None:
            return None
        return "lower" if own.metric == "l2" else "higher"

    def open(self) -> Opened:
        """Return a client, once the collection is known to be loaded and to have the metric."""
        # The file's own server logs from threads of its own, and filters with their values are in what it says.
        for library in ("pymilvus", "milvus_lite"):
            logging.getLogger(library).setLevel(logging.CRITICAL + 1)
        client = self._connect()
        try:
            about = client.describe_collection(self._own.collection)
            self._check(client)
            self._load(client)
        except BaseException:
            client.close()
            raise
        key = next(field for field in about["fields"] if field.get("is_primary"))
        return Opened(client, key["name"], key["type"] == DataType.INT64)

    def find(self, opened: Opened, asked: Asked, limit: int, conditions: Conditions) -> list[Found]:
        """Return the nearest entities."""
        own = self._own
        found = opened.client.search(
            own.collection,
            data=[asked],
            anns_field=self._vector,
            filter=_expression(conditions),
            limit=limit,
            output_fields=[field.split(".")[0] for field in own.list_fields()],
            search_params={"params": dict(own.parameters)},
            timeout=own.timeout,
        )
        return [
            Found(hit.get(opened.key, hit.get("id")), hit["distance"], {**hit["entity"], opened.key: hit.get("id")})
            for hit in (dict(one) for one in found[0])
        ]

    def look_up(
        self, opened: Opened, document: str, fields: list[str], conditions: Conditions
    ) -> Mapping[str, Any] | None:
        """Return an entity by its primary key, or the first one whose field holds the id."""
        field, value = self._own.id_field or opened.key, document
        asked: tuple[str, str | int] = (field, value)
        if field == opened.key and opened.whole:
            if not value.removeprefix("-").isdecimal() or len(value) > 20:
                return None
            asked = (field, int(value))
        found = opened.client.query(
            self._own.collection,
            filter=_expression([asked, *conditions]),
            output_fields=[one.split(".")[0] for one in fields] or [opened.key],
            limit=1,
            timeout=self._own.timeout,
        )
        return found[0] if found else None

    def shut(self, opened: Opened) -> None:
        """Close the client."""
        opened.client.close()

    def explain(self, error: Exception) -> FindbackError | None:
        """Return what to tell about Milvus' errors."""
        shown, said = self._place.shown, str(error)
        if not isinstance(error, MilvusException):
            return None
        if error.code == _MISSING:
            return SettingsError(f"{shown} has no collection {self._own.collection}")
        if error.code == _UNREACHABLE:
            return EngineError(f"{shown} cannot be reached", hint="is the server running there?")
        if "dimension" in said:
            return SettingsError(f"the vectors of {self._own.collection} have another length than those of `model`")
        if "auth" in said.lower() or "permission" in said.lower():
            return EngineError(f"{shown} refuses the key", hint='write key = "env:NAME"')
        return None

    @property
    def _vector(self) -> str:
        return self._own.vector or "vector"

    def _connect(self) -> Any:
        place = self._place
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self._own.remote:
                return MilvusClient(place.url)
            return MilvusClient(
                place.url, token=place.key or "", db_name=self._own.database, timeout=self._own.timeout, dedicated=True
            )

    def _check(self, client: Any) -> None:
        """Refuse a collection whose index has another metric, or is not exact where that is wanted."""
        own = self._own
        if own.model is None:
            return
        if self._vector not in (client.list_indexes(own.collection) or []):
            raise SettingsError(f"[retrievers.{self.name}] vector: {self._vector} has no index in {own.collection}")
        index = client.describe_index(own.collection, self._vector)
        if index["metric_type"] != METRICS[own.metric]:
            raise self.refuse_metric(index["metric_type"])
        if own.exact and index["index_type"] != "FLAT":
            raise SettingsError(
                f"[retrievers.{self.name}] exact: the index of {own.collection} is {index['index_type']}",
                hint="Milvus compares every vector under an index FLAT only; leave out `exact`",
            )

    def _load(self, client: Any) -> None:
        """Have a file's collection ready; a server's is its owner's to load."""
        if client.get_load_state(self._own.collection)["state"].name == "Loaded":
            return
        if self._own.remote:
            raise EngineError(f"the collection {self._own.collection} of {self._place.shown} is not loaded")
        client.load_collection(self._own.collection)


def _expression(conditions: Conditions) -> str:
    r"""Return conditions in Milvus' language.

    >>> _expression([("lang", "d'e"), ("meta.n", 3)])
    'lang == "d\'e" and meta["n"] == 3'
    """
    return " and ".join(f"{_name(field)} == {json.dumps(value, ensure_ascii=False)}" for field, value in conditions)


def _name(field: str) -> str:
    first, *others = field.split(".")
    return first + "".join(f"[{json.dumps(part)}]" for part in others)
