"""What Elasticsearch and OpenSearch say of themselves, and of what went wrong."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from findback.errors import EngineError
from findback.retrievers.service import Said, text_of

PRODUCT_HEADER = "x-elastic-product"
"""Header by which Elasticsearch 7.14 and later say what they are."""

_HINTS: dict[str | None, str] = {
    "index_not_found_exception": "check `index`",
    "security_exception": "check `headers` and what its role may read",
    "parsing_exception": "check `body` against the server's version",
    "x_content_parse_exception": "check `body` against the server's version",
    "query_shard_exception": "check the fields and their types; see GET INDEX/_mapping",
}


class Product(NamedTuple):
    """An engine, and the versions that are known."""

    title: str
    kind: str
    oldest: int
    newest: int


class MisfitError(EngineError):
    """The server is another one than the settings say, and stays so."""


def check_server(product: Product, content: Any, headers: Mapping[str, str], shown: str) -> None:
    """Look at how a server introduces itself.

    Raises:
        MisfitError: If it is another product, or a version that is not known.
    """
    version = content.get("version") if isinstance(content, dict) else None
    number = text_of(version.get("number")) if isinstance(version, dict) else None
    if not isinstance(version, dict) or number is None:
        raise MisfitError(f"{shown} is no {product.title}: it names no version", hint="check `url`")
    kind = "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
    if kind != product.kind:
        name = "OpenSearch" if kind == "opensearch" else "Elasticsearch"
        raise MisfitError(f"{shown} is {name} {number[:40]}, not {product.title}", hint=f'write kind = "{kind}"')
    parts = [int(part) for part in number.split("-")[0].split(".") if part.isdecimal()]
    known = bool(parts) and product.oldest <= parts[0] <= product.newest
    if not known and version.get("build_flavor") != "serverless":
        raise MisfitError(
            f"{shown} is {product.title} {number[:40]}; {product.oldest} to {product.newest} are known",
            hint="check_product = false asks it nevertheless",
        )
    if kind == "elasticsearch" and parts >= [7, 14] and PRODUCT_HEADER not in headers:
        raise MisfitError(
            f"{shown} answers without the header X-Elastic-Product, which Elasticsearch {number[:40]} sends",
            hint="a gateway in between may drop it: check_product = false",
        )


def check_header(product: Product, headers: Mapping[str, str], shown: str) -> None:
    """Refuse an answer that names another product.

    Raises:
        EngineError: If it does.
    """
    named = headers.get(PRODUCT_HEADER)
    if named is None or (product.kind == "elasticsearch" and named == "Elasticsearch"):
        return
    raise EngineError(
        f"{shown} answers as {named[:60]!r}, not as {product.title}",
        hint='write kind = "elasticsearch"' if named == "Elasticsearch" else "check `url`",
    )


def read_error(content: Any) -> Said:
    """Return type and reason of an error, of the shard's own where shards failed."""
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict):
        return _said(error)
    return Said(message=text_of(error))


def find_missing(content: Any) -> Said | None:
    """Return what is missing in an answer: shards that failed, clusters, or the time; None where it is whole."""
    if not isinstance(content, dict):
        return None
    if lost := _count(content.get("_shards"), "failed"):
        return _say_shards(content["_shards"], lost)
    if lost := _count(content.get("_clusters"), "skipped") + _count(content.get("_clusters"), "failed"):
        return Said(message=f"{lost} of {content['_clusters'].get('total')} clusters did not answer")
    if content.get("timed_out") is True:
        return Said(message="the search ran into its own time limit", hint="raise `timeout` in the `body`")
    return None


def _say_shards(shards: Mapping[str, Any], lost: int) -> Said:
    failures = shards.get("failures")
    first = failures[0] if isinstance(failures, list) and failures and isinstance(failures[0], dict) else {}
    said = _said(first.get("reason"))
    index = f" of index {first['index']}" if text_of(first.get("index")) else ""
    why = ": ".join(part for part in (said.code, said.message) if part) or "no reason given"
    return Said(
        message=f"{lost} of {shards.get('total')} shards failed, the first{index}: {why}",
        hint=said.hint or "the type of a field may differ between indices; see GET INDEX/_mapping",
    )


def _said(error: Any) -> Said:
    """Return what lies at the bottom of an error: what a shard said, or what caused it."""
    if not isinstance(error, Mapping):
        return Said()
    for _ in range(10):
        causes = error.get("root_cause")
        inner = causes[0] if isinstance(causes, list) and causes else error.get("caused_by")
        if not isinstance(inner, dict) or inner.get("type") is None:
            break
        error = {**inner, "root_cause": None}
    code = text_of(error.get("type"))
    return Said(code, text_of(error.get("reason")), hint=_HINTS.get(code))


def _count(counts: Any, key: str) -> int:
    value = counts.get(key) if isinstance(counts, Mapping) else None
    return value if isinstance(value, int) else 0
