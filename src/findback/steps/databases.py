"""Databases that `[sources]` names: asked through the readers of rows, once somebody agreed to it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from findback import registry
from findback.errors import MissingLibraryError, UsageError
from findback.model.settings import SourceSettings
from findback.registry import load_module
from findback.sources.address import Address, find_address
from findback.sources.answer import Answer
from findback.sources.database import Database, Query, uses_since
from findback.sources.format import Reading, RowSource, Source, SourceOptions
from findback.sources.recognise import GROUP, load_source
from findback.workspace import Workspace

IN_PLACE = "searches"
"""The kind whose rules run inside the database, where Ibis knows its engine."""

Answered = TypeVar("Answered")


class AskedDatabase:
    """One query of one database, on its way through a reader."""

    def __init__(self, workspace: Workspace, name: str, settings: SourceSettings, since: datetime | None) -> None:
        """Find out what is asked and who reads it; nothing is opened yet.

        Args:
            workspace: Where it is named.
            name: Its name.
            settings: Its settings.
            since: How far the last run came.

        Raises:
            SettingsError: If the address or the query makes no sense.
            MissingError: If the file, or a reader of that kind, is not there.
            UsageError: If that reader takes no rows.
        """
        self.source: Source = load_source(settings.kind or "")
        if not isinstance(self.source, RowSource):
            raise UsageError(
                f"[sources.{name}] kind: {settings.kind} reads exports, not rows of a database",
                hint=f"kinds that do: {', '.join(_row_kinds())}",
            )
        self._rows: RowSource = self.source
        self._address: Address = find_address(name, settings, workspace.environment, workspace.root)
        self._query = Query(name, settings.query, settings.table, since, settings.timeout)
        self._place: Any = None
        if settings.kind == IN_PLACE:
            place = load_module("findback.sources.searchlog.place", wanted_for="mining search logs")
            self._place = place if self._address.engine in place.ENGINES else None
        self._answer = Answer(name, Database(self._address, self._query)) if self._place is None else None
        self._reading: Reading | None = None

    @property
    def shown(self) -> Path:
        """Return what messages call it."""
        return Path(str(self._query))

    @property
    def file(self) -> Path | None:
        """Return the file that the database is; None for a server."""
        return self._address.file

    def __str__(self) -> str:
        """Return where it is, without user and password."""
        return str(self._address)

    def read(self, options: SourceOptions) -> Reading:
        """Begin reading.

        Raises:
            FindbackError: If the database does not answer, refuses, or has not the columns that are needed.
        """
        if self._answer is not None:
            self._reading = self._rows.read_answer(self._answer, options)
        else:
            self._reading = self._place.read_in_place(self._address, self._query, options)
        return self._reading

    def check(self, options: SourceOptions) -> None:
        """Check that it answers and has the columns that are needed; no row is read.

        Raises:
            FindbackError: If not.
        """
        if self._answer is None:
            self._place.check_in_place(self._address, self._query, options)
            return
        with self._answer:
            self._rows.expect(self._answer, options)

    def quietly(self, ask: Callable[[], Answered]) -> Answered:
        """Return what is asked of a warehouse's table; errors quote nothing."""
        if self._place is None:
            return ask()
        answered: Answered = self._place.quietly(self._query, self._address, ask)
        return answered

    def reached(self) -> datetime | None:
        """Return how far the reading came, where the query says how to go on from there."""
        if self._query.statement is None or not uses_since(self._query.statement):
            return None
        if self._answer is not None:
            return self._answer.newest
        return self._reading.until if self._reading is not None else None

    def close(self) -> None:
        """Let go of the database; a second time does nothing."""
        if self._answer is not None:
            self._answer.close()


def _row_kinds() -> list[str]:
    ours = [name for name in registry.names(GROUP) if registry.is_ours(GROUP, name)]
    return [name for name in ours if _takes_rows(name)]


def _takes_rows(name: str) -> bool:
    try:
        return isinstance(load_source(name), RowSource)
    except MissingLibraryError:
        return False
