"""What was erased after a backup stays erased when it is restored, and when the same exports are mined again."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from builders.backups import LATELY, back_up, keys_in, keys_of, put_back, put_some, same_key, workspace_at
from builders.candidates import candidate, digest, line, searched, text
from builders.portal import write_portal
from findback.errors import StorageError
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps import restore as restoring
from findback.steps.bench import open_bench
from findback.steps.candidates import CandidatesRequest, list_candidates
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.ledger import ledger_file, record_erasures
from findback.steps.mine import MineRequest, mine
from findback.steps.release import ReleaseRequest, release
from findback.steps.restore import NOTHING_KNOWN
from findback.steps.review import submit
from findback.steps.reviewdesk import open_desk
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgresql_url") if request.param == "postgresql" else None


@pytest.fixture
def workspace(tmp_path: Path, url: str | None) -> Workspace:
    return workspace_at(tmp_path / "team", url)


@pytest.fixture
def portal(tmp_path: Path, url: str | None) -> Workspace:
    """A workspace with documents, for mining."""
    named = 'workbench = "env:BENCH"\n' if url else ""
    write_portal(tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n{named}")
    variables = {"XDG_STATE_HOME": str(tmp_path / "state")} | ({"BENCH": url} if url else {})
    return open_workspace(tmp_path / "portal", environment=variables)


def message(ts: int, user: str, said: str, thread: int) -> dict[str, str]:
    return {"type": "message", "ts": f"{ts}.000100", "user": user, "text": said, "thread_ts": f"{thread}.000100"}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A Slack export: Minh asks, Anja answers; Anja asks, Minh answers; Anja asks Kim and names Minh."""
    users = [
        {"id": "U1", "name": "minh.tran", "profile": {"real_name": "Minh Tran", "email": "minh.tran@example.org"}},
        {"id": "U3", "name": "kim.park", "profile": {"real_name": "Kim Park", "email": "kim.park@example.org"}},
        {"id": "U2", "name": "anja.roth", "profile": {"real_name": "Anja Roth", "email": "anja.roth@example.org"}},
    ]
    asked = [("U1", "U2", "cant find where to get a new card, lost mine"), ("U2", "U1", "how do i get in from home"),
             ("U2", "U3", "where is the form, ask Minh Tran")]  # fmt: skip
    rows = []
    for number, (asker, answerer, said) in enumerate(asked):
        at = 1_790_000_000 + 3600 * number
        page = f"<{SITE}/{('howto/badge', 'howto/vpn', 'policies/leave')[number]}>"
        rows += [message(at, asker, said, at), message(at + 60, answerer, f"look at {page}, word{number}", at)]
    with zipfile.ZipFile(tmp_path / "slack.zip", "w") as packed:
        packed.writestr("users.json", json.dumps(users))
        packed.writestr("channels.json", json.dumps([{"id": "C1", "name": "help-desk"}]))
        packed.writestr("help-desk/2026-09-21.json", json.dumps(rows))
    return tmp_path / "slack.zip"


def queries(workspace: Workspace) -> set[str]:
    return {row.query for row in list_candidates(workspace, CandidatesRequest()).rows}


def lose_database(workspace: Workspace, url: str | None) -> None:
    """The disk of the database is gone; the rest of the private folder is there."""
    if url is None:
        for file in (workspace.private / "workbench").glob("workbench.sqlite*"):
            file.unlink()
        return
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()


ASKED = "cant find where to get a new card, lost mine"
MINED = {ASKED, "how do i get in from home", "where is the form, ask ⟦PERSON_1⟧"}


@pytest.mark.parametrize("lost", [False, True], ids=["over what is there", "after the database was lost"])
def test_a_purged_person_stays_purged(
    portal: Workspace, export: Path, url: str | None, tmp_path: Path, *, lost: bool
) -> None:
    """Mined, backed up, purged, restored, mined again: their question and their lines stay away, others' are there."""
    mine(portal, MineRequest(exports=(export,)))
    assert queries(portal) == MINED
    back_up(portal, tmp_path / "bench.backup")
    purge(portal, PurgeRequest(person=("minh.tran@example.org",)))
    left = queries(portal)
    assert left == MINED - {ASKED}
    if lost:
        lose_database(portal, url)
    done = put_back(portal, tmp_path / "bench.backup", replace=not lost)
    assert done.erased == {"candidates": 1, "lines": 1, "mentions": 2}
    assert done.notes == ()
    for _ in range(2):
        assert queries(portal) == left
        with open_bench(portal) as bench:
            stored = bench.list_candidates()
        assert [len(one.candidate.thread) for one in stored] == [1, 2]
        values = [span.value_hmac for one in stored for span in one.candidate.query.spans]
        assert values == [None]
        mined = mine(portal, MineRequest(exports=(export,)))
        assert mined.stored == {"purged": 1, "unchanged": 2}
    if url is None:
        written = b"".join(one.read_bytes() for one in portal.private.rglob("*") if one.is_file())
        assert b"lost mine" not in written
        assert b"word1" not in written


def test_who_objected_after_the_backup_is_kept_out(portal: Workspace, export: Path, tmp_path: Path) -> None:
    """The same with an objection, and with a whole channel."""
    mine(portal, MineRequest(exports=(export,)))
    back_up(portal, tmp_path / "bench.backup")
    exclude(portal, ExcludeRequest(person=("U1",)))
    put_back(portal, tmp_path / "bench.backup", replace=True)
    assert len(queries(portal)) == 2
    assert mine(portal, MineRequest(exports=(export,))).stored == {"excluded": 1, "unchanged": 2}
    purge(portal, PurgeRequest(channel=("slack:C1",)))
    put_back(portal, tmp_path / "bench.backup", replace=True)
    assert queries(portal) == set()
    assert mine(portal, MineRequest(exports=(export,))).stored.keys() <= {"purged", "excluded"}


def test_everything_that_was_erased_one_by_one_stays_away(workspace: Workspace, tmp_path: Path) -> None:
    """What was rejected and purged, and what retention took."""
    put_some(workspace, ["kept", "rejected"])
    with open_bench(workspace) as bench:
        bench.put([searched("old", "bo")], now=LATELY.replace(year=2020))
    back_up(workspace, tmp_path / "bench.backup")
    with open_bench(workspace) as bench:
        bench.decide(digest("rejected"), "rejected", reviewer="noor", version=1, now=LATELY)
        bench.sweep_retention(LATELY)
    purge(workspace, PurgeRequest(rejected=True))
    assert keys_in(workspace) == keys_of("kept")
    put_back(workspace, tmp_path / "bench.backup", replace=True)
    assert keys_in(workspace) == keys_of("kept")
    with open_bench(workspace) as bench:
        assert bench.put([candidate("rejected"), searched("old", "bo")], now=LATELY).purged == 2


def test_a_withdrawn_case_stays_withdrawn(workspace: Workspace, url: str | None, tmp_path: Path) -> None:
    """Its candidate, and the texts in its history, whether the workbench knows of it or only the published set."""
    (workspace.root / "findback.toml").write_text(
        (workspace.root / "findback.toml").read_text() + "[review]\noverlap = 0.0\n"
    )
    workspace = open_workspace(workspace.root, environment=dict(workspace.environment))
    names = [f"n{number}" for number in range(4)]
    put_some(workspace, names)
    noor = Reviewer("noor", None, ("reviewer",), ("public",))
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        for name in names:
            gold = Judgement(doc=f"{name}.md", grade=3, found_by="reviewer")
            submit(desk, noor, digest(name), Review(wording="plain", judged=(gold,)), revision=0, now=LATELY)
    release(workspace, ReleaseRequest(message="first"), reviewer="noor")
    with open_bench(workspace) as bench:
        case = next(one.case_id for one in bench.cases() if one.candidate == digest("n2"))
        bench.add_case_change(case, "query", role="lead", now=LATELY, why="typo in canaryword", reviewer="noor")
    back_up(workspace, tmp_path / "bench.backup")
    withdraw(workspace, WithdrawRequest(cases=(case,), reason="asked to"), reviewer="noor")
    lose_database(workspace, url)
    ledger_file(workspace).unlink()
    done = put_back(workspace, tmp_path / "bench.backup")
    assert done.erased == {"candidates": 1}
    assert keys_in(workspace) == keys_of("n0", "n1", "n3")
    with open_bench(workspace) as bench:
        assert [one.why for one in bench.case_changes(case)] == [None]


def test_a_list_of_what_was_erased_can_be_brought_along(workspace: Workspace, tmp_path: Path) -> None:
    """On a new machine nothing is known of a later purge, which is said; with the list from the old one it holds."""
    put_some(workspace, ["hers"], "ana")
    put_some(workspace, ["his"], "bo")
    back_up(workspace, tmp_path / "bench.backup")
    with open_bench(workspace) as bench:
        bench.purge(person_hmac=digest("ana"), now=LATELY)
        record_erasures(workspace, bench)
    shutil.copy(ledger_file(workspace), tmp_path / "erased.jsonl")
    assert put_back(workspace, tmp_path / "bench.backup", replace=True).notes == ()
    fresh = workspace_at(tmp_path / "fresh")
    same_key(workspace, fresh)
    assert put_back(fresh, tmp_path / "bench.backup").notes == (NOTHING_KNOWN,)
    assert keys_in(fresh) == keys_of("hers", "his")
    done = put_back(fresh, tmp_path / "bench.backup", ledger=tmp_path / "erased.jsonl", replace=True)
    assert (done.notes, keys_in(fresh)) == ((), keys_of("his"))
    with open_bench(fresh) as bench:
        assert bench.put([candidate("hers")], now=LATELY).purged == 1


def test_the_list_holds_digests_alone_and_survives_a_torn_line(workspace: Workspace, tmp_path: Path) -> None:
    """Mode 0600; nothing twice; a line that a crash cut short is said and the others hold."""
    put_some(workspace, ["one"], "ana")
    back_up(workspace, tmp_path / "bench.backup")
    with open_bench(workspace) as bench:
        bench.purge(person_hmac=digest("ana"), now=LATELY)
        assert record_erasures(workspace, bench) == 2
        assert record_erasures(workspace, bench) == 0
    file = ledger_file(workspace)
    assert file.stat().st_mode & 0o777 == 0o600
    entries = [json.loads(row) for row in file.read_text().splitlines()]
    assert {(one["kind"], one["name"]) for one in entries} == {("candidate", digest("one")), ("person", digest("ana"))}
    with file.open("ab") as handle:
        handle.write(b'{"key":"')
    with open_bench(workspace) as bench:
        bench.exclude("container", digest("room"), now=LATELY)
        assert record_erasures(workspace, bench) == 1
    done = put_back(workspace, tmp_path / "bench.backup", replace=True)
    assert done.notes == ("1 lines of the list of what was erased cannot be read",)
    assert keys_in(workspace) == set()


def test_an_erasure_in_the_middle_stops_the_restore(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody purges while the backup is unpacked: nothing is restored, and the next run keeps them out."""
    put_some(workspace, ["hers"], "ana")
    put_some(workspace, ["his"], "bo")
    back_up(workspace, tmp_path / "bench.backup")
    real = restoring.erase_loaded

    def purge_meanwhile(*given: object) -> object:
        with open_bench(workspace) as bench:
            bench.purge(person_hmac=digest("ana"), now=LATELY)
        return real(*given)

    monkeypatch.setattr(restoring, "erase_loaded", purge_meanwhile)
    with pytest.raises(StorageError, match="nothing was restored") as caught:
        put_back(workspace, tmp_path / "bench.backup", replace=True)
    assert caught.value.hint == "run it again"
    assert keys_in(workspace) == keys_of("his")
    put_back(workspace, tmp_path / "bench.backup", replace=True)
    assert keys_in(workspace) == keys_of("his")


def test_names_of_a_purged_person_are_found_by_what_the_backup_knows(workspace: Workspace, tmp_path: Path) -> None:
    """Where others name them the placeholder forgets who it was, in a backup from before as in the workbench."""
    from findback.model.alias import Alias

    people = {digest("ana"): [Alias(digest("ana@example.org"), "mail", shared=False),
                              Alias(digest("ana maria"), "name", shared=False)]}  # fmt: skip
    named = candidate("q", "bo", [line("r", "bo", text("ask {} there", "ana maria"), 1)])
    with open_bench(workspace) as bench:
        bench.put([named, candidate("hers", "ana")], now=LATELY, people=people)
    back_up(workspace, tmp_path / "bench.backup")
    with open_bench(workspace) as bench:
        bench.purge(person_hmac=[digest("ana"), digest("ana maria"), digest("ana@example.org")], now=LATELY)
    put_back(workspace, tmp_path / "bench.backup", replace=True)
    with open_bench(workspace) as bench:
        (stored,) = bench.list_candidates()
    assert [span.value_hmac for one in stored.candidate.thread for span in one.body.spans] == [None]
