"""`findback egress`."""

from findback.cli.shown import say, show, show_json, table, warn
from findback.steps.egress import read_egress
from findback.workspace import open_workspace


def egress(*, json: bool = False) -> None:
    """Show how many texts were sent to which endpoint.

    Args:
        json: Print JSON instead of a table.
    """
    found = read_egress(open_workspace(required=False))
    if json:
        show_json(found)
        return
    if found.unreadable:
        warn(f"{found.unreadable} lines of {found.file} cannot be read")
    if not found.sent:
        say("nothing was sent to any endpoint")
        return
    rows = [(one.endpoint, one.level, one.state, f"{one.count:,}", one.at[:10]) for one in found.sent]
    show(table(("endpoint", "level", "text", "sent", "since"), rows))
