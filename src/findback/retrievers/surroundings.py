"""What a retriever is built from besides its own settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from findback.departures import Departures
from findback.errors import SettingsError
from findback.model.glossary import Glossary
from findback.model.protocols import SILENT, Documents, Passages, Progress, Retriever
from findback.model.settings import EgressLevel, HttpSettings, RetrieverSettings
from findback.net import HttpClient
from findback.retrievers.readers import Readers

Made = TypeVar("Made")


@dataclass(frozen=True)
class Surroundings:
    """The corpus, the folders and the other retrievers of a workspace.

    Everything has a default, so that a test or a notebook names only what its retriever needs.
    """

    documents: Documents | None = None
    passages: Passages | None = None
    readers: Readers = field(default_factory=Readers)
    """Who may read which document, for the retrievers that search the passages."""
    cache: Path | None = None
    """Private folder for indexes and vectors; nothing is kept when None."""
    models: Path | None = None
    """Private folder of pulled models."""
    base: Path = field(default_factory=Path.cwd)
    """Folder of findback.toml; paths and modules are looked for there."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that headers may name."""
    retrievers: Mapping[str, RetrieverSettings] = field(default_factory=dict)
    """Every `[retrievers.NAME]`, for the kinds that take others."""
    glossary: Callable[[str | None], Glossary] | None = None
    """Reads the glossary at a path of findback.toml, the published one for None; there is none when None."""
    http: HttpSettings = field(default_factory=HttpSettings)
    departures: Departures | None = None
    """Counts what is sent where; nothing does when None."""
    temporary: Path | None = None
    """Folder for temporary files of programs that are started; their own choice when None."""
    progress: Progress = SILENT
    building: tuple[str, ...] = ()
    """Names being built at the moment, outermost first."""
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    """Indexes and models already loaded, by digest; shared by the retrievers of one workspace."""
    lock: RLock = field(default_factory=RLock, repr=False)

    def corpus(self, name: str) -> Passages:
        """Return the passages.

        Raises:
            SettingsError: If the workspace has no corpus.
        """
        if self.passages is None:
            raise SettingsError(
                f"[retrievers.{name}] searches the corpus, but there is none",
                hint="name the documents in [corpus] path, or with --corpus",
            )
        return self.passages

    def model_folder(self, model: str) -> Path:
        """Return the folder of a model: a path beside findback.toml, or a name of the catalogue.

        Raises:
            MissingError: If it is not there; the hint says how to get it.
        """
        from findback.retrievers.catalogue import find_model  # noqa: PLC0415 (reads package data)

        return find_model(model, base=self.base, models=self.models)

    def other(self, name: str) -> Retriever:
        """Build another retriever of the workspace; the caller closes it.

        Raises:
            SettingsError: If there is none of that name, or it would contain itself.
        """
        from findback.retrievers.build import build_retriever  # noqa: PLC0415 (build imports this file)

        if name in self.building:
            circle = " → ".join((*self.building, name))
            raise SettingsError(f"retrievers contain each other in a circle: {circle}")
        if name not in self.retrievers:
            raise SettingsError(
                f"[retrievers.{'.'.join(self.building[-1:])}] names {name!r}, which is not there",
                hint=f"known: {', '.join(sorted(self.retrievers)) or 'none'}",
            )
        return build_retriever(name, self.retrievers[name], self)

    def within(self, name: str) -> "Surroundings":
        """Return the same surroundings for what is built inside the retriever `name`."""
        return replace(self, building=(*self.building, name))

    def client(
        self, *, level: EgressLevel = "external", seconds: float | None = None, connections: int = 20
    ) -> HttpClient:
        """Return a new HTTP client with the workspace's bounds, whose requests are counted at a level."""
        return HttpClient(
            timeout=seconds or self.http.timeout,
            max_bytes=self.http.max_bytes,
            connections=connections,
            departures=self.departures,
            level=level,
        )

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Return what was made for the key before, or make it now."""
        with self.lock:
            if key not in self.kept:
                self.kept[key] = make()
            made: Made = self.kept[key]
            return made
