"""Harbour as a workspace with its asked questions released, and its pages as they stand months later."""

import importlib.util
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from builders.ready import Ready
from findback.evalset.cases import read_cases
from findback.model.case import Case
from findback.steps.release import ReleaseRequest, release
from findback.workspace import Workspace, open_workspace

HARBOUR = Path(__file__).resolve().parents[2] / "examples" / "harbour"
RELEASED = datetime(2026, 4, 1, 9, tzinfo=UTC)
SETTINGS = """format = 1
name = "Harbour"
private = "private"

[corpus]
path = "docs"
base_url = "https://portal.harbour.example.org/"
aliases_from = ["docs/_redirects"]
modified_field = "updated"
"""


def load_changed() -> ModuleType:
    """Return the script that writes the changed pages."""
    spec = importlib.util.spec_from_file_location("harbour_changed", HARBOUR / "changed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_asked() -> tuple[Case, ...]:
    """Return Harbour's 129 questions."""
    return read_cases(HARBOUR / "asked.jsonl")


def released(folder: Path, *cases: Case) -> Workspace:
    """Return a workspace with Harbour's pages and one release of questions; all that were asked when none is given."""
    shutil.copytree(HARBOUR / "docs", folder / "docs")
    (folder / "findback.toml").write_text(SETTINGS, "utf-8")
    workspace = open_workspace(folder)
    made = release(workspace, ReleaseRequest(message="first"), ready=Ready(*(cases or read_asked())), made=RELEASED)
    assert made.number == 1, made.obstacles
    return workspace


def change_pages(workspace: Workspace) -> None:
    """Put the changed pages in the place of the old ones."""
    shutil.rmtree(workspace.root / "docs")
    load_changed().build(workspace.root / "docs")
