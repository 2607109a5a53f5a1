"""Settings of kinds `elasticsearch` and `opensearch`, and the requests they stand for."""

from typing import Annotated
from urllib.parse import quote, urlencode

from pydantic import Field, PositiveInt

from findback.errors import SettingsError
from findback.retrievers.http_settings import Body
from findback.retrievers.service import ServiceSettings

WINDOW = 10_000
"""Results an index gives at once unless its `max_result_window` says otherwise."""


class ElasticsearchSettings(ServiceSettings):
    """Settings of kind `elasticsearch`."""

    index: Annotated[str, Field(min_length=1, max_length=500)]
    """Index, alias, data stream, or several with commas and asterisks."""
    fields: tuple[str, ...] = ()
    """Fields that are searched with a `multi_match`, such as `title^2`; or write a `body`."""
    body: Body | None = None
    """Body of the search with `{{query}}`, `{{k}}` and `{{context.…}}`: any query, knn or retriever. `size` and
    `_source` are added where they are left out."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Put into the address, such as `preference = "_local"`."""
    hits: str = "$.hits.hits[*]"
    score: str | None = "$._score"
    id_field: str | None = None
    """Field of the document's id, where the index calls it otherwise than `_id`: passages, ids that are numbers."""
    max_k: PositiveInt | None = WINDOW
    batch: Annotated[int, Field(ge=1, le=200)] = 1
    """Searches that are sent in one `_msearch`."""
    check_product: bool = True
    """Refuse what does not say that it is this engine, in a version that is known."""


class OpenSearchSettings(ElasticsearchSettings):
    """Settings of kind `opensearch`."""

    search_pipeline: str | None = None
    """Pipeline that every search runs through."""


def check_body(name: str, own: ElasticsearchSettings) -> None:
    """Refuse settings that do not say what is searched.

    Raises:
        SettingsError: If there are neither fields nor a body, or both, or a batch of bodies that are texts.
    """
    if bool(own.fields) == (own.body is not None):
        raise SettingsError(
            f"[retrievers.{name}] body: say what is searched, by `fields` or by a `body`",
            hint='fields = ["title^2", "body"]',
        )
    if own.batch > 1 and not isinstance(body_of(own), dict):
        raise SettingsError(f"[retrievers.{name}] batch: needs a `body` that is a table")


def path_of(own: ElasticsearchSettings, what: str) -> str:
    """Return the path of an API of the index."""
    return f"/{quote(own.index, safe=',*-_.+')}/{what}"


def parameters_of(own: ElasticsearchSettings) -> str:
    """Return the query string of a search."""
    named = dict(own.parameters)
    if isinstance(own, OpenSearchSettings) and own.search_pipeline:
        named["search_pipeline"] = own.search_pipeline
    return f"?{urlencode(named)}" if named else ""


def id_path(own: ElasticsearchSettings) -> str:
    """Return where a result holds its document's id."""
    return own.id or (f"$._source.{own.id_field}" if own.id_field else "$._id")


def body_of(own: ElasticsearchSettings) -> Body:
    """Return the template of a search's body."""
    if isinstance(own.body, str | list):
        return own.body
    body = own.body or {"query": {"multi_match": {"query": "{{query}}", "fields": list(own.fields)}}}
    paths = (id_path(own), own.passage, own.start, own.end, own.score, own.abstain)
    body = {"size": "{{k}}", "_source": any("_source" in path for path in paths if path), **body}
    if isinstance(own, OpenSearchSettings) and own.search_pipeline and own.batch > 1:
        # An `_msearch` takes a pipeline in each body, since 2.18; a search takes it in the address, since 2.8.
        body["search_pipeline"] = own.search_pipeline
    return body
