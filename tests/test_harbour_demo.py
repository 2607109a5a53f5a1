"""What `make demo` promises: prepared decisions that are true of Harbour, read like anybody's, and a run to repeat."""

import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from findback.evalset.cases import read_cases
from findback.steps.labelsheet import LabelImportRequest, import_sheet
from findback.steps.mine import MineRequest, mine
from findback.steps.release import ReleaseRequest, release
from findback.steps.sheetcells import read_grades, read_marked
from findback.workspace import open_workspace

HARBOUR = Path(__file__).resolve().parent.parent / "examples" / "harbour"
SHEET = HARBOUR / "labels.csv"
ROWS = list(csv.DictReader(SHEET.read_text("utf-8-sig").splitlines()))
SOURCES = {"slack.zip": "slack", "zendesk.jsonl": "zendesk", "traces.jsonl": "otel", "ubi.ndjson": "ubi"}


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harbour") / "exports"
    subprocess.run([sys.executable, "-B", str(HARBOUR / "exports" / "build.py"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def truth(exports: Path) -> list[dict]:
    return [json.loads(line) for line in (exports / "truth.jsonl").read_text("utf-8").splitlines()]


def true_of(row: dict[str, str], truth: list[dict]) -> dict:
    """The truth about the question of a row; its placeholders may stand for anything."""
    source = SOURCES[re.split("[!#]", row["reference"])[0]]
    pieces = re.split(r"⟦[A-Z_]+_\d+⟧", read_marked(row["query"]))
    pattern = re.compile(".+?".join(map(re.escape, pieces)), re.DOTALL)
    found = [entry for entry in truth if entry["source"] == source and pattern.fullmatch(entry["query"])]
    assert len(found) == 1, row["query"]
    return found[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["reference"])
def test_decisions_are_true(row: dict[str, str], truth: list[dict]) -> None:
    """A row grades the documents that answer, says that none does where none does, rejects what is no failure."""
    known = true_of(row, truth)
    if row["unrateable_reason"]:
        assert known["rule"] == "not a failure"
        return
    assert known["rule"] not in ("not a failure", "not read")
    if not row["later_reason"]:
        assert {one.document for one in read_grades(row["gold"])} == set(known["documents"])
        assert bool(row["no_answer_reason"]) is not bool(known["documents"])


def test_number_of_decisions() -> None:
    """About fifty rows: most of every wording, some without an answer, rejected, put off, and a draft."""
    assert 45 <= len(ROWS) <= 55
    assert len({row["reference"] for row in ROWS}) == len(ROWS)
    assert sum(bool(row["no_answer_reason"]) for row in ROWS) == 5
    assert sum(bool(row["unrateable_reason"]) for row in ROWS) == 4
    assert sum(bool(row["later_reason"]) for row in ROWS) == 1
    assert Counter(row["submit"] for row in ROWS)["no"] == 1
    assert {row["wording"] for row in ROWS} == {"", "plain", "vague", "symptom-first", "wrong-name"}


def test_mined_imported_and_released(exports: Path, tmp_path: Path) -> None:
    """What the demo mines takes every row of the sheet, once; what is ready is released, the rest still waits."""
    root = tmp_path / "harbour"
    shutil.copytree(HARBOUR, root, ignore=shutil.ignore_patterns("portal", "report.*"))
    workspace = open_workspace(root, environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
    for name in SOURCES:
        mine(workspace, MineRequest(exports=(exports / name,)))
    request = LabelImportRequest(sheet=root / "labels.csv")
    found = import_sheet(workspace, request)
    assert (len(found.applied), found.unchanged, found.conflicts, found.notes) == (len(ROWS), 0, (), ())
    states = Counter(one.state for one in found.applied)
    assert states == {"ready": 44, "rejected": 4, "second-opinion": 1, "needs-labels": 1, "in-review": 1}
    done = release(workspace, ReleaseRequest(message="first"))
    assert (done.number, done.obstacles) == (1, ())
    cases = read_cases(root / "evalset" / "cases.jsonl")
    assert Counter(case.answer for case in cases) == {"one": 38, "no-answer": 5, "cross-doc": 1}
    assert not any("Pomeroy" in case.query for case in cases)
    again = import_sheet(workspace, request)
    assert (again.applied, again.unchanged, again.conflicts) == ((), len(ROWS), ())


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The demo, over a portal of its own."""
    spec = importlib.util.spec_from_file_location("harbour_demo", HARBOUR / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(module, "PORTAL", tmp_path / "portal")
    return module


def test_a_second_run_goes_on_or_starts_over(demo: ModuleType) -> None:
    """Set and workbench of today are kept; half of them, or old ones, make room for a whole run."""

    def make(*, releases: bool = True, workbench: bool = True) -> Path:
        demo.copy_portal()
        place = open_workspace(demo.PORTAL).private / "workbench"
        if releases:
            (demo.PORTAL / "evalset" / "releases" / "2").mkdir(parents=True)
        if workbench:
            place.mkdir(parents=True)
        return place

    assert demo.continue_or_start_over() is False
    workbench = make()
    assert demo.continue_or_start_over() is True
    assert workbench.exists()
    old = time.time() - 8 * 24 * 3600
    os.utime(workbench, (old, old))
    assert demo.continue_or_start_over() is False
    assert not demo.PORTAL.exists()
    assert not workbench.exists()
    for parts in ({"releases": False}, {"workbench": False}):
        workbench = make(**parts)
        assert demo.continue_or_start_over() is False
        assert not demo.PORTAL.exists()
        assert not workbench.exists()
    demo.PORTAL.mkdir()
    assert demo.continue_or_start_over() is False
    assert not demo.PORTAL.exists()


def test_the_portal_changes_on_the_way(demo: ModuleType) -> None:
    """The copy holds the pages of some months later, and the pages in the repository are as they were."""
    before = sorted(path.name for path in (HARBOUR / "docs").rglob("*.md"))
    demo.copy_portal()
    demo.change_portal()
    assert (demo.PORTAL / "docs" / "how-to" / "connect-from-home.md").exists()
    assert not (demo.PORTAL / "docs" / "how-to" / "set-up-vpn.md").exists()
    assert not (demo.PORTAL / "docs-later").exists()
    assert sorted(path.name for path in (HARBOUR / "docs").rglob("*.md")) == before
