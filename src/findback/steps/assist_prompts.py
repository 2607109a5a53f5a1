"""The prompts of a workspace, its own ones once somebody agreed to them."""

from collections.abc import Callable

from findback.steps.opening import trusted_items
from findback.trust import require
from findback.workspace import Workspace
from findback.writing.prompts import Prompts, open_prompts


def open_workspace_prompts(workspace: Workspace, *, ask: Callable[[str], bool] | None = None) -> Prompts:
    """Return the prompts in use.

    Args:
        workspace: Its `[writing] prompts` names a folder of its own.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If the folder is not there.
        DataError: If a file of it is no prompt.
        UntrustedError: If nobody agreed to the texts in it.
    """
    named = workspace.settings.writing.prompts
    prompts = open_prompts(None if named is None else workspace.path(named))
    if prompts.list_trusted():
        # One answer covers the workspace, so that another command does not ask again.
        require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask)
    return prompts
