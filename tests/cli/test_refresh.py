"""`findback refresh`."""

import json
from pathlib import Path

import pytest

from builders.harbour import change_pages, released
from findback.cli.main import app
from findback.evalset.cases import read_cases
from findback.model.stale import Refreshed
from findback.workspace import Workspace


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Harbour with one release, its pages as they were."""
    workspace = released(tmp_path / "harbour")
    monkeypatch.chdir(workspace.root)
    # The release is as old as the clock says: no draw of the date decides a test.
    monkeypatch.setenv("FINDBACK_REFRESH__OLDEST_DAYS", "36500")
    return workspace


def run(*words: str) -> int:
    status = app(["refresh", *words], exit_on_error=False, result_action="return_value")
    assert isinstance(status, int)
    return status


def test_the_exit_status_says_whether_something_is_stale(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """0 while every label holds, 12 after the pages changed."""
    assert run() == 0
    assert "None of 129 cases is stale." in capsys.readouterr().out
    change_pages(made)
    assert run() == 12


def test_an_old_release_is_a_status_of_its_own_cause(
    made: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is stale, but the release is older than the setting allows: 12, and it is said."""
    monkeypatch.setenv("FINDBACK_REFRESH__OLDEST_DAYS", "1")
    manifest = made.evalset / "releases" / "1" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"date": "2026-04-01"', '"date": "2020-04-01"'), "utf-8")
    assert run() == 12
    shown = capsys.readouterr().out
    assert "None of 129 cases is stale." in shown
    assert "days old, more than 1." in " ".join(shown.split())


def test_the_table_json_and_files_say_the_same(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal counts cases by document, Markdown names them, JSON reads back as the record."""
    change_pages(made)
    run()
    shown = " ".join(capsys.readouterr().out.split())
    assert "35 cases of 129 are stale: 7 moved, 8 merged, 6 split, 3 superseded, 11 gone, 2 may-answer" in shown
    assert "runbooks/paperchain-inode-exhaustion.md" in shown
    assert run("--json") == 12
    result = Refreshed.model_validate(json.loads(capsys.readouterr().out))
    assert len(result.stale) == 42
    run("-o", "stale.md")
    text = (made.root / "stale.md").read_text("utf-8")
    assert {one.case for one in result.stale} == {one.case for one in result.stale if one.case in text}
    queries = [one.query for one in read_cases(made.evalset / "cases.jsonl")]
    assert not [query for query in queries if len(query) > 12 and query in text]


def test_accepting_and_sending_leave_nothing_to_do_twice(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """After both, certain moves are gone from the list, the rest waits for a lead, and the status still says stale."""
    change_pages(made)
    assert run("--accept-moves", "--send", "--by", "ana", "--json") == 12
    first = Refreshed.model_validate(json.loads(capsys.readouterr().out))
    assert (len(first.moved), first.sent) == (7, 30)
    assert run("--accept-moves", "--send", "--by", "ana", "--json") == 12
    second = Refreshed.model_validate(json.loads(capsys.readouterr().out))
    assert (second.moved, second.sent) == ((), 0)
    assert not any(one.certain for one in second.found)
