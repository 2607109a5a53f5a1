"""`findback generate`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.shown import warn
from findback.model.bill import Estimate
from findback.reporting.render import GENERATED
from findback.steps.generate import generate as run
from findback.steps.generaterequest import GenerateRequest
from findback.text.safe import escape_terminal
from findback.workspace import open_workspace

FEWER = 1


def generate(
    *,
    request: Annotated[GenerateRequest | None, Parameter(name="*")] = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    json: bool = False,
) -> int:
    """Let a model write questions about documents, and keep what passes the filters for a person to confirm.

    Args:
        request: How many, about what, and how.
        output: Write .html, .md or .json instead of printing.
        json: Print JSON.
    """
    asked = request or GenerateRequest()
    workspace = open_workspace()
    check_output(output, GENERATED, workspace, asked, asked.match)
    with Bars() as bars:
        result = run(workspace, asked, progress=bars, ask=ask_for_trust, announce=_announce)
    deliver(result, GENERATED, output=output, json=json)
    for why in (result.refused, result.stopped):
        if why is not None:
            warn(why)
    return 0 if result.dry_run or (result.got >= result.asked and result.refused is None) else FEWER


def _announce(expected: Sequence[Estimate]) -> None:
    for one in expected:
        price = "no price known" if one.price is None else f"{one.price:.4g} {one.currency}"
        line = f"{one.model}: about {one.calls:,} calls, {one.tokens_in + one.tokens_out:,} tokens, {price}"
        print(escape_terminal(line), file=sys.stderr)
