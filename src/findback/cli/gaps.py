"""`findback gaps`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table
from findback.reporting.gaps import name_theme, summarise
from findback.steps.gaps import NEAREST, GapsRequest, find_gaps
from findback.workspace import open_workspace


def gaps(
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    nearest: int = NEAREST,
    json: bool = False,
) -> None:
    """List the questions that no document answers, by theme: the pages nobody has written.

    Args:
        output: File to write, .md or .csv; a table is printed when left out.
        nearest: Documents to name beside each; 0 searches nothing.
        json: Print JSON instead of a table.
    """
    request = make_request(GapsRequest, output=output, nearest=nearest)
    with Bars() as bars:
        found = find_gaps(open_workspace(required=False), request, progress=bars)
    if json:
        show_json(found)
        return
    if output is not None:
        say(f"{summarise(found)} {output}")
        return
    rows = [
        (
            name_theme(theme) if at == 0 else "",
            gap.query,
            gap.asked,
            "yes" if gap.wanted else "",
            ", ".join(one.document for one in gap.nearest or ()),
        )
        for theme in found.themes
        for at, gap in enumerate(theme.gaps)
    ]
    if rows:
        show(table(("theme", "question", "asked", "wanted", "nearest"), rows))
    say(summarise(found))
