"""Systems that are read by their API, a batch at a time: what the workbench knows of them, and what it is told."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple

from findback.errors import MissingError
from findback.model.protocols import SILENT, Progress
from findback.model.settings import ConnectorSettings, SourceSettings
from findback.model.thread import Person
from findback.net import HttpClient
from findback.privacy.key import Key
from findback.sources.connectors.batch import Batch, Connector, Line, Position, Waiting
from findback.sources.connectors.open import open_caller, open_connector
from findback.sources.format import Reading, SourceOptions
from findback.steps.bench import has_bench, open_bench
from findback.workbench.deletions import WaitingQuestion
from findback.workbench.store import Workbench
from findback.workbench.watermark import Watermark
from findback.workspace import Workspace


class BenchMemory:
    """What the workbench knows of a connector's earlier runs; it is opened for each question, never held."""

    def __init__(self, workspace: Workspace, key: Key, name: str, kind: str) -> None:
        self._workspace, self._key, self._name, self._kind = workspace, key, name, kind

    def position(self, place: str) -> Position | None:
        """Return how far a place was read; None where it never was."""
        if not has_bench(self._workspace):
            return None
        with self._open() as bench:
            mark = bench.watermark(self.mark_of(place))
        return Position(mark.reached, mark.cursor) if mark is not None else None

    def is_kept_out(self, container: str) -> bool:
        """Return whether a channel or queue objected, or was erased."""
        if not has_bench(self._workspace):
            return False
        with self._open() as bench:
            return bench.is_kept_out(self.container(container))

    def waiting(self, container: str) -> Mapping[str, Waiting]:
        """Return the undecided questions of a channel, by their key."""
        if not has_bench(self._workspace):
            return {}
        with self._open() as bench:
            found = bench.waiting_in(self.container(container))
        return {key: _waiting(one) for key, one in found.items()}

    def digest(self, message: str) -> str:
        """Return the digest of a message's id, as a candidate's lines and keys have it."""
        return self._key.hmac(f"{self._kind}\0{message}")

    def container(self, named: str) -> str:
        """Return the digest of a channel or queue, as candidates have it."""
        return self._key.hmac(f"container\0{self._kind}\0{named}")

    def mark_of(self, place: str) -> str:
        """Return what the workbench calls a place's position: a digest, for a channel's name is nobody's business."""
        return f"connector:{self._name}:{self._key.hmac(f'place{chr(0)}{place}')[:24]}"

    def _open(self) -> AbstractContextManager[Workbench]:
        return open_bench(self._workspace, self._key)


def _waiting(one: WaitingQuestion) -> Waiting:
    lines = tuple(Line(line.key, line.at) for line in one.lines)
    return Waiting(lines[one.query_line] if 0 <= one.query_line < len(lines) else None, lines)


class Settled(NamedTuple):
    """What was taken out because it was deleted where it was written."""

    questions: int = 0
    lines: int = 0


class AskedConnector:
    """One connector on its way through: batch by batch, each stored before the next is asked for."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        options: SourceOptions,
        key: Key,
        *,
        now: datetime,
        progress: Progress = SILENT,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            workspace: Where it is named.
            name: Its name.
            options: Which channels are read.
            key: Of the workbench.
            now: When this run began.
            progress: Told of every answer.

        Raises:
            MissingError: If findback.toml does not name it.
            SettingsError: If its token is not set, or its address cannot be used.
        """
        self.settings = find_connector(workspace, name)
        http = workspace.settings.http
        client = HttpClient(timeout=http.timeout, max_bytes=http.max_bytes, connections=1)
        self._progress, self._shown = progress, f"Asking [connectors.{name}]"
        self._caller = open_caller(name, self.settings, workspace.environment, client=client, tick=progress.advance)
        self._memory = BenchMemory(workspace, key, name, self.settings.kind)
        self._connector: Connector = open_connector(name, self.settings, self._caller, options, now=now)
        self._batch: Batch | None = None

    @property
    def people(self) -> list[Person]:
        """Return everybody known so far."""
        return self._connector.people

    def batches(self) -> Iterator[None]:
        """Come to one batch after another; the next is asked for when the one before was dealt with."""
        asked = iter(self._connector.batches(self._memory))
        try:
            while (batch := self._next(asked)) is not None:
                self._batch = batch
                yield
        finally:
            self.close()

    def _next(self, asked: Iterator[Batch]) -> Batch | None:
        self._progress.start(self._shown, None)
        try:
            return next(asked, None)
        finally:
            self._progress.finish()

    def read(self, options: SourceOptions) -> Reading:
        """Begin reading the batch."""
        if self._batch is None:
            return Reading(threads=iter(()))
        return self._batch.read(options)

    def settle(self, bench: Workbench, now: datetime) -> Settled:
        """Take out what was deleted at its source, and write down how far the reading came."""
        batch = self._batch
        if batch is None:
            return Settled()
        questions = {self._memory.digest(question) for question in batch.deleted}
        erased = bench.take_deleted(lines=batch.gone, questions=questions, now=now)
        if batch.position is not None:
            mark = Watermark(batch.position.at, batch.position.cursor)
            bench.advance(self._memory.mark_of(batch.place), mark, now=now)
        return Settled(erased.candidates, erased.lines)

    def close(self) -> None:
        """Let go of the connections; a second time does nothing."""
        self._caller.close()


def find_connector(workspace: Workspace, name: str) -> ConnectorSettings:
    """Return the settings of a connector.

    Raises:
        MissingError: If findback.toml does not name it.
    """
    known = workspace.settings.connectors
    if name not in known:
        raise MissingError(
            f"there is no [connectors.{name}] in findback.toml", hint=f"known: {', '.join(known) or 'none'}"
        )
    return known[name]


def as_source(settings: ConnectorSettings) -> SourceSettings:
    """Return how much of a connector is read, as an export of the same kind says it."""
    shared = ("kind", "channels", "exclude", "open", "help_channels", "system")
    return SourceSettings(path="", **{name: getattr(settings, name) for name in shared})
