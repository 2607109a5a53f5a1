"""Help is quick and says what is there."""

import importlib
import inspect
import subprocess
import sys

import pytest

from findback.cli.main import COMMANDS

HEAVY = ("pydantic", "numpy", "scipy", "sqlalchemy", "duckdb", "onnxruntime", "fastapi", "bm25s", "wordfreq", "jinja2")


def test_help_loads_nothing_heavy() -> None:
    """`findback --help` loads none of the libraries that make a command line slow."""
    code = (
        "import sys\nsys.argv = ['findback', '--help']\nfrom findback.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('LOADED', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]
    for name in COMMANDS:
        assert name in done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_line_is_the_commands_own(name: str) -> None:
    """The line on the help page is the first line of the command's own help."""
    target, line = COMMANDS[name]
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    own = inspect.getdoc(command) if inspect.isfunction(command) else command.help
    assert own is not None
    assert own.splitlines()[0] == line


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_its_options(run, name: str) -> None:
    """`COMMAND --help` works and every option has a sentence."""
    outcome = run(name, "--help")
    assert outcome.status == 0
    assert "Usage" in outcome.out
