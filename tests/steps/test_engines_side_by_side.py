"""BM25 four times: Elasticsearch, SQLite FTS5, tantivy and bm25s on the same documents and questions, in one table."""

import json
import sqlite3
from pathlib import Path

import pytest

from findback.model.evaluation import Evaluation, RetrieverScores
from findback.reporting.evaluation import evaluation_report
from findback.reporting.markdown import lay_out
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.workspace import open_workspace
from retrievers.builders import serving
from retrievers.engines import Bm25Index, Elastic

LEFT_OUT = "torrent"
"""A right document of several questions that two of the indices lack."""
SETTINGS = """
[corpus]
path = "corpus.jsonl"

[retrievers.elasticsearch]
kind = "elasticsearch"
url = "{url}"
index = "docs"
fields = ["body"]

[retrievers.fts5]
kind = "sql"
url = "docs.db"
statement = '''
SELECT path AS id, bm25(docs) AS score FROM docs
WHERE docs MATCH :any_word ORDER BY score, path LIMIT :k
'''
exists = "SELECT 1 FROM docs WHERE path = :id"
scores = "lower"

[retrievers.tantivy]
kind = "tantivy"

[retrievers.bm25s]
kind = "bm25"

[retrievers.blind]
kind = "sql"
url = "docs.db"
statement = '''
SELECT path AS id, bm25(docs) AS score FROM docs
WHERE docs MATCH :any_word ORDER BY score, path LIMIT :k
'''
scores = "lower"
"""


@pytest.fixture
def measured(data: Path, tmp_path: Path) -> Evaluation:
    """Return all five systems' scores; one of the right documents is in neither Elasticsearch nor SQLite."""
    corpus = data / "ubuntu" / "corpus.jsonl"
    texts = {row["id"]: row["text"] for row in map(json.loads, corpus.read_text("utf-8").splitlines())}
    (tmp_path / "corpus.jsonl").write_bytes(corpus.read_bytes())
    held = {name: text for name, text in texts.items() if name != LEFT_OUT}
    connection = sqlite3.connect(tmp_path / "docs.db")
    connection.execute("CREATE VIRTUAL TABLE docs USING fts5(path UNINDEXED, body, tokenize = 'porter')")
    connection.executemany("INSERT INTO docs VALUES (?, ?)", held.items())
    connection.commit()
    connection.close()
    with serving(Elastic(Bm25Index(held))) as server:
        (tmp_path / "findback.toml").write_text(SETTINGS.format(url=server.url), "utf-8")
        workspace = open_workspace(tmp_path, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
        request = EvaluateRequest(set=data / "ubuntu" / "queries.jsonl")
        return evaluate(workspace, request, ask=lambda _: True)


def test_four_engines_stand_in_one_table_with_their_misses_classed(measured: Evaluation) -> None:
    """The four agree within .04, none fails; what is left out is missing, not broken; the blind one cannot tell."""
    rows = {one.name: one for one in measured.retrievers}
    four = {name: value(rows[name]) for name in ("elasticsearch", "fts5", "tantivy", "bm25s")}
    assert all(0.2 < figure < 0.3 for figure in four.values()), four
    assert max(four.values()) - min(four.values()) < 0.04, four
    assert [rows[name].failed for name in rows] == [0] * 5
    missing = {name: misses(rows[name], "not in the index") for name in rows}
    assert missing["elasticsearch"] == missing["fts5"] > 0
    assert missing["tantivy"] == missing["bm25s"] == missing["blind"] == 0
    golds = rows["bm25s"].coverage.golds
    assert {name: row.coverage.indexed for name, row in rows.items()} == {
        "elasticsearch": golds - 1,
        "fts5": golds - 1,
        "tantivy": golds,
        "bm25s": golds,
        "blind": None,
    }
    assert value(rows["blind"]) == value(rows["fts5"])
    page = lay_out(evaluation_report(measured, examples=0))
    table = page.partition("## Scores")[2].partition("\n## ")[0]
    assert [name for name in rows if f"| {name} |" in table] == list(rows)
    assert page.count("cannot be asked for a document by id") == 1


def value(scores: RetrieverScores) -> float:
    """Return the primary metric over every question."""
    group = scores.group()
    assert group is not None
    found = next(one.estimate.value for one in group.scores if one.metric == "RR@10")
    assert found is not None
    return found


def misses(scores: RetrieverScores, kind: str) -> int:
    """Return how many questions were missed for a reason."""
    return next((count.count for count in scores.misses if count.name == kind), 0)
