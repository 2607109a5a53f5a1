"""`findback report`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say
from findback.steps.report import ReportRequest
from findback.steps.report import report as write
from findback.workspace import open_workspace


class Options(ReportRequest):
    """What is given by name; the file is an option of its own."""

    output: Annotated[Path, Parameter(parse=False)] = Path()


def report(
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))] = Path("report.html"),
    request: Annotated[Options | None, Parameter(name="*")] = None,
) -> None:
    """Write the report of the newest evaluation and audit.

    Args:
        output: File to write.
        request: Everything else.
    """
    asked = (request or Options()).model_copy(update={"output": output})
    for file in write(open_workspace(required=False), asked).files:
        say(f"wrote {file}")
