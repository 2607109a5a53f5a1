"""Mining from an export to the workbench."""

import json
import random
import string
import subprocess
import zipfile
from pathlib import Path

import pytest

from builders.portal import write_portal
from builders.searchlog import UbiLog
from findback.errors import MissingError, RefusedError, UsageError
from findback.steps.bench import open_bench
from findback.steps.candidates import CandidatesRequest, Row, list_candidates, reject_candidate, show_candidate
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.mine import Mined, MineRequest, mine
from findback.steps.verify import VerifyRequest, verify
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"


def message(ts: str, user: str, text: str, thread: str | None = None) -> dict[str, object]:
    row: dict[str, object] = {"type": "message", "ts": ts, "user": user, "text": text}
    return row | ({"thread_ts": thread} if thread else {})


def write_slack(folder: Path, secret: str) -> Path:
    """Write a small export: two failures with links, banter, a bot, and a secret in a thread."""
    users = [
        {"id": "U1", "name": "minh.tran", "profile": {"real_name": "Minh Tran", "email": "minh.tran@example.org"}},
        {"id": "U2", "name": "anja.roth", "profile": {"real_name": "Anja Roth", "email": "anja.roth@example.org"}},
        {"id": "U3", "name": "helper", "is_bot": True, "profile": {"real_name": "Helper"}},
    ]
    rows = [
        message(
            "1790000000.000100",
            "U1",
            "cant find where to get a new card, lost mine. anja.roth@example.org?",
            "1790000000.000100",
        ),
        message("1790000060.000100", "U2", f"<@U1> look at <{SITE}/howto/badge>", "1790000000.000100"),
        message("1790000120.000100", "U1", "thanks, that was it", "1790000000.000100"),
        message("1790003600.000100", "U2", "how do i get in from home, ask Minh Tran?", "1790003600.000100"),
        message("1790003660.000100", "U1", f"<{SITE}/howto/vpn/> but do not use token {secret}", "1790003600.000100"),
    ]
    banter = [
        message("1790007200.000100", "U1", "lunch at noon", "1790007200.000100"),
        message("1790007260.000100", "U2", "sure", "1790007200.000100"),
    ]
    personal = [
        message("1790010800.000100", "U2", "how do i hand in my notice?", "1790010800.000100"),
        message("1790010860.000100", "U1", f"<{SITE}/howto/badge>", "1790010800.000100"),
    ]
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "slack.zip", "w") as archive:
        archive.writestr("users.json", json.dumps(users))
        archive.writestr(
            "channels.json",
            json.dumps(
                [{"id": "C1", "name": "help-desk"}, {"id": "C2", "name": "random"}, {"id": "C3", "name": "ask-hr"}]
            ),
        )
        archive.writestr("help-desk/2026-09-21.json", json.dumps(rows))
        archive.writestr("random/2026-09-21.json", json.dumps(banter))
        archive.writestr("ask-hr/2026-09-21.json", json.dumps(personal))
    return folder / "slack.zip"


@pytest.fixture
def secret() -> str:
    return "ghp_" + "".join(random.choices(string.ascii_letters + string.digits, k=36))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = write_portal(tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n")
    return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})


@pytest.fixture
def export(tmp_path: Path, secret: str) -> Path:
    return write_slack(tmp_path / "exports", secret)


def run(workspace: Workspace, export: Path, **more: object) -> Mined:
    return mine(workspace, MineRequest.model_validate({"exports": (export,)} | more))


def everything_written(workspace: Workspace) -> bytes:
    return b"".join(path.read_bytes() for path in workspace.private.rglob("*") if path.is_file())


def test_failures_become_candidates_with_their_documents(workspace: Workspace, export: Path) -> None:
    """Each answered question is a candidate with the first wording, the linked document and the rule that found it."""
    mined = run(workspace, export)
    assert mined.exports[0].source == "slack"
    assert mined.stored == {"new": 2}
    rows = {row.documents: row for row in list_candidates(workspace, CandidatesRequest()).rows}
    assert set(rows) == {("howto/badge.md",), ("howto/vpn.md",)}
    assert rows["howto/badge.md",].query == "cant find where to get a new card, lost mine. ⟦EMAIL_1⟧?"
    assert "link-thanks" in rows["howto/badge.md",].rules
    shown = show_candidate(workspace, rows["howto/badge.md",].key)
    assert [line.role for line in shown.thread] == ["asker", "resolver", "asker"]


def test_personnel_channels_are_left_out_until_named(workspace: Workspace, export: Path) -> None:
    """A channel such as #ask-hr is never read unless it is named in full."""
    assert "hand in my notice" not in {row.query for row in _rows(workspace, run(workspace, export))}
    named = _rows(workspace, run(workspace, export, channels=("ask-hr",)))
    assert "how do i hand in my notice?" in {row.query for row in named}


def _rows(workspace: Workspace, mined: Mined) -> tuple[Row, ...]:
    assert mined.candidates
    return list_candidates(workspace, CandidatesRequest()).rows


def test_nothing_raw_is_written(workspace: Workspace, export: Path, secret: str) -> None:
    """No name, address or secret of the export is in any byte findback wrote; the secret's place is."""
    mined = run(workspace, export)
    written = everything_written(workspace)
    for value in (secret, "anja.roth", "Minh Tran", "minh.tran"):
        assert value.encode() not in written
    assert mined.secrets == 1
    assert mined.secrets_file is not None
    place = json.loads(Path(mined.secrets_file).read_text())
    assert set(place) == {"format", "file", "offset", "rule"}
    assert verify(workspace, VerifyRequest()).findings == ()


def test_mining_again_changes_nothing(workspace: Workspace, export: Path) -> None:
    """A second run stores nothing new, and what was rejected stays rejected."""
    run(workspace, export)
    first = list_candidates(workspace, CandidatesRequest()).rows[0]
    reject_candidate(workspace, first.key, "no question")
    again = run(workspace, export)
    assert sum(again.stored.values()) == 2
    assert "new" not in again.stored
    assert list_candidates(workspace, CandidatesRequest(state=("rejected",))).rows[0].key == first.key


def test_dry_run_stores_nothing(workspace: Workspace, export: Path) -> None:
    """A dry run counts the same candidates and leaves no workbench behind."""
    mined = run(workspace, export, dry_run=True)
    assert (mined.candidates, mined.stored, mined.secrets_file) == (2, {}, None)
    with pytest.raises(MissingError, match="nothing has been mined"):
        list_candidates(workspace, CandidatesRequest())


def test_purged_person_is_gone_and_stays_gone(workspace: Workspace, export: Path) -> None:
    """After a purge no byte of the person's questions remains, mining does not bring them back, others' stand."""
    run(workspace, export)
    assert b"lost mine" in everything_written(workspace)
    purge(workspace, PurgeRequest(person=("U1", "minh.tran@example.org", "Minh Tran")))
    assert b"lost mine" not in everything_written(workspace)
    run(workspace, export)
    rows = list_candidates(workspace, CandidatesRequest()).rows
    assert [row.documents for row in rows] == [("howto/vpn.md",)]
    assert b"lost mine" not in everything_written(workspace)


def test_purge_reaches_who_searched(workspace: Workspace, tmp_path: Path) -> None:
    """A person of a search log, known there by a client id, is erased by that id."""
    log = UbiLog()
    log.search(0, "badge for the gate", [], client="client-mara")
    log.search(500, "visitors at night", [], client="client-jon")
    mined = run(workspace, log.write(tmp_path / "exports.ndjson"))
    assert mined.stored == {"new": 2}
    assert purge(workspace, PurgeRequest(person=("client-mara",))).counts["candidates"] == 1
    assert [row.query for row in list_candidates(workspace, CandidatesRequest()).rows] == ["visitors at night"]
    assert b"badge for the gate" not in everything_written(workspace)


def test_excluded_channel_is_kept_out(workspace: Workspace, export: Path) -> None:
    """A channel that objected loses what was mined from it, and gives nothing any more."""
    run(workspace, export)
    exclude(workspace, ExcludeRequest(channel=("slack:C1",)))
    assert list_candidates(workspace, CandidatesRequest()).rows == ()
    assert "new" not in run(workspace, export).stored


def test_export_in_a_work_tree_is_refused(workspace: Workspace, export: Path) -> None:
    """An export that git could commit is refused until it is ignored."""
    root = workspace.root
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    inside = root / "slack.zip"
    inside.write_bytes(export.read_bytes())
    with pytest.raises(RefusedError, match="does not ignore it"):
        run(workspace, inside)
    (root / ".gitignore").write_text("slack.zip\n")
    assert run(workspace, inside, dry_run=True).candidates == 2


def test_named_sources_are_read_without_arguments(workspace: Workspace, export: Path) -> None:
    """`findback mine` without arguments reads the exports of `[sources]`."""
    toml = workspace.root / "findback.toml"
    toml.write_text(toml.read_text() + f"[sources.chat]\npath = '{export}'\n")
    again = open_workspace(workspace.root, environment=workspace.environment)
    assert mine(again, MineRequest()).stored == {"new": 2}
    with pytest.raises(MissingError, match="no export was named"):
        mine(workspace, MineRequest())


def test_other_users_reading_is_warned_about(workspace: Workspace, export: Path) -> None:
    """An export that everyone on the machine can read comes with a warning."""
    export.chmod(0o644)
    assert any("chmod o-r" in note for note in run(workspace, export, dry_run=True).exports[0].notes)
    export.chmod(0o600)
    assert not any("chmod" in note for note in run(workspace, export, dry_run=True).exports[0].notes)


def test_real_files_give_the_reference_figures(workspace: Workspace, data: Path) -> None:
    """UBI: 284 searches, 192 without a click, 28 by the rule; 94 of the agent runs; 42 of 83 accepted answers."""
    ubi = run(workspace, data / "ubi" / "ubi_queries_events.ndjson", dry_run=True).exports[0].counts
    assert (ubi["searches"], ubi["searches"] - ubi["clicked"], ubi["no_click"]) == (284, 192, 28)
    assert 0 < ubi["zero_result"] <= 6
    runs = run(workspace, data / "agent-runs" / "hotpotqa-gpt-3.5.json", dry_run=True).exports[0]
    assert (runs.source, runs.rules["reformulation"]) == ("agent-runs", 94)
    forum = run(workspace, data / "stackexchange" / "datascience_meta_Posts.xml", dry_run=True).exports[0].counts
    assert (forum["accepted answers"], forum["accepted answers with a link"]) == (83, 42)


def test_candidates_keep_the_open_reference_only(workspace: Workspace, export: Path) -> None:
    """A candidate names the file and offset it came from, and the workbench is readable by its owner alone."""
    run(workspace, export)
    with open_bench(workspace) as bench:
        stored = bench.list_candidates()[0].candidate
    assert stored.file is not None
    assert stored.file.startswith(str(export))
    for path in (workspace.private / "workbench").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert (workspace.private / "workbench").stat().st_mode & 0o777 == 0o700


def test_a_set_that_is_not_there_is_not_clean(workspace: Workspace, tmp_path: Path) -> None:
    """A mistyped path to verify is something that was not looked at."""
    assert verify(workspace, VerifyRequest()).clean
    done = verify(workspace, VerifyRequest(set=tmp_path / "nope.csv"))
    assert not done.clean
    assert "nope.csv" in done.unread[0]


def test_documents_without_addresses_are_pointed_out(tmp_path: Path, export: Path) -> None:
    """Where links cannot be recognised, mining says what to set."""
    root = write_portal(tmp_path / "bare", "[mining]\nnames = false\n")
    bare = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert any("base_url under [corpus]" in note for note in run(bare, export).exports[0].notes)
    known = write_portal(tmp_path / "known", f"base_url = '{SITE}/'\n[mining]\nnames = false\n")
    there = open_workspace(known, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert not any("base_url" in note for note in run(there, export).exports[0].notes)


def test_nothing_named_is_nothing_erased(workspace: Workspace) -> None:
    """Purging needs somebody or something to erase."""
    with pytest.raises(UsageError, match="say what to erase"):
        purge(workspace, PurgeRequest())
