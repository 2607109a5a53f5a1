"""Typesense, Meilisearch, Vespa and Azure AI Search: looking documents up, and bad days."""

import json
import os

import pytest

from builders.typesense import run_typesense
from findback.errors import EngineError, SettingsError
from findback.model.case import Context
from findback.model.hits import Hit
from findback.model.protocols import Query
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.registry import load
from findback.retrievers.asking import config_digest
from findback.retrievers.build import GROUP
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS, Reply, json_reply, serving
from retrievers.contract import CANARY, ask, documents, message_of, run_closing, search

MEILI = {"kind": "meilisearch", "index": "docs", "primary_key": "key"}
VESPA = {"kind": "vespa", "id_field": "path", "namespace": "ns", "document_type": "page", "text_field": "body"}
AZURE = {"kind": "azure-search", "index": "docs", "key": "key", "text_field": "body"}


def make(url, kind, environment=None, **own):
    """Return a retriever as findback.toml would have it."""
    around = Surroundings(environment=environment or {}, http=HttpSettings(timeout=20))
    return load(GROUP, kind).build("engine", RetrieverSettings(kind=kind, url=url, retries=0, **own), around)


@pytest.fixture(scope="module")
def typesense():
    """Run a real Typesense with the small corpus, once as documents and once as passages."""
    with run_typesense() as server:
        for name in ("whole", "pieces"):
            fields = [{"name": key, "type": "string"} for key in ("path", "body")]
            server.ask("POST", "/collections", {"name": name, "fields": fields})
        for path, body in TEXTS.items():
            server.ask("POST", "/collections/whole/documents", {"id": path, "path": path, "body": body})
            for piece in body.split(". "):
                server.ask("POST", "/collections/pieces/documents", {"path": path, "body": piece})
        yield str(server._client.base_url), "only-" + "here"


def over(typesense, **own):
    """Return a retriever over the real server."""
    url, key = typesense
    key = own.pop("key", key)
    settings = {"collection": "whole", "fields": ["body"], "passage": "$.document.body", "text_field": "body", **own}
    headers = {"X-TYPESENSE-API-KEY": "env:KEY"}
    return make(url, "typesense", {"KEY": key}, headers=headers, **{**settings, **own})


def test_typesense_finds_and_gives_passages(typesense):
    """A real server ranks the claims page first for its words, and gives its text."""
    answer = search(over(typesense), "claim damaged parcel", 3)
    assert answer.hits[0].document == "claims.md"
    assert answer.hits[0].passage == TEXTS["claims.md"]
    assert answer.hits[0].score is not None


def test_typesense_passages_collapse_and_documents_are_looked_up_by_either_id(typesense):
    """`id` of the collection, or the field that names the document; ids with slashes, umlauts and spaces."""
    whole, pieces = over(typesense), over(typesense, collection="pieces", id_field="path")
    names = [*TEXTS, "gone.md", "gate", "a`b"]
    audience = Context(audience="staff")

    async def work():
        there = [[await one.exists(name) for name in names] for one in (whole, pieces)]
        return there, await whole.fetch("claims.md"), await whole.exists("claims.md", audience)

    async def closing():
        try:
            return await work()
        finally:
            await pieces.close()

    there, text, for_staff = run_closing(whole, closing)
    assert there[0] == [True] * 4 + [False] * 3
    assert there[1] == [True] * 4 + [False, False, None]
    assert (text, for_staff) == (TEXTS["claims.md"], None)
    run = ask(over(typesense, collection="pieces", id_field="path"), ["parcel"], depth=2).run
    assert sorted(set(documents(run, 0))) == ["claims.md", "tracing.md"]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"key": "wrong" + "-key"}, "HTTP 401 .* credentials are missing or wrong .Forbidden"),
        ({"collection": "gone"}, "HTTP 404 .* it is not there .Not found"),
        ({"fields": ["titel"]}, "HTTP 404 .*titel"),
    ],
)
def test_what_typesense_refuses_is_one_clear_line(typesense, own, said):
    """A wrong key, a collection and a field that are not there."""
    with pytest.raises(EngineError, match=said) as caught:
        search(over(typesense, **own), CANARY)
    assert CANARY not in message_of(caught.value)
    assert "wrong-key" not in message_of(caught.value)


def test_a_typesense_search_that_was_cut_off_is_not_whole():
    """It says so itself."""
    reply = json_reply({"results": [{"found": 0, "hits": [], "search_cutoff": True}]})
    with serving(reply) as server, pytest.raises(EngineError, match="ran into its own time limit"):
        search(make(server.url, "typesense", collection="docs", fields=["body"]), "x")


def test_meilisearch_looks_up_by_key_or_by_a_field():
    """A missing document is a no, a missing index an error; a quote in an id stays in its string."""

    def answer(asked):
        if asked.path == "/indexes/docs/documents/k1":
            return json_reply({"key": "k1"})
        if asked.path == "/indexes/docs/documents/fetch":
            return json_reply({"results": [{"key": "k1"}] if asked.content["filter"] == r'path = "a\"b"' else []})
        code = "document_not_found" if asked.path.startswith("/indexes/docs/") else "index_not_found"
        return json_reply({"message": "no", "code": code, "type": "invalid_request", "link": "…"}, 404)

    with serving(answer) as server:
        by_key, by_field = make(server.url, **MEILI), make(server.url, **MEILI, id_field="path")
        gone = make(server.url, **{**MEILI, "index": "gone"})

        async def work():
            found = [await by_key.exists("k1"), await by_key.exists("k2")]
            found += [await by_field.exists('a"b'), await by_field.exists("c")]
            with pytest.raises(EngineError, match="index_not_found"):
                await gone.exists("k1")
            await by_field.close()
            await gone.close()
            return found

        assert run_closing(by_key, work) == [True, False, True, False]


def test_vespa_looks_up_by_the_document_api():
    """A document that is not there is a no; without a namespace it cannot be told; the API's own 404 is an error."""

    def answer(asked):
        if asked.path == "/document/v1/ns/page/docid/a%2Fb.md":
            return json_reply({"pathId": "…", "id": "id:ns:page::a/b.md", "fields": {"body": "text of it"}})
        if asked.path.startswith("/document/v1/ns/page/"):
            return json_reply({"pathId": "…", "id": "id:ns:page::x"}, 404)
        return json_reply({"message": "Nothing at that path"}, 404)

    with serving(answer) as server:
        retriever, blind = make(server.url, **VESPA), make(server.url, "vespa", id_field="path")
        other = make(server.url, **{**VESPA, "namespace": "other"})

        async def work():
            found = [await retriever.exists("a/b.md"), await retriever.exists("gone"), await blind.exists("gone")]
            with pytest.raises(EngineError, match="Nothing at that path"):
                await other.exists("a/b.md")
            await blind.close()
            await other.close()
            return found, await retriever.fetch("a/b.md")

        assert run_closing(retriever, work) == ([True, False, None], "text of it")


def test_a_vespa_answer_that_is_not_whole_is_an_error():
    """Coverage below 100 %, with its cause; and errors beside results."""
    coverage = {"coverage": 62, "full": False, "degraded": {"timeout": True, "match-phase": False}}
    replies = [
        {"root": {"coverage": coverage, "children": [{"relevance": 1.0, "fields": {"path": "a"}}]}},
        {"root": {"errors": [{"code": 12, "summary": "Timed out", "message": f"while on {CANARY}"}]}},
    ]
    said = ["62 % of the documents were looked at: timeout", "Timed out 12: while on …"]
    for reply, line in zip(replies, said, strict=True):
        with serving(json_reply(reply)) as server, pytest.raises(EngineError, match=line):
            search(make(server.url, **VESPA), CANARY)


def test_azure_looks_up_by_key_or_by_a_field():
    """Quotes are doubled as OData wants it; a missing document is a no, a missing index an error."""

    def answer(asked):
        if asked.path == "/indexes/docs/docs('o%27%27neill')?api-version=2024-07-01":
            return json_reply({"key": "o'neill", "body": "text of it"})
        if asked.path.startswith("/indexes/docs/docs/search"):
            return json_reply({"value": [{"key": "k"}] if asked.content["filter"] == "path eq 'o''neill'" else []})
        if asked.path.startswith("/indexes/docs/"):
            return Reply(404, b"")
        return json_reply({"error": {"code": "", "message": "The index 'gone' for service 's' was not found."}}, 404)

    with serving(answer) as server:
        by_key, by_field = make(server.url, **AZURE), make(server.url, **AZURE, id_field="path")
        gone = make(server.url, **{**AZURE, "index": "gone"})

        async def work():
            found = [await by_key.exists("o'neill"), await by_key.exists("k2")]
            found += [await by_field.exists("o'neill"), await by_field.exists("c")]
            with pytest.raises(EngineError, match="index 'gone' for service"):
                await gone.exists("k1")
            await by_field.close()
            await gone.close()
            return found, await by_key.fetch("o'neill")

        assert run_closing(by_key, work) == ([True, False, True, False], "text of it")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"value": [], "@search.coverage": 66.6}, "66.6 % of the index were looked at"),
        ({"value": [], "@search.semanticPartialResponseReason": "capacityOverloaded"}, "semantic ranking is not whole"),
    ],
)
def test_an_azure_answer_that_is_not_whole_is_an_error(content, said):
    """A replica that did not answer, or a semantic ranking without its second half."""
    with serving(json_reply(content)) as server, pytest.raises(EngineError, match=said):
        search(make(server.url, **AZURE), "x")


def test_azure_hybrid_bodies_and_scores_by_another_name():
    """Vector queries and the reranker's score; the key goes into the header only."""
    secret = "azure" + "-key"
    body = {"queryType": "semantic", "vectorQueries": [{"kind": "text", "text": "{{query}}", "k": "{{k}}"}]}
    reply = json_reply({"value": [{"key": "a", "@search.score": 0.03, "@search.rerankerScore": 2.5}]})
    with serving(reply) as server:
        own = {**AZURE, "body": body, "score": "$['@search.rerankerScore']", "headers": {"api-key": "env:AZ"}}
        retriever = make(server.url, environment={"AZ": secret}, **own)
        assert search(retriever, "lost", 7).hits == (Hit("a", 2.5),)
    (asked,) = server.seen
    assert asked.content["vectorQueries"] == [{"kind": "text", "text": "lost", "k": 7}]
    assert {name.lower(): value for name, value in asked.headers.items()}["api-key"] == secret
    assert secret not in asked.path


@pytest.mark.parametrize("settings", [MEILI, VESPA, AZURE])
def test_errors_mask_the_question_and_settings_that_change_results_change_the_digest(settings):
    """A message that quotes the question, and a body that ranks otherwise."""
    with serving(Reply(500, b"stack trace of " + CANARY.encode())) as server:
        retriever = make(server.url, **settings)
        with pytest.raises(EngineError, match=r"HTTP 500 .*: the server failed") as caught:
            search(retriever, CANARY)
        assert CANARY not in message_of(caught.value)
    same = make("http://127.0.0.1:1", rate=2.0, **settings)
    other = make("http://127.0.0.1:1", body={"x": "{{context.locale}}"}, **settings)
    assert config_digest(same) == config_digest(make("http://127.0.0.1:1", **settings))
    assert config_digest(same) != config_digest(other)
    assert other.honours == {"locale"}


def test_a_template_with_a_typo_is_refused_before_anything_is_called():
    """By name."""
    with pytest.raises(SettingsError, match="querry"):
        make("http://127.0.0.1:1", **MEILI, body={"x": "{{querry}}"})


@pytest.mark.parametrize("settings", [MEILI, VESPA, AZURE], ids=lambda settings: settings["kind"])
def test_a_live_server_answers_when_its_settings_are_given(settings):
    """FINDBACK_LIVE_MEILISEARCH, _VESPA or _AZURE_SEARCH holds the table as JSON, its address in `url`."""
    given = os.environ.get(f"FINDBACK_LIVE_{settings['kind'].upper().replace('-', '_')}")
    if not given:
        # Without a server only the refusal can be seen: nothing listens there.
        with serving(Reply(200)) as server:
            closed = server.url
        with pytest.raises(EngineError, match="cannot connect"):
            search(make(closed, **settings), "x")
        return
    table = {**json.loads(given), "kind": settings["kind"]}
    retriever = make(table.pop("url"), environment=dict(os.environ), **table)

    async def work():
        answer = await retriever.search(Query("the"), 10)
        there = [await retriever.exists(hit.document) for hit in answer.hits]
        return there, await retriever.exists("no-such-document")

    there, absent = run_closing(retriever, work)
    assert set(there) <= {True, None}
    assert absent in {False, None}
