"""A search system behind HTTP."""

import asyncio
import itertools
import json
import logging
import threading
import time
from datetime import UTC, datetime

import pytest

from findback.errors import EngineError, RefusedError, SettingsError
from findback.model.case import Context
from findback.model.hits import Hit, Span
from findback.model.protocols import Query
from findback.model.settings import HttpSettings, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import ask_all
from findback.retrievers.build import list_trusted
from findback.retrievers.calling import read_retry_after
from findback.retrievers.context import UnhonouredError
from findback.retrievers.http import HttpRetriever
from findback.retrievers.http_settings import egress_of
from findback.retrievers.returned import MOST_HITS
from findback.retrievers.surroundings import Surroundings
from findback.trust import digest_of
from retrievers.builders import Reply, json_reply, serving
from retrievers.contract import CANARY, ask, assert_no_canary, message_of, run_closing, search

EMPTY = json_reply({"hits": []})


def make(url, environment=None, **own):
    return HttpRetriever.build(
        "engine",
        RetrieverSettings(kind="http", url=url, **own),
        Surroundings(environment=environment or {}, http=HttpSettings(timeout=5)),
    )


def test_values_are_escaped_by_where_they_stand():
    """Percent-encoded in the address, a string in a JSON string, a number outside quotation marks."""
    query = Query('say "hi" & bye/ü\n', Context(locale="de", filters={"product": "x"}))
    with serving(EMPTY) as server:
        retriever = make(
            f"{server.url}/find/{{{{query}}}}?n={{{{k}}}}&l={{{{context.locale}}}}",
            body='{"q": "{{query}}", "size": {{k}}, "filters": {{context.filters}}, "lang": "{{context.as_of|now}}"}',
        )
        search(retriever, query, 7)
    asked = server.seen[0]
    assert asked.path == "/find/say%20%22hi%22%20%26%20bye%2F%C3%BC%0A?n=7&l=de"
    assert asked.content == {"q": query.text, "size": 7, "filters": {"product": "x"}, "lang": "now"}
    assert asked.method == "POST"
    assert asked.headers["Content-Type"] == "application/json"


def test_a_table_keeps_the_types_of_its_values():
    """A string that is only a place becomes the value; other strings hold it as text."""
    with serving(EMPTY) as server:
        body = {
            "query": {"match": {"body": "{{query}}"}},
            "size": "{{k}}",
            "note": "top {{k}}",
            "n": [1, True],
        }
        search(make(server.url, body=body), '"}', 3)
    assert server.seen[0].content == {
        "query": {"match": {"body": '"}'}},
        "size": 3,
        "note": "top 3",
        "n": [1, True],
    }


def test_a_form_is_percent_encoded():
    """A form body cannot be broken out of."""
    with serving(EMPTY) as server:
        search(make(server.url, body={"q": "{{query}}", "rows": "{{k}}"}, body_type="form"), "a&rows=1", 3)
    assert server.seen[0].body == b"q=a%26rows%3D1&rows=3"


def test_answers_are_read_by_paths():
    """Ids, scores, passages, places, and the document's id cut out of a passage's."""
    hit = {"_id": "docs/a#b.md#3", "_score": 2.5, "_source": {"body": "text", "from": 4, "to": 8}}
    with serving(json_reply({"hits": {"hits": [hit]}})) as server:
        retriever = make(
            server.url,
            hits="$.hits.hits[*]",
            id="$._id",
            split="#",
            score="$._score",
            passage="$._source.body",
            start="$._source.from",
            end="$._source.to",
        )
        assert search(retriever, "x", 1).hits == (Hit("docs/a#b.md", 2.5, "text", Span(4, 8)),)


@pytest.mark.parametrize(
    ("content", "path"), [(["b", "a"], "$"), ({"ids": [2, 1]}, "$.ids"), ({"ids": [2, 1]}, "ids[*]")]
)
def test_plain_lists_of_ids_are_read(content, path):
    """A list of ids needs no path to the id; a number is an id."""
    with serving(json_reply(content)) as server:
        found = search(make(server.url, hits=path), "x")
    assert [hit.document for hit in found.hits] in (["b", "a"], ["2", "1"])


@pytest.mark.parametrize("content", [{"hits": []}, {"hits": None}])
def test_an_empty_list_is_no_error(content):
    """Where the list is there and empty, nothing was found."""
    with serving(json_reply(content)) as server:
        answer = search(make(server.url), "x")
    assert answer.hits == ()
    assert answer.exhausted


@pytest.mark.parametrize(
    ("reply", "own", "said"),
    [
        (Reply(404, b"not found " + CANARY.encode()), {}, "HTTP 404 from {url}"),
        (Reply(500, CANARY.encode()), {}, "HTTP 500 from {url}"),
        (Reply(401, b""), {}, "HTTP 401 from {url}"),
        (Reply(200, b"<html>Sign in</html>", {"Content-Type": "text/html"}), {}, "HTML, not JSON"),
        (Reply(200, b"\n <!doctype html>"), {}, "HTML, not JSON"),
        (Reply(200, b'{"hits": [{"id": "a"'), {}, "no valid JSON"),
        (Reply(200, b'{"hits": [NaN]}'), {}, "no valid JSON"),
        (Reply(200, b"\xff\xfe{"), {}, "no valid JSON"),
        (Reply(200, b""), {}, "an empty answer"),
        (json_reply({"results": []}), {}, r"`hits` = '\$.hits\[\*\]' matches nothing"),
        (json_reply({"hits": 3}), {}, r"`hits` = '\$.hits\[\*\]' is no list"),
        (json_reply({"hits": [{"key": CANARY}]}), {}, r"`id` = '\$.id' matches nothing in result 1"),
        (json_reply({"hits": [{"id": {"x": CANARY}}]}), {}, "the id of result 1 is a dict"),
        (json_reply({"hits": [{"id": ""}]}), {}, "the id of result 1 is empty"),
        (
            Reply(200, b'{"hits": [{"id": "a", "s": 1e999}]}'),
            {"score": "s"},
            "not a finite number|no valid JSON",
        ),
        (json_reply({"hits": [{"id": "a", "s": "high"}]}), {"score": "s"}, "score of result 1"),
        (json_reply({"hits": [{"id": "a", "p": 3}]}), {"passage": "p"}, "passage of result 1 is a int"),
        (
            json_reply({"hits": [{"id": "a", "s": 9, "e": 3}]}),
            {"start": "s", "end": "e"},
            "place of result 1",
        ),
        (
            Reply(200, b'{"hits": []}', {"Content-Type": "application/json"}, wait=5),
            {"timeout": 0.2},
            "no answer within",
        ),
        (Reply(302, b"", {"Location": "http://127.0.0.1:9/"}), {}, "another origin"),
    ],
)
def test_every_nonsense_is_an_error_with_status_and_address_without_the_query(reply, own, said, caplog):
    """The message says what and where; the query is neither in it nor in any log."""
    caplog.set_level(logging.DEBUG)
    with serving(reply) as server:
        retriever = make(f"{server.url}/find/{{{{query}}}}?q={{{{query}}}}", **own)
        with pytest.raises((EngineError, RefusedError), match=said.format(url=server.url)) as caught:
            search(retriever, f"where {CANARY}")
        asked = ask(make(f"{server.url}/{{{{query}}}}", **own), [CANARY], depth=5)
    assert asked.run.ended is not None
    assert_no_canary([message_of(caught.value), *asked.run.reasons, *map(str, asked.errors)], caplog)


def test_an_answer_that_is_too_long_is_an_error():
    """The workspace's bound holds."""
    surroundings = Surroundings(http=HttpSettings(max_bytes=1000))
    with serving(Reply(body=b" " * 2000)) as server:
        retriever = HttpRetriever.build("e", RetrieverSettings(kind="http", url=server.url), surroundings)
        with pytest.raises(EngineError, match="longer than 1,000 bytes"):
            search(retriever, "x")


def test_retry_after_is_honoured():
    """After a 429 with Retry-After: 1 the same request goes out again, not sooner than a second later."""
    replies = iter([Reply(429, b"", {"Retry-After": "1"}), json_reply({"hits": [{"id": "a"}]})])
    times = []

    def answer(_asked):
        times.append(time.monotonic())
        return next(replies)

    with serving(answer) as server:
        assert search(make(server.url), "x").hits == (Hit("a"),)
    assert times[1] - times[0] >= 0.99


def test_a_server_that_wants_a_long_pause_is_an_error_at_once():
    """An hour is not waited."""
    with serving(Reply(503, b"", {"Retry-After": "3600"})) as server:
        with pytest.raises(EngineError, match="asking to wait 3600 s"):
            search(make(server.url), "x")
        assert len(server.seen) == 1


def test_retries_end(caplog):
    """With one retry a server that always says 503 is asked twice; what is logged holds no query."""
    caplog.set_level(logging.DEBUG)
    with serving(Reply(503, CANARY.encode(), {"Retry-After": "0"})) as server:
        with pytest.raises(EngineError, match="HTTP 503") as caught:
            search(make(server.url + "?q={{query}}", retries=1), CANARY)
        assert len(server.seen) == 2
    assert_no_canary([message_of(caught.value)], caplog)


def test_a_server_that_never_answered_is_not_asked_again():
    """A wrong port fails at once instead of after all retries."""
    with serving(EMPTY) as server:
        url = server.url
    begun = time.monotonic()
    with pytest.raises(EngineError, match="cannot connect"):
        search(make(url), "x")
    assert time.monotonic() - begun < 0.4


def test_rate_spaces_requests():
    """Five requests at 20 a second take 200 ms or more, whatever the concurrency."""
    with serving(EMPTY) as server:
        begun = time.monotonic()
        ask(make(server.url, rate=20.0), ["a", "b", "c", "d", "e"], depth=1)
        assert time.monotonic() - begun >= 0.19


def test_concurrency_is_bounded_by_the_retriever():
    """Eight workers are allowed, the engine takes two: never more than two at once."""
    import threading

    running, most, lock = [0], [0], threading.Lock()

    def answer(_asked):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.03)
        with lock:
            running[0] -= 1
        return EMPTY

    with serving(answer) as server:
        asked = ask(make(server.url, concurrency=2), list("abcdef"), depth=1, concurrency=8)
    assert asked.concurrency == 2
    assert most[0] == 2


def test_secrets_come_from_the_environment_and_stay_out_of_settings():
    """The header is sent; neither settings nor trust items hold its value."""
    secret = "s3cr" + "et-token"
    with serving(EMPTY) as server:
        headers = {"Authorization": "Bearer {{env:TOKEN}}", "X-Key": "env:KEY"}
        retriever = make(server.url, {"TOKEN": secret, "KEY": secret}, headers=headers)
        search(retriever, "x")
        settings = RetrieverSettings(kind="http", url=server.url, headers=headers)
        trusted = HttpRetriever.trusts("engine", settings)
    assert server.seen[0].headers["Authorization"] == f"Bearer {secret}"
    assert server.seen[0].headers["X-Key"] == secret
    assert secret not in json.dumps(dict(retriever.settings()), default=str)
    assert trusted == (
        Trusted("host", f"{server.url}, asked by engine"),
        Trusted("variable", f"$TOKEN, sent to {server.url} in header Authorization by engine"),
        Trusted("variable", f"$KEY, sent to {server.url} in header X-Key by engine"),
    )


def test_an_agreement_binds_a_secret_to_its_origin_header_and_retriever(tmp_path):
    """Moving the header to another retriever, another header, port or scheme, or beside `fetch`, is asked anew."""

    def digest(a, b):
        tables = {name: RetrieverSettings(kind="http", **own) for name, own in (("a", a), ("b", b))}
        return digest_of(tmp_path, list_trusted(tables))

    secret = {"headers": {"Authorization": "env:TOK"}}
    here, there = {"url": "https://a.example.org/s"}, {"url": "https://b.example.org/s"}
    agreed = digest({**here, **secret}, there)
    assert agreed == digest({"url": "https://A.example.org:443/find", **secret}, there)
    changed = [
        (here, {**there, **secret}),
        ({**there, **secret}, here),
        ({"url": "http://a.example.org/s", **secret}, there),
        ({"url": "https://a.example.org:8443/s", **secret}, there),
        ({**here, "headers": {"X-Log": "env:TOK"}}, there),
        ({**here, **secret, "fetch": {"url": "https://c.example.org/{{id}}"}}, there),
    ]
    assert agreed not in {digest(*tables) for tables in changed}


def test_a_missing_variable_is_named():
    """The error says which variable of which header."""
    with pytest.raises(SettingsError, match=r"headers\.X-Key: the environment variable KEY is not set"):
        make("http://127.0.0.1:9", headers={"X-Key": "env:KEY"})


@pytest.mark.parametrize(
    ("own", "error", "said"),
    [
        ({"url": "http://127.0.0.1/{{querry}}"}, SettingsError, "querry"),
        ({"url": "http://127.0.0.1/{{id}}"}, SettingsError, "id"),
        ({"url": "http://{{query}}.example.org/"}, SettingsError, "host cannot be a template"),
        ({"url": "ftp://example.org/"}, RefusedError, "not an http"),
        ({"url": "http://169.254.169.254/"}, RefusedError, "never called"),
        ({"url": "http://[::1"}, SettingsError, "cannot be read as an address"),
        ({"url": "http://127.0.0.1:99999/"}, SettingsError, "cannot be read as an address"),
        (
            {"url": "http://127.0.0.1/", "exists": {"url": "http://[x/"}},
            SettingsError,
            r"exists url: cannot be read as an address",
        ),
        ({"url": "http://127.0.0.1/", "hits": "$["}, SettingsError, "no JSONPath"),
        ({"url": "http://127.0.0.1/", "headers": {"X": "{{query}}"}}, SettingsError, "only {{env:NAME}}"),
        (
            {"url": "http://127.0.0.1/", "exists": {"url": "http://127.0.0.1/{{query}}"}},
            SettingsError,
            "query",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_when_built_and_when_trust_is_asked(own, error, said):
    """A typo in a template is found before anything is called."""
    settings = RetrieverSettings(kind="http", **own)
    for check in (lambda: make(**own), lambda: HttpRetriever.trusts("engine", settings)):
        if "JSONPath" in said and check is not None:
            with pytest.raises(error, match=said):
                make(**own)
            return
        with pytest.raises(error, match=said):
            check()


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        *(
            ({name: "hunter" + "2"}, "a secret is named, never written")
            for name in (
                *("Authorization", "proxy-authorization", "Cookie", "X-API-Key", "api-key", "apikey", "X-Auth-Key"),
                *("X-Vault-Token", "Client-Secret", "X-Password", "Ocp-Apim-Subscription-Key"),
            )
        ),
        ({"X-Custom": "Bearer hunter" + "2"}, "a secret is named, never written"),
        ({"A": "env:"}, "env: is not followed by the name of a variable"),
        ({"A": "env: "}, "env: is not followed by the name of a variable"),
        ({"A": "Bearer {{env:}}"}, "env: is not followed by the name of a variable"),
        ({"A": "env:A B"}, "env: is not followed by the name of a variable"),
        ({"A": "{{env:TOK|x}}"}, "only {{env:NAME}}"),
        ({"Content-Length": "3"}, "is set by findback itself"),
        ({"transfer-encoding": "chunked"}, "is set by findback itself"),
        ({"Host": "other.example.org"}, "is set by findback itself"),
        ({"x-findback": "no"}, "is set by findback itself"),
        ({"A": "1", "a": "2"}, "is there twice"),
    ],
)
def test_headers_that_hold_a_secret_or_cannot_be_sent_are_refused(headers, said):
    """Before anything is called, and without showing the value."""
    settings = RetrieverSettings(kind="http", url="http://127.0.0.1/", headers=headers)
    for check in (lambda: make("http://127.0.0.1/", headers=headers), lambda: HttpRetriever.trusts("e", settings)):
        with pytest.raises(SettingsError, match=said) as caught:
            check()
        assert "hunter" not in f"{caught.value} {caught.value.hint}"


def test_plain_headers_are_sent_as_they_are():
    """No secret: language, an own content type in place of ours, and a place with blanks around its name."""
    headers = {"Accept-Language": "de", "X-Max-Tokens": "9", "content-type": "text/x", "X-A": "v {{ env:NAME }}"}
    with serving(EMPTY) as server:
        search(make(server.url, {"NAME": "n1"}, headers=headers, body={"q": "{{query}}"}), "x")
    (sent,) = [asked.headers for asked in server.seen]
    assert {key.lower(): value for key, value in sent.items() if key.lower() in {"accept-language", "x-a"}} == {
        "accept-language": "de",
        "x-a": "v n1",
    }
    assert [value for key, value in sent.items() if key.lower() == "content-type"] == ["text/x"]


def test_a_large_answer_does_not_stop_the_others():
    """While 300,000 results are read the loop goes on; no more than the bound are read."""
    body = json.dumps({"hits": [{"id": "a"}] * 300_000}).encode()
    ticks = []

    async def tick():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def work():
        ticking = asyncio.create_task(tick())
        try:
            return await retriever.search(Query("x"), 10)
        finally:
            ticking.cancel()

    with serving(Reply(body=body)) as server:
        retriever = make(server.url)
        assert len(run_closing(retriever, work).hits) == MOST_HITS
    assert max(later - sooner for sooner, later in itertools.pairwise(ticks)) < 1.5


def test_reading_an_answer_takes_no_longer_than_a_call_may():
    """A path that never ends is this query's error."""
    release = threading.Event()
    with serving(EMPTY) as server:
        retriever = make(server.url, timeout=0.2, hits="$.hits[?@.id]")
        retriever._reader.read = lambda *_: release.wait(20)
        begun = time.monotonic()
        with pytest.raises(EngineError, match=r"could not be read within 0\.2 s"):
            search(retriever, "x")
    release.set()
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("place", [{"s": 0, "e": 10**18}, {"s": 2**31, "e": 2**31}])
def test_a_place_beyond_every_document_is_this_querys_error(place):
    """The other questions keep their answers."""

    def answer(asked):
        return json_reply({"hits": [{"id": "a", **(place if "bad" in asked.path else {"s": 0, "e": 2**31 - 1})}]})

    with serving(answer) as server:
        asked = ask(make(f"{server.url}/{{{{query}}}}", start="s", end="e"), ["bad", "good"], depth=1)
    assert asked.run.reason_of(0) == "EngineError: the place of result 1 ends after character 2,147,483,647"
    assert asked.run.hits(1) == (Hit("a", None, None, Span(0, 2**31 - 1)),)


def test_existence_and_documents_by_id():
    """200 is there, 404 is not there, anything else is an error; the text of a document is read by its path."""

    def answer(asked):
        if asked.path == "/docs/a%2Fb.md":
            return json_reply({"found": True, "text": "body"})
        if asked.path == "/docs/soft.md":
            return json_reply({"found": False})
        return Reply(500) if asked.path == "/docs/broken" else Reply(404)

    with serving(answer) as server:
        by_id = {"url": f"{server.url}/docs/{{{{id}}}}"}
        retriever = make(server.url, exists={**by_id, "found": "$.found"}, fetch=by_id)

        async def work():
            found = [await retriever.exists(name) for name in ("a/b.md", "soft.md", "gone.md")]
            with pytest.raises(EngineError, match="HTTP 500"):
                await retriever.exists("broken")
            return found, await retriever.fetch("a/b.md"), await retriever.fetch("gone.md")

        assert run_closing(retriever, work) == ([True, False, False], "body", None)


def test_existence_for_an_audience():
    """The context goes into the template; 403 is a no for an audience and an error for nobody in particular."""

    def answer(asked):
        role = asked.parameters.get("as", [""])[0]
        return Reply(200 if role == "staff" else 403) if "pay.md" in asked.path else Reply(404)

    with serving(answer) as server:
        template = f"{server.url}/{{{{id}}}}?as={{{{context.audience|staff}}}}&on={{{{context.as_of|now}}}}"
        retriever = make(server.url, exists={"url": template})
        nobody = make(server.url, exists={"url": f"{server.url}/{{{{id}}}}?as={{{{context.audience}}}}"})

        async def work():
            staff, guest = Context(audience="staff", as_of="2026-01-01"), Context(audience="guest")
            found = [await retriever.exists("pay.md", context) for context in (None, staff, guest)]
            found.append(await retriever.exists("gone.md", staff))
            with pytest.raises(EngineError, match="HTTP 403"):
                await nobody.exists("pay.md")
            await nobody.close()
            return found

        assert run_closing(retriever, work) == [True, True, False, False]
        assert [seen.path for seen in server.seen[:2]] == ["/pay.md?as=staff&on=now", "/pay.md?as=staff&on=2026-01-01"]


def test_existence_for_an_audience_that_is_not_handed_on():
    """Where the template does not say who asks, the answer for an audience is None, and nothing is asked."""
    with serving(Reply(200)) as server:
        retriever = make(server.url, exists={"url": f"{server.url}/{{{{id}}}}"})

        async def work():
            asked = [Context(audience="guest"), Context(locale="de"), None]
            return [await retriever.exists("a.md", context) for context in asked]

        assert run_closing(retriever, work) == [None, True, True]
        assert len(server.seen) == 2


def test_a_document_is_fetched_as_somebody():
    """The document-by-id template takes the context, too."""
    with serving(lambda asked: json_reply({"text": asked.path})) as server:
        retriever = make(server.url, fetch={"url": f"{server.url}/{{{{id}}}}?as={{{{context.audience|all}}}}"})

        async def work():
            return [await retriever.fetch("a.md", context) for context in (None, Context(audience="hr"))]

        assert run_closing(retriever, work) == ["/a.md?as=all", "/a.md?as=hr"]


def test_without_a_template_existence_cannot_be_told():
    """None, not False."""
    assert asyncio.run(make("http://127.0.0.1:9").exists("a")) is None


def test_a_filter_the_template_does_not_hand_on_is_not_applicable():
    """`product` is handed on, `region` is not: the question is not asked there."""
    with serving(json_reply({"hits": [{"id": "a"}]})) as server:
        retriever = make(f"{server.url}/?p={{{{context.filters.product}}}}")
        assert retriever.honours == {"filters"}
        good = Query("x", Context(filters={"product": "p"}))
        bad = Query("x", Context(filters={"product": "p", "region": "r"}))
        asked = run_closing(retriever, lambda: ask_all(retriever, [("1", good), ("2", bad)], depth=1))
        assert asked.run.reason_of(1) == "cannot honour filters region"
        with pytest.raises(UnhonouredError):
            search(retriever, bad)


def test_a_page_limit_is_kept():
    """An engine that gives at most five results at once is not asked for more."""
    with serving(json_reply({"hits": [{"id": str(n)} for n in range(5)]})) as server:
        run = ask(make(server.url + "/?n={{k}}", max_k=5), ["x"], depth=50).run
    assert server.seen[0].parameters == {"n": ["5"]}
    assert len(server.seen) == 1
    assert len(run.codes) == 5


def test_an_engine_that_ignores_k_is_not_asked_for_ever():
    """Always the same ten passages of one document: two requests, then it is clear."""
    with serving(json_reply({"hits": [{"id": "a"}] * 10})) as server:
        ask(make(server.url), ["x"], depth=10)
        assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("url", "level"),
    [
        ("http://localhost:1/x", "local"),
        ("http://[::1]/", "local"),
        ("http://192.168.0.3/", "internal"),
        ("http://search/", "external"),
    ],
)
def test_egress_is_told_by_the_host(url, level):
    """A name that is not this machine counts as external until the settings say otherwise."""
    assert egress_of(url) == level


@pytest.mark.parametrize(
    ("value", "seconds"), [(None, None), ("soon", None), ("2", 2.0), ("Thu, 01 Jan 2026 00:00:00 GMT", 0.0)]
)
def test_retry_after_is_read(value, seconds):
    """Seconds or a date; a date that has passed is no wait."""
    assert read_retry_after(value, datetime(2026, 1, 2, tzinfo=UTC)) == seconds
