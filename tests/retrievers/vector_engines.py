"""Small collections in the vector engines that run here, and retrievers whose query vectors are given."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import chromadb
import lancedb
import pyarrow as pa
from chromadb.config import Settings
from pymilvus import DataType, MilvusClient
from qdrant_client import QdrantClient, models

from findback.model.settings import RetrieverSettings
from findback.registry import load
from findback.retrievers import nearest
from findback.retrievers.build import GROUP
from findback.retrievers.surroundings import Surroundings

Rows = Sequence[Mapping]
"""Each has `vector`, and besides it fields; all rows have the same ones."""
ENGINES = ("qdrant", "lancedb", "chroma", "milvus")
PLACES = {"qdrant": "qdrant", "lancedb": "lance", "chroma": "chroma", "milvus": "milvus.db"}


def fill(engine: str, folder: Path, rows: Rows, *, metric: str = "cosine") -> None:
    """Make a collection `docs` anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FILLS[engine](str(folder / PLACES[engine]), [dict(row) for row in rows], metric)


def build(engine: str, folder: Path, embed: Callable[[str], list[float]] | None = None, **own):
    """Return a retriever over `docs`, with `embed` in place of a model."""
    url = own.pop("url", PLACES[engine])
    given = {} if embed is None else {"model": "given"}
    settings = RetrieverSettings(kind=engine, url=url, **{"collection": "docs", "id_field": "doc", **given, **own})
    kind = load(GROUP, engine)
    if embed is None:
        return kind.build(engine, settings, Surroundings(base=folder))
    found, nearest.find_embedding = nearest.find_embedding, lambda *_: (embed, "given")
    try:
        return kind.build(engine, settings, Surroundings(base=folder))
    finally:
        nearest.find_embedding = found


def _fill_qdrant(place: str, rows: list[dict], metric: str) -> None:
    distances = {"cosine": models.Distance.COSINE, "dot": models.Distance.DOT, "l2": models.Distance.EUCLID}
    client = QdrantClient(path=place)
    if client.collection_exists("docs"):
        client.delete_collection("docs")
    size = len(rows[0]["vector"])
    client.create_collection("docs", vectors_config=models.VectorParams(size=size, distance=distances[metric]))
    points = [models.PointStruct(id=at, vector=row.pop("vector"), payload=row) for at, row in enumerate(rows)]
    client.upsert("docs", points)
    client.close()


def _fill_lancedb(place: str, rows: list[dict], metric: str) -> None:
    size = len(rows[0]["vector"])
    fields = [
        pa.field(name, pa.string() if isinstance(value, str) else pa.int64())
        for name, value in rows[0].items()
        if name != "vector"
    ]
    schema = pa.schema([pa.field("vector", pa.list_(pa.float32(), size)), *fields])
    lancedb.connect(place).create_table("docs", rows, schema=schema, mode="overwrite")


def _fill_chroma(place: str, rows: list[dict], metric: str) -> None:
    client = chromadb.PersistentClient(place, Settings(anonymized_telemetry=False))
    if "docs" in [one.name for one in client.list_collections()]:
        client.delete_collection("docs")
    space = {"cosine": "cosine", "dot": "ip", "l2": "l2"}[metric]
    collection = client.create_collection("docs", embedding_function=None, configuration={"hnsw": {"space": space}})
    vectors = [row.pop("vector") for row in rows]
    known = [{name: value for name, value in row.items() if value is not None} for row in rows]
    collection.add(ids=[f"e{at}" for at in range(len(rows))], embeddings=vectors, metadatas=known)
    client.close()


def _fill_milvus(place: str, rows: list[dict], metric: str) -> None:
    client = MilvusClient(place)
    if client.has_collection("docs"):
        client.drop_collection("docs")
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("key", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=len(rows[0]["vector"]))
    index = client.prepare_index_params()
    name = {"cosine": "COSINE", "dot": "IP", "l2": "L2"}[metric]
    index.add_index("vector", index_type="FLAT", metric_type=name)
    client.create_collection("docs", schema=schema, index_params=index)
    client.insert("docs", [{"key": at, **row} for at, row in enumerate(rows)])
    client.close()


FILLS = {"qdrant": _fill_qdrant, "lancedb": _fill_lancedb, "chroma": _fill_chroma, "milvus": _fill_milvus}
