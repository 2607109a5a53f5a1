"""What a system holds is asked with few requests at a time, and not known where it cannot say."""

import asyncio

from findback.corpus.corpus import corpus_of
from findback.model.case import Context
from findback.model.document import Document
from findback.retrievers.memory import MemoryRetriever
from findback.steps.holdings import CANNOT_TELL, SILENT_AFTER, Holdings, held_by

CORPUS = corpus_of(Document(f"{at:03}", "text") for at in range(300))


class Counting:
    """Counts what progress is told."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.units = 0

    def start(self, label: str, total: int | None) -> None:
        self.told.append((label, total))

    def advance(self, units: int = 1) -> None:
        self.units += units

    def finish(self) -> None:
        self.told.append("end")


class Slow(MemoryRetriever):
    """Answers after a moment, fails on some, and remembers how many wait at once."""

    def __init__(self, *, failing: frozenset[str] = frozenset(), unknown: frozenset[str] = frozenset()) -> None:
        super().__init__({}, holds=[f"{at:03}" for at in range(0, 300, 2)])
        self.failing, self.unknown = failing, unknown
        self.waiting = self.most = self.requests = 0

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        self.requests += 1
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0)
        self.waiting -= 1
        if document in self.failing:
            raise OSError("down")
        return None if document in self.unknown else await super().exists(document, context)


def ask(retriever: MemoryRetriever, **options: object) -> Holdings:
    """Return what a retriever says it holds."""
    return asyncio.run(held_by(retriever, CORPUS, **options))


def test_what_is_held_is_counted() -> None:
    """Half the documents are held; each was asked for once, and progress was told of each."""
    system, progress = Slow(), Counting()
    found = ask(system, progress=progress)
    assert found.held == frozenset(f"{at:03}" for at in range(0, 300, 2))
    assert (found.indexed, found.unknown, found.reason) == (0.5, frozenset(), None)
    assert (system.requests, progress.units) == (300, 300)
    assert progress.told == [("Asking memory what it holds", 300), "end"]


def test_few_requests_wait_at_a_time() -> None:
    """No more than the limit are on their way at once."""
    system = Slow()
    ask(system, at_a_time=5)
    assert system.most == 5


def test_what_failed_or_could_not_be_said_is_unknown() -> None:
    """An error is not an absence: that document is unknown, and no share is stated."""
    found = ask(Slow(failing=frozenset({"004"}), unknown=frozenset({"005", "006"})))
    assert found.unknown == {"004", "005", "006"}
    assert len(found.held) == 148
    assert found.indexed is None
    assert found.reason == "it could not say for 3 of 300 documents"


def test_a_system_that_says_nothing_is_not_asked_for_everything() -> None:
    """After a hundred documents without an answer it cannot be told what is held."""
    system = Slow(unknown=frozenset(f"{at:03}" for at in range(300)))
    found = ask(system)
    assert system.requests == SILENT_AFTER
    assert (found.held, len(found.unknown), found.indexed, found.reason) == (frozenset(), 300, None, CANNOT_TELL)
