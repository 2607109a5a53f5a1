"""`findback week`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.reporting.render import WEEK
from findback.steps.opening import SetRequest
from findback.steps.week import WeekRequest, plan_week
from findback.workspace import open_workspace


def week(
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o", "--markdown"))] = None,
    quick: bool = False,
    json: bool = False,
) -> None:
    """Say what this week's half hour should hold, and how the set is doing.

    Args:
        output: File to write: .md is a digest of ids and counts without any text; also .html or .json.
        quick: Leave out what reads the documents: whether the exam is like the questions, and what moved the scores.
        json: Print JSON instead of tables.
    """
    workspace = open_workspace()
    check_output(output, WEEK, workspace, SetRequest())
    with Bars() as bars:
        found = plan_week(workspace, make_request(WeekRequest, quick=quick), progress=bars)
    deliver(found, WEEK, output=output, json=json)
