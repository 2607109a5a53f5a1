"""`findback runs`."""

from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table, warn
from findback.steps.runs import RunsRequest, list_runs
from findback.workspace import open_workspace


def runs(*, remove: tuple[str, ...] = (), json: bool = False) -> None:
    """List the runs that were kept.

    Args:
        remove: Ids of runs to remove.
        json: Print JSON instead of a table.
    """
    found = list_runs(open_workspace(required=False), make_request(RunsRequest, remove=remove))
    for line in found.unreadable:
        warn(line)
    if json:
        show_json(found)
        return
    rows = [
        (r.id, r.retriever, "pool" if r.pool else "set", r.questions, r.failed, r.depth, f"{r.megabytes:.1f} MB")
        for r in found.runs
    ]
    show(table(("run", "retriever", "asked", "questions", "failed", "depth", "size"), rows))
    say(f"{len(found.runs)} runs in {found.folder}")
