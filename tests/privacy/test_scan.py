"""Scanning again: files, archives, folders and history, for canaries in any encoding, rules and roster."""

import base64
import gzip
import json
import random
import shutil
import sqlite3
import subprocess
import time
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest

from findback.model.thread import Person
from findback.privacy.canaries import make_canaries
from findback.privacy.core import CoreRedactor
from findback.privacy.needles import Needles
from findback.privacy.roster import Roster
from findback.privacy.scan import Scanner

CANARIES = make_canaries(20, random.Random(5)).canaries
VALUE = next(c.value for c in CANARIES if c.type == "PERSON")


def scanner(**more: object) -> Scanner:
    return Scanner(CoreRedactor(), canaries=CANARIES, **more)  # type: ignore[arg-type]


ENCODINGS = {
    "plain": lambda v: v.encode(),
    "lower": lambda v: v.lower().encode(),
    "upper": lambda v: v.upper().encode(),
    "utf-16": lambda v: v.encode("utf-16-le"),
    "percent": lambda v: quote(v, safe="").encode(),
    "plus": lambda v: v.replace(" ", "+").encode(),
    "hex": lambda v: v.encode().hex().encode(),
    "base64": lambda v: base64.b64encode(v.encode()),
    "base64 after one": lambda v: base64.b64encode(b"x" + v.encode()),
    "base64 after two": lambda v: base64.b64encode(b"xy" + v.encode() + b"z"),
    "base64 for addresses": lambda v: base64.urlsafe_b64encode(b"x" + v.encode()),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_is_found_at_every_place(name: str) -> None:
    """A value is found in each encoding wherever it starts."""
    needles = Needles([VALUE])
    for shift in range(12):
        data = b"." * shift + ENCODINGS[name](VALUE) + b"tail"
        assert [value for _, value in needles.find(data)][:1] == [VALUE], shift


def test_escaped_json_and_html_are_found() -> None:
    """Letters beyond ASCII are found behind JSON's and HTML's escapes, once and twice."""
    needles = Needles(["Zoë Sørvik & Co"])
    for data in (json.dumps("Zoë Sørvik & Co"), json.dumps(json.dumps("Zoë Sørvik & Co")), "Zoë Sørvik &amp; Co"):
        assert [value for _, value in needles.find(data.encode())] == ["Zoë Sørvik & Co"]


def test_short_values_are_refused() -> None:
    """A value that would turn up by chance cannot be searched for."""
    with pytest.raises(ValueError, match="ten bytes"):
        Needles(["short"])


def test_many_values_cost_little() -> None:
    """Three thousand values with all their encodings are searched for in 20 MB within six seconds."""
    needles = Needles(c.value for c in make_canaries(300, random.Random(1)).canaries)
    assert len(needles) > 20_000
    data = random.Random(2).randbytes(2_000_000) * 10
    start = time.process_time()
    assert list(needles.find(data)) == []
    assert time.process_time() - start < 6


def test_files_archives_and_databases(tmp_path: Path) -> None:
    """A value is found in a log, in a packed cache, in an archive's member and in a database; links are skipped."""
    (tmp_path / "a.log").write_text(f"ok\nfailed for {VALUE}\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(f"x {VALUE}".encode()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/page.html", f"<p>{VALUE}</p>" * 50)
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("create table t (x)")
        database.execute("insert into t values (?)", (VALUE,))
    database.close()
    (tmp_path / "link.log").symlink_to(tmp_path / "a.log")
    scan = scanner()
    scan.scan_path(tmp_path)
    places = {
        (Path(hit.where.partition("!")[0].partition(" ")[0]).name, hit.type, hit.rule) for hit in scan.report.hits
    }
    assert places == {(name, "PERSON", "canary") for name in ("a.log", "b.gz", "c.zip", "d.db")}
    assert [hit.line for hit in scan.report.hits if hit.where.endswith("a.log")] == [2]
    assert scan.report.files == 4


def test_rules_and_roster_read_json_behind_its_escapes(tmp_path: Path) -> None:
    """An address written with an escape and a roster name are hits with file and line, and no value is told."""
    lines = [
        '{"query": "ask ⟦PERSON_1⟧"}',
        '{"query": "bo\\u0040example.org"}',
        '{"query": "ask minh"}',
        '{"note": "⟦x"}',
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(lines))
    scan = scanner(roster=Roster([Person("U1", ("Minh Tran",))]))
    scan.scan_path(tmp_path / "cases.jsonl")
    assert [(hit.line, hit.type, hit.rule) for hit in scan.report.hits] == [
        (2, "EMAIL", "mail.address"),
        (3, "PERSON", "roster.name"),
        (4, "OTHER", "placeholder"),
    ]
    assert "minh" not in repr(scan.report.hits)


def test_documents_may_be_scanned_for_canaries_alone(tmp_path: Path) -> None:
    """Rules can be left out for what may hold addresses, such as cached pages of the corpus."""
    (tmp_path / "page.txt").write_text(f"write to bo@example.org\n{VALUE}")
    scan = scanner()
    scan.scan_path(tmp_path, rules=False)
    assert [(hit.line, hit.rule) for hit in scan.report.hits] == [(2, "canary")]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A broken archive and a missing file are not clean: they are listed as not looked at."""
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b" + b"\0" * 20)
    scan = scanner()
    scan.scan_path(tmp_path / "broken.gz")
    scan.scan_path(tmp_path / "gone")
    assert [Path(where).name for where, _ in scan.report.unread] == ["broken.gz", "gone"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_history_is_searched_to_the_last_blob(tmp_path: Path) -> None:
    """A value committed once and removed later is found, and so is one that no branch holds any more."""

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init", "-q")
    page = tmp_path / "set.jsonl"
    for text in (f'{{"q": "{VALUE}"}}', '{"q": "clean"}'):
        page.write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", "x")
    other = next(c.value for c in CANARIES if c.type == "IBAN")
    page.write_text(other)
    git("add", ".")
    git("reset", "-q", "--hard")
    scan = scanner()
    scan.scan_history(tmp_path, rules=False)
    assert sorted((hit.where.partition("@")[0], hit.type) for hit in scan.report.hits) == [
        ("git:(no path)", "IBAN"),
        ("git:set.jsonl", "PERSON"),
    ]
    assert scan.report.blobs == 3


def test_every_type_has_its_canaries() -> None:
    """Values are distinct, long enough to mean something, and stand in their message."""
    made = make_canaries(50, random.Random(1), customer_patterns=("ACME-######",))
    assert len(made.canaries) == 550
    assert len({canary.value for canary in made.canaries}) == 550
    assert all(canary.value in canary.text and len(canary.value) >= 10 for canary in made.canaries)
    assert len(made.people) == 50
