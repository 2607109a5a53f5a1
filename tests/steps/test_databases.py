"""Mining from a database that `[sources]` names."""

import random
import sqlite3
import string
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url

from builders.desk import (
    CALL_MAPPING,
    EVENT_MAPPING,
    MESSAGE_MAPPING,
    SITE,
    TICKET_MAPPING,
    write_duckdb,
    write_postgresql,
    write_sqlite,
)
from builders.portal import write_portal
from findback.errors import (
    EngineError,
    FindbackError,
    MissingError,
    RefusedError,
    SettingsError,
    UntrustedError,
    UsageError,
)
from findback.steps.candidates import CandidatesRequest, Row, list_candidates
from findback.steps.configuration import show_configuration
from findback.steps.doctor import CheckItem, DoctorRequest, doctor
from findback.steps.mine import Mined, MineRequest, mine
from findback.steps.opening import trusted_items
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace

Open = Callable[..., Workspace]


@pytest.fixture
def open_with(tmp_path: Path) -> Open:
    """Open a portal with one more table in its settings, and with variables."""

    def open_one(settings: str, **environment: str) -> Workspace:
        root = write_portal(
            tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n[sources.desk]\n{settings}"
        )
        return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")} | environment)

    return open_one


@dataclass
class Desk:
    """A database, as settings name it."""

    kind: str
    named: str
    environment: dict[str, str]

    def run(self, statement: str) -> None:
        """Change something in it, as its own program would."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.named)) as connection:
                connection.execute(statement)
                connection.commit()
            return
        engine = create_engine(make_url(self.environment["DESK"]).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()


def make_desk(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    if kind == "postgresql":
        return Desk(kind, "env:DESK", {"DESK": write_postgresql(request.getfixturevalue("postgresql_url"))})
    write = write_sqlite if kind == "sqlite" else write_duckdb
    return Desk(kind, str(write(tmp_path / f"desk.{kind}")), {})


@pytest.fixture(params=["sqlite", "postgresql"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    """Give a database whose rows are read."""
    return make_desk(request.param, tmp_path, request)


@pytest.fixture(params=["sqlite", "postgresql", "duckdb"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    """Give a database with a search log, which the last two answer in place."""
    return make_desk(request.param, tmp_path, request)


def trusting(open_with: Open, settings: str, **environment: str) -> Workspace:
    """Open a workspace whose databases somebody agreed to."""
    there = open_with(settings, **environment)
    return open_with(settings, **environment, FINDBACK_TRUST=digest_of(there.root, trusted_items(there)))


def rows(workspace: Workspace) -> dict[str, Row]:
    return {row.query: row for row in list_candidates(workspace, CandidatesRequest()).rows}


def run(workspace: Workspace, **more: object) -> Mined:
    return mine(workspace, MineRequest.model_validate(more))


def desk_of(workspace: Workspace) -> CheckItem:
    return next(one for one in doctor(workspace, DoctorRequest()).items if one.what == "[sources.desk]")


def messages(database: str, query: str = "SELECT * FROM messages ORDER BY at", more: str = "") -> str:
    return (
        f"database = '{database}'\nkind = 'messages'\nquery = '''{query}'''\n{more}[sources.desk.mapping]\n"
        f"{MESSAGE_MAPPING}"
    )


def tickets(database: str) -> str:
    return f"database = '{database}'\nkind = 'tickets'\ntable = 'tickets'\n[sources.desk.mapping]\n{TICKET_MAPPING}"


def calls(database: str) -> str:
    return f"database = '{database}'\nkind = 'retrieval-calls'\ntable = 'calls'\n[sources.desk.mapping]\n{CALL_MAPPING}"


def searches(database: str, query: str = "SELECT * FROM events") -> str:
    return (
        f"database = '{database}'\nkind = 'searches'\nquery = '''{query}'''\n"
        f"[sources.desk.actions]\nsearch = 'search'\nopen = 'click'\n[sources.desk.mapping]\n{EVENT_MAPPING}"
    )


def test_messages_of_a_database_become_candidates(desk: Desk, open_with: Open) -> None:
    """Rows of a query are mined as those of a file: threads, links, audiences; a row without a text says nothing."""
    workspace = trusting(open_with, messages(desk.named), **desk.environment)
    mined = run(workspace)
    assert mined.exports[0].file == "query of [sources.desk]"
    assert mined.exports[0].skipped["messages in private channels"] == 1
    found = rows(workspace)
    assert set(found) == {"cant find where to get a new card, lost mine", "how do i get in from home?"}
    assert found["how do i get in from home?"].documents == ("howto/vpn.md",)
    assert run(workspace).stored == {"unchanged": 2}


def test_tickets_and_calls_of_a_database(desk: Desk, open_with: Open) -> None:
    """A closed ticket with a link, and three different searches for one need, are found in rows as in files."""
    workspace = trusting(open_with, tickets(desk.named), **desk.environment)
    run(workspace)
    assert rows(workspace)["lost my card, where do i report it?"].documents == ("howto/badge.md",)
    workspace = trusting(open_with, calls(desk.named), **desk.environment)
    mined = run(workspace)
    assert mined.exports[0].rules["reformulation"] == 1
    assert "what do i do about a lost card" in rows(workspace)


def test_searches_of_a_database(log: Desk, open_with: Open) -> None:
    """The same searches fail wherever the log is: rows of SQLite are loaded, the others are asked in place."""
    workspace = trusting(open_with, searches(log.named), **log.environment)
    mined = run(workspace)
    in_place = any("read in place" in note for note in mined.exports[0].notes)
    assert in_place == (log.kind != "sqlite")
    assert mined.exports[0].rules == {"zero-result": 1, "no-click": 1}
    assert set(rows(workspace)) == {"tunnel set up", "business class"}
    assert desk_of(workspace).state == "ok"


def test_nothing_is_made_in_the_database(open_with: Open, postgresql_url: str) -> None:
    """After every kind was mined and checked, the server has the tables it had, and nothing was written to them."""
    address = write_postgresql(postgresql_url)
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    written = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables WHERE schemaname <> 'pg_toast'"

    def state() -> tuple[set[str], object]:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT pg_stat_clear_snapshot()")
            return set(inspect(connection).get_table_names()), connection.exec_driver_sql(written).scalar()

    before = state()
    for settings in (messages("env:DESK"), tickets("env:DESK"), calls("env:DESK"), searches("env:DESK")):
        workspace = trusting(open_with, settings, DESK=address)
        assert desk_of(workspace).state == "ok"
        run(workspace)
    assert state() == before
    engine.dispose()


def test_since_goes_on_where_the_last_run_stopped(desk: Desk, open_with: Open) -> None:
    """With `:since` in its query, a second run asks only for rows as new as the newest of the first."""
    query = "SELECT * FROM messages WHERE at >= :since ORDER BY at"
    workspace = trusting(open_with, messages(desk.named, query), **desk.environment)
    assert run(workspace).candidates == 2
    desk.run(
        "INSERT INTO messages VALUES "
        "('m8', 'u3', '2026-09-23 10:00:00', 'where is the travel policy?', 'help-desk', 't4', 'public'), "
        f"('m9', 'u2', '2026-09-23 10:01:00', '{SITE}/policies/travel', 'help-desk', 't4', 'public')"
    )
    assert run(workspace).stored == {"new": 1}
    assert len(rows(workspace)) == 3


def test_since_in_place(log: Desk, open_with: Open) -> None:
    """A search log's query gets the time of the newest search as well, wherever its rules run."""
    query = "SELECT * FROM events WHERE seen >= :since"
    workspace = trusting(open_with, searches(log.named, query), **log.environment)
    assert run(workspace).exports[0].counts["search_rows"] == 3
    assert run(workspace).exports[0].counts["search_rows"] == 1


def test_an_untrusted_database_is_never_asked(open_with: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has not agreed is shown host, database, variable and query, nothing is connected, and doctor only warns."""
    password = "".join(random.choices(string.ascii_letters, k=20))
    settings = messages("env:DESK")
    workspace = open_with(settings, DESK=f"postgresql://reader:{password}@db.example.org:5433/support")
    monkeypatch.setattr("findback.sources.database.create_engine", _never)
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(UntrustedError) as refused:
        mine(workspace, MineRequest(), ask=refuse)
    for shown in ("db.example.org:5433", "postgresql support", "variable  DESK", "SELECT * FROM messages"):
        assert shown in asked[0]
    assert password not in asked[0] + str(refused.value)
    item = desk_of(workspace)
    assert item.state == "warning"
    assert "FINDBACK_TRUST=" in (item.todo or "")
    values = " ".join(one.value for one in show_configuration(workspace).settings)
    assert "env:DESK" in values
    assert password not in values


def _never(*_: object, **__: object) -> None:
    raise AssertionError("connected")


def test_another_host_or_query_is_asked_about_again(open_with: Open) -> None:
    """Trust is for one host, database and query: changing the variable's value or the query asks again."""
    there = open_with(messages("env:DESK"), DESK="postgresql://a@db.example.org/support")
    digests = {
        digest_of(one.root, trusted_items(one))
        for one in (
            there,
            open_with(messages("env:DESK"), DESK="postgresql://a@db2.example.org/support"),
            open_with(messages("env:DESK"), DESK="postgresql://a@db.example.org/payroll"),
            open_with(messages("env:DESK", "SELECT * FROM pay"), DESK="postgresql://a@db.example.org/support"),
            open_with(messages("env:DESK")),
        )
    }
    assert len(digests) == 5
    same = open_with(messages("env:DESK"), DESK="postgresql://b:secret@db.example.org/support")
    assert digest_of(same.root, trusted_items(same)) in digests


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("kind = 'messages'\n", "exactly one of path and database"),
        ("path = 'a'\ndatabase = 'b'\nquery = 'SELECT 1'\nkind = 'messages'\n", "exactly one of path and database"),
        ("path = 'a'\nquery = 'SELECT 1'\n", "belong to a database"),
        ("database = 'b'\nkind = 'messages'\n", "exactly one of query and table"),
        ("database = 'b'\nquery = 'SELECT 1'\n", "say the kind"),
        ("database = 'postgresql://me:hunter2@h/d'\nquery = 'SELECT 1'\nkind = 'messages'\n", "env:NAME"),
    ],
)
def test_settings_that_make_no_sense(settings: str, said: str, open_with: Open) -> None:
    """A source is one path or one database with one query or table, and an address never stands in the settings."""
    with pytest.raises(SettingsError, match=said) as wrong:
        open_with(settings)
    assert "hunter2" not in str(wrong.value)


def test_only_readers_of_rows(open_with: Open, tmp_path: Path) -> None:
    """A reader of a program's own exports cannot read a database, and the kinds that can are named."""
    workspace = open_with(f"database = '{write_sqlite(tmp_path / 'desk.db')}'\nkind = 'slack'\ntable = 'messages'\n")
    with pytest.raises(UsageError) as wrong:
        run(workspace)
    assert {"messages", "tickets", "searches", "retrieval-calls"} <= set(
        (wrong.value.hint or "").replace(",", "").split()
    )


def test_wrong_columns_are_named_with_those_there_are(desk: Desk, open_with: Open) -> None:
    """A mapping that names a column the query has not is refused, by mine and doctor, with the columns it has."""
    settings = messages(desk.named, "SELECT id, author, at, body AS words, room, thread FROM messages")
    workspace = trusting(open_with, settings, **desk.environment)
    with pytest.raises(SettingsError, match=r"no column for text \(body\)") as wrong:
        run(workspace)
    assert "it has id, author, at, words, room, thread" in (wrong.value.hint or "")
    item = desk_of(workspace)
    assert item.state == "fault"
    assert "text (body)" in item.found
    workspace = trusting(open_with, searches(desk.named, "SELECT seen, term AS typed FROM events"), **desk.environment)
    with pytest.raises((SettingsError, UsageError), match="who"):
        run(workspace)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM events",
        "WITH gone AS (SELECT 1) DELETE FROM events",
        "SELECT 1; DELETE FROM events",
        "SELECT 1) AS a; COMMIT; DELETE FROM events; SELECT * FROM (SELECT 2",
        "CREATE TABLE made AS SELECT 1",
    ],
)
def test_a_query_that_writes_is_refused(log: Desk, query: str, open_with: Open) -> None:
    """No statement but one that reads gets anywhere, through rows or in place, and nothing is lost."""
    refused = []
    for settings in (searches(log.named, query), messages(log.named, query)):
        with pytest.raises(FindbackError) as error:
            run(trusting(open_with, settings, **log.environment))
        refused.append(type(error.value))
    assert set(refused) <= {RefusedError, SettingsError}
    assert run(trusting(open_with, searches(log.named), **log.environment)).candidates == 2


def test_a_function_that_writes_is_refused(open_with: Open, postgresql_url: str) -> None:
    """What a function would write is refused by the server, as the transaction only reads."""
    address = write_postgresql(postgresql_url)
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION sneak() RETURNS text LANGUAGE sql AS $$ DELETE FROM messages RETURNING 'a'::text $$"
        )
    workspace = trusting(open_with, messages("env:DESK", "SELECT m.*, sneak() FROM messages m"), DESK=address)
    with pytest.raises(RefusedError, match="more than read"):
        run(workspace)
    writable = "set_config('default_transaction_read_only', 'off', false)"
    for term in ("sneak()", f"{writable} || sneak()", f"CASE WHEN {writable} = 'off' THEN sneak() END"):
        settings = searches("env:DESK", f"SELECT seen, who, act, {term} AS term, hits, doc FROM events e")
        with pytest.raises(EngineError):
            run(trusting(open_with, settings, DESK=address))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM messages").scalar() == 7
    engine.dispose()


@pytest.mark.parametrize("kind", ["rows", "in place"])
def test_a_query_that_hangs_is_given_up(kind: str, open_with: Open, postgresql_url: str) -> None:
    """A server that gives nothing within the timeout is left, and the message says which setting that is."""
    address = write_postgresql(postgresql_url)
    if kind == "rows":
        settings = messages("env:DESK", "SELECT m.*, pg_sleep(20) FROM messages m", "timeout = 1\n")
    else:
        slow = "SELECT seen, who, act, term || pg_sleep(20)::text AS term, hits, doc FROM events"
        settings = searches("env:DESK", slow).replace("kind =", "timeout = 1\nkind =", 1)
    with pytest.raises(EngineError) as late:
        run(trusting(open_with, settings, DESK=address))
    assert "timeout" in (late.value.hint or "")


def test_errors_quote_nothing(open_with: Open, postgresql_url: str, caplog: pytest.LogCaptureFixture) -> None:
    """No value of a row, no password and no parameter is in any error, its causes, or a log at its most talkative."""
    caplog.set_level("DEBUG")
    secret = "".join(random.choices(string.ascii_letters, k=20))
    address = write_postgresql(postgresql_url)
    failing = [
        (messages("env:DESK", f"SELECT CAST('{secret}' || body AS int) AS body, * FROM messages"), address),
        (
            searches(
                "env:DESK", f"SELECT seen, who, act, doc, term, CAST('{secret}' || who AS int) AS hits FROM events"
            ),
            address,
        ),
        (messages("env:DESK"), f"postgresql://reader:{secret}@127.0.0.1:9/support"),
        (searches("env:DESK"), f"postgresql://reader:{secret}@127.0.0.1:9/support"),
        (messages("env:DESK"), f"host=127.0.0.1 password={secret}"),
        (messages("env:DESK"), f"postgresql://reader@127.0.0.1:9/support?password={secret}"),
    ]
    for settings, named in failing:
        with pytest.raises(FindbackError) as error:
            run(trusting(open_with, settings, DESK=named))
        seen: BaseException | None = error.value
        while seen is not None:
            assert secret not in f"{seen} {getattr(seen, 'hint', '')} {seen.args}"
            seen = seen.__cause__ or seen.__context__
        assert secret not in desk_of(trusting(open_with, settings, DESK=named)).model_dump_json()
    assert secret not in caplog.text


def test_a_duckdb_file_reaches_nothing_else(open_with: Open, tmp_path: Path) -> None:
    """A query of a DuckDB file cannot read other files of the machine."""
    named = str(write_duckdb(tmp_path / "desk.duckdb"))
    (tmp_path / "other.csv").write_text("time,query\n2026-01-01,secret\n")
    with pytest.raises(EngineError):
        run(open_with(searches(named, f"SELECT * FROM read_csv('{tmp_path}/other.csv')")))


def test_a_mapping_in_a_file_serves_exports_too(open_with: Open, tmp_path: Path) -> None:
    """The mapping may be a TOML file, of messages in a database and of those in a file alike."""
    rows_of = "author,at,body,room,audience\nu1,2026-09-22 11:00:00,how do i get in from home?,help-desk,public\n"
    (tmp_path / "chat.csv").write_text(rows_of)
    (tmp_path / "mapping.toml").write_text(MESSAGE_MAPPING)
    given = f"path = '{tmp_path}/chat.csv'\nkind = 'messages'\nmapping = '{tmp_path}/mapping.toml'\n"
    assert run(open_with(given)).exports[0].counts == {"threads": 1}
    with pytest.raises(MissingError, match="mapping"):
        run(open_with(given.replace("mapping.toml", "gone.toml")))
    assert desk_of(open_with(given)).state == "ok"
    assert desk_of(open_with(given.replace("chat.csv", "gone.csv"))).state == "fault"
