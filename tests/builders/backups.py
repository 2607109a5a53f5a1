"""Workspaces whose workbench is a file or a PostgreSQL database, and what lies in them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from builders.candidates import candidate, digest, line
from builders.oldbenches import content_of
from findback.steps.backup import BackedUp, BackupRequest, backup
from findback.steps.bench import bench_address, open_bench
from findback.steps.restore import Restored, RestoreRequest, restore
from findback.workspace import Workspace, open_workspace

LATELY = datetime.now(UTC).replace(microsecond=123) - timedelta(days=2)
"""Retention counts from here: nothing is over its time."""

TRANSIENT = {
    f"findback_{name}" for name in ("meta", "events", "sessions", "api_tokens", "jobs", "reservations", "reviewers")
}
"""Tables that a restore leaves to themselves, or only adds to."""


def workspace_at(root: Path, url: str | None = None, *, settings: str = "", **environment: str) -> Workspace:
    """A workspace with a private folder of its own; its workbench is a file where no address is given."""
    root.mkdir(parents=True, exist_ok=True)
    named = '[mining]\nnames = false\nworkbench = "env:BENCH"\n' if url else "[mining]\nnames = false\n"
    (root / "findback.toml").write_text(settings + named)
    variables = {"XDG_STATE_HOME": str(root.parent / f"state-{root.name}"), "HOME": str(root.parent), **environment}
    return open_workspace(root, environment=variables | ({"BENCH": url} if url else {}))


def same_key(source: Workspace, target: Workspace) -> None:
    """Move the key, as the documentation says."""
    file = source.private / "workbench" / "hmac.key"
    copy = target.private_part("workbench") / "hmac.key"
    copy.touch(0o600)
    copy.write_bytes(file.read_bytes())


def put_some(workspace: Workspace, names: Iterable[str], asker: str = "ana") -> None:
    """Store one question a name, each with a reply by bo."""
    with open_bench(workspace) as bench:
        made = [candidate(name, asker, [line(f"{name}-1", "bo", f"it is {name}", 1)]) for name in names]
        bench.put(made, now=LATELY)


def keys_in(workspace: Workspace) -> set[str]:
    with open_bench(workspace) as bench:
        return {one.candidate.key for one in bench.list_candidates(limit=100_000)}


def keys_of(*names: str) -> set[str]:
    return {digest(name) for name in names}


def lasting(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """Every row that a backup is to bring back."""
    found = content_of(bench_address(workspace))
    return {name: rows for name, rows in found.items() if name not in TRANSIENT}


def back_up(workspace: Workspace, file: Path, **more: Any) -> BackedUp:
    return backup(workspace, BackupRequest(file=file, **more))


def put_back(workspace: Workspace, file: Path, **more: Any) -> Restored:
    return restore(workspace, RestoreRequest(file=file, **more))
