"""Which exports and databases are mined, how each is read, and whether it may be."""

import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from findback.errors import DataError, MissingError, RefusedError, SettingsError
from findback.mining.caps import Capping
from findback.model.settings import SourceSettings
from findback.model.thread import Audience
from findback.privacy.key import Key
from findback.sources.answer import Answer
from findback.sources.format import Reading, RowSource, Source, SourceOptions
from findback.sources.recognise import load_source, recognise
from findback.sources.scope import load_excluded
from findback.steps.bench import has_bench, open_bench
from findback.steps.opening import trusted_items
from findback.trust import is_trusted, require
from findback.workspace import Workspace

SEARCHES = "searches"
"""The kind whose rules run inside the database."""


class Named(NamedTuple):
    """An export or database to read."""

    name: str | None
    """Under `[sources]`; None for an export given as an argument."""
    settings: SourceSettings


@dataclass(slots=True)
class Job:
    """One export or query on its way through."""

    place: Path
    """The file or folder, or what messages call the query."""
    source: Source
    why: str
    options: SourceOptions
    system: str | None
    name: str | None
    """Its name under `[sources]`; None for an export given as an argument."""
    asked: "Asked | None" = None
    """The database, where it is one."""
    reading: Reading | None = None
    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    unsupported: dict[str, str] = field(default_factory=dict)
    capping: Capping = field(default_factory=Capping)

    @property
    def file(self) -> Path | None:
        """Return the file or folder that is read on this machine; None for a server."""
        return self.place if self.asked is None else self.asked.file

    def read(self, options: SourceOptions | None = None) -> Reading:
        """Begin reading."""
        given = self.options if options is None else options
        if self.asked is None:
            self.reading = self.source.read(self.place, given)
        else:
            self.reading = self.asked.read(given)
        return self.reading

    def reached(self) -> datetime | None:
        """Return how far the source has been read, so that the next run begins there."""
        if self.asked is not None:
            return self.asked.reached()
        return self.reading.until if self.reading is not None else None


def choose_exports(given: Mapping[str, SourceSettings]) -> Iterator[Named]:
    """Yield the sources of findback.toml.

    Raises:
        MissingError: If there are none.
    """
    if not given:
        raise MissingError(
            "no export was named", hint="findback mine EXPORT…, or name them under [sources] in findback.toml"
        )
    yield from (Named(name, settings) for name, settings in given.items())
