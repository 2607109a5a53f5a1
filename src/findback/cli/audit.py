"""`findback audit`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.reporting.render import AUDIT
from findback.steps.audit import AuditRequest, exceeds
from findback.steps.audit import audit as measure
from findback.workspace import open_workspace

NOT_PASSED = 1


class Options(AuditRequest):
    """What is given by name; the set is an argument."""

    set: Annotated[Path | None, Parameter(parse=False)] = None
    release: Annotated[int | None, Parameter(parse=False)] = None


def audit(
    set_: Annotated[Path | None, Parameter(name="SET")] = None,
    /,
    *,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    json: bool = False,
) -> int:
    """Measure how much of a set's wording leaks from its answers.

    Args:
        set_: The golden set: any format findback knows; the newest release when left out.
        request: Everything else.
        output: Write .html, .md or .json instead of printing.
        json: Print JSON.
    """
    asked = (request or Options()).model_copy(update={"set": set_})
    workspace = open_workspace(required=False)
    check_output(output, AUDIT, workspace, asked, asked.real, asked.real_corpus)
    with Bars() as bars:
        result = measure(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(result, AUDIT, output=output, json=json)
    return NOT_PASSED if exceeds(result, asked.fail_over) else 0
