"""What review works with: the workbench, its key, the documents and whoever may be asked for more of them."""

import asyncio
import hashlib
import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from findback.corpus.corpus import Corpus
from findback.errors import FindbackError
from findback.model.hits import Answer
from findback.model.protocols import Query, Retriever
from findback.model.settings import ReviewSettings
from findback.privacy.core import CoreRedactor
from findback.privacy.key import Key
from findback.steps.bench import open_workspace_key
from findback.steps.egress import allow_unreviewed
from findback.steps.misses import collapse
from findback.steps.opening import DEFAULT_RETRIEVERS, SetRequest, open_documents, open_retrievers
from findback.workbench.store import Workbench
from findback.workspace import Workspace

Result = TypeVar("Result")

POOLED = 8
"""Documents asked of each retriever."""
MOST_POOLED = 12
"""Documents of all retrievers together: what a person looks at in well under a minute."""
PATIENCE = 30.0
"""Seconds a retriever has."""
REMEMBERED = 512
"""Pools remembered."""
MOST_FAILURES = 50


class Desk:
    """One place to review at; threads may share it. Documents and retrievers are opened when they are first needed."""

    def __init__(
        self,
        workspace: Workspace,
        bench: Workbench,
        *,
        key: Key | None = None,
        ask: Callable[[str], bool] | None = None,
    ) -> None:
        self.workspace = workspace
        self.bench = bench
        self.key = key or open_workspace_key(workspace)
        self.redactor = CoreRedactor(workspace.settings.privacy)
        self.failures: list[str] = []
        """Why retrievers are not asked."""
        self._ask_person = ask
        self._lock = threading.Lock()
        self._documents: Corpus | None = None
        self._documents_open = False
        self._systems: list[Retriever] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._warmer: threading.Thread | None = None

    @property
    def settings(self) -> ReviewSettings:
        """Return the settings of review."""
        return self.workspace.settings.review

    @property
    def documents(self) -> Corpus | None:
        """Return the documents; None where the workspace names none.

        Raises:
            MissingError: If they are not there.
            DataError: If they cannot be read.
        """
        with self._lock:
            if not self._documents_open:
                self._documents = open_documents(self.workspace, SetRequest())
                self._documents_open = True
            return self._documents

    def warm(self) -> None:
        """Begin to open documents and retrievers, so that nobody waits for an index; `find` is empty meanwhile."""
        self._warmer = threading.Thread(target=self._warm, name="findback-warm", daemon=True)
        self._warmer.start()

    @property
    def warming(self) -> bool:
        """Return whether retrievers are still getting ready."""
        return self._warmer is not None and self._warmer.is_alive()

    def find(self, query: str) -> tuple[str, ...]:
        """Return documents that retrievers give for words nobody reviewed: those of each in turn, best first.

        Only retrievers on this machine are asked, and those findback.toml allows by name. One that fails is left
        out; `failures` says why.
        """
        if self.warming:
            return ()
        digest = hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            if digest in self._pools:
                self._pools.move_to_end(digest)
                return self._pools[digest]
        documents, systems = self.documents, self._open_systems()
        answers = self._wait(self._ask_all(systems, Query(query))) if systems else []
        ranked = [[hit.document for hit in collapse(answer.hits)] for answer in answers]
        depth = max((len(one) for one in ranked), default=0)
        found = [one[rank] for rank in range(depth) for one in ranked if rank < len(one)]
        if documents is not None:
            named = (documents.resolve(one) or one for one in found)
            found = [one for one in dict.fromkeys(named) if documents.get(one) is not None]
        pool = tuple(dict.fromkeys(found))[:MOST_POOLED]
        with self._lock:
            self._pools[digest] = pool
            while len(self._pools) > REMEMBERED:
                self._pools.popitem(last=False)
        return pool

    def close(self) -> None:
        """Let go of retrievers; the workbench stays open."""
        with self._lock:
            systems, loop = self._systems or [], self._loop
            self._systems, self._loop = [], None
        if loop is None:
            return
        for system in systems:
            _run(loop, system.close())
        loop.call_soon_threadsafe(loop.stop)

    def _warm(self) -> None:
        for system in self._open_systems():
            try:
                # The first search makes what is missing; how long that takes is nobody's fault.
                self._wait(system.search(Query("search"), 1))
            except FindbackError as error:
                self.failures.append(f"{system.name}: {error.message}")
            except RuntimeError:
                return

    def _open_systems(self) -> Sequence[Retriever]:
        documents = self.documents
        with self._lock:
            if self._systems is None:
                self._systems = self._build(documents)
            return self._systems

    def _build(self, documents: Corpus | None) -> list[Retriever]:
        if documents is None:
            return []
        built: list[Retriever] = []
        for name in self.workspace.settings.retrievers or DEFAULT_RETRIEVERS:
            try:
                built += open_retrievers(self.workspace, (name,), documents, ask=self._ask_person)
            except FindbackError as error:
                self.failures.append(f"{name} is not asked: {error.message}")
        if not built:
            return []
        allowed, refused = allow_unreviewed(built, self.workspace.settings.egress)
        self.failures += [f"{one.name} is not asked: unreviewed text stays on this machine" for one in refused]
        loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(loop,), name="findback-desk", daemon=True).start()
        self._loop = loop
        for one in refused:
            _run(loop, one.close())
        return allowed

    async def _ask_all(self, systems: Sequence[Retriever], query: Query) -> list[Answer]:
        return await asyncio.gather(*(self._ask(system, query) for system in systems))

    async def _ask(self, system: Retriever, query: Query) -> Answer:
        try:
            return await asyncio.wait_for(system.search(query, POOLED), PATIENCE)
        except (FindbackError, TimeoutError) as error:
            reason = error.message if isinstance(error, FindbackError) else "it did not answer in time"
            line = f"{system.name}: {reason}"
            if line not in self.failures and len(self.failures) < MOST_FAILURES:
                self.failures.append(line)
            return Answer(())

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        loop = self._loop
        if loop is None:
            work.close()
            raise RuntimeError("the desk is closed")
        return _run(loop, work)


def _run(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


@contextmanager
def open_desk(
    workspace: Workspace, bench: Workbench, *, key: Key | None = None, ask: Callable[[str], bool] | None = None
) -> Iterator[Desk]:
    """Open a desk for a while.

    Args:
        workspace: Where documents and retrievers are named.
        bench: The open workbench.
        key: Its key; read from the private folder when None.
        ask: Asks a person whether what the workspace names may run; retrievers that need it are left out when None.
    """
    desk = Desk(workspace, bench, key=key, ask=ask)
    try:
        yield desk
    finally:
        desk.close()


def shuffled(items: Sequence[Result], *seeds: object) -> list[Result]:
    """Return the items in an order that the seeds decide."""
    mixed = list(items)
    random.Random("\0".join(map(str, seeds))).shuffle(mixed)  # noqa: S311  (an order, not a secret)
    return mixed
