"""Typesense through its HTTP API."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from findback.model.case import Context
from findback.retrievers.service import Call, Said, SearchService, ServiceSettings, in_path, text_of, value_at


class TypesenseSettings(ServiceSettings):
    """Settings of kind `typesense`."""

    collection: Annotated[str, Field(min_length=1, max_length=500)]
    """Collection or alias that is searched."""
    fields: Annotated[tuple[str, ...], Field(min_length=1)]
    """Fields that are searched (`query_by`), the most important first."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Further search parameters, such as `num_typos = 0`; `{{context.…}}` may stand in them."""
    hits: str = "$.results[0].hits[*]"
    score: str | None = "$.text_match"
    id_field: str | None = None
    """Field of the document's id, where it is not `id`: the collection holds passages."""
    max_k: PositiveInt | None = 250


class TypesenseRetriever(SearchService):
    """Asks a collection."""

    kind = "typesense"
    record = TypesenseSettings

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search; by POST, so that no query stands in an address."""
        search = {"collection": own.collection, "q": "{{query}}", "query_by": ",".join(own.fields)}
        return Call("POST", "/multi_search", {"searches": [{**search, "per_page": "{{k}}", **own.body}]})

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return f"$.document['{own.id_field or 'id'}']"

    def lookup_call(self, document: str) -> Call:
        """Return the request for a document by its id, or a search for the field that holds it."""
        own = self._own
        if own.id_field is None:
            return Call("GET", f"/collections/{in_path(own.collection)}/documents/{in_path(document)}")
        found = {"collection": own.collection, "q": "*", "filter_by": f"{own.id_field}:=`{document}`", "per_page": 1}
        return Call("POST", "/multi_search", {"searches": [found]})

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the document, or the first one found."""
        if self._own.id_field is None:
            return content if isinstance(content, dict) else None
        hits = content["results"][0].get("hits") or []
        found = hits[0].get("document") if hits else None
        # A field that is searched by words may give others, too.
        return found if found is not None and value_at(found, self._own.id_field) == document else None

    def is_absent(self, said: Said) -> bool:
        """Return whether the document is not there, rather than the collection."""
        return said.message is not None and "document with id" in said.message

    def read_error(self, content: Any) -> Said:
        """Return the message of an error."""
        return Said(message=text_of(content.get("message")) if isinstance(content, dict) else None)

    def find_problem(self, content: Any) -> Said | None:
        """Return what is wrong with the one search of an answer."""
        results = content.get("results") if isinstance(content, dict) else None
        first = results[0] if isinstance(results, list) and results else None
        if not isinstance(first, dict):
            return None
        if "error" in first:
            code = first.get("code")
            return Said(message=text_of(first["error"]), status=code if isinstance(code, int) else 400)
        return Said(message="the search ran into its own time limit") if first.get("search_cutoff") is True else None

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the collection holds the document; None for an id that no filter can hold."""
        if self._own.id_field is not None and "`" in document:
            return None
        return await super().exists(document, context)
