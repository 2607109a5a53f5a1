"""Mining from an export to the workbench."""

import json
import random
import string
import subprocess
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

import findback
from builders.candidates import NOON, candidate, line, span, text
from builders.portal import write_portal
from builders.searchlog import UbiLog
from findback.errors import MissingError, RefusedError, UsageError
from findback.llm.ask import Usage
from findback.llm.cache import Answers
from findback.model.candidate import DocumentLink
from findback.model.record import Record
from findback.steps.audit import AuditRequest, audit
from findback.steps.bench import open_bench
from findback.steps.candidates import CandidatesRequest, Row, list_candidates, reject_candidate, show_candidate
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.mine import Mined, MineRequest, mine
from findback.steps.mined_sample import read_mined_sample
from findback.steps.opening import open_documents
from findback.steps.verify import VerifyRequest, verify
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"


class Said(Record):
    """What a model answered."""

    text: str


def message(ts: str, user: str, text: str, thread: str | None = None) -> dict[str, object]:
    row: dict[str, object] = {"type": "message", "ts": ts, "user": user, "text": text}
    return row | ({"thread_ts": thread} if thread else {})


def write_slack(folder: Path, secret: str, *more: tuple[str, str, str]) -> Path:
    """Write a small export: two failures with links, banter, a bot, a secret in a thread, and further people."""
    users = [
        {"id": "U1", "name": "minh.tran", "profile": {"real_name": "Minh Tran", "email": "minh.tran@example.org"}},
        {"id": "U2", "name": "anja.roth", "profile": {"real_name": "Anja Roth", "email": "anja.roth@example.org"}},
        {"id": "U3", "name": "helper", "is_bot": True, "profile": {"real_name": "Helper"}},
        *({"id": id_, "name": handle, "profile": {"real_name": name}} for id_, handle, name in more),
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


def test_purge_empties_what_models_answered(workspace: Workspace, export: Path) -> None:
    """An erased person may stand, in other words, in what a model answered; none of its bytes remain."""
    run(workspace, export)
    folder = workspace.private_part("answers")
    with closing(Answers(folder)) as answers:
        answers.keep("k", Said(text="who lost the mine"), Usage(1, 1), datetime(2026, 3, 1, tzinfo=UTC))
    done = purge(workspace, PurgeRequest(person=("U1",))).counts
    assert done["answers of models"] == 1
    assert not any(b"who lost" in path.read_bytes() for path in folder.iterdir())


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


@pytest.mark.parametrize("called", ["Minh.Tran@example.org", "minh tran", "@minh.tran", "Tran", "Tran, Minh"])
def test_purge_by_what_the_people_file_says(workspace: Workspace, export: Path, called: str) -> None:
    """An address, a name or a handle that stands in users.json alone reaches their questions when the export is gone.

    Their replies and the name in another's question go too, and mining the export again brings nothing back.
    """
    run(workspace, export)
    kept = export.rename(export.with_name("away.zip"))
    assert b"lost mine" in everything_written(workspace)
    done = purge(workspace, PurgeRequest(person=(called,))).counts
    assert done == {"candidates": 1, "lines": 1, "mentions": 2}
    assert b"lost mine" not in everything_written(workspace)
    assert run(workspace, kept).stored == {"purged": 1, "unchanged": 1}
    assert [row.documents for row in list_candidates(workspace, CandidatesRequest()).rows] == [("howto/vpn.md",)]


def test_a_name_of_several_people_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    """Nobody is erased or kept out by a name that two people of the export bear; the error asks for an id."""
    export = write_slack(tmp_path / "exports", "x", ("U9", "anja.vogt", "Anja Vogt"))
    run(workspace, export)
    for refused in (
        lambda: purge(workspace, PurgeRequest(person=("Anja",))),
        lambda: exclude(workspace, ExcludeRequest(person=("anja",))),
    ):
        with pytest.raises(UsageError, match=r"several people are called '[Aa]nja'") as caught:
            refused()
        assert "id" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="an empty name"):
        purge(workspace, PurgeRequest(person=(" ",)))
    assert len(list_candidates(workspace, CandidatesRequest()).rows) == 2
    assert purge(workspace, PurgeRequest(person=("Anja Roth",))).counts["candidates"] == 1


def test_who_objects_by_address_is_never_mined(workspace: Workspace, export: Path) -> None:
    """An objection under an address of the people file alone holds for exports read afterwards."""
    exclude(workspace, ExcludeRequest(person=("minh.tran@example.org",)))
    assert run(workspace, export).stored == {"new": 1, "excluded": 1}
    assert b"lost mine" not in everything_written(workspace)
    assert b"but do not use" not in everything_written(workspace)


def test_mined_links_are_the_real_sample_of_an_audit(workspace: Workspace, export: Path) -> None:
    """`--real candidates`: the resolvers' links are the answers, and the heading says that nobody reviewed them."""
    request = AuditRequest(set=workspace.root / "golden.jsonl", real=Path("candidates"))
    with pytest.raises(MissingError, match="nothing has been mined"):
        audit(workspace, request)
    run(workspace, export)
    sample = audit(workspace, request).sample
    assert sample is not None
    assert sample.set.heading == "unreviewed links, n = 2"
    assert (sample.set.answerable, sample.measured, sample.set.unresolved) == (2, 2, 0)
    badge = next(row for row in list_candidates(workspace, CandidatesRequest()).rows if "badge" in row.documents[0])
    reject_candidate(workspace, badge.key, "no question")
    left = read_mined_sample(workspace, None)
    assert [(one.query, one.gold[0].doc, one.gold[0].found_by) for one in left.questions] == [
        ("how do i get in from home, ask ⟦PERSON_1⟧?", "howto/vpn.md", "resolver")
    ]


def test_a_mined_sample_hides_what_is_undecided(workspace: Workspace, tmp_path: Path) -> None:
    """A suggested name is masked, what the documents lack is unresolved, and controls and mere searches stay out."""
    suggested = text("ask mark for it")
    suggested = suggested.model_copy(update={"spans": (span(4, 8, band="suggested"),)})
    link = DocumentLink(document="gone.md", line=1, by="resolver", kind="url-in-text")
    reply = line("r", "bo", "see there", 1, role="resolver")
    given = [
        candidate("a", query=suggested, replies=[reply], links=(link,)),
        candidate("b", replies=[reply], links=(link,), stratum="control"),
        candidate("c", replies=[reply], links=(link.model_copy(update={"by": "other"}),)),
    ]
    with open_bench(workspace) as bench:
        bench.put(given, now=NOON)
    sample = read_mined_sample(workspace, open_documents(workspace, AuditRequest()))
    assert [(one.query, one.gold, one.unresolved) for one in sample.questions] == [
        ("ask ▒▒▒▒ for it", (), ("gone.md",))
    ]
    assert sample.notes == ("1 of 2 mined failures have no resolver's link and are left out",)


def test_python_gets_a_record_that_prints_itself(
    workspace: Workspace, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`findback.mine` takes one export or several and returns what the command prints, as table and as HTML."""
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", workspace.environment["XDG_STATE_HOME"])
    mined = findback.mine(str(export), dry_run=True)
    assert (mined.candidates, mined.dry_run) == (2, True)
    assert "read as slack" in str(mined)
    assert "<table" in mined._repr_html_()
    assert findback.mine([export], corpus="docs").stored == {"new": 2}
    with pytest.raises(UsageError, match="nonsense"):
        findback.mine(export, nonsense=1)


def test_placeholders_are_counted_once(workspace: Workspace, export: Path) -> None:
    """A query that is a line of its thread counts there: one address, one name and one mention in this export."""
    mined = run(workspace, export, dry_run=True)
    assert (mined.redacted["EMAIL"], mined.redacted["PERSON"], mined.redacted["USER"]) == (1, 1, 1)


def test_a_candidate_is_named_by_its_number_too(workspace: Workspace, export: Path) -> None:
    """The numbers a list prints name candidates, as do keys; a number that is not there is said to be missing."""
    run(workspace, export)
    first, second = list_candidates(workspace, CandidatesRequest()).rows
    assert show_candidate(workspace, str(second.number)).row == second
    assert show_candidate(workspace, first.key).row == first
    reject_candidate(workspace, str(first.number), "no question")
    assert [row.state for row in list_candidates(workspace, CandidatesRequest()).rows] == ["rejected", "new"]
    for absent in ("0", "99999", ""):
        with pytest.raises(MissingError):
            show_candidate(workspace, absent)


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
