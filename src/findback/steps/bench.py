"""The private workbench of a workspace, and the key of everything in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from findback.errors import SettingsError
from findback.privacy.key import Key, open_key
from findback.workbench.open import open_workbench
from findback.workbench.store import Workbench
from findback.workspace import Workspace

FILE = "workbench.sqlite"


def open_workspace_key(workspace: Workspace) -> Key:
    """Return the key of a workspace's workbench, made on first use.

    Raises:
        SettingsError: If it is malformed or others can read it.
        StorageError: If the disk refuses.
    """
    return open_key(workspace.private_part("workbench"), workspace.environment)


def has_bench(workspace: Workspace) -> bool:
    """Return whether there is a workbench already; opening one makes it."""
    return workspace.settings.mining.workbench is not None or (workspace.private / "workbench" / FILE).is_file()


@contextmanager
def open_bench(workspace: Workspace, key: Key | None = None) -> Iterator[Workbench]:
    """Open the workbench for a while.

    Raises:
        RefusedError: If it was made with another key or by a newer findback.
        StorageError: If disk or server refuse.
    """
    known = key or open_workspace_key(workspace)
    with open_workbench(bench_address(workspace), key_check=known.id) as bench:
        yield bench


def bench_address(workspace: Workspace) -> str | Path:
    """Return where the workbench is: the path of its file, or the address of its database.

    Raises:
        SettingsError: If a variable that should hold the address is not set.
    """
    named = workspace.settings.mining.workbench
    if named is None:
        return workspace.private_part("workbench") / FILE
    if named.startswith("env:"):
        value = workspace.named_secret(named)
        if value is None:
            raise SettingsError(f"mining.workbench names {named}, which is not set")
        return value
    return named
