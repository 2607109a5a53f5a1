"""The documentation says what the code does."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def test_reference_is_made_from_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/reference.md is what docs/generate.py writes today."""
    monkeypatch.setenv("COLUMNS", "100")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == module.reference(), "python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that is there."""
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_command_is_documented() -> None:
    """Each command has a section in the reference."""
    from findback.cli.main import COMMANDS

    text = (ROOT / "docs" / "reference.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"### findback {name}\n" in text


def test_nothing_speaks_of_how_it_was_built() -> None:
    """No text of the project names a machine's folder or a package index."""
    hosts = ["pypi" + ".org", "files.python" + "hosted.org", "registry.npm" + "js.org"]
    for page in [*PAGES, *(ROOT / "requirements").glob("*.txt"), ROOT / "pyproject.toml", ROOT / "Makefile"]:
        text = page.read_text("utf-8")
        assert not any(host in text for host in hosts), page
