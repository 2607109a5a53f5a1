"""`findback backup`, `restore` and `privacy log` on the command line."""

import json
from pathlib import Path

from builders.backups import LATELY
from builders.candidates import candidate, digest
from findback.steps.bench import open_bench
from findback.workspace import open_workspace


def start(folder: Path, monkeypatch) -> None:
    folder.mkdir()
    (folder / "findback.toml").write_text("")
    monkeypatch.chdir(folder)
    with open_bench(open_workspace()) as bench:
        bench.put([candidate("one"), candidate("two", "bo")], now=LATELY)


def test_a_backup_says_loudly_what_is_not_in_it(run, tmp_path: Path, monkeypatch) -> None:
    """The key, by its place; the list of what was erased; and that nothing protects the file but its mode."""
    start(tmp_path / "team", monkeypatch)
    done = run("backup", "bench.backup")
    assert (done.status, "in the clear: it holds personal data): 2 candidates" in done.out) == (0, True)
    private = open_workspace().private / "workbench"
    assert f"the key is not in the backup. Keep a copy of it apart from the backup: {private / 'hmac.key'}" in done.err
    assert f"what was erased to another disk too: {private / 'erased.jsonl'}" in done.err
    assert (private / "erased.jsonl").exists()
    assert json.loads(run("backup", "bench.backup", "--json").out)["candidates"] == 2


def test_a_restore_asks_before_it_replaces(run, tmp_path: Path, monkeypatch) -> None:
    """Exit status 9 and a hint; with --replace it says what there is and what was taken out."""
    start(tmp_path / "team", monkeypatch)
    run("backup", "bench.backup")
    refused = run("restore", "bench.backup")
    assert refused.status == 9
    assert "--replace" in refused.err
    with open_bench(open_workspace()) as bench:
        bench.purge(person_hmac=digest("ana"), now=LATELY)
    done = run("restore", "bench.backup", "--replace")
    assert done.status == 0
    assert "restored 1 candidates" in done.out
    assert "taken out, because it was erased since or its time is over: 1 candidates" in done.out
    assert run("restore", "nowhere.backup").status == 6
    assert run("restore", "findback.toml").status == 3


def test_the_log_is_printed_or_written(run, tmp_path: Path, monkeypatch) -> None:
    """As CSV or JSON Lines; a file has mode 0600, and takes no other file's place."""
    start(tmp_path / "team", monkeypatch)
    assert run("privacy", "log").out.splitlines()[0] == "number,at,kind,candidate,by,details"
    (row,) = map(json.loads, run("privacy", "log", "--format", "jsonl").out.splitlines())
    assert row["kind"] == "put"
    assert run("privacy", "log", "-o", "log.csv").status == 0
    assert Path("log.csv").stat().st_mode & 0o777 == 0o600
    assert len(Path("log.csv").read_text().splitlines()) == 2
    assert run("privacy", "log", "-o", "findback.toml").status == 2
    assert "over their time: 0 candidates" in run("privacy", "sweep").out
