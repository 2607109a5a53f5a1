"""Taking out what was kept long enough: candidates, flags, threads, logs."""

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from findback.model.record import Record
from findback.places import PLACES
from findback.steps.agentlog import agent_log_folder, sweep_agent_log
from findback.steps.bench import has_bench, open_bench
from findback.steps.ledger import record_erasures
from findback.workbench.erasure import Erased, Retention
from findback.workbench.store import Workbench
from findback.workspace import Workspace

DAY = 24 * 60 * 60


class Swept(Record):
    """What was over its time."""

    candidates: int
    """Candidates and flags, with their threads."""
    lines: int
    """Messages around questions that were released."""
    logs: int
    """Files."""


def retention_of(workspace: Workspace) -> Retention:
    """Return how many days a workspace keeps what is in the workbench."""
    settings = workspace.settings.retention
    return Retention(undecided=settings.undecided, rejected=settings.rejected, context=settings.context)


def keep_retention(workspace: Workspace, bench: Workbench, moment: datetime) -> Swept:
    """Take out what is over its time, and write down what that was.

    Raises:
        StorageError: If the disk or the database refuses.
    """
    erased = bench.sweep_retention(moment, retention_of(workspace))
    if erased:
        record_erasures(workspace, bench)
    return _swept(erased, _sweep_logs(workspace, moment))


def sweep(workspace: Workspace, moment: datetime) -> Swept:
    """Take out what is over its time, where there is a workbench or not.

    Raises:
        StorageError: If the disk or the database refuses.
    """
    if not has_bench(workspace):
        return _swept(Erased(), _sweep_logs(workspace, moment))
    with open_bench(workspace) as bench:
        return keep_retention(workspace, bench, moment)


def _swept(erased: Erased, logs: int) -> Swept:
    return Swept(candidates=erased.candidates, lines=erased.lines, logs=logs)


def _sweep_logs(workspace: Workspace, moment: datetime) -> int:
    oldest = moment.timestamp() - workspace.settings.retention.logs * DAY
    gone = sum(_remove_older(workspace.private / name, oldest) for name, place in PLACES.items() if place.log)
    agents = agent_log_folder(workspace)
    return gone + sweep_agent_log(agents, keep_days=workspace.settings.mcp.keep_days, now=moment)


def _remove_older(folder: Path, oldest: float) -> int:
    """Remove the files of a folder that were last changed before a moment; what cannot be removed stays."""
    gone = 0
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(OSError):
            if file.is_file() and not file.is_symlink() and file.stat().st_mtime < min(oldest, time.time()):
                file.unlink()
                gone += 1
    return gone
