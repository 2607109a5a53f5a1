"""What of the set cannot be read: its head, and every release."""

from findback.errors import FindbackError
from findback.evalset.release import check_set
from findback.workspace import Workspace


def broken_places(workspace: Workspace) -> list[str]:
    """Return what is wrong with head and releases, a line each with its file; nothing for a sound set."""
    try:
        faults = check_set(workspace.evalset, leak_limit=workspace.settings.measures.leak_limit)
    except FindbackError as error:
        return [str(error)]
    return [str(fault) for fault in faults]
