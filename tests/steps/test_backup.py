"""Backups: whole, private, and into either database."""

import hashlib
import json
import os
import stat
import subprocess
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.backups import LATELY, back_up, keys_in, keys_of, lasting, put_back, put_some, same_key, workspace_at
from builders.candidates import candidate, digest, full
from builders.oldbenches import back_old_up, content_of, make_old_bench, rows_of
from builders.postgresql import make_database
from findback.errors import DataError, MissingError, RefusedError, SettingsError, UsageError
from findback.privacy.key import Key
from findback.steps.bench import bench_address, open_bench
from findback.workbench.migration import FORMAT
from findback.workspace import Workspace


@pytest.fixture(params=["sqlite", "postgresql"])
def there(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace with a workbench on each database."""
    url = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else None
    return workspace_at(tmp_path / "there", url)


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    """Another workspace, whose workbench is a file."""
    return workspace_at(tmp_path / "here")


def fill(workspace: Workspace) -> None:
    """Something in every table that is kept."""
    with open_bench(workspace) as bench:
        bench.put([full(), candidate("q"), candidate("r", "bo")], now=LATELY)
        bench.decide(digest("q"), "rejected", reviewer="noor", version=1, now=LATELY, reason="no question")
        bench.exclude("person", digest("dee"), now=LATELY)
        bench.add_case_change("c0000000009", "query", role="lead", now=LATELY, why="typo", reviewer="noor")


@pytest.mark.parametrize("into", ["sqlite", "postgresql"])
def test_a_backup_restores_into_either_database(
    there: Workspace, into: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every row and value is the same afterwards, NUL and lone surrogates included, and the workbench goes on."""
    fill(there)
    done = back_up(there, tmp_path / "bench.backup")
    assert (done.candidates, done.encrypted, done.with_key) == (3, False, False)
    url = None
    if into == "postgresql":
        server = request.getfixturevalue("server")
        made = make_database(server, "restored_here")
        url = made.__enter__()
        request.addfinalizer(lambda: made.__exit__(None, None, None))
    target = workspace_at(tmp_path / "target", url)
    same_key(there, target)
    assert put_back(target, tmp_path / "bench.backup").candidates == 3
    assert lasting(target) == lasting(there)
    with open_bench(there) as first, open_bench(target) as second:
        assert second.list_candidates() == first.list_candidates()
        # The log that came along, and one event for each of the two commands.
        assert [one[1:] for one in second.events()][:-1] == [one[1:] for one in first.events()][:-1]
        assert (first.events()[-1].kind, second.events()[-1].kind) == ("backup", "restore")
        assert second.put([full(), candidate("s")], now=LATELY).new == 1
        assert second.decide(digest("s"), "rejected", reviewer="noor", version=1, now=LATELY) == 2


def test_a_backup_is_private_and_holds_no_key(there: Workspace, tmp_path: Path) -> None:
    """Mode 0600 whatever the umask; the key is in none of its bytes, packed or unpacked, and no login is."""
    fill(there)
    before = os.umask(0)
    try:
        done = back_up(there, tmp_path / "bench.backup")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "bench.backup").stat().st_mode) == 0o600
    key = (there.private / "workbench" / "hmac.key").read_text().strip()
    assert done.key_at == str(there.private / "workbench" / "hmac.key")
    with zipfile.ZipFile(tmp_path / "bench.backup") as packed:
        content = b"".join(packed.read(name) for name in packed.namelist())
        names = set(packed.namelist())
    for written in (key.encode(), bytes.fromhex(key)):
        assert written not in content
        assert written not in (tmp_path / "bench.backup").read_bytes()
    assert not {name for name in names if "session" in name or "token" in name or "meta" in name or "/" in name}


def rows_in(file: Path) -> dict[str, int]:
    with zipfile.ZipFile(file) as packed:
        names = ("candidates", "texts", "hits")
        return {name: len(packed.read(f"findback_{name}.jsonl").splitlines()) for name in names}


def test_a_backup_is_as_of_one_moment(there: Workspace, tmp_path: Path) -> None:
    """While somebody stores ten questions at a time, each backup holds whole batches, threads and texts included."""
    put_some(there, ["first"])
    over = threading.Event()

    def store() -> None:
        with open_bench(there) as bench:
            batch = 0
            while not over.is_set() and batch < 200:
                bench.put([candidate(f"{batch}-{n}") for n in range(10)], now=LATELY, batch=10)
                batch += 1

    writer = threading.Thread(target=store)
    writer.start()
    seen = []
    try:
        for number in range(5):
            back_up(there, tmp_path / f"{number}.backup")
            rows = rows_in(tmp_path / f"{number}.backup")
            assert rows["candidates"] % 10 == 1
            # Two texts, the query and its line, and one rule for each; the first has a reply besides.
            assert (rows["texts"], rows["hits"]) == (2 * rows["candidates"] + 1, rows["candidates"])
            seen.append(rows["candidates"])
    finally:
        over.set()
        writer.join()
    assert seen == sorted(seen)
    assert seen[-1] > 1


def test_a_workbench_that_holds_something_is_replaced_only_when_asked(there: Workspace, tmp_path: Path) -> None:
    """It is refused and stays; with --replace there is what the backup holds; the event log keeps everything."""
    put_some(there, ["old"])
    back_up(there, tmp_path / "bench.backup")
    put_some(there, ["new"])
    with open_bench(there) as bench:
        bench.decide(digest("new"), "rejected", reviewer="ella", version=1, now=LATELY)
    with pytest.raises(RefusedError, match="holds something") as caught:
        put_back(there, tmp_path / "bench.backup")
    assert "--replace" in (caught.value.hint or "")
    assert keys_in(there) == keys_of("old", "new")
    put_back(there, tmp_path / "bench.backup", replace=True)
    assert keys_in(there) == keys_of("old")
    with open_bench(there) as bench:
        events = bench.events()
    assert [one.kind for one in events] == ["put", "backup", "put", "decide", "restore"]
    assert events[3].reviewer == "ella"


def test_events_and_decisions_keep_their_reviewers(here: Workspace, there: Workspace, tmp_path: Path) -> None:
    """Where both workbenches number their reviewers differently, everybody still decided what they decided."""
    for workspace, name in ((there, "noor"), (here, "ella")):
        put_some(workspace, [f"by {name}"])
    same_key(there, here) if not (here.private / "workbench" / "hmac.key").exists() else None
    key = (there.private / "workbench" / "hmac.key").read_text().strip()
    other = workspace_at(tmp_path / "other", FINDBACK_KEY=key)
    put_some(other, ["by ella"])
    for workspace, name in ((there, "noor"), (other, "ella")):
        with open_bench(workspace) as bench:
            bench.decide(digest(f"by {name}"), "rejected", reviewer=name, version=1, now=LATELY)
    back_up(there, tmp_path / "bench.backup")
    put_back(other, tmp_path / "bench.backup", replace=True)
    with open_bench(other) as bench:
        who = {one.candidate: one.reviewer for one in bench.events() if one.kind == "decide"}
    assert who == {digest("by noor"): "noor", digest("by ella"): "ella"}
    content = content_of(bench_address(other))
    numbers = {row["id"]: row["subject"] for row in content["findback_reviewers"]}
    assert [numbers[row["reviewer"]] for row in content["findback_decisions"]] == ["noor"]


@pytest.mark.parametrize("format_", range(1, FORMAT + 1))
def test_a_backup_of_an_earlier_format_is_brought_up(there: Workspace, format_: int, tmp_path: Path) -> None:
    """What the SQL of that time put in comes out of the backup and into today's tables, on both databases."""
    make_old_bench(tmp_path / "old" / "bench.sqlite", format_)
    back_old_up(tmp_path / "old" / "bench.sqlite", tmp_path / "old.backup", format_, key="c0ffee")
    settings = "[retention]\nundecided = 36500\nrejected = 36500\ncontext = 36500\n"
    url = there.environment.get("BENCH")
    target = workspace_at(tmp_path / "target", url, settings=settings)
    done = put_back(target, tmp_path / "old.backup", key_lost=True)
    assert done.migrated_from == (format_ if format_ < FORMAT else None)
    found = content_of(bench_address(target))
    for name, rows in rows_of(format_).items():
        if name == "meta":
            continue
        for row in rows:
            assert any(row.items() <= one.items() for one in found[f"findback_{name}"]), (name, row)


def test_newer_backups_are_refused(here: Workspace, tmp_path: Path) -> None:
    """Both the file's own format and the workbench's, in words that say so; nothing is made."""
    make_old_bench(tmp_path / "old" / "bench.sqlite", FORMAT)
    for said in ({"format": 2}, {"format_": FORMAT + 1}):
        given = {"format_": FORMAT, "key": "c0ffee", **said}
        back_old_up(tmp_path / "old" / "bench.sqlite", tmp_path / "new.backup", given.pop("format_"), **given)
        with pytest.raises(RefusedError, match="a newer findback made"):
            put_back(here, tmp_path / "new.backup", key_lost=True)
    assert not (here.private / "workbench" / "workbench.sqlite").exists()


TEXTS = "findback_texts.jsonl"
CHANGES: dict[str, Callable[[dict[str, bytes]], object]] = {
    "changed": lambda members: members.update({TEXTS: members[TEXTS].replace(b"where", b"there")}),
    "short": lambda members: members.update({TEXTS: members[TEXTS][:-200]}),
    "bomb": lambda members: members.update({TEXTS: members[TEXTS] + b" " * 1_000_000}),
    "no manifest": lambda members: members.pop("manifest.json"),
    "kind": lambda members: members.update(
        {"manifest.json": members["manifest.json"].replace(b"findback_texts.jsonl", b"findback_songs.jsonl")}
    ),
    "path": lambda members: members.update({"../../outside.jsonl": b"[]"}),
    "more": lambda members: members.update({"findback_more.jsonl": b"[]"}),
    "twice": lambda members: None,
    "cut": lambda members: None,
    "flipped": lambda members: None,
    "no backup": lambda members: None,
}


def damaged(file: Path, target: Path, change: str) -> Path:
    """A backup with one thing wrong."""
    with zipfile.ZipFile(file) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    CHANGES[change](members)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)
        if change == "twice":
            with pytest.warns(UserWarning, match="Duplicate name"):
                written.writestr(TEXTS, b"")
    content = bytearray(target.read_bytes())
    if change == "flipped":
        # Packed bytes of a table, not those of a header that nobody reads.
        content[content.index(TEXTS.encode()) + len(TEXTS) + 40] ^= 0xFF
    if change == "no backup":
        content = bytearray(b"dear diary")
    target.write_bytes(content[:-300] if change == "cut" else content)
    return target


@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_backup_changes_nothing(here: Workspace, tmp_path: Path, change: str) -> None:
    """It is refused before the workbench is touched, and nothing is left or written elsewhere."""
    put_some(here, ["one", "two"])
    back_up(here, tmp_path / "bench.backup")
    put_some(here, ["three"])
    bad = damaged(tmp_path / "bench.backup", tmp_path / "bad.backup", change)
    with pytest.raises((DataError, RefusedError)):
        put_back(here, bad, replace=True)
    assert keys_in(here) == keys_of("one", "two", "three")
    assert not list(tmp_path.rglob("outside*"))
    assert list((here.private / "tmp").iterdir()) == []


def test_values_of_another_kind_are_refused(here: Workspace, tmp_path: Path) -> None:
    """SQLite would take a text for a number; the backup is refused with table and line."""
    put_some(here, ["one"])
    back_up(here, tmp_path / "bench.backup")
    with zipfile.ZipFile(tmp_path / "bench.backup") as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(members["manifest.json"])
    member = manifest["members"]["findback_candidates.jsonl"]
    row = json.loads(members["findback_candidates.jsonl"])
    row[member["columns"].index("merged")] = "none"
    line = json.dumps(row).encode() + b"\n"
    member |= {"size": len(line), "sha256": hashlib.sha256(line).hexdigest()}
    members |= {"findback_candidates.jsonl": line, "manifest.json": json.dumps(manifest).encode()}
    with zipfile.ZipFile(tmp_path / "bad.backup", "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    with pytest.raises(DataError, match=r"findback_candidates:1: a value is of another kind"):
        put_back(here, tmp_path / "bad.backup", replace=True)


def test_without_its_key_a_backup_is_refused(there: Workspace, here: Workspace, tmp_path: Path) -> None:
    """No key here: the message says where it goes. Another one: the same. The moved key, or its variable: it works."""
    put_some(there, ["one"])
    back_up(there, tmp_path / "bench.backup")
    with pytest.raises(MissingError, match="the key of this backup is not here") as caught:
        put_back(here, tmp_path / "bench.backup")
    assert "FINDBACK_KEY" in (caught.value.hint or "")
    assert not (here.private / "workbench" / "hmac.key").exists()
    other = workspace_at(tmp_path / "other", FINDBACK_KEY=Key.make().written())
    with pytest.raises(RefusedError, match="made with another key"):
        put_back(other, tmp_path / "bench.backup")
    key = (there.private / "workbench" / "hmac.key").read_text().strip()
    put_back(workspace_at(tmp_path / "moved", FINDBACK_KEY=key), tmp_path / "bench.backup")
    done = put_back(other, tmp_path / "bench.backup", key_lost=True)
    assert any("nobody in this workbench is recognised again" in note for note in done.notes)
    assert keys_in(other) == keys_of("one")


def test_a_new_workbench_takes_over_the_key_of_what_is_restored(there: Workspace, tmp_path: Path) -> None:
    """One that was opened before, with a key made by itself, holds nothing yet: the old key replaces it."""
    put_some(there, ["one"])
    back_up(there, tmp_path / "bench.backup")
    fresh = workspace_at(tmp_path / "fresh")
    with open_bench(fresh):
        pass
    same_key(there, fresh)
    with pytest.raises(SettingsError, match="another key"), open_bench(fresh):
        pass
    put_back(fresh, tmp_path / "bench.backup")
    assert keys_in(fresh) == keys_of("one")


def test_an_encrypted_backup_opens_for_its_recipients_alone(there: Workspace, here: Workspace, tmp_path: Path) -> None:
    """Two recipients, each can; another key cannot, nor none; with the key inside, nothing else needs to be moved."""
    pyrage = pytest.importorskip("pyrage")
    keys = [pyrage.x25519.Identity.generate() for _ in range(3)]
    for number, one in enumerate(keys):
        (tmp_path / f"{number}.txt").write_text(f"# created: today\n# public key: {one.to_public()}\n{one}\n")
    put_some(there, ["one"])
    file = tmp_path / "bench.backup.age"
    recipients = tuple(str(one.to_public()) for one in keys[:2])
    assert back_up(there, file, recipient=recipients, with_key=True).encrypted
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes().startswith(b"age-encryption.org/v1\n")
    with pytest.raises(UsageError, match="is encrypted"):
        put_back(here, file)
    with pytest.raises(UsageError, match=r"no key of .* opens"):
        put_back(here, file, identity=tmp_path / "2.txt")
    with pytest.raises(UsageError, match="no private key of age"):
        put_back(here, file, identity=file)
    (tmp_path / "cut.age").write_bytes(file.read_bytes()[:-50])
    with pytest.raises(DataError, match="cannot be decrypted"):
        put_back(here, tmp_path / "cut.age", identity=tmp_path / "0.txt")
    assert put_back(here, file, identity=tmp_path / "1.txt").candidates == 1
    assert stat.S_IMODE((here.private / "workbench" / "hmac.key").stat().st_mode) == 0o600
    assert put_back(here, file, identity=tmp_path / "0.txt", replace=True).candidates == 1
    assert keys_in(here) == keys_of("one")
    with pytest.raises(UsageError, match="encrypted backups only"):
        back_up(there, tmp_path / "clear.backup", with_key=True)
    with pytest.raises(UsageError, match="no public key"):
        back_up(there, file, recipient=("age1nobody",))
    assert file.read_bytes().startswith(b"age-encryption.org/v1\n")


def test_a_backup_takes_no_other_file_s_place(here: Workspace, tmp_path: Path) -> None:
    """Nor does it lie where git could commit it; without a workbench there is nothing to back up."""
    with pytest.raises(MissingError, match="no workbench"):
        back_up(here, tmp_path / "bench.backup")
    put_some(here, ["one"])
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="is no backup"):
        back_up(here, tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    with pytest.raises(UsageError, match="settings"):
        back_up(here, here.root / "findback.toml")
    subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)
    with pytest.raises(RefusedError, match="git work tree"):
        back_up(here, tmp_path / "repository" / "bench.backup")
