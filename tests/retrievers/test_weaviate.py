"""Weaviate: what is sent for each way of searching, look-ups, and what its refusals become."""

import json

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.case import Context
from findback.model.protocols import Query
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.registry import load
from findback.retrievers import weaviate
from findback.retrievers.build import GROUP, list_trusted
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import Server, json_reply
from retrievers.contract import run_closing, search
from retrievers.weaviate_double import refusal

UUID = "5b6a08ba-1d46-43aa-89cc-8b070790c6f2"
VECTOR = [0.5, -0.25]


def build(url, **own):
    settings = RetrieverSettings(kind="weaviate", url=url, collection="Docs", **own)
    around = Surroundings(http=HttpSettings(timeout=5), environment={"WEAVIATE_KEY": "k" + "ey"})
    return load(GROUP, "weaviate").build("near", settings, around)


@pytest.fixture
def served(monkeypatch):
    """Return a server that answers with `served.content`, and what it was asked."""
    monkeypatch.setattr(
        weaviate, "find_embedding", lambda _, own, __: (lambda _: VECTOR, "given") if own.model else (None, None)
    )

    def answer(asked):
        server.asked.append(asked)
        return json_reply(server.content, server.status)

    server = Server(answer)
    server.asked, server.content, server.status = [], {"data": {"Get": {"Docs": []}}}, 200
    yield server
    server.close()


@pytest.mark.parametrize(
    ("own", "sent", "direction"),
    [
        ({"by": "words"}, 'bm25: {query: "a \\"b\\" {c}"}, limit: 7', "higher"),
        ({"by": "text"}, 'nearText: {concepts: ["a \\"b\\" {c}"]}, limit: 7', "lower"),
        ({"model": "m"}, "nearVector: {vector: [0.5, -0.25]}, limit: 7", "lower"),
        ({"model": "m", "vector": "main"}, 'vector: [0.5, -0.25], targetVectors: ["main"]}', "lower"),
        ({"by": "hybrid", "alpha": 0.5}, 'hybrid: {query: "a \\"b\\" {c}", alpha: 0.5}, limit: 7', "higher"),
        ({"by": "hybrid", "model": "m"}, "alpha: 0.75, vector: [0.5, -0.25]}", "higher"),
    ],
)
def test_each_way_of_searching(own, sent, direction, served):
    """The words of a query are one quoted string; distances are better the lower."""
    retriever = build(served.url, **own)
    assert retriever.score_direction == direction
    search(retriever, Query('a "b" {c}'), 7)
    assert sent in served.asked[0].content["query"]


def test_filters_and_headers(served):
    """`match` and `only` are equalities of the value's type; the key goes in its header."""
    own = {"match": {"filters.product": "product"}, "only": {"live": True, "tier": 2}}
    retriever = build(served.url, by="words", headers={"Authorization": "Bearer {{env:WEAVIATE_KEY}}"}, **own)
    assert retriever.honours == {"filters"}
    search(retriever, Query("parcel", Context(filters={"product": 'x"'})), 3)
    query = served.asked[0].content["query"]
    assert '{path: ["live"], operator: Equal, valueBoolean: true}' in query
    assert '{path: ["tier"], operator: Equal, valueInt: 2}' in query
    assert '{path: ["product"], operator: Equal, valueText: "x\\""}' in query
    sent = {name.lower(): value for name, value in served.asked[0].headers.items()}
    assert sent["authorization"] == "Bearer " + "key"


def test_own_ids_and_distances_come_through(served):
    """Without `id_field` the object's UUID is the document."""
    served.content = {"data": {"Get": {"Docs": [{"_additional": {"id": UUID, "distance": 0.25}}]}}}
    (hit,) = search(build(served.url, model="m"), "parcel").hits
    assert (hit.document, hit.score) == (UUID, 0.25)


def test_documents_are_looked_up(served):
    """A property that is searched by words may give others; the id must be the very one."""
    found = [{"path": "docs a.md", "body": "other"}, {"path": "docs/a.md", "body": "text"}]
    served.content = {"data": {"Get": {"Docs": found}}}
    retriever = build(served.url, by="words", id_field="path", text_field="body")

    async def work():
        return [await retriever.exists(one) for one in ("docs/a.md", "docs/b.md")], await retriever.fetch("docs/a.md")

    assert run_closing(retriever, work) == ([True, False], "text")
    own = build(served.url, by="words")
    before = len(served.asked)
    assert run_closing(own, lambda: own.exists("docs/a.md")) is False
    assert len(served.asked) == before


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (200, refusal("no vectorizer found for parcel"), "the answer is not whole (no vectorizer found for …)"),
        (422, {"error": [{"message": "class not found"}]}, "class not found"),
        (401, {"code": 401, "message": "anonymous access not enabled"}, "the credentials are missing or wrong"),
    ],
)
def test_refusals_are_one_line(status, content, said, served):
    """An error beside no data is no empty answer; the query is masked in what is quoted."""
    served.status, served.content = status, content
    with pytest.raises(EngineError) as raised:
        search(build(served.url, by="words"), "parcel")
    assert said in str(raised.value)
    assert "parcel" not in json.dumps(str(raised.value))


def test_settings_that_cannot_work_are_refused(served):
    """A vector needs its model, and names go into a query only as names."""
    with pytest.raises(SettingsError, match="model: goes together"):
        build(served.url)
    with pytest.raises(SettingsError, match="id_field"):
        build(served.url, by="words", id_field="path } evil {")
    with pytest.raises(SettingsError, match="match: 'as_of'"):
        build(served.url, by="words", match={"as_of": "day"})


def test_the_server_asks_for_trust():
    """Queries go there, and the key."""
    own = {"collection": "Docs", "by": "words", "headers": {"Authorization": "env:WEAVIATE_KEY"}}
    settings = RetrieverSettings(kind="weaviate", url="https://db.example.org", **own)
    assert [one.kind for one in list_trusted({"near": settings})] == ["host", "variable"]
