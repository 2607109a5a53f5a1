"""What stands against keeping a reason that somebody wrote: it outlives the text it is about."""

from findback.errors import UsageError
from findback.steps.obstacles import check_text
from findback.steps.people import read_roster
from findback.steps.publishable import open_check
from findback.workspace import Workspace


def forbidden_in(workspace: Workspace, text: str, place: str) -> list[str]:
    """Return what of a text may not be published: places and types, never the words."""
    check = open_check(workspace, roster=read_roster(workspace, None).roster)
    return [f"{one.place}: {one.rule}" for one in check_text(text, place, check)]


def refuse_forbidden(workspace: Workspace, why: str) -> None:
    """Stop before a reason that may not be published.

    Raises:
        UsageError: If it holds a person, an address, a secret or the like; says which type.
    """
    if found := forbidden_in(workspace, why, "why"):
        raise UsageError(f"the reason is kept for good, and holds what may not be: {'; '.join(found)}")
