"""Prepared answers: a retriever for tests, examples and documentation."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
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
        score_direction: ScoreDirection | None = "higher",
    ) -> None:
        self.name = name
        self.score_direction = score_direction
        self.honours = frozenset(honours)
        self._prepared = prepared
        self._holds = None if holds is None else frozenset(holds)
        self.asked: list[tuple[Query, int]] = []
        """Every search made, in order."""

    def settings(self) -> Mapping[str, object]:
        """Return nothing: prepared answers have no settings."""
        return {}

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first `k` prepared results; nothing for an unknown query."""
        self.asked.append((query, k))
        found = self._prepared.get(query.text, []) if isinstance(self._prepared, Mapping) else self._prepared(query, k)
        if isinstance(found, BaseException):
            raise found
        if isinstance(found, list | tuple) and not isinstance(found, Answer):
            return read_answer(found[:k], k)._replace(exhausted=len(found) <= k)
        return read_answer(found, k)

    async def exists(self, document: str) -> bool | None:
        """Return whether the document is among `holds`; None where nothing was said."""
        return None if self._holds is None else document in self._holds

    async def close(self) -> None:
        """Do nothing."""
