"""Reranking by a server."""

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.hits import Hit
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import config_digest
from findback.retrievers.build import build_retriever
from findback.retrievers.rerank_http import RerankHttpRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS, SmallDocuments, SmallPassages, json_reply, serving
from retrievers.contract import CANARY, message_of, search


def make(url, environment=None, **own):
    """Return a retriever over BM25 of the small corpus."""
    table = RetrieverSettings(kind="rerank-http", of="words", url=url, retries=0, **own)
    around = Surroundings(
        documents=SmallDocuments(TEXTS),
        passages=SmallPassages(TEXTS, cut=False),
        environment=environment or {},
        retrievers={"words": RetrieverSettings(kind="bm25"), "again": table},
        http=HttpSettings(timeout=5),
    )
    return build_retriever("again", table, around)


def by_length(asked):
    """Score the shortest text highest, in the form each protocol has."""
    texts = asked.content.get("documents", asked.content.get("texts"))
    scores = [(at, 1 / len(text)) for at, text in enumerate(texts)]
    if "texts" in asked.content:
        return json_reply([{"index": at, "score": score} for at, score in reversed(scores)])
    return json_reply({"results": [{"index": at, "relevance_score": score} for at, score in reversed(scores)]})


@pytest.mark.parametrize("protocol", ["cohere", "tei"])
def test_the_first_results_are_ordered_by_the_server(protocol):
    """Two parcels pages: the shorter one comes first, with the server's score; each protocol's own body."""
    with serving(by_length) as server:
        retriever = make(f"{server.url}/v1/rerank", protocol=protocol, model="m1")
        hits = search(retriever, "lost parcel", 2).hits
    shorter = TEXTS["claims.md"]
    assert hits[0][:3] == Hit("claims.md", 1 / len(shorter), shorter)[:3]
    assert [hit.document for hit in hits] == ["claims.md", "tracing.md"]
    (asked,) = server.seen
    expected = {"model": "m1", "query": "lost parcel"}
    texts = [TEXTS["tracing.md"], shorter]
    more = {"documents": texts, "top_n": 2} if protocol == "cohere" else {"texts": texts}
    assert asked.content == {**expected, **more}


def test_what_is_beyond_the_top_keeps_its_order_without_a_score():
    """One is reranked; the other stays behind it."""
    with serving(by_length) as server:
        hits = search(make(server.url, top=1), "lost parcel", 2).hits
    assert [(hit.document, hit.score is None) for hit in hits] == [("tracing.md", False), ("claims.md", True)]


def test_nothing_found_is_not_sent():
    """No result, no request."""
    with serving(by_length) as server:
        assert search(make(server.url), "zebra", 2).hits == ()
        assert server.seen == []


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (json_reply({"message": CANARY}, 401), "HTTP 401 from .*: nothing was reranked"),
        (json_reply({"results": [{"index": 0, "relevance_score": 0.5}]}), "scored 1 of 2 results"),
        (json_reply({"results": [{"index": at, "relevance_score": None} for at in range(2)]}), "scored 0 of 2 results"),
        (json_reply([]), "scored 0 of 2 results"),
    ],
)
def test_a_server_that_does_not_score_each_result_is_an_error(reply, said):
    """Never a ranking that is half old and half new."""
    with serving(reply) as server, pytest.raises(EngineError, match=said) as caught:
        search(make(server.url), f"lost parcel {CANARY}", 2)
    assert CANARY not in message_of(caught.value)


def test_trust_level_and_digest():
    """The server and its secret are agreed to; the further of both levels counts; the model is in the digest."""
    own = {"of": "words", "url": "https://rerank.example.org/v1/rerank", "headers": {"Authorization": "env:KEY"}}
    assert RerankHttpRetriever.trusts("again", RetrieverSettings(kind="rerank-http", **own)) == (
        Trusted("host", "https://rerank.example.org:443, asked by again"),
        Trusted("variable", "$KEY, sent to https://rerank.example.org:443 in header Authorization by again"),
    )
    assert make("https://rerank.example.org/").egress == "external"
    assert make("http://127.0.0.1:9/").egress == "local"
    assert config_digest(make("http://127.0.0.1:9/", model="a")) != config_digest(
        make("http://127.0.0.1:9/", model="b")
    )
    with pytest.raises(SettingsError, match="a secret is named"):
        make("http://127.0.0.1:9/", headers={"Authorization": "Bearer hunter" + "2"})
