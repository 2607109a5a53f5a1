"""Prepared answers: a retriever for tests, examples and documentation."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal

from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.retrievers.readers import Readers
from findback.retrievers.returned import read_answer

Prepared = Mapping[str, Any] | Callable[[Query, int], Any]


class MemoryRetriever:
    """Answers from a table `query text -> results`, or from a function; an exception as result is raised.

    >>> import asyncio
    >>> search = MemoryRetriever({"lost parcel": ["tracing.md", ("claims.md", 2.0)]})
    >>> [hit.document for hit in asyncio.run(search.search(Query("lost parcel"), 10)).hits]
    ['tracing.md', 'claims.md']
    """

    kind = "memory"
    egress: Literal["local", "internal", "external"] = "local"

    def __init__(
        self,
        prepared: Prepared,
        *,
        name: str = "memory",
        holds: Iterable[str] | None = None,
        honours: Iterable[str] = (),
        readers: Mapping[str, Collection[str]] | None = None,
        score_direction: ScoreDirection | None = "higher",
    ) -> None:
        self.name = name
        self.score_direction = score_direction
        self._readers = Readers(readers)
        self.honours = frozenset(honours) | self._readers.honours
        self._prepared = prepared
        self._holds = None if holds is None else frozenset(holds)
        self.asked: list[tuple[Query, int]] = []
        """Every search made, in order."""

    def settings(self) -> Mapping[str, object]:
        """Return who may read what; prepared answers have no other settings."""
        return self._readers.settings()

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first `k` prepared results that the audience may read; nothing for an unknown query."""
        self.asked.append((query, k))
        found = self._prepared.get(query.text, []) if isinstance(self._prepared, Mapping) else self._prepared(query, k)
        if isinstance(found, BaseException):
            raise found
        if isinstance(found, list | tuple) and not isinstance(found, Answer):
            answer = read_answer(found, k)
            hits = [hit for hit in answer.hits if self._readers.admit(hit.document, query.context)]
            return Answer(tuple(hits[:k]), exhausted=len(hits) <= k)
        return read_answer(found, k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the document is among `holds` and may be read; None where nothing was said."""
        return None if self._holds is None else document in self._holds and self._readers.admit(document, context)

    async def close(self) -> None:
        """Do nothing."""
