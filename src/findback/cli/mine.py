"""`findback mine`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.progress import Bars
from findback.cli.shown import show, show_json
from findback.reporting.terminal import mined_view
from findback.steps.mine import MineRequest
from findback.steps.mine import mine as run
from findback.workspace import open_workspace


class Options(MineRequest):
    """What is given by name; the exports are arguments."""

    exports: Annotated[tuple[Path, ...], Parameter(parse=False)] = ()
    release: Annotated[int | None, Parameter(parse=False)] = None


def mine(*exports: Path, request: Annotated[Options | None, Parameter(name="*")] = None, json: bool = False) -> None:
    """Find failed searches in exports, redact them, and put them into the private workbench.

    Args:
        exports: Exports to read; the exports and databases of [sources] in findback.toml when none is named.
        request: Everything else.
        json: Print JSON instead of tables.
    """
    asked = (request or Options()).model_copy(update={"exports": exports})
    with Bars() as bars:
        mined = run(open_workspace(required=False), asked, progress=bars, ask=ask_for_trust)
    if json:
        show_json(mined)
        return
    show(mined_view(mined))
