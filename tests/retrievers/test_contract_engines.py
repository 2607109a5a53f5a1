"""The contract suite over the engines: real ones where they can be given prepared answers, else loopback servers."""

import json
import sqlite3
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from builders.postgresql import make_database
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.registry import load
from findback.retrievers.build import GROUP
from findback.retrievers.surroundings import Surroundings
from retrievers import engines
from retrievers.builders import Server
from retrievers.contract import RetrieverContract

PLACES = {"passage": "$.passage", "start": "$.start", "end": "$.end", "abstain": "$.abstain"}


def build(kind: str, surroundings: Surroundings | None = None, **own):
    """Return a retriever as findback.toml would have it."""
    around = surroundings or Surroundings(http=HttpSettings(timeout=5))
    return load(GROUP, kind).build(kind, RetrieverSettings(kind=kind, **own), around)


class LoopbackContract(RetrieverContract):
    """Runs a server over the prepared answers."""

    def reply(self):
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _server(self):
        self.answers = {}
        self.server = Server(self.reply())
        yield
        self.server.close()

    def open(self, answers, folder):
        self.answers = answers
        return self.make(self.server.url)

    def make(self, url):
        raise NotImplementedError


class TestElasticsearch(LoopbackContract):
    kind = "elasticsearch"

    def reply(self):
        search = engines.prepared_elastic(lambda: self.answers)
        return engines.Elastic(search, opensearch=self.kind == "opensearch")

    def make(self, url, **own):
        return build(
            self.kind,
            url=url,
            index="docs",
            body={"query": {"match": {"body": "{{query}}"}}},
            id_field="doc",
            passage="$._source.passage",
            start="$._source.start",
            end="$._source.end",
            abstain="$.ext.abstain",
            **own,
        )


class TestElasticsearchInBatches(TestElasticsearch):
    def make(self, url):
        return super().make(url, batch=8, parameters={"preference": "_local"})


class TestOpenSearch(TestElasticsearch):
    kind = "opensearch"


class TestOpenSearchInBatches(TestElasticsearch):
    kind = "opensearch"

    def make(self, url):
        return super().make(url, batch=8, search_pipeline="hybrid")


class TestTypesense(LoopbackContract):
    def reply(self):
        return engines.typesense(lambda: self.answers)

    def make(self, url):
        places = {"passage": "$.document.passage", "start": "$.document.start", "end": "$.document.end"}
        return build(
            "typesense", url=url, collection="docs", fields=["title", "body"], abstain="$.results[0].abstain", **places
        )


class TestMeilisearch(LoopbackContract):
    def reply(self):
        return engines.meilisearch(lambda: self.answers)

    def make(self, url):
        return build("meilisearch", url=url, index="docs", primary_key="key", id_field="id", **PLACES)


class TestVespa(LoopbackContract):
    def reply(self):
        return engines.vespa(lambda: self.answers)

    def make(self, url):
        places = {"passage": "$.fields.passage", "start": "$.fields.start", "end": "$.fields.end"}
        return build("vespa", url=url, id_field="path", abstain="$.root.abstain", **places)


class TestAzureSearch(LoopbackContract):
    def reply(self):
        return engines.azure(lambda: self.answers)

    def make(self, url):
        return build("azure-search", url=url, index="docs", key="key", id_field="id", **PLACES)


TABLE = (
    "CREATE TABLE answers (asked TEXT, rank INTEGER, id TEXT, score REAL, passage TEXT, place INTEGER, ends INTEGER)"
)
SELECT = """
    SELECT id, score, passage, place AS start, ends AS "end"
    FROM answers WHERE asked = :query AND {fails} ORDER BY rank LIMIT :k
"""


def rows_of(answers):
    """Return prepared answers as rows; a query that fails has one whose rank is negative."""
    for asked, found in answers.items():
        hits = found if isinstance(found, list) else [{"id": "x", "rank": -1}]
        for rank, hit in enumerate(hits):
            values = (hit.get(key) for key in ("id", "score", "passage", "start", "end"))
            yield (asked, hit.get("rank", rank), *values)


class TestSqlite(RetrieverContract):
    test_abstention_is_told_from_finding_nothing = None

    def open(self, answers, folder: Path):
        file = folder / "answers.db"
        file.unlink(missing_ok=True)
        connection = sqlite3.connect(file)
        connection.execute(TABLE)
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", rows_of(answers))
        connection.commit()
        connection.close()
        # abs() of the smallest integer is an error of the statement, for the one query.
        fails = "abs(CASE WHEN rank < 0 THEN -9223372036854775808 ELSE 1 END) = 1"
        return build("sql", Surroundings(base=folder), url="answers.db", statement=SELECT.format(fails=fails))


@pytest.fixture(scope="module")
def address(server):
    """Return the address of a database on a real server."""
    with make_database(server, "contract") as address:
        yield address


class TestPostgresql(RetrieverContract):
    test_abstention_is_told_from_finding_nothing = None

    @pytest.fixture(autouse=True)
    def _address(self, address):
        self.address = address

    def open(self, answers, folder: Path):
        engine = create_engine(self.address.replace("postgresql://", "postgresql+psycopg://"), hide_parameters=True)
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS answers"))
            connection.execute(text(TABLE))
            for row in rows_of(answers):
                connection.exec_driver_sql("INSERT INTO answers VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
        engine.dispose()
        around = Surroundings(base=folder, environment={"DATABASE_URL": self.address})
        statement = SELECT.format(fails="1 / (rank + CASE WHEN rank < 0 THEN 1 ELSE 1000000 END) = 0")
        return build("sql", around, url="env:DATABASE_URL", statement=statement)


MCP_SERVER = """
import json, sys
from mcp.server import MCPServer

answers = json.load(open(sys.argv[1], encoding="utf-8"))
server = MCPServer("docs")

@server.tool()
def search_docs(query: str, limit: int) -> dict:
    print("searching", query, file=sys.stderr, flush=True)
    found = answers.get(query, [])
    if isinstance(found, dict):
        if "error" in found:
            raise ValueError(found["error"])
        return found
    return {"result": found[:limit]}

server.run()
"""


class TestMcp(RetrieverContract):
    def open(self, answers, folder: Path):
        (folder / "answers.json").write_text(json.dumps(answers), "utf-8")
        (folder / "server.py").write_text(MCP_SERVER, "utf-8")
        return build(
            "mcp",
            Surroundings(base=folder),
            command=[sys.executable, "server.py", "answers.json"],
            tool="search_docs",
            arguments={"query": "{{query}}", "limit": "{{k}}"},
            score="$.score",
            **PLACES,
        )
