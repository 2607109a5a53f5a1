"""`findback config`."""

from cyclopts import App

from findback.cli.shown import say, show, show_json, table
from findback.steps.configuration import show_configuration
from findback.workspace import open_workspace

app = App(name="config", help="Show the settings and where each came from.", help_format="plaintext")


@app.command(name="show")
def show_settings(*, json: bool = False) -> None:
    """Print every setting in force and where it came from.

    Args:
        json: Print JSON instead of a table.
    """
    configuration = show_configuration(open_workspace(required=False))
    if json:
        show_json(configuration)
        return
    rows = [(setting.name, setting.value, setting.origin) for setting in configuration.settings]
    show(table(("setting", "value", "from"), rows))
    say(f"\nfindback.toml   {configuration.file or 'none'}")
    say(f"private folder  {configuration.private}")
