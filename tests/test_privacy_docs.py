"""What the privacy pages say is what the code does."""

import importlib.util
import re
from pathlib import Path

from findback.places import PLACES
from findback.workbench.tables import METADATA

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "privacy"


def test_the_data_map_is_made_from_the_code() -> None:
    """docs/privacy/data-map.md is what docs/generate.py writes today, and names every place and every table."""
    spec = importlib.util.spec_from_file_location("datamap", ROOT / "docs" / "datamap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (FOLDER / "data-map.md").read_text("utf-8")
    assert page == module.data_map(), "python docs/generate.py"
    assert set(re.findall(r"^\| `([a-z]+)/` \|", page, flags=re.MULTILINE)) >= PLACES.keys()
    assert set(re.findall(r"^\| `(findback_[a-z_]+)` \|", page, flags=re.MULTILINE)) == METADATA.tables.keys()


def test_every_command_that_the_pages_name_exists() -> None:
    """The privacy pages and the page on running name commands and options that findback has."""
    import contextlib
    import io

    from findback.cli.main import COMMANDS, app

    pages = [*FOLDER.glob("*.md"), ROOT / "docs" / "running.md"]
    named = {match for page in pages for match in re.findall(r"findback ([a-z]+(?: [a-z]+)?)", page.read_text("utf-8"))}
    said = {words.split()[0] for words in named} & COMMANDS.keys()
    assert {"backup", "restore", "purge", "privacy", "withdraw", "serve"} <= said
    for page in pages:
        for command, rest in re.findall(r"^\$ findback ([a-z]+)(.*)$", page.read_text("utf-8"), flags=re.MULTILINE):
            assert command in COMMANDS, (page.name, command)
            words = [command, *(word for word in rest.split()[:1] if command == "privacy")]
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                app([*words, "--help"], exit_on_error=False, result_action="return_value")
            for option in re.findall(r"(--[a-z-]+)", rest.partition("#")[0]):
                assert option in out.getvalue(), (page.name, command, option)
