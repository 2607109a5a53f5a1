"""The same vectors in five engines: exact search gives the same ranks, and equal scores the order of their ids."""

import numpy as np
import pytest
from sqlalchemy import create_engine

from builders.postgresql import make_database
from findback.model.settings import RetrieverSettings
from findback.registry import load
from findback.retrievers import sql
from findback.retrievers.build import GROUP
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import ask, documents
from retrievers.vector_engines import ENGINES, build, fill

DEPTH = 60
OPERATORS = {"dot": "<#>", "cosine": "<=>", "l2": "<->"}


@pytest.fixture(scope="module")
def address(server):
    """Return the address of a database on a real server."""
    with make_database(server, "agreement") as address:
        yield address


def make_vectors(count: int, width: int, seed: int) -> list[list[float]]:
    """Return vectors whose numbers are multiples of 1/8, so that no order of adding them up rounds anything."""
    return (np.random.default_rng(seed).integers(-8, 9, (count, width)) / 8).tolist()


def open_pgvector(address, rows, metric, embed, monkeypatch):
    """Return a retriever of kind `sql` over a table with a column of type vector and no index."""
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        connection.exec_driver_sql("DROP TABLE IF EXISTS docs")
        connection.exec_driver_sql(f"CREATE TABLE docs (doc TEXT, embedding vector({len(rows[0]['vector'])}))")
        for row in rows:
            values = (row["doc"], str(row["vector"]))
            connection.exec_driver_sql("INSERT INTO docs VALUES (%s, %s)", values)
    engine.dispose()
    statement = f"""
        SELECT doc AS id, embedding {OPERATORS[metric]} CAST(:vector AS vector) AS score
        FROM docs ORDER BY score, doc COLLATE "C" LIMIT :k
    """
    monkeypatch.setattr(sql, "_embedding", lambda *_: (lambda text: str(embed(text)), "given"))
    own = {"url": "env:DATABASE_URL", "statement": statement, "scores": "lower", "model": "given"}
    around = Surroundings(environment={"DATABASE_URL": address})
    return load(GROUP, "sql").build("pgvector", RetrieverSettings(kind="sql", **own), around)


@pytest.mark.parametrize("metric", ["dot", "l2"])
def test_exact_search_agrees_to_the_last_rank(metric, address, tmp_path, monkeypatch):
    """240 documents, a third of them with the vector of another one, 20 questions, 60 ranks, ties across the cut."""
    vectors = make_vectors(160, 12, 1)
    rows = [{"doc": f"d{(at * 37) % 240:03}", "vector": vectors[at % 160]} for at in range(240)]
    questions = dict(zip((f"question {at}" for at in range(20)), make_vectors(20, 12, 2), strict=True))
    texts = list(questions)
    runs = {"pgvector": ask(open_pgvector(address, rows, metric, questions.get, monkeypatch), texts, depth=DEPTH).run}
    for engine in ENGINES:
        fill(engine, tmp_path, rows, metric=metric)
        retriever = build(engine, tmp_path, questions.get, metric=metric, exact=True)
        runs[engine] = ask(retriever, texts, depth=DEPTH).run
    expected = [rank(rows, questions[text], metric) for text in texts]
    assert any(
        len({row["doc"] for row in rows if near(row, questions[text], metric) == last}) > 1
        for text, last in (
            (text, near(next(row for row in rows if row["doc"] == ranked[-1]), questions[text], metric))
            for text, ranked in zip(texts, expected, strict=True)
        )
    )
    for name, run in runs.items():
        assert [documents(run, at) for at in range(20)] == expected, name


def test_cosines_of_any_vectors_agree_but_for_rounding(address, tmp_path, monkeypatch):
    """Where two engines order two documents differently, their cosines are closer than 32 bits can tell apart."""
    draw = np.random.default_rng(3)
    rows = [{"doc": f"d{at:03}", "vector": vector} for at, vector in enumerate(draw.normal(size=(300, 64)).tolist())]
    questions = dict(zip((f"question {at}" for at in range(10)), draw.normal(size=(10, 64)).tolist(), strict=True))
    runs = [ask(open_pgvector(address, rows, "cosine", questions.get, monkeypatch), list(questions), depth=DEPTH).run]
    for engine in ENGINES:
        fill(engine, tmp_path, rows)
        runs.append(ask(build(engine, tmp_path, questions.get, exact=True), list(questions), depth=DEPTH).run)
    vectors = {row["doc"]: np.array(row["vector"]) / np.linalg.norm(row["vector"]) for row in rows}
    for at, asked in enumerate(questions.values()):
        unit = np.array(asked) / np.linalg.norm(asked)
        best = sorted(-float(vector @ unit) for vector in vectors.values())[:DEPTH]
        for run in runs:
            given = documents(run, at)
            assert len(set(given)) == DEPTH
            assert [-float(vectors[one] @ unit) for one in given] == pytest.approx(best, abs=3e-7)


def near(row, asked, metric):
    """Return how far a row is, the lower the nearer; exact, as every number is a multiple of 1/64."""
    difference = np.subtract(row["vector"], asked)
    return float(-np.dot(row["vector"], asked) if metric == "dot" else np.dot(difference, difference))


def rank(rows, asked, metric):
    """Return the ids of the nearest rows, equal ones in the order of their ids."""
    return [row["doc"] for row in sorted(rows, key=lambda row: (near(row, asked, metric), row["doc"]))][:DEPTH]
