"""Retriever objects of LangChain, LlamaIndex and Haystack as search functions; none of the three is imported."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from findback.errors import EngineError

Search = Callable[[str, int], list[dict[str, Any]]]

PLACES = ("start_index", "split_idx_start")
"""Keys under which LangChain's and Haystack's splitters keep where a piece begins in its document."""


class FrameworkError(EngineError):
    """A framework's object returned what cannot be read; findback's own words, which quote no query."""


class _Found(NamedTuple):
    id: str | None
    score: float | None
    text: str | None
    metadata: Mapping[str, Any]


def adapt(found: Any, id_from: str | None = None) -> Search | None:
    """Return a search function over an object of a framework, or None where it is of none.

    Args:
        found: What `module:name` names.
        id_from: Key of the results' metadata that holds the document's id, such as `source` or `meta.path`.
    """
    kinds = {(one.__module__.partition(".")[0], one.__name__) for one in type(found).__mro__}
    if ("langchain_core", "Runnable") in kinds:
        takes_k = ("langchain_core", "VectorStoreRetriever") in kinds
        return _langchain(found, id_from, takes_k=takes_k)
    if ("llama_index", "BaseRetriever") in kinds:
        return _llama_index(found, id_from)
    if type(found).__module__.startswith("haystack") and _takes(found, "query"):
        return _haystack(found, id_from)
    return None


def _langchain(retriever: Any, id_from: str | None, *, takes_k: bool) -> Search:
    def search(query: str, k: int) -> list[dict[str, Any]]:
        documents = retriever.invoke(query, k=k) if takes_k else retriever.invoke(query)
        found = (_Found(one.id, None, one.page_content, one.metadata) for one in _listed(documents))
        return [_hit(rank, one, id_from) for rank, one in enumerate(found, 1)]

    return search


def _llama_index(retriever: Any, id_from: str | None) -> Search:
    def search(query: str, k: int) -> list[dict[str, Any]]:
        if getattr(retriever, "similarity_top_k", k) < k:
            retriever.similarity_top_k = k
        hits = []
        for rank, one in enumerate(_listed(retriever.retrieve(query)), 1):
            node = one.node
            found = _Found(node.ref_doc_id or node.node_id, one.score, node.get_content(), node.metadata)
            start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
            place = {} if start is None or end is None else {"start": start, "end": end}
            hits.append({**_hit(rank, found, id_from), **place})
        return hits

    return search


def _haystack(retriever: Any, id_from: str | None) -> Search:
    takes_k = _takes(retriever, "top_k")

    def search(query: str, k: int) -> list[dict[str, Any]]:
        answered = retriever.run(query=query, top_k=k) if takes_k else retriever.run(query=query)
        found = (_Found(one.id, one.score, one.content, one.meta) for one in _listed(answered["documents"]))
        return [_hit(rank, one, id_from) for rank, one in enumerate(found, 1)]

    return search


def _hit(rank: int, found: _Found, id_from: str | None) -> dict[str, Any]:
    """Return one result, with its place in the document where the splitter kept it."""
    metadata, text = found.metadata, found.text
    document = found.id if id_from is None else _value_at(metadata, id_from)
    if document is None or document == "":
        wanted = "no id" if id_from is None else f"no {id_from} in its metadata"
        keys = ", ".join(sorted(str(key) for key in metadata)[:20]) or "none"
        raise FrameworkError(f"result {rank} has {wanted}", hint=f"`id_from` names a key of its metadata: {keys}")
    start = next((metadata[key] for key in PLACES if isinstance(metadata.get(key), int)), None)
    place = {} if start is None or text is None else {"start": start, "end": start + len(text)}
    return {"id": str(document), "score": found.score, "passage": text, **place}


def _value_at(metadata: Mapping[str, Any], path: str) -> Any:
    if path in metadata:
        return metadata[path]
    found: Any = metadata
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _listed(found: Any) -> list[Any]:
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise FrameworkError(f"the retriever returned a {type(found).__name__}, not a list of documents")
    return list(found)


def _takes(component: Any, parameter: str) -> bool:
    run = getattr(component, "run", None)
    return callable(run) and parameter in inspect.signature(run).parameters
