"""Documents from a query."""

import json
import sqlite3
from pathlib import Path

import pytest

from builders.postgresql import run_postgresql
from findback.corpus.open import open_corpus
from findback.errors import DataError, SettingsError, UntrustedError
from findback.model.settings import CorpusSettings
from findback.steps.opening import SetRequest, open_documents, trusted_items
from findback.trust import digest_of
from findback.workspace import open_workspace

QUERY = (
    "SELECT slug AS id, heading AS title, body AS text, link AS url, changed AS updated, space FROM pages ORDER BY 1"
)
ROWS = [
    (
        "howto/badge",
        "Lost badge",
        "Report it at the desk; 100 % of them.",
        "https://wiki.example.org/badge",
        "2026-01-02",
    ),
    ("howto/vpn", None, "Use the client.", None, None),
]


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """An SQLite file with two pages."""
    path = tmp_path / "wiki.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE pages (slug, heading, body, link, changed, space DEFAULT 'IT')")
        connection.executemany("INSERT INTO pages (slug, heading, body, link, changed) VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return path


def test_rows_are_documents(wiki: Path) -> None:
    """Each row is a document by its columns; what is none of the known columns is metadata."""
    corpus = open_corpus(CorpusSettings(path="wiki.db", query=QUERY), base=wiki.parent)
    assert [document.id for document in corpus] == ["howto/badge", "howto/vpn"]
    page = corpus.get("howto/badge")
    assert page is not None
    assert (page.title, page.url, page.metadata) == ("Lost badge", "https://wiki.example.org/badge", {"space": "IT"})
    assert page.modified is not None
    assert corpus.resolve("https://wiki.example.org/badge/") == "howto/badge"
    assert corpus.kind == "sql"


def test_an_sqlite_file_needs_a_query(wiki: Path) -> None:
    """A database is recognised by its first bytes, and asked for the query it needs."""
    with pytest.raises(SettingsError, match="needs a query"):
        len(open_corpus(CorpusSettings(path="wiki.db"), base=wiki.parent))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT absent FROM pages", "no such column: absent"),
        ("DELETE FROM pages RETURNING slug", "readonly database"),
        ("PRAGMA query_only = OFF", "gives no rows"),
        ("ATTACH 'other.db' AS other", "gives no rows|unable to open"),
        ("SELECT slug AS id FROM pages", "has no column 'text'"),
    ],
)
def test_queries_that_are_refused(wiki: Path, query: str, said: str) -> None:
    """What is wrong with a query is one clear error, nothing is changed, and no file appears."""
    before = wiki.read_bytes()
    with pytest.raises(DataError, match=said):
        len(open_corpus(CorpusSettings(path="wiki.db", query=query), base=wiki.parent))
    assert wiki.read_bytes() == before
    assert sorted(path.name for path in wiki.parent.iterdir()) == ["wiki.db"]


def test_bad_rows_have_numbers(wiki: Path) -> None:
    """A row without an id is a fault, counted from 1; the others can be kept."""
    query = "SELECT nullif(slug, 'howto/vpn') AS id, body AS text FROM pages"
    with pytest.raises(DataError) as error:
        len(open_corpus(CorpusSettings(path="wiki.db", query=query), base=wiki.parent))
    assert [(fault.path, fault.line) for fault in error.value.faults] == [("wiki.db", 2)]
    assert len(open_corpus(CorpusSettings(path="wiki.db", query=query), base=wiki.parent, skip_bad=True)) == 1


@pytest.fixture(scope="module")
def server():
    """A real PostgreSQL."""
    with run_postgresql() as started:
        yield started


def test_documents_of_a_server(server, tmp_path: Path) -> None:
    """Rows of PostgreSQL are streamed over a connection that only reads, and errors hold no values."""
    with server.admin.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE pages (id uuid, body text, size numeric, tags jsonb)")
        connection.exec_driver_sql(
            "INSERT INTO pages SELECT md5(n::text)::uuid, 'page ' || n, n / 2.0, '[]' FROM generate_series(1, 2500) n"
        )
    address = server.url.set(drivername="postgresql").render_as_string(hide_password=False)
    query = "SELECT id, body AS text, size FROM pages WHERE body LIKE 'page %'"

    def read(query: str) -> int:
        settings = CorpusSettings(path="env:WIKI", query=query)
        return len(open_corpus(settings, base=tmp_path, environment={"WIKI": address}))

    assert read(query) == 2500
    with pytest.raises(DataError, match='column "nowhere" does not exist'):
        read("SELECT nowhere FROM pages")
    with pytest.raises(DataError, match="refused the query"):
        read("DELETE FROM pages RETURNING id, body AS text")
    with pytest.raises(DataError) as error:
        read("SELECT body::int AS id, body AS text FROM pages")
    assert "page 1" not in str(error.value)
    assert read(query) == 2500


@pytest.mark.parametrize("address", ["", "nonsense", "sqlite:///x.db", "postgresql://h/d?options=-c"])
def test_addresses_that_are_refused(tmp_path: Path, address: str) -> None:
    """A variable that is not set, or holds no server's address, is an error that never shows what it holds."""
    settings = CorpusSettings(path="env:WIKI", query="SELECT 1")
    with pytest.raises(SettingsError) as error:
        len(open_corpus(settings, base=tmp_path, environment={"WIKI": address}))
    assert "nonsense" not in f"{error.value} {error.value.hint}"


def test_a_server_is_asked_only_when_trusted(tmp_path: Path) -> None:
    """A workspace that sends a secret to a database is refused until somebody agreed to host, variable and query."""
    toml = '[corpus]\npath = "env:WIKI"\nquery = "SELECT id, text FROM pages"\n'
    (tmp_path / "findback.toml").write_text(f'format = 1\nname = "w"\n{toml}', "utf-8")
    environment = {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "WIKI": "postgresql://bo:secret@127.0.0.1:1/wiki",
    }
    workspace = open_workspace(tmp_path, environment=environment)
    with pytest.raises(UntrustedError) as error:
        open_documents(workspace, SetRequest())
    said = f"{error.value} {error.value.hint}"
    for piece in ("WIKI", "127.0.0.1/wiki", "SELECT id, text FROM pages"):
        assert piece in said
    assert "secret" not in said
    trusted = digest_of(workspace.root, trusted_items(workspace))
    agreed = open_workspace(tmp_path, environment=environment | {"FINDBACK_TRUST": trusted})
    with pytest.raises(DataError, match="the database refused the query: OperationalError"):
        open_documents(agreed, SetRequest())


def test_articles_of_zendesk_guide(tmp_path: Path) -> None:
    """Published articles of a saved answer are documents: number as id, address, title, text without markup."""
    article = {
        "id": 360001,
        "title": "Lost badge",
        "body": "<p>Report it &amp; wait.</p><script>x()</script>",
        "html_url": "https://acme.zendesk.com/hc/en-us/articles/360001-Lost-badge",
        "url": "https://acme.zendesk.com/api/v2/help_center/articles/360001.json",
        "locale": "en-us",
        "section_id": 7,
        "draft": False,
        "updated_at": "2026-01-02T00:00:00Z",
    }
    draft = article | {"id": 2, "draft": True}
    page = {"articles": [article, draft], "next_page": None, "count": 2}
    (tmp_path / "articles.json").write_text(json.dumps(page), "utf-8")
    corpus = open_corpus(CorpusSettings(path="articles.json"), base=tmp_path)
    assert corpus.kind == "zendesk-guide"
    (document,) = corpus
    assert (document.id, document.title, document.language) == ("360001", "Lost badge", "en")
    assert document.text == "# Lost badge\n\nReport it & wait."
    assert corpus.resolve("https://acme.zendesk.com/hc/en-us/articles/360001-Lost-badge") == "360001"
    assert document.metadata == {"section_id": "7"}
    assert any("drafts and outdated articles, left out: 1" in note for note in corpus.notes)
    lines = "\n".join(json.dumps(one) for one in (article, draft))
    (tmp_path / "articles.jsonl").write_text(lines, "utf-8")
    assert len(open_corpus(CorpusSettings(path="articles.jsonl"), base=tmp_path)) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"articles": [{"id": {}, "body": ""}]}', "an article needs an `id`"),
        ('{"articles": [7]}', "article 1 is no object"),
        ('{"articles":\n 7x}', "not valid JSON"),
        ('{"articles": {"a": 1}}', "no list of `articles`"),
    ],
)
def test_broken_articles(tmp_path: Path, content: str, said: str) -> None:
    """What is no answer of the articles API is a fault that names the file."""
    (tmp_path / "a.json").write_text(content, "utf-8")
    with pytest.raises(DataError, match=said):
        len(open_corpus(CorpusSettings(path="a.json", kind="zendesk-guide"), base=tmp_path))
