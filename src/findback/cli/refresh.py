"""`findback refresh`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.shown import say
from findback.reporting.render import refreshed_terminal
from findback.steps.opening import SetRequest
from findback.steps.refresh import RefreshRequest
from findback.steps.refresh import refresh as look_again
from findback.workspace import open_workspace

STALE = 12


def refresh(
    *,
    request: Annotated[RefreshRequest | None, Parameter(name="*")] = None,
    every: Annotated[bool, Parameter(name="--all")] = False,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    json: bool = False,
) -> int:
    """Read the documents again, and say which cases they have made stale.

    Exit status: 0 nothing is stale, 12 something is, or the newest release is too old.

    Args:
        request: Everything else.
        every: Print every finding, and name the cases.
        output: Write .html, .md or .json instead of printing.
        json: Print JSON.
    """
    asked = request or RefreshRequest()
    workspace, renderer = open_workspace(), refreshed_terminal(every=every)
    check_output(output, renderer, workspace, SetRequest())
    with Bars() as bars:
        result = look_again(workspace, asked, progress=bars)
    deliver(result, renderer, output=output, json=json)
    if not json and result.sent:
        say("findback review opens the page: they are under Cases, among those that wait for a lead")
    return STALE if result.stale or result.too_old else 0
