"""Which documents of a corpus a search system holds, so that its index is seen before search is blamed."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from findback.departures import carrying
from findback.model.protocols import SILENT, Documents, Progress, Retriever

AT_A_TIME = 16
"""Most documents asked for at the same time; a retriever's own limit may be lower."""
SILENT_AFTER = 100
"""Documents asked for without one answer after which no further one is: the system cannot be asked by id."""
CANNOT_TELL = "the system cannot be asked for a document by id"


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a search system said it holds."""

    held: frozenset[str]
    """Ids of the documents it holds."""
    unknown: frozenset[str]
    """Ids of those it could not say anything about, those not asked for included."""
    documents: int
    """Documents of the corpus."""

    @property
    def indexed(self) -> float | None:
        """Return the share of the corpus it holds, in [0, 1]; None where it could not say for all of it."""
        return None if self.unknown or not self.documents else len(self.held) / self.documents

    @property
    def reason(self) -> str | None:
        """Return why it is not known what the system holds; None where it is."""
        if not self.unknown:
            return None
        if len(self.unknown) == self.documents:
            return CANNOT_TELL
        return f"it could not say for {len(self.unknown):,} of {self.documents:,} documents"


async def held_by(
    retriever: Retriever, corpus: Documents, progress: Progress = SILENT, *, at_a_time: int = AT_A_TIME
) -> Holdings:
    """Return which documents of a corpus a system holds, whoever may see them.

    Where a request fails, nothing is known about that document. A system that says nothing about the first
    hundred is not asked further.

    Args:
        retriever: The system.
        corpus: The documents.
        progress: Told of each document.
        at_a_time: Most requests at the same time.
    """
    documents = sorted(document.id for document in corpus)
    said: dict[str, bool] = {}
    asked = 0

    async def work(waiting: Iterator[str]) -> None:
        nonlocal asked
        for document in waiting:
            if not said and asked >= SILENT_AFTER:
                return
            asked += 1
            try:
                held = await retriever.exists(document)
            except Exception:  # noqa: BLE001  (an engine that fails here cannot say)
                held = None
            if held is not None:
                said[document] = held
            progress.advance()

    progress.start(f"Asking {retriever.name} what it holds", len(documents))
    try:
        with carrying("document"):
            # Workers share one iterator, so that no more requests exist than are being answered.
            waiting = iter(documents)
            await asyncio.gather(*(work(waiting) for _ in range(min(at_a_time, len(documents)))))
    finally:
        progress.finish()
    held = frozenset(document for document, there in said.items() if there)
    return Holdings(held, frozenset(documents) - said.keys(), len(documents))
