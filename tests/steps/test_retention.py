"""What is over its time goes by itself, flags and logs included, and the log of it can be taken out."""

import csv
import io
import json
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.backups import back_up, put_back, put_some, workspace_at
from builders.candidates import candidate, digest, searched
from builders.portal import write_portal
from findback.errors import MissingError
from findback.model.flag import FlagRequest
from findback.steps.auditlog import LogRequest, export_log
from findback.steps.bench import open_bench
from findback.steps.erase import PurgeRequest, purge
from findback.steps.flag import open_flag_desk
from findback.steps.ledger import ledger_file
from findback.steps.mine import MineRequest, mine
from findback.steps.retention import sweep
from findback.workspace import Workspace, open_workspace

TODAY = datetime.now(UTC)


def ago(days: float) -> datetime:
    return TODAY - timedelta(days=days)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgresql_url") if request.param == "postgresql" else None


@pytest.fixture
def workspace(tmp_path: Path, url: str | None) -> Workspace:
    """A workspace with documents, where undecided things are kept for 10 days and rejected ones for 5."""
    named = 'workbench = "env:BENCH"\n' if url else ""
    settings = f"[retention]\nundecided = 10\nrejected = 5\nlogs = 20\n[mining]\nnames = false\n{named}"
    root = write_portal(tmp_path / "portal", settings)
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)} | ({"BENCH": url} if url else {})
    return open_workspace(root, environment=variables)


def names_in(workspace: Workspace) -> set[str]:
    with open_bench(workspace) as bench:
        return {one.candidate.query.text for one in bench.list_candidates(limit=1000)}


def test_the_days_of_findback_toml_are_kept(workspace: Workspace) -> None:
    """Nine days undecided stay, eleven go; rejected six days ago goes, four days ago stays; none comes back."""
    with open_bench(workspace) as bench:
        for name, days in (("young", 9), ("old", 11), ("refused", 9), ("refused long ago", 9)):
            bench.put([searched(name, query=name)], now=ago(days))
        for name, days in (("refused", 4), ("refused long ago", 6)):
            bench.decide(digest(name), "rejected", reviewer="noor", version=1, now=ago(days))
    done = sweep(workspace, TODAY)
    assert (done.candidates, done.lines, done.logs) == (2, 0, 0)
    assert names_in(workspace) == {"young", "refused"}
    with open_bench(workspace) as bench:
        assert bench.put([searched("old", query="old")], now=TODAY).purged == 1
    marks = {json.loads(line)["why"] for line in ledger_file(workspace).read_text().splitlines()}
    assert marks == {"expired"}


def test_mining_sweeps_by_itself(workspace: Workspace, tmp_path: Path) -> None:
    """Whatever it reads, what is over its time by findback.toml is gone afterwards."""
    with open_bench(workspace) as bench:
        bench.put([searched("old", query="old")], now=ago(11))
    rows = [{"channel": "help", "thread": "t", "user": "u", "text": "hello", "time": "2026-03-02T12:00:00Z"}]
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mine(workspace, MineRequest(exports=(file,), as_="messages"))
    assert names_in(workspace) == set()


def test_flags_go_with_their_time_and_their_people(workspace: Workspace, tmp_path: Path) -> None:
    """A flag nobody decided goes with its link; so does one from a page that is purged, in a restored backup too."""
    with open_flag_desk(workspace) as desk:
        old = desk.flag(FlagRequest(query="where is the mixer"), via="widget", now=ago(11)).status
        new = desk.flag(FlagRequest(query="where is the oven", page="/kitchen"), via="widget", now=ago(1)).status
    back_up(workspace, tmp_path / "bench.backup")
    assert sweep(workspace, TODAY).candidates == 1
    with open_flag_desk(workspace) as desk:
        with pytest.raises(MissingError):
            desk.status(old)
        assert desk.status(new).state == "waits"
    purge(workspace, PurgeRequest(channel=("widget:/kitchen",)))
    for _ in range(2):
        with open_flag_desk(workspace) as desk, pytest.raises(MissingError):
            desk.status(new)
        assert names_in(workspace) == set()
        put_back(workspace, tmp_path / "bench.backup", replace=True)


def test_the_link_of_a_flag_lives_through_a_restore(workspace: Workspace, tmp_path: Path) -> None:
    """Whoever holds it learns what came of the flag, from another workbench as from the first."""
    with open_flag_desk(workspace) as desk:
        link = desk.flag(FlagRequest(query="where is the oven"), via="widget", now=ago(1)).status
    back_up(workspace, tmp_path / "bench.backup")
    put_back(workspace, tmp_path / "bench.backup", replace=True)
    with open_flag_desk(workspace) as desk:
        assert desk.status(link).state == "waits"


def test_lists_of_secrets_go_when_they_are_old(tmp_path: Path) -> None:
    """By their last change, without any workbench; what is young and what is no log stays."""
    workspace = workspace_at(tmp_path / "team", settings="[retention]\nlogs = 20\n")
    files = {}
    for place, name, days in (("secrets", "old", 21), ("secrets", "young", 19), ("evaluations", "old", 400)):
        files[place, name] = workspace.private_part(place) / f"{name}.jsonl"
        files[place, name].write_text("{}\n")
        os.utime(files[place, name], (ago(days).timestamp(),) * 2)
    assert sweep(workspace, TODAY).logs == 1
    assert [one.exists() for one in files.values()] == [False, True, True]


@pytest.fixture
def logged(workspace: Workspace) -> Workspace:
    """A workbench in which things happened."""
    put_some(workspace, ["=one", "two"])
    with open_bench(workspace) as bench:
        bench.decide(digest("two"), "rejected", reviewer="=noor", version=1, now=ago(1), reason="a canaryword")
        bench.log_original(digest("two"), "asked", reviewer="=noor", now=ago(0.5), reason="a canaryword")
    return workspace


def test_the_audit_log_says_what_was_done_and_holds_no_text(logged: Workspace) -> None:
    """Each event with its counts; who asked for an original is named, who reviewed is not; no cell is a formula."""
    written = "".join(export_log(logged, LogRequest()))
    rows = list(csv.DictReader(io.StringIO(written)))
    assert [(row["number"], row["kind"], row["by"]) for row in rows] == [
        ("1", "put", ""), ("2", "decide", ""), ("3", "original", "'=noor"),
    ]  # fmt: skip
    assert json.loads(rows[0]["details"])["new"] == 2
    assert rows[1]["candidate"] == digest("two")
    lines = [json.loads(line) for line in export_log(logged, LogRequest(format="jsonl"))]
    assert [(row["kind"], row["by"]) for row in lines] == [("put", None), ("decide", None), ("original", "=noor")]
    assert all(datetime.fromisoformat(row["at"]).tzinfo for row in lines)
    for text in (written, json.dumps(lines)):
        assert "canaryword" not in text
        assert "where is the page" not in text
    since = LogRequest(since=ago(1.5), format="jsonl")
    assert [json.loads(line)["number"] for line in export_log(logged, since)] == [2, 3]


def test_the_audit_log_is_whole_beyond_a_page(tmp_path: Path) -> None:
    """Two thousand and one events come out once each, in order; without a workbench it is said."""
    workspace = workspace_at(tmp_path / "team")
    with pytest.raises(MissingError, match="no workbench"):
        list(export_log(workspace, LogRequest()))
    with open_bench(workspace) as bench:
        bench.put([candidate("one")], now=TODAY)
        with bench._database.writing() as connection:
            from findback.workbench.event import add_event

            for _ in range(2000):
                add_event(connection, "decide", TODAY, details={"version": 1})
    numbers = [json.loads(line)["number"] for line in export_log(workspace, LogRequest(format="jsonl"))]
    assert numbers == list(range(1, 2002))


def test_the_server_sweeps_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some time after it started, and then no more before a day is over."""
    from types import SimpleNamespace

    from findback.web import jobs

    swept = threading.Semaphore(0)
    clock = [1000.0]
    monkeypatch.setattr(jobs, "keep_retention", lambda *_: swept.release())
    monkeypatch.setattr(jobs.time, "monotonic", lambda: clock[0])
    worker = jobs.Worker(SimpleNamespace(workspace=None, bench=None, now=lambda: TODAY))
    seen = []
    for later in (0, 599, 2, 60, 24 * 3600 - 70, 20):
        clock[0] += later
        worker._tidy()
        seen.append(swept.acquire(blocking=False))
    assert seen == [False, False, True, False, False, True]
