"""`findback report`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say, warn
from findback.steps.report import ReportRequest
from findback.steps.report import report as write
from findback.workspace import open_workspace


class Options(ReportRequest):
    """What is given by name; the file is an option of its own."""

    output: Annotated[Path | None, Parameter(parse=False)] = None


def report(
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    request: Annotated[Options | None, Parameter(name="*")] = None,
) -> None:
    """Write the report of the newest evaluation and audit.

    Args:
        output: File to write; report.html (or .md, .json) when left out.
        request: Everything else.
    """
    asked = (request or Options()).model_copy(update={"output": output})
    done = write(open_workspace(required=False), asked)
    for line in done.unreadable:
        warn(f"passed over: {line}")
    for file in done.files:
        say(f"wrote {file}")
