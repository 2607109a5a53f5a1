"""Elasticsearch and OpenSearch on good and bad days, against a server that answers as they do."""

import json
import os

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.case import Context
from findback.model.hits import Hit
from findback.model.protocols import Query
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import ask_all, config_digest
from findback.retrievers.elasticsearch import ElasticsearchRetriever, OpenSearchRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import Reply, serving
from retrievers.contract import CANARY, ask, assert_no_canary, documents, message_of, run_closing, search
from retrievers.engines import ELASTIC, Elastic, elastic_error, elastic_hits

BODY = {"query": {"match": {"body": "{{query}}"}}}
RRF = {
    "retriever": {
        "rrf": {
            "retrievers": [
                {"standard": {"query": {"match": {"body": "{{query}}"}}}},
                {"knn": {"field": "v", "query_vector_builder": {"text_embedding": {"model_text": "{{query}}"}}}},
            ],
            "rank_window_size": "{{k}}",
        }
    }
}


def make(url, environment=None, opensearch=False, **own):
    kind = OpenSearchRetriever if opensearch else ElasticsearchRetriever
    settings = {"url": url, "index": "docs", "retries": 0, **({} if "fields" in own else {"body": BODY}), **own}
    return kind.build(
        "engine",
        RetrieverSettings(kind=kind.kind, **settings),
        Surroundings(environment=environment or {}, http=HttpSettings(timeout=5)),
    )


def found(*hits):
    """Return a search that always finds these (id, score) pairs."""
    return lambda body: (200, elastic_hits([{"_index": "docs", "_id": name, "_score": score} for name, score in hits]))


def test_fields_become_a_query_and_a_query_cannot_break_out():
    """`fields` is a multi_match; size and _source are there; quotes and braces of a query stay in its string."""
    with serving(Elastic(found(("a", 2.5), ("b", 1.0)))) as server:
        answer = search(make(server.url, fields=["title^2", "body"]), '"}, {{k}} ü', 7)
    assert answer.hits == (Hit("a", 2.5), Hit("b", 1.0))
    asked = server.seen[-1]
    assert asked.path == "/docs/_search"
    assert asked.content == {
        "size": 7,
        "_source": False,
        "query": {"multi_match": {"query": '"}, {{k}} ü', "fields": ["title^2", "body"]}},
    }


def test_a_retriever_body_goes_out_as_it_is_written():
    """Rrf over keyword and vector search, its window as wide as the depth."""
    with serving(Elastic(found(("a", 0.03)))) as server:
        search(make(server.url, body=RRF), "lost parcel", 20)
    rrf = server.seen[-1].content["retriever"]["rrf"]
    assert rrf["rank_window_size"] == 20
    assert rrf["retrievers"][0]["standard"]["query"] == {"match": {"body": "lost parcel"}}
    assert server.seen[-1].content["size"] == 20


def test_parameters_and_pipelines_go_into_the_address():
    """A preference and a search pipeline."""
    with serving(Elastic(found(("a", 1.0)), opensearch=True)) as server:
        own = {"parameters": {"preference": "_local"}, "search_pipeline": "hybrid rank"}
        search(make(server.url, opensearch=True, **own), "x")
    assert server.seen[-1].path == "/docs/_search?preference=_local&search_pipeline=hybrid+rank"


def test_searches_asked_together_go_out_in_one_request():
    """Six questions at once in batches of up to six: one _msearch, and each gets its own answer."""

    def by_query(body):
        return found((body["query"]["match"]["body"], 1.0))(body)

    with serving(Elastic(by_query)) as server:
        retriever = make(server.url, batch=6, concurrency=1)
        run = ask(retriever, list("abcdef"), depth=1, concurrency=8).run
    assert [documents(run, at) for at in range(6)] == [[name] for name in "abcdef"]
    assert [seen.path for seen in server.seen if "search" in seen.path] == ["/docs/_msearch"]


def test_one_failed_search_of_a_batch_is_that_searchs_error_and_a_busy_one_is_asked_again():
    """A body error hits one question; 429 inside a batch is asked again alone."""
    times = []

    def answer(body):
        text = body["query"]["match"]["body"]
        if text == "bad":
            return 400, elastic_error("parsing_exception", "Failed to parse query [bad]", 400)
        if text == "busy":
            times.append(text)
            if len(times) == 1:
                return 429, elastic_error("es_rejected_execution_exception", "rejected execution", 429)
        return found((text, 1.0))(body)

    with serving(Elastic(answer)) as server:
        run = ask(make(server.url, batch=3), ["a", "bad", "busy"], depth=1, concurrency=3).run
    assert documents(run, 0) == ["a"]
    assert documents(run, 2) == ["busy"]
    assert "the request was refused (parsing_exception: Failed to parse query […])" in run.reason_of(1)


def shard_failures(total, failed, kind, reason):
    failure = {"shard": 0, "index": "docs-2025", "node": "n1", "reason": {"type": kind, "reason": reason}}
    return {"total": total, "successful": total - failed, "skipped": 0, "failed": failed, "failures": [failure]}


def test_partial_shard_failures_are_an_error_not_a_shorter_answer():
    """Two of four shards failed on a field of another type: one line with counts, index and reason."""
    shards = shard_failures(4, 2, "query_shard_exception", "failed to create query: field [tags] is no number")
    engine = Elastic(lambda body: (200, elastic_hits([], shards=shards)))
    with serving(engine) as server, pytest.raises(EngineError) as caught:
        search(make(server.url), "x")
    assert str(caught.value).endswith(
        "/docs/_search: the answer is not whole (2 of 4 shards failed, the first of index docs-2025: "
        "query_shard_exception: failed to create query: field [tags] is no number)"
    )
    assert "_mapping" in caught.value.hint


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"timed_out": True}, "ran into its own time limit"),
        ({"_clusters": {"total": 3, "successful": 2, "skipped": 1}}, "1 of 3 clusters did not answer"),
    ],
)
def test_other_answers_that_are_not_whole(extra, said):
    """A search cut short by its own limit, and a cluster that was skipped."""
    engine = Elastic(lambda body: (200, {**elastic_hits([]), **extra}))
    with serving(engine) as server, pytest.raises(EngineError, match=said):
        search(make(server.url), "x")


@pytest.mark.parametrize(
    ("status", "body", "said", "hint"),
    [
        (404, elastic_error("index_not_found_exception", "no such index [docs]", 404), "index_not_found", "`index`"),
        (403, elastic_error("security_exception", "action [read] is unauthorized", 403), "may not do that", "role"),
        (
            400,
            {
                "error": {
                    "root_cause": [{"type": "illegal_argument_exception", "reason": "Fielddata is disabled on [body]"}],
                    "type": "search_phase_execution_exception",
                    "reason": "all shards failed",
                },
                "status": 400,
            },
            "illegal_argument_exception: Fielddata … disabled on .body.",
            "fields",
        ),
        (
            500,
            {
                "error": {
                    "root_cause": [],
                    "type": "search_phase_execution_exception",
                    "reason": "",
                    "caused_by": {"type": "script_exception", "reason": f"runtime error on {CANARY}"},
                },
                "status": 500,
            },
            "the server failed .script_exception: runtime error on …",
            "log",
        ),
        (429, elastic_error("es_rejected_execution_exception", "queue is full", 429), "HTTP 429", "rate"),
        (502, {"error": "bad gateway"}, "HTTP 502", "rate"),
    ],
)
def test_each_error_is_one_line_without_the_query(status, body, said, hint, caplog):
    """Status, address, meaning, the engine's own name for it; nothing of the query."""
    with serving(Elastic(lambda _: (status, body))) as server, pytest.raises(EngineError, match=said) as caught:
        search(make(server.url), f"where is {CANARY}")
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value)
    assert_no_canary([message_of(caught.value)], caplog)


def test_wrong_credentials_are_told_at_once_and_asked_no_further():
    """Four questions: the server is greeted, refuses, and no search goes out."""
    secret = "k3y" + "-of-nobody"
    engine = Elastic(found(("a", 1.0)))
    engine.key = "right" + "-one"
    with serving(engine) as server:
        headers = {"Authorization": "ApiKey {{env:ES_KEY}}"}
        asked = ask(make(server.url, {"ES_KEY": secret}, headers=headers), list("abcd"), depth=1, concurrency=1)
        assert [seen.path for seen in server.seen] == ["/"]
        assert "HTTP 401" in asked.errors[0].first
        assert "credentials are missing or wrong" in asked.errors[0].first
        assert asked.errors[0].count == 4
        right = make(server.url, {"ES_KEY": engine.key}, headers=headers)
        assert documents(ask(right, ["a"], depth=1).run, 0) == ["a"]
    assert secret not in str(asked.errors)


@pytest.mark.parametrize(
    ("opensearch", "is_opensearch", "version", "said", "hint"),
    [
        (False, True, "2.17.1", "is OpenSearch 2.17.1, not Elasticsearch", 'kind = "opensearch"'),
        (True, False, "8.15.3", "is Elasticsearch 8.15.3, not OpenSearch", 'kind = "elasticsearch"'),
        (False, False, "6.8.23", "Elasticsearch 6.8.23; 7 to 9 are known", "check_product"),
        (True, True, "4.0.0", "OpenSearch 4.0.0; 1 to 3 are known", "check_product"),
    ],
)
def test_another_product_or_version_is_told_once_and_asked_no_further(opensearch, is_opensearch, version, said, hint):
    """What the server says of itself decides, before any query is sent."""
    engine = Elastic(found(("a", 1.0)), opensearch=is_opensearch)
    engine.version = version
    with serving(engine) as server:
        with pytest.raises(EngineError, match=said) as caught:
            search(make(server.url, opensearch=opensearch), "x")
        assert hint in caught.value.hint
        assert [seen.path for seen in server.seen] == ["/"]
        found_anyway = search(make(server.url, opensearch=opensearch, check_product=False), "x")
        assert [hit.document for hit in found_anyway.hits] == ["a"]


def test_versions_7_to_9_are_asked_alike():
    """7.10 sends no product header, later ones do; 9 gets plain JSON."""
    for version in ("7.10.2", "7.17.0", "9.1.0"):
        engine = Elastic(found(("a", 1.0)))
        engine.version = version
        old = version == "7.10.2"
        reply = (lambda asked, engine=engine: Reply(200, engine(asked).body)) if old else engine
        with serving(reply) as server:
            assert [hit.document for hit in search(make(server.url), "x").hits] == ["a"], version


def test_a_product_header_that_is_missing_or_another_is_one_clear_line():
    """A gateway that drops the header, and one that answers as something else."""
    engine = Elastic(found(("a", 1.0)))
    said = "without the header X-Elastic-Product, which Elasticsearch 8"
    with serving(lambda asked: Reply(200, engine(asked).body)) as server, pytest.raises(EngineError, match=said):
        search(make(server.url), "x")
    other = {**ELASTIC, "X-elastic-product": "Quickwit"}

    def change(asked):
        return Reply(200, engine(asked).body, dict(ELASTIC) if asked.path == "/" else other)

    with serving(change) as server, pytest.raises(EngineError, match="answers as 'Quickwit', not as Elasticsearch"):
        search(make(server.url), "x")


def test_slow_and_dropped_connections_are_that_querys_error_and_the_next_is_answered():
    """One question takes longer than the limit, one gets a cut answer; those after them are answered."""
    engine = Elastic(found(("a", 1.0)))

    def answer(asked):
        text = asked.content["query"]["match"]["body"] if asked.body else ""
        reply = engine(asked)
        if text == "slow":
            reply.wait = 5
        if text == "cut":
            reply.body = reply.body[:20]
        return reply

    with serving(answer) as server:
        run = ask(make(server.url, timeout=0.4), ["slow", "cut", "fine"], depth=1, concurrency=1).run
    assert "no answer within 0.4 s" in run.reason_of(0)
    assert "no valid JSON" in run.reason_of(1)
    assert documents(run, 2) == ["a"]


def test_existence_and_text_by_id():
    """By _id where that is the document's; an ids query finds it in any of several indices."""

    def answer(body):
        (name,) = body["query"]["ids"]["values"]
        hit = {"_index": "docs", "_id": name, "_score": 1.0, "_source": {"text": "body of it"}}
        return 200, elastic_hits([hit] if name == "a/b.md" else [])

    with serving(Elastic(answer)) as server:
        retriever = make(server.url, text_field="text")

        async def work():
            there = [await retriever.exists(name) for name in ("a/b.md", "gone.md")]
            audience = await retriever.exists("a/b.md", Context(audience="staff"))
            return there, audience, await retriever.fetch("a/b.md"), await retriever.fetch("gone.md")

        assert run_closing(retriever, work) == ([True, False], None, "body of it", None)


@pytest.mark.parametrize(
    ("types", "field"),
    [
        ({"path": ["keyword"]}, "path"),
        ({"path": ["text"], "path.keyword": ["keyword"]}, "path.keyword"),
        ({"path": ["long"]}, "path"),
        ({"path": ["text"]}, None),
        ({}, None),
    ],
)
def test_an_id_in_a_field_is_looked_up_where_it_stands_whole(types, field):
    """The keyword beside a text field is taken; in a field of words alone nothing can be told: None, not False."""

    def answer(body):
        (asked,) = body["query"]["term"].items()
        hit = {"_index": "docs", "_id": "7", "_score": 1.0, "_source": {"path": "a.md"}}
        return 200, elastic_hits([hit] if asked == (field, "a.md") else [])

    engine = Elastic(answer)
    engine.caps = {"fields": {name: {kind: {"type": kind} for kind in kinds} for name, kinds in types.items()}}
    with serving(engine) as server:
        retriever = make(server.url, id_field="path")

        async def work():
            return [await retriever.exists(name) for name in ("a.md", "gone.md")]

        assert run_closing(retriever, work) == ([True, False] if field else [None, None])


def test_a_field_with_another_type_in_each_index_is_one_clear_line():
    """A conflict of mappings is told by name and types."""
    engine = Elastic(found())
    engine.caps = {"fields": {"path": {"keyword": {"indices": ["docs"]}, "text": {"indices": ["docs-old"]}}}}
    with serving(engine) as server:
        retriever = make(server.url, id_field="path")

        async def work():
            with pytest.raises(EngineError, match=r"field path has several types .*: keyword, text"):
                await retriever.exists("a.md")

        run_closing(retriever, work)


def test_numbers_as_ids_are_real_ids_from_a_field():
    """The engine's `_id` is its own; the document's id is a number in a field."""
    hit = {"_index": "docs", "_id": "ZxY", "_score": 1.0, "_source": {"meta": {"number": 42}}}
    with serving(Elastic(lambda body: (200, elastic_hits([hit])))) as server:
        assert search(make(server.url, id_field="meta.number"), "x").hits == (Hit("42", 1.0),)
    assert server.seen[-1].content["_source"] is True


def test_a_context_is_honoured_where_the_body_hands_it_on():
    """A locale in a filter; a filter that is not in the body makes the question not applicable."""
    body = {"query": {"bool": {"must": BODY["query"], "filter": {"term": {"lang": "{{context.locale}}"}}}}}
    with serving(Elastic(found(("a", 1.0)))) as server:
        retriever = make(server.url, body=body)
        queries = [("1", Query("x", Context(locale="de"))), ("2", Query("x", Context(filters={"a": "b"})))]
        asked = run_closing(retriever, lambda: ask_all(retriever, queries, depth=1))
    assert server.seen[-1].content["query"]["bool"]["filter"] == {"term": {"lang": "de"}}
    assert asked.run.reason_of(1) == "cannot honour filters"


def test_what_changes_results_changes_the_digest_and_secrets_are_in_neither():
    """Body, index, pipeline change it; a rate, a batch and the value of a secret do not."""
    secret = "s3cr" + "et"
    headers = {"Authorization": "env:ES_KEY"}
    base = {"headers": headers, "environment": {"ES_KEY": secret}}

    def digest(**own):
        return config_digest(make("http://127.0.0.1:9200", **{**base, **own}))

    same = digest()
    assert digest(rate=3.0, batch=4, retries=2, environment={"ES_KEY": "other"}) == same
    changed = [{"body": RRF}, {"index": "docs2"}, {"parameters": {"preference": "x"}}, {"id_field": "path"}]
    assert len({same, *(digest(**own) for own in changed)}) == 5
    settings = make("http://127.0.0.1:9200", **base).settings()
    assert secret not in json.dumps(dict(settings), default=str)


def test_trust_names_the_server_and_where_a_secret_goes():
    """Both kinds ask alike; the egress level follows the address."""
    own = {"index": "docs", "fields": ["body"], "headers": {"Authorization": "env:ES_KEY"}}
    settings = RetrieverSettings(kind="elasticsearch", url="https://es.example.org:9243/prefix", **own)
    assert ElasticsearchRetriever.trusts("prod", settings) == (
        Trusted("host", "https://es.example.org:9243, asked by prod"),
        Trusted("variable", "$ES_KEY, sent to https://es.example.org:9243 in header Authorization by prod"),
    )
    assert make("http://10.0.0.5:9200").egress == "internal"
    assert make("http://127.0.0.1:9200").egress == "local"


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"fields": ["a"], "body": BODY}, "by `fields` or by a `body`"),
        ({"body": None}, "by `fields` or by a `body`"),
        ({"body": '{"query": {{query}}}', "batch": 2}, "batch: needs a `body` that is a table"),
        ({"body": {"query": "{{querry}}"}}, "querry"),
        ({"headers": {"Authorization": "ApiKey hunter" + "2"}}, "a secret is named"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_called(own, said):
    """When built, and when trust is asked."""
    with pytest.raises(SettingsError, match=said) as caught:
        make("http://127.0.0.1:9200", **own)
    assert "hunter" not in message_of(caught.value)


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
def test_a_live_server_answers_when_an_address_is_given(kind):
    """FINDBACK_ELASTICSEARCH_URL or FINDBACK_OPENSEARCH_URL, with _INDEX, _FIELDS, and _AUTH where it has a login."""
    prefix = f"FINDBACK_{kind.upper()}_"
    given = {name: os.environ.get(prefix + name, "") for name in ("URL", "INDEX", "FIELDS", "AUTH")}
    if not given["URL"]:
        # Without a server only the refusal can be seen: nothing listens there.
        with serving(Elastic(found())) as server:
            closed = server.url
        with pytest.raises(EngineError, match="cannot connect"):
            search(make(closed, opensearch=kind == "opensearch"), "x")
        return
    own = {"index": given["INDEX"], "fields": given["FIELDS"].split(",")}
    if given["AUTH"]:
        own["headers"] = {"Authorization": f"env:{prefix}AUTH"}
    retriever = make(given["URL"], dict(os.environ), opensearch=kind == "opensearch", **own)

    async def work():
        answer = await retriever.search(Query("the"), 10)
        there = [await retriever.exists(hit.document) for hit in answer.hits]
        return answer, there, await retriever.exists("no-such-document")

    answer, there, absent = run_closing(retriever, work)
    assert there == [True] * len(answer.hits)
    assert absent is False
