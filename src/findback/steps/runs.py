"""List the runs that were kept, and remove some."""

import shutil
from pathlib import Path

from findback.errors import FindbackError, MissingError
from findback.evalset.runs import read_run_summary
from findback.files import storage_errors
from findback.model.record import Record, Request
from findback.workspace import Workspace

POOL_MARK = "-unreleased-pool"
"""In the id of a run over what a model wrote and nobody released."""


class RunsRequest(Request):
    """List the runs that were kept."""

    remove: tuple[str, ...] = ()
    """Ids of runs to remove."""


class KeptRun(Record):
    """One stored run."""

    id: str
    retriever: str
    questions: int
    failed: int
    depth: int | None
    created: str | None
    megabytes: float
    pool: bool = False
    """Whether it searched the unreleased pool instead of a set."""


class Runs(Record):
    """The stored runs, newest first."""

    folder: str
    runs: tuple[KeptRun, ...]
    unreadable: tuple[str, ...] = ()
    """What is wrong with each of the others."""


def list_runs(workspace: Workspace, request: RunsRequest) -> Runs:
    """Return the stored runs after removing those named; one that cannot be read is told apart.

    Raises:
        MissingError: If a run to remove is not there.
        StorageError: If it cannot be removed.
    """
    folder = workspace.private / "runs"
    there = {path.name: path for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else {}
    for name in request.remove:
        if name not in there:
            raise MissingError(f"there is no run {name}", hint="findback runs lists them")
        with storage_errors(there[name]):
            _remove(there.pop(name))
    runs, unreadable = [], []
    for name in sorted(there, reverse=True):
        try:
            runs.append(_summary(there[name]))
        except FindbackError as error:
            unreadable.append(f"{error} (findback runs --remove {name})")
    return Runs(folder=str(folder), runs=tuple(runs), unreadable=tuple(unreadable))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _summary(path: Path) -> KeptRun:
    pool = POOL_MARK in path.name
    return KeptRun(id=path.name, megabytes=path.stat().st_size / 1e6, pool=pool, **read_run_summary(path))
