"""Azure AI Search through its REST API."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from findback.retrievers.service import Call, Said, SearchService, ServiceSettings, in_path, text_of


class AzureSearchSettings(ServiceSettings):
    """Settings of kind `azure-search`."""

    index: Annotated[str, Field(min_length=1, max_length=128)]
    """Index or alias that is searched."""
    api_version: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(-preview)?$")] = "2024-07-01"
    """Version of the REST API."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Further search parameters, such as `queryType`, `semanticConfiguration`, `vectorQueries` or `filter`;
    `{{query}}`, `{{k}}` and `{{context.…}}` may stand in them."""
    key: str = "id"
    """Key field of the index, which holds letters, digits, hyphens, underscores and equals signs only."""
    id_field: str | None = None
    """Field of the document's own id, where that is not the key; `exists` needs it to be filterable."""
    hits: str = "$.value[*]"
    score: str | None = "$['@search.score']"
    max_k: PositiveInt | None = 1_000


class AzureSearchRetriever(SearchService):
    """Asks an index."""

    kind = "azure-search"
    record = AzureSearchSettings

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search."""
        path = f"/indexes/{in_path(own.index)}/docs/search?api-version={own.api_version}"
        return Call("POST", path, {"search": "{{query}}", "top": "{{k}}", **own.body})

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return f"$['{own.id_field or own.key}']"

    def lookup_call(self, document: str) -> Call:
        """Return the request for a document by its key, or by the field that holds its id."""
        own = self._own
        quoted = document.replace("'", "''")
        path, version = f"/indexes/{in_path(own.index)}/docs", f"api-version={own.api_version}"
        if own.id_field is None or own.id_field == own.key:
            return Call("GET", f"{path}('{in_path(quoted)}')?{version}")
        body = {"search": "*", "filter": f"{own.id_field} eq '{quoted}'", "top": 1}
        return Call("POST", f"{path}/search?{version}", body)

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the document, or the first one found."""
        if not isinstance(content, dict):
            return None
        if self._own.id_field is None or self._own.id_field == self._own.key:
            return content
        found = content.get("value")
        return found[0] if isinstance(found, list) and found else None

    def is_absent(self, said: Said) -> bool:
        """Return whether the document is not there, rather than the index; a missing index is named."""
        return said.message is None or "index" not in said.message.lower()

    def read_error(self, content: Any) -> Said:
        """Return code and message of an error."""
        error = content.get("error") if isinstance(content, dict) else None
        if not isinstance(error, dict):
            return Said()
        return Said(text_of(error.get("code")), text_of(error.get("message")))

    def find_problem(self, content: Any) -> Said | None:
        """Return what is missing in an answer: replicas that did not answer, or the semantic ranking."""
        if not isinstance(content, dict):
            return None
        coverage = content.get("@search.coverage")
        if isinstance(coverage, int | float) and coverage < 100:
            return Said(message=f"{coverage:g} % of the index were looked at")
        reason = text_of(content.get("@search.semanticPartialResponseReason"))
        return None if reason is None else Said(message=f"the semantic ranking is not whole: {reason}")
