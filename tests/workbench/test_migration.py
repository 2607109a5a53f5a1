"""Formats: up, down, too new, and the copy that is kept."""

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from builders.candidates import NOON, candidate, described, digest, full, paraphrased
from findback.errors import MissingLibraryError, RefusedError, SettingsError, StorageError, UsageError
from findback.workbench.database import connect_database
from findback.workbench.key import shared_key
from findback.workbench.migration import FORMAT, SHIPPED, Migrations, backups_of, downgrade_database, format_of
from findback.workbench.open import open_workbench
from findback.workbench.people import normalised
from findback.workbench.store import Workbench
from findback.workbench.tables import METADATA, VERSION_TABLE

NEXT = f'''
import sqlalchemy as sa
from alembic import op

revision = "{FORMAT + 1:04d}"
down_revision = "{FORMAT:04d}"

def how():
    return "always" if op.get_bind().dialect.name == "sqlite" else "never"

def upgrade():
    with op.batch_alter_table("findback_candidates", recreate=how()) as table:
        table.add_column(sa.Column("mood", sa.Text))

def downgrade():
    with op.batch_alter_table("findback_candidates", recreate=how()) as table:
        table.drop_column("mood")
'''


@pytest.fixture
def newer(tmp_path: Path) -> Migrations:
    """The next format, whose migration builds a table anew that others point at."""
    folder = tmp_path / "100% newer"
    folder.mkdir()
    (folder / "next.py").write_text(NEXT)
    return Migrations(versions=(SHIPPED / "versions", folder), format=FORMAT + 1)


def tables(workbench: Workbench) -> set[str]:
    with workbench._database.reading() as connection:
        return set(inspect(connection).get_table_names())


def test_the_migrations_make_the_tables_the_code_reads(workbench: Workbench) -> None:
    """Alembic finds no difference between the migrated database and the tables in code."""
    with workbench._database.reading() as connection:
        assert format_of(connection) == FORMAT
        options = {
            "include_name": lambda name, kind, _: kind != "table" or name != VERSION_TABLE,
            "compare_type": True,
        }
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []


def test_every_format_goes_down_and_up_again(workbench: Workbench) -> None:
    """Down to nothing, and up to an empty workbench that works."""
    workbench.put([full()], now=NOON)
    downgrade_database(workbench._database, 0)
    assert tables(workbench) == {VERSION_TABLE}
    with workbench._database.reading() as connection:
        assert format_of(connection) == 0
    from findback.workbench.migration import upgrade_database

    assert upgrade_database(workbench._database) is None
    assert workbench.put([full()], now=NOON).new == 1


def test_an_older_workbench_is_brought_up_with_all_it_holds(
    open_again: Callable[..., Workbench], newer: Migrations
) -> None:
    """Rows that point at a rebuilt table stay; a file is copied first; back down everything is there again."""
    old = open_again()
    given = [full(), candidate("q")]
    old.put(given, now=NOON)
    old.close()
    new = open_again(migrations=newer)
    assert [one.candidate for one in new.list_candidates()] == [normalised(one) for one in given]
    with new._database.reading() as connection:
        assert connection.execute(text("SELECT count(mood) FROM findback_candidates")).scalar() == 0
    if new.path:
        assert new.backup == new.path.with_name(f"workbench.db.before-format-{FORMAT + 1}")
        assert stat.S_IMODE(new.backup.stat().st_mode) == 0o600
        with closing(sqlite3.connect(new.backup)) as copy:
            assert copy.execute("SELECT count(*) FROM findback_candidates").fetchone() == (2,)
            assert copy.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone() == (f"{FORMAT:04d}",)
    else:
        assert new.backup is None
    again = open_again(migrations=newer)
    assert again.backup is None
    if new.path:
        # A copy holds what a purge takes, so it goes too.
        new.purge(person_hmac=digest("nobody"), now=NOON)
        assert backups_of(new.path) == []
    loose = connect_database(new.path, foreign_keys=False) if new.path else new._database
    downgrade_database(loose, FORMAT, newer)
    loose.close()
    assert [one.candidate for one in open_again().list_candidates()] == [normalised(one) for one in given]


def test_a_workbench_from_before_models_wrote_keeps_what_it_holds(open_again: Callable[..., Workbench]) -> None:
    """Format 3 knew neither a root nor how a text was written: its candidates have none, and new ones can."""
    old = open_again(migrations=Migrations(format=3))
    values = {
        "key": digest("q"), "format": 1, "state": "new", "version": 1, "source": "slack",
        "container_hmac": digest("help"), "audience": "public", "query_line": -1, "origin": "mined",
        "stratum": "failure", "asked": "1", "merged": 0,
        "stored_at": NOON, "updated_at": NOON, "state_at": NOON,
    }  # fmt: skip
    with old._database.writing() as connection:
        columns = {one["name"] for one in inspect(connection).get_columns("findback_candidates")}
        assert not columns & {"root", "written"}
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        connection.execute(text(f"INSERT INTO findback_candidates ({names}) VALUES ({marks})"), values)
        connection.execute(
            text(
                "INSERT INTO findback_texts (candidate, place, position, text, raw_hmac)"
                " SELECT id, 'query', 0, 'where is it?', 'x' FROM findback_candidates"
            )
        )
    old.close()
    new = open_again()
    assert (new.backup is not None) == bool(new.path)
    new.put([described("g", "docs/a.md"), paraphrased("p", "c0000000001")], now=NOON)
    found = {one.candidate.key: one.candidate for one in new.list_candidates()}
    assert (found[digest("q")].query.text, found[digest("q")].root, found[digest("q")].written) == (
        "where is it?",
        None,
        None,
    )
    assert found[digest("g")] == normalised(described("g", "docs/a.md"))
    assert found[digest("p")].root == "c0000000001"
    downgrade_database(new._database, 3)
    with new._database.reading() as connection:
        columns = {one["name"] for one in inspect(connection).get_columns("findback_candidates")}
        assert not columns & {"root", "written"}
        assert connection.execute(text("SELECT count(*) FROM findback_candidates")).scalar() == 3


def test_a_newer_workbench_is_refused_untouched(open_again: Callable[..., Workbench], newer: Migrations) -> None:
    """The message names both formats and what to do; the newer findback still opens it."""
    open_again(migrations=newer).put([candidate("q")], now=NOON)
    with pytest.raises(RefusedError, match=f"its format is {FORMAT + 1}, this one knows {FORMAT}") as caught:
        open_again()
    assert "newer findback" in (caught.value.hint or "")
    assert len(open_again(migrations=newer).list_candidates()) == 1


def test_a_failed_migration_leaves_the_old_workbench(
    open_again: Callable[..., Workbench], newer: Migrations, tmp_path: Path
) -> None:
    """It stops halfway: nothing of it stays, and the old findback goes on."""
    open_again().put([candidate("q")], now=NOON)
    broken = NEXT.replace("def downgrade", "    op.execute('SELECT * FROM nowhere')\n\ndef downgrade")
    (tmp_path / "100% newer" / "next.py").write_text(broken)
    with pytest.raises(StorageError, match="cannot open the workbench"):
        open_again(migrations=newer)
    assert len(open_again().list_candidates()) == 1


def test_a_wrong_key_is_refused(open_again: Callable[..., Workbench]) -> None:
    """Whoever opens it with another key is told so, and what is there stays."""
    open_again().put([candidate("q")], now=NOON)
    with pytest.raises(SettingsError, match="another key") as caught:
        open_again(key_check="other")
    assert "FINDBACK_KEY" in (caught.value.hint or "")
    assert len(open_again().list_candidates()) == 1


def test_a_server_keeps_one_key_for_all(postgresql_url: str, sqlite_url: str) -> None:
    """Everyone gets the same key from the server; a file keeps none."""
    key = shared_key(postgresql_url)
    assert len(key) == 64
    assert shared_key(postgresql_url) == key
    for url in (sqlite_url, f"sqlite:///{sqlite_url}"):
        with pytest.raises(UsageError):
            shared_key(url)


def test_file_and_folder_are_private(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folder 0700; file, write-ahead log and its index 0600, whatever the umask; old files are closed too."""
    import os

    before = os.umask(0)
    try:
        path = Path(sqlite_url)
        with open_workbench(path, key_check="k") as workbench:
            workbench.put([candidate("q")], now=NOON)
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
            assert modes == dict.fromkeys(["workbench.db", "workbench.db-wal", "workbench.db-shm"], 0o600)
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            with workbench._database.reading() as connection:
                pragmas = ("journal_mode", "foreign_keys", "secure_delete", "temp_store", "synchronous")
                found = [connection.execute(text(f"PRAGMA {name}")).scalar() for name in pragmas]
            assert found == ["wal", 1, 1, 2, 2]
        path.chmod(0o644)
        open_workbench(path, key_check="k").close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_folder_others_may_enter_is_refused(tmp_path: Path) -> None:
    """Nothing is made there, and the folder is not changed behind its owner's back."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(RefusedError, match="others may enter"):
        open_workbench(folder / "workbench.db", key_check="k")
    assert list(folder.iterdir()) == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_files_of_other_programs_are_refused_untouched(tmp_path: Path) -> None:
    """Another program's database, and a file that is none, stay as they are."""
    tmp_path.chmod(0o700)
    theirs, noise = tmp_path / "theirs.db", tmp_path / "noise.db"
    with closing(sqlite3.connect(theirs)) as connection, connection:
        connection.execute("CREATE TABLE things (a)")
    with pytest.raises(RefusedError, match="another program"):
        open_workbench(theirs, key_check="k")
    with closing(sqlite3.connect(theirs)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("things",)]
    noise.write_bytes(b"not a database at all, but long enough to look at" * 100)
    content = noise.read_bytes()
    with pytest.raises(StorageError, match="no workbench, or is damaged"):
        open_workbench(noise, key_check="k")
    assert noise.read_bytes() == content


@pytest.mark.parametrize("url", ["mysql://a:geheim@h/d", "sqlite://", ":memory:", "ftp://geheim", "x y://geheim"])
def test_addresses_of_other_kinds_are_refused(url: str) -> None:
    """Without repeating what may be a password."""
    with pytest.raises(SettingsError) as caught:
        open_workbench(url, key_check="k")
    assert "geheim" not in str(caught.value)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    """One clear line."""
    with pytest.raises(StorageError, match="does not answer") as caught:
        open_workbench("postgresql://bo:geheim@127.0.0.1:1/nowhere", key_check="k", patience=0.5)
    assert "geheim" not in repr(caught.value)
    assert caught.value.__context__ is None


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL needs an extra; the hint is the line that installs it."""
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingLibraryError) as caught:
        open_workbench("postgresql://h/d", key_check="k")
    assert caught.value.hint == "pip install 'findback[postgres]'"
