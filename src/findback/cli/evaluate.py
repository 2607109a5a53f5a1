"""`findback evaluate`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.progress import Bars
from findback.cli.shown import deliver
from findback.reporting.render import evaluation_terminal
from findback.steps.evaluate import EvaluateRequest
from findback.steps.evaluate import evaluate as score
from findback.workspace import open_workspace


class Options(EvaluateRequest):
    """What is given by name; the retrievers are arguments."""

    retrievers: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


def evaluate(
    *names: str,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    misses: int = 0,
    json: bool = False,
) -> None:
    """Score retrievers on a set.

    Args:
        names: Retrievers of findback.toml; all of them when none is named.
        request: Everything else.
        output: Write .html, .md or .json instead of printing.
        misses: Missed questions to print for each retriever; the report has them all.
        json: Print JSON.
    """
    asked = request or Options()
    if names:
        asked = asked.model_copy(update={"retrievers": names})
    with Bars() as bars:
        result = score(open_workspace(required=False), asked, progress=bars, ask=ask_for_trust)
    deliver(result, evaluation_terminal(asked.by, misses), output=output, json=json)
