"""`findback compare`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from findback.cli.across import compare_sides
from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.shown import warn
from findback.errors import EngineError
from findback.reporting.render import comparison_terminal
from findback.steps.compare import CompareRequest
from findback.steps.compare import compare as run_comparison
from findback.workspace import open_workspace

Type = Literal["wording", "answer", "language"]


class Options(CompareRequest):
    """What is given by name; the systems are arguments."""

    systems: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


def compare(
    *names: str,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    types: tuple[Type, ...] = (),
    across: str | None = None,
    by: tuple[str, ...] = (),
    every: Annotated[bool, Parameter(name="--all")] = False,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    json: bool = False,
) -> int:
    """Compare systems on one set: which is better, and whether that can be told at all.

    Args:
        names: Retrievers of findback.toml, ids of kept runs, or files of runs; every retriever when none is named.
        request: Everything else.
        types: Types whose differences the terminal shows too; reports hold all of them.
        across: Whether two sides order the systems alike: two parts of the set (generated,mined or failure,control),
            two releases (3,4) or two files of sets.
        by: What factors of findback.toml's retrievers are worth (`all` for every one); with --across on both sides.
        every: Print every pair with every query behind it, not the most telling ones.
        output: Write .html, .md or .json instead of printing.
        json: Print JSON.
    """
    asked = (request or Options()).model_copy(update={"systems": names})
    if across is not None or by:
        return compare_sides(asked, across, by, every=every, output=output, json=json)
    workspace, renderer = open_workspace(required=False), comparison_terminal(types, every=every)
    check_output(output, renderer, workspace, asked, *(Path(name) for name in names))
    with Bars() as bars:
        result = run_comparison(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(result, renderer, output=output, json=json)
    dead = [one for one in result.systems if one.failed == result.compared]
    for one in dead:
        warn(f"every search of {one.name} failed")
    return EngineError.exit_status if dead else 0
