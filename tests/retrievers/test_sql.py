"""SQLite and PostgreSQL as search systems: the recipes of the documentation, and bad days."""

import asyncio
import json
import sqlite3
import time
import uuid
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from builders.postgresql import make_database
from findback.errors import EngineError, MissingError, RefusedError, SettingsError
from findback.model.case import Context
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import ask_all, config_digest
from findback.retrievers.sql import SqlRetriever
from findback.retrievers.sql_address import find_database, level_of
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS
from retrievers.contract import CANARY, ask, documents, message_of, run_closing, search

FTS5 = """
    SELECT path AS id, bm25(docs) AS score, body AS passage
    FROM docs WHERE docs MATCH :any_word ORDER BY score, path LIMIT :k
"""
FULL_TEXT = """
    SELECT path AS id, ts_rank_cd(words, asked) AS score, body AS passage
    FROM docs, websearch_to_tsquery('english', :any_word) AS asked
    WHERE words @@ asked
    ORDER BY score DESC, path LIMIT :k
"""
NEAREST = """
    SELECT path AS id, 1 - (meaning <=> CAST(:vector AS vector)) AS score
    FROM docs ORDER BY meaning <=> CAST(:vector AS vector), path LIMIT :k
"""


@pytest.fixture
def fts5(tmp_path: Path) -> Path:
    """Return a folder with an FTS5 table of the small corpus."""
    connection = sqlite3.connect(tmp_path / "search.db")
    connection.execute("CREATE VIRTUAL TABLE docs USING fts5(path UNINDEXED, body, tokenize = 'porter')")
    connection.executemany("INSERT INTO docs VALUES (?, ?)", TEXTS.items())
    connection.commit()
    connection.close()
    return tmp_path


@pytest.fixture(scope="module")
def postgresql(server):
    """Return the address of a database on a real server, with the small corpus."""
    with make_database(server, "search") as address:
        engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.execute(text("CREATE EXTENSION vector"))
            connection.execute(text("CREATE TABLE docs (path TEXT, number UUID, body TEXT, meaning vector(384))"))
            for path, body in TEXTS.items():
                row = {"path": path, "number": uuid.uuid5(uuid.NAMESPACE_URL, path), "body": body}
                connection.execute(text("INSERT INTO docs VALUES (:path, :number, :body)"), row)
            connection.execute(
                text("ALTER TABLE docs ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED")
            )
        engine.dispose()
        yield address


def make(folder: Path, url="search.db", environment=None, **own):
    """Return a retriever as findback.toml would have it."""
    settings = {"statement": FTS5, "scores": "lower", **own}
    around = Surroundings(base=folder, environment=environment or {})
    return SqlRetriever.build("db", RetrieverSettings(kind="sql", url=url, **settings), around)


def make_pg(address: str, statement: str, surroundings: Surroundings | None = None, **own):
    """Return a retriever over the real server."""
    settings = RetrieverSettings(kind="sql", url="env:DATABASE_URL", statement=statement, **own)
    around = surroundings or Surroundings()
    return SqlRetriever.build("db", settings, Surroundings(models=around.models, environment={"DATABASE_URL": address}))


def test_fts5_finds_by_any_word(fts5: Path):
    """The recipe ranks the tracing page first; bm25() is negative, lower is better, and so it is declared."""
    retriever = make(fts5)
    answer = search(retriever, "How do I trace a LOST parcel?!", 10)
    assert [hit.document for hit in answer.hits][:2] == ["tracing.md", "claims.md"]
    assert answer.hits[0].passage == TEXTS["tracing.md"]
    assert answer.hits[0].score < answer.hits[1].score < 0
    assert retriever.score_direction == "lower"
    assert retriever.egress == "local"


def test_a_query_as_it_was_typed_is_told_apart_from_what_fts5_reads(fts5: Path):
    """MATCH :query takes punctuation for operators: one clear line, and the way out; no word of the query."""
    for typed in (f'{CANARY} "?', f"parcel-{CANARY}", f"{CANARY}: parcel", "what is it?"):
        retriever = make(fts5, statement=FTS5.replace(":any_word", ":query"))
        with pytest.raises(EngineError, match="FTS5 cannot read the query as it was typed") as caught:
            search(retriever, typed)
        assert ":any_word" in caught.value.hint
        assert CANARY not in message_of(caught.value)


def test_a_query_without_words_finds_nothing(fts5: Path):
    """Nothing is asked, and there is no more."""
    answer = search(make(fts5), "?!", 5)
    assert (answer.hits, answer.exhausted) == ((), True)


def test_existence_and_text_by_id(fts5: Path):
    """Statements of their own; without them it cannot be told."""
    own = {"exists": "SELECT 1 FROM docs WHERE path = :id", "fetch": "SELECT body FROM docs WHERE path = :id"}
    retriever, without = make(fts5, **own), make(fts5)

    async def work():
        there = [await retriever.exists(name) for name in ("claims.md", "gone.md")]
        audience = await retriever.exists("claims.md", Context(audience="staff"))
        return there, audience, await retriever.fetch("claims.md"), await without.exists("claims.md")

    assert run_closing(retriever, work) == ([True, False], None, TEXTS["claims.md"], None)


def test_a_context_becomes_parameters(fts5: Path):
    """Filters and audience where the statement takes them; a filter it does not take is not applicable."""
    statement = (
        "SELECT path AS id FROM docs WHERE docs MATCH :any_word AND path LIKE :filter_folder AND :audience = 'staff'"
    )
    retriever = make(fts5, statement=statement, scores="none")
    assert retriever.honours == {"filters", "audience"}
    contexts = [
        Context(filters={"folder": "zoll/%"}, audience="staff"),
        Context(filters={"folder": "zoll/%"}, audience="guest"),
        Context(filters={"folder": "%", "product": "x"}),
    ]
    queries = [(str(at), Query("Prüfung", context)) for at, context in enumerate(contexts)]
    run = run_closing(retriever, lambda: ask_all(retriever, queries, depth=5)).run
    assert [documents(run, at) for at in range(2)] == [["zoll/ausfuhr-prüfung.md"], []]
    assert run.reason_of(2) == "cannot honour filters product"


def test_rows_are_bounded_without_a_limit_of_the_statement(fts5: Path):
    """A million rows are offered; five are read."""
    statement = """
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000)
        SELECT n AS id FROM numbers WHERE :query = 'x'
    """
    answer = search(make(fts5, statement=statement, scores="none"), "x", 5)
    assert ([hit.document for hit in answer.hits], answer.exhausted) == (["1", "2", "3", "4", "5"], False)


def test_a_search_that_takes_too_long_is_stopped(fts5: Path):
    """An endless statement ends at the limit, and the next question is answered."""
    statement = """
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
        SELECT max(n) AS id FROM numbers WHERE :query = 'slow' UNION ALL SELECT 7 WHERE :query = 'fine' LIMIT :k
    """
    retriever = make(
        fts5, statement=statement.replace("FROM numbers WHERE :query", "FROM numbers WHERE :query"), timeout=0.5
    )
    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"gave no rows within 0\.5 s"):
        search(retriever, "slow")
    assert time.monotonic() - begun < 5


def test_a_slow_search_does_not_stop_the_loop(fts5: Path):
    """While a statement runs for half a second, the loop goes on."""
    statement = """
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
        SELECT max(n) AS id FROM numbers WHERE :query = 'slow'
    """
    retriever, ticks = make(fts5, statement=statement, timeout=0.5), []

    async def work():
        searching = asyncio.create_task(retriever.search(Query("slow"), 1))
        while not searching.done():
            ticks.append(None)
            await asyncio.sleep(0.01)
        with pytest.raises(EngineError, match="gave no rows"):
            await searching

    run_closing(retriever, work)
    assert len(ticks) > 3


@pytest.mark.parametrize(
    ("own", "error", "said"),
    [
        ({"statement": "DELETE FROM docs WHERE path = :query"}, SettingsError, "is no SELECT"),
        ({"statement": "SELECT path AS id FROM docs"}, SettingsError, "the query is not in it"),
        ({"statement": "SELECT path AS id FROM docs WHERE path = :querry"}, SettingsError, ":querry"),
        ({"statement": "SELECT path AS id FROM docs WHERE path = :vector"}, SettingsError, "model: goes together"),
        ({"exists": "SELECT 1 WHERE :query = 1"}, SettingsError, ":query"),
        ({"setup": ["DROP TABLE docs"]}, SettingsError, "setup"),
        ({"url": "gone.db"}, MissingError, "there is no file"),
        ({"url": "env:NOT_SET"}, SettingsError, "the environment variable NOT_SET is not set"),
        ({"url": "postgresql://ann:hunter" + "2@db.example.org/x"}, SettingsError, "a secret is named"),
        ({"url": "nonsense://x"}, SettingsError, "SQLAlchemy knows no nonsense"),
    ],
)
def test_settings_that_cannot_work_are_refused(fts5: Path, own, error, said):
    """Each is one line that names the setting, without secrets."""
    with pytest.raises(error, match=said) as caught:
        search(make(fts5, **own), "x")
    assert "hunter" not in message_of(caught.value)


@pytest.mark.parametrize(
    ("statement", "error", "said"),
    [
        ("SELECT path AS id FROM nowhere WHERE path = :query", SettingsError, "no such table: nowhere"),
        ("SELECT pfad AS id FROM docs WHERE path = :query", SettingsError, "no such column: pfad"),
        ("SELECT FROM WHERE :query", SettingsError, "syntax error"),
        ("SELECT body FROM docs WHERE docs MATCH :any_word", EngineError, "without an id"),
        ("SELECT length(body) FROM docs WHERE docs MATCH :any_word", SettingsError, "no column of a known name"),
        ("WITH x AS (SELECT 1) INSERT INTO docs SELECT :query, 'x' FROM x", RefusedError, "does more than read"),
    ],
)
def test_statements_the_database_refuses_are_one_clear_line(fts5: Path, statement, error, said):
    """Names of tables and columns are shown, nothing of the question."""
    if "FROM docs WHERE docs MATCH" in statement and "length" not in statement:
        statement = statement.replace("SELECT body", "SELECT body AS passage")
    with pytest.raises(error, match=said) as caught:
        search(make(fts5, statement=statement, scores="none"), f"{CANARY} parcel")
    assert CANARY not in message_of(caught.value)


def test_a_file_that_is_no_database_is_one_clear_line(tmp_path: Path):
    """Its name and what it should be."""
    (tmp_path / "search.db").write_text("not a database at all, but text " * 40)
    with pytest.raises(EngineError, match=r"search\.db failed"):
        search(make(tmp_path), "x")


def test_full_text_on_postgresql(postgresql: str):
    """The recipe ranks by ts_rank_cd; words of the query are alternatives, not all needed."""
    retriever = make_pg(postgresql, FULL_TEXT)
    run = ask(retriever, ["How do I trace a lost parcel?", "opening hours of the gate", "?"], depth=3).run
    assert documents(run, 0) == ["tracing.md", "claims.md"]
    assert documents(run, 1)[0] == "gate hours.md"
    assert documents(run, 2) == []
    assert retriever.egress == "local"


def test_pgvector_ranks_as_the_embedded_cosine_does(postgresql: str, surroundings, models: Path):
    """The same model and texts: the order of kind `dense`, and its scores to five decimals."""
    from dataclasses import replace

    from findback.retrievers.build import build_retriever
    from findback.retrievers.embedder import Embedder

    around = replace(surroundings, models=models)
    embedder = Embedder(models / "minilm-l6")
    engine = create_engine(make_url(postgresql).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        for path, body in TEXTS.items():
            row = {"path": path, "vector": str(embedder.embed(body).text.tolist())}
            connection.execute(text("UPDATE docs SET meaning = CAST(:vector AS vector) WHERE path = :path"), row)
        connection.execute(text("CREATE INDEX ON docs USING hnsw (meaning vector_cosine_ops)"))
    engine.dispose()
    from retrievers.builders import SmallPassages

    whole = replace(around, passages=SmallPassages(TEXTS, cut=False))
    questions = ["where is my package", "when does it open", "customs papers"]
    nearest = make_pg(postgresql, NEAREST, around, model="minilm-l6", setup=["SET hnsw.ef_search = 100"])
    ours = ask(nearest, questions, depth=4).run
    theirs = ask(build_retriever("dense", RetrieverSettings(kind="dense"), whole), questions, depth=4).run
    assert [documents(ours, at) for at in range(3)] == [documents(theirs, at) for at in range(3)]
    assert ours.scores.tolist() == pytest.approx(theirs.scores.tolist(), abs=1e-5)
    other = make_pg(postgresql, NEAREST, around, model="minilm-l6", setup=["SET hnsw.ef_search = 40"])
    assert config_digest(other) != config_digest(nearest)


def test_ids_that_are_uuids_are_text(postgresql: str):
    """The database's own type comes through as it is written."""
    statement = "SELECT number AS id FROM docs WHERE words @@ websearch_to_tsquery('english', :query) LIMIT :k"
    (hit,) = search(make_pg(postgresql, statement, scores="none"), "claim", 3).hits
    assert hit.document == str(uuid.uuid5(uuid.NAMESPACE_URL, "claims.md"))


@pytest.mark.parametrize(
    ("statement", "error", "said"),
    [
        (
            "WITH gone AS (DELETE FROM docs RETURNING path) SELECT path AS id FROM gone, (SELECT :query) q LIMIT :k",
            RefusedError,
            "does more than read",
        ),
        (
            "SELECT path AS id FROM nowhere WHERE path = :query LIMIT :k",
            SettingsError,
            '"nowhere" does not exist',
        ),
        ("SELECT CAST(:query AS INTEGER) AS id LIMIT :k", EngineError, "InvalidTextRepresentation 22P02"),
        (
            "SELECT path AS id FROM docs, pg_sleep(5) WHERE path <> :query LIMIT :k",
            EngineError,
            "no rows within 0.5",
        ),
        ("SELECT path AS id FROM docs, pg_sleep(5) WHERE path <> :query", EngineError, "no rows within 0.5"),
    ],
)
def test_what_postgresql_refuses_is_one_clear_line(postgresql: str, statement, error, said):
    """Writing, a missing table, a value of another type, and the time; the question is in none of them."""
    with pytest.raises(error, match=said) as caught:
        search(make_pg(postgresql, statement, timeout=0.5), CANARY)
    assert CANARY not in message_of(caught.value)
    engine = create_engine(make_url(postgresql).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM docs")).scalar() == len(TEXTS)
    engine.dispose()


def test_a_dropped_connection_is_opened_again(postgresql: str):
    """The server ends the connection between two questions; the second is answered all the same."""
    retriever = make_pg(postgresql, FULL_TEXT, concurrency=1)
    engine = create_engine(make_url(postgresql).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")

    async def work():
        first = await retriever.search(Query("lost parcel"), 3)
        with engine.connect() as connection:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'findback'"
            assert connection.execute(text(ended)).scalar() is True
        return first, await retriever.search(Query("lost parcel"), 3)

    first, second = run_closing(retriever, work)
    engine.dispose()
    assert first.hits == second.hits
    assert first.hits


def test_wrong_credentials_and_a_server_that_is_away_are_one_clear_line(postgresql: str):
    """No such user or database, and nobody listening; the password is not shown."""
    secret = "hunter" + "2"
    wrong = make_url(postgresql).set(database="nowhere", password=secret).render_as_string(hide_password=False)
    with pytest.raises(EngineError, match="refuses user, password or database") as caught:
        search(make_pg(wrong, FULL_TEXT), "x")
    assert secret not in message_of(caught.value)
    away = f"postgresql://ann:{secret}@127.0.0.1:9/docs"
    with pytest.raises(EngineError, match=r"postgresql 127\.0\.0\.1/docs does not answer") as caught:
        search(make_pg(away, FULL_TEXT), "x")
    assert secret not in message_of(caught.value)


def test_secrets_are_in_neither_settings_nor_trust():
    """The variable and every statement are agreed to; settings name the database without user and password."""
    secret = "hunter" + "2"
    address = f"postgresql://ann:{secret}@db.example.org/docs"
    retriever = make_pg(address, FULL_TEXT, setup=["SET jit = off"])
    dumped = json.dumps(dict(retriever.settings()), default=str)
    assert secret not in dumped
    assert "ann" not in dumped
    settings = RetrieverSettings(
        kind="sql", url="env:DATABASE_URL", statement="SELECT :query AS id", setup=["SET jit = off"]
    )
    assert SqlRetriever.trusts("db", settings) == (
        Trusted("variable", "$DATABASE_URL, the database that db asks"),
        Trusted("query", "SELECT :query AS id, for db"),
        Trusted("query", "SET jit = off, for db"),
    )
    assert retriever.egress == "external"


@pytest.mark.parametrize(
    ("address", "level"),
    [
        ("postgresql:///docs?host=/tmp/socket", "local"),
        ("postgresql://ann@localhost/docs", "local"),
        ("postgresql://ann@10.0.0.7/docs", "internal"),
        ("postgresql://db.example.org/docs", "external"),
        ("postgresql:///docs?host=10.0.0.7,db.example.org", "external"),
        ("mssql+pyodbc:///?odbc_connect=x", "external"),
        ("mysql+pymysql://ann@127.0.0.1/docs", "local"),
    ],
)
def test_egress_is_told_by_the_host(address, level, tmp_path: Path):
    """The furthest of several hosts counts; what hides its host counts as external."""
    assert level_of(find_database("db", "env:A", {"A": address}, tmp_path)) == level


def test_an_address_that_could_undo_that_it_is_only_read_is_refused(tmp_path: Path):
    """`options` and `service` may set anything, and hide the host."""
    for extra in ("options=-c%20default_transaction_read_only=off", "service=other"):
        with pytest.raises(SettingsError, match="may not say"):
            find_database("db", "env:A", {"A": f"postgresql://db.example.org/docs?{extra}"}, tmp_path)
