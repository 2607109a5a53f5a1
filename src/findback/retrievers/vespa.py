"""Vespa through its query and document APIs."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from findback.model.case import Context
from findback.model.protocols import Query
from findback.net import HttpAnswer
from findback.retrievers.service import Call, Said, SearchService, ServiceSettings, in_path, text_of

ABSENT = "no document"


class VespaSettings(ServiceSettings):
    """Settings of kind `vespa`."""

    id_field: Annotated[str, Field(min_length=1)]
    """Field of the document's id, which the summary returns."""
    yql: str = "select * from sources * where userQuery()"
    """What is selected."""
    ranking: str | None = None
    """Rank profile; the schema's default when left out."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Further query parameters, such as `"input.query(q)" = "embed(@text)"`; `{{query}}`, `{{k}}` and `{{context.…}}`
    may stand in them."""
    namespace: str | None = None
    """With `schema`: documents are looked up by /document/v1/NAMESPACE/SCHEMA/docid/ID."""
    document_type: str | None = None
    """The schema, for looking documents up."""
    hits: str = "$.root.children[*]"
    score: str | None = "$.relevance"
    max_k: PositiveInt | None = 400


class VespaRetriever(SearchService):
    """Asks an application."""

    kind = "vespa"
    record = VespaSettings

    @classmethod
    def search_call(cls, own: Any) -> Call:
        """Return the template of a search."""
        body = {"yql": own.yql, "query": "{{query}}", "hits": "{{k}}", **own.body}
        return Call("POST", "/search/", body if own.ranking is None else {**body, "ranking": own.ranking})

    @classmethod
    def id_path(cls, own: Any) -> str:
        """Return where a result holds its document's id."""
        return f"$.fields['{own.id_field}']"

    def lookup_call(self, document: str) -> Call:
        """Return the request for a document by its id."""
        own = self._own
        place = f"{in_path(own.namespace)}/{in_path(own.document_type)}"
        return Call("GET", f"/document/v1/{place}/docid/{in_path(document)}")

    def find_document(self, content: Any, document: str) -> Mapping[str, Any] | None:
        """Return the fields of the document."""
        fields = content.get("fields") if isinstance(content, dict) else None
        return fields if isinstance(fields, dict) else None

    def is_absent(self, said: Said) -> bool:
        """Return whether the document is not there, rather than the API."""
        return said.code == ABSENT

    def read(self, answered: HttpAnswer, shown: str, query: Query) -> Any:
        """Return the JSON of a whole answer; nothing found is an empty list, which Vespa leaves out."""
        content = super().read(answered, shown, query)
        root = content.get("root") if isinstance(content, dict) else None
        return {**content, "root": {"children": [], **root}} if isinstance(root, dict) else content

    def read_error(self, content: Any) -> Said:
        """Return code, summary and message of the first error."""
        if not isinstance(content, dict):
            return Said()
        root = content.get("root")
        errors = root.get("errors") if isinstance(root, dict) else None
        if isinstance(errors, list) and errors and isinstance(errors[0], dict):
            first = errors[0]
            number = f" {first['code']}" if isinstance(first.get("code"), int) else ""
            return Said(f"{text_of(first.get('summary')) or 'error'}{number}", text_of(first.get("message")))
        if "pathId" in content and "message" not in content:
            return Said(ABSENT)
        return Said(message=text_of(content.get("message")))

    def find_problem(self, content: Any) -> Said | None:
        """Return what is missing in an answer: errors beside results, or documents that were not looked at."""
        root = content.get("root") if isinstance(content, dict) else None
        if not isinstance(root, dict):
            return None
        if root.get("errors"):
            return self.read_error(content)
        coverage = root.get("coverage")
        if isinstance(coverage, dict) and coverage.get("full") is False:
            why = coverage.get("degraded")
            causes = ", ".join(sorted(str(key) for key, true in why.items() if true)) if isinstance(why, dict) else ""
            return Said(
                message=f"{coverage.get('coverage')} % of the documents were looked at{causes and ': ' + causes}",
                hint="raise the query's `timeout` in `body`, or look at the content nodes",
            )
        return None

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the application holds the document; None without `namespace` and `document_type`."""
        return await super().exists(document, context) if self._has_place() else None

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the application's own text of a document; None without `text_field`, or where it cannot be found."""
        return await super().fetch(document, context) if self._has_place() else None

    def _has_place(self) -> bool:
        return self._own.namespace is not None and self._own.document_type is not None
