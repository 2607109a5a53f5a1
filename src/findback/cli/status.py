"""`findback status`."""

from findback.cli.shown import say, show, show_json, table
from findback.steps.status import status as look
from findback.workspace import open_workspace


def status(*, json: bool = False) -> None:
    """Say what is there and which step is next.

    Args:
        json: Print JSON instead of a table.
    """
    found = look(open_workspace(required=False))
    if json:
        show_json(found)
        return
    show(table(("what", "state"), [(item.what, item.state) for item in found.items]))
    say(f"\nnext: {found.next}")
