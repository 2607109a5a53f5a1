"""`findback evaluate`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.shown import say, warn
from findback.errors import EngineError
from findback.evalset.baseline import baseline_file
from findback.reporting.render import evaluation_terminal
from findback.reporting.sweep import say_winner
from findback.steps.evaluate import EvaluateRequest
from findback.steps.evaluate import evaluate as score
from findback.workspace import open_workspace

ENGINE_FAILED = EngineError.exit_status


class Options(EvaluateRequest):
    """What is given by name; the retrievers are arguments."""

    retrievers: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


def evaluate(
    *names: str,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    misses: int = 0,
    json: bool = False,
) -> int:
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
    workspace, renderer = open_workspace(required=False), evaluation_terminal(asked.by, misses)
    check_output(output, renderer, workspace, asked)
    with Bars() as bars:
        result = score(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(result, renderer, output=output, json=json)
    if asked.publish is not None and result.retrievers[0].failed:
        warn(f"no baseline was published: {result.retrievers[0].failed} searches failed")
        return ENGINE_FAILED
    if asked.publish is not None and not json:
        say(f"wrote {baseline_file(workspace.evalset, asked.publish)}: commit it, for findback gate to compare with")
    if result.sweep is not None and result.sweep.warning is not None:
        warn(say_winner(result.sweep))
    dead = [one for one in result.retrievers if one.failed and one.failed == one.asked]
    for one in dead:
        warn(f"every search of {one.name} failed: {one.errors[0].first if one.errors else 'no reason given'}")
    return ENGINE_FAILED if dead else 0
