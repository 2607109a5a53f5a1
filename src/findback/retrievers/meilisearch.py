"""Meilisearch through its HTTP API."""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import Field, PositiveInt

from findback.retrievers.service import Call, Said, SearchService, ServiceSettings, in_path, text_of

_ABSENT = frozenset({"document_not_found", "invalid_document_id"})


class MeilisearchSettings(ServiceSettings):
    """Settings of kind `meilisearch`."""

    index: Annotated[str, Field(min_length=1, max_length=500)]
    """Index that is searched."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Further search parameters, such as `matchingStrategy` or `hybrid`; `{{context.…}}` may stand in them."""
    primary_key: str = "id"
    """Field that is the index' primary key, which holds letters, digits, hyphens and underscores only."""
    id_field: str | None = None
    """Field of the document's own id, where that is not the primary key; `exists` needs it to be filterable."""
    hits: str = "$.hits[*]"
    score: str | None = "$._rankingScore"
    max_k: PositiveInt | None = 1_000


class MeilisearchRetriever(SearchService):
    """Asks an index."""

    kind = "meilisearch"
    record = MeilisearchSettings

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search."""
        body = {"q": "{{query}}", "limit": "{{k}}", "showRankingScore": True, **own.body}
        return Call("POST", f"/indexes/{in_path(own.index)}/search", body)

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return f"$['{own.id_field or own.primary_key}']"

    def lookup_call(self, document: str) -> Call:
        """Return the request for a document by its key, or by the field that holds its id."""
        own = self._own
        path = f"/indexes/{in_path(own.index)}/documents"
        if own.id_field is None or own.id_field == own.primary_key:
            return Call("GET", f"{path}/{in_path(document)}")
        # A JSON string is a string of the filter language, too.
        return Call(
            "POST", f"{path}/fetch", {"filter": f"{own.id_field} = {orjson.dumps(document).decode()}", "limit": 1}
        )

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the document, or the first one found."""
        if not isinstance(content, dict):
            return None
        if self._own.id_field is None or self._own.id_field == self._own.primary_key:
            return content
        results = content.get("results")
        return results[0] if isinstance(results, list) and results else None

    def is_absent(self, said: Said) -> bool:
        """Return whether the document is not there, rather than the index."""
        return said.code in _ABSENT

    def read_error(self, content: Any) -> Said:
        """Return code and message of an error."""
        if not isinstance(content, dict):
            return Said()
        return Said(text_of(content.get("code")), text_of(content.get("message")))
