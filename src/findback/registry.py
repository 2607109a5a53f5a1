"""Variants found by name: one registry of entry points, ours and other people's alike."""

from collections import Counter
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from findback.errors import MissingError, MissingLibraryError, SettingsError

GROUPS = {
    "findback.documents": "kind of corpus",
    "findback.formats": "set format",
    "findback.retrievers": "kind of retriever",
    "findback.chunkers": "chunker",
    "findback.sources": "kind of source",
}
"""Every entry-point group and the word users know it by."""

EXTRAS = {
    "pyarrow": "parquet",
    "onnxruntime": "dense",
    "tokenizers": "dense",
    "altair": "charts",
    "vl_convert": "charts",
    "spacy": "ner",
    "presidio_analyzer": "presidio",
    "betterleaks": "secrets",
    "duckdb": "searchlog",
    "ibis": "searchlog",
    "pyspark": "spark",
    "psycopg": "postgres",
    "pydantic_ai": "llm",
    "openai": "llm",
    "anthropic": "llm",
    "xllamacpp": "local-llm",
    "uvicorn": "web",
    "slack_bolt": "slack",
    "slack_sdk": "slack",
    "mcp": "mcp",
    "tantivy": "tantivy",
    "chromadb": "chroma",
    "lancedb": "lancedb",
    "pymilvus": "milvus",
    "qdrant_client": "qdrant",
}
"""Which extra brings an optional library."""


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    points = list(entry_points(group=group))
    names = Counter(point.name for point in points)
    clashes = sorted(name for name, count in names.items() if count > 1)
    if clashes:
        owners = sorted(f"{point.name} = {point.value}" for point in points if point.name in clashes)
        raise SettingsError(
            f"two installed packages offer the same {GROUPS.get(group, group)}: {'; '.join(owners)}",
            hint="uninstall one of them, or ask its authors for another name",
        )
    return {point.name: point for point in points}


def names(group: str) -> tuple[str, ...]:
    """Return the names a group offers, sorted."""
    return tuple(sorted(_found(group)))


def is_ours(group: str, name: str) -> bool:
    """Return whether the variant comes with findback itself."""
    point = _found(group).get(name)
    return point is not None and point.value.startswith("findback.")


def load(group: str, name: str) -> Any:
    """Return the object a name stands for.

    Raises:
        MissingError: If nothing of that name is installed.
        MissingLibraryError: If it needs a library that is not installed.
    """
    point = _found(group).get(name)
    if point is None:
        raise MissingError(
            f"there is no {GROUPS.get(group, group)} named {name!r}",
            hint=f"known: {', '.join(names(group)) or 'none'}",
        )
    try:
        return point.load()
    except ModuleNotFoundError as missing:
        if (explained := _name_extra(missing, f"{name!r}")) is None:
            raise
        raise explained from missing


def load_module(module: str, *, wanted_for: str) -> Any:
    """Return a module of ours that an optional library is imported in.

    Args:
        module: Its full name.
        wanted_for: What it is wanted for, as the message says it.

    Raises:
        MissingLibraryError: If that library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if (explained := _name_extra(missing, wanted_for)) is None:
            raise
        raise explained from missing


def _name_extra(missing: ModuleNotFoundError, wanted_for: str) -> MissingLibraryError | None:
    """Return the error that names the extra which brings a library; None for what no extra brings."""
    library = (missing.name or "").partition(".")[0]
    return MissingLibraryError(library, extra=EXTRAS[library], wanted_for=wanted_for) if library in EXTRAS else None
