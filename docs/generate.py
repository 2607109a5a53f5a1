"""Write docs/reference.md from the records and the help pages, so that it cannot lag behind them."""

import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from findback import registry
from findback.cli.main import COMMANDS, app
from findback.model.settings import Settings
from findback.retrievers.build import GROUP

TARGET = Path(__file__).parent / "reference.md"
WIDTH = "100"
NESTED = {
    "models": ("list", "pull"),
    "label": ("quick", "judge", "export", "import"),
    "assist": ("paraphrase", "classify", "cluster", "suggest"),
    "glossary": ("suggest", "accept", "evaluate", "export"),
    "config": ("show",),
    "privacy": ("exclude", "evaluate", "log", "sweep"),
}
OWN_SETTINGS = {
    "azure-search": "AzureSearchSettings",
    "bm25": "Bm25Settings",
    "chroma": "ChromaSettings",
    "command": "CommandSettings",
    "dense": "EmbedderSettings",
    "elasticsearch": "ElasticsearchSettings",
    "expand": "ExpandSettings",
    "file": "FileSettings",
    "fuse": "FuseSettings",
    "http": "HttpRetrieverSettings",
    "lancedb": "LanceSettings",
    "mcp": "McpSettings",
    "meilisearch": "MeilisearchSettings",
    "milvus": "MilvusSettings",
    "opensearch": "OpenSearchSettings",
    "python": "PythonSettings",
    "qdrant": "QdrantSettings",
    "rerank": "RerankSettings",
    "rerank-http": "RerankHttpSettings",
    "sql": "SqlSettings",
    "tantivy": "TantivySettings",
    "typesense": "TypesenseSettings",
    "vespa": "VespaSettings",
    "weaviate": "WeaviateSettings",
}


def reference() -> str:
    """Return the whole page."""
    parts = ["# Reference", "", "Made from the code by `python docs/generate.py`; do not edit.", ""]
    parts += ["## Commands", ""]
    for name, (_, line) in COMMANDS.items():
        parts += [f"### findback {name}", "", line, ""]
        for words in [(name, inner) for inner in NESTED[name]] if name in NESTED else [(name,)]:
            parts += ["```text", help_page(*words), "```", ""]
    parts += ["## findback.toml", "", *tables(Settings, "")]
    parts += ["## Kinds of retriever", ""]
    for kind in registry.names(GROUP):
        if registry.is_ours(GROUP, kind):
            module = sys.modules[registry.load(GROUP, kind).__module__]
            record = getattr(module, OWN_SETTINGS[kind])
            parts += [f"### kind = {kind!r}".replace("'", '"'), "", *rows(record), ""]
    return "\n".join(parts).rstrip() + "\n"


def help_page(*words: str) -> str:
    """Return a command's help as it prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        app([*words, "--help"], exit_on_error=False, result_action="return_value")
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def tables(record: type[BaseModel], prefix: str) -> Iterator[str]:
    """Yield a table of settings for each table of findback.toml."""
    yield from rows(record)
    yield ""
    for name, field in record.model_fields.items():
        inner = next((kind for kind in (field.annotation, *get_args(field.annotation)) if is_record(kind)), None)
        if inner is not None:
            named = f"{prefix}{name}.NAME" if get_origin(field.annotation) is dict else f"{prefix}{name}"
            yield f"### [{named}]"
            yield ""
            yield from tables(inner, f"{named}.")


def rows(record: type[BaseModel]) -> Iterator[str]:
    """Yield a Markdown table of a record's fields."""
    yield "| key | type | default | what |"
    yield "|---|---|---|---|"
    for name, field in record.model_fields.items():
        if not any(is_record(kind) for kind in (field.annotation, *get_args(field.annotation))):
            what = (field.description or "").replace("\n", " ").replace("|", "\\|")
            yield f"| `{name}` | {type_of(field.annotation)} | {default_of(field)} | {what} |"


def is_record(kind: Any) -> bool:
    """Return whether a type is a record."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def type_of(kind: Any) -> str:
    """Return a type in words."""
    origin = get_origin(kind)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if origin in (Union, UnionType):
        return " or ".join(type_of(one) for one in get_args(kind) if one is not type(None))
    if origin is tuple:
        return f"list of {type_of(get_args(kind)[0])}"
    if origin is dict:
        return "table"
    if origin is not None and hasattr(kind, "__metadata__"):
        return type_of(get_args(kind)[0])
    names = {str: "text", int: "number", float: "number", bool: "true or false"}
    return names.get(kind, "table" if kind in (dict, list) else getattr(kind, "__name__", "text").lower())


def default_of(field: FieldInfo) -> str:
    """Return a default as findback.toml would write it."""
    if field.default_factory is not None:
        return "empty"
    if field.default is PydanticUndefined:
        return "needed"
    if field.default is None or field.default == ():
        return "none" if field.default is None else "empty"
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    import os

    os.environ["COLUMNS"] = WIDTH
    TARGET.write_text(reference(), "utf-8")

    import datamap

    datamap.TARGET.write_text(datamap.data_map(), "utf-8")
