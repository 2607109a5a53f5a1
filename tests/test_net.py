"""The one outgoing HTTP client."""

import asyncio
import gzip
import logging
import time

import pytest

from findback.endpoint import is_forbidden, origin_of, without_query
from findback.errors import EngineError, RefusedError
from findback.net import HttpClient
from retrievers.builders import Reply, serving

CANARY = "zq7canary" + "net"


def call(client, *arguments, **options):
    async def work():
        try:
            return await client.request(*arguments, **options)
        finally:
            await client.close()

    return asyncio.run(work())


def test_a_call_carries_the_marker_and_nothing_of_the_environment(monkeypatch):
    """The server sees that this is an evaluation; proxies of the environment are not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with serving(Reply(body=b"[]")) as server:
        answer = call(HttpClient(), "GET", f"{server.url}/find?q=a")
    assert (answer.status, answer.body) == (200, b"[]")
    assert server.seen[0].headers["X-Findback"] == "evaluation"
    assert server.seen[0].headers["User-Agent"].startswith("findback")
    assert server.seen[0].headers["Host"] == server.url.removeprefix("http://")


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/hostname",
        "ftp://example.org/x",
        "gopher://127.0.0.1/",
        "javascript:alert(1)",
        "//example.org/x",
        "example.org",
        "",
        "http://",
        "http://[::1",
    ],
)
def test_only_http_and_https_are_called(address):
    """Every other scheme, and what is no address, is refused."""
    with pytest.raises(RefusedError, match="not an http or https address"):
        call(HttpClient(), "GET", address)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.1.1",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
    ],
)
def test_special_addresses_are_refused(host):
    """Link-local, metadata, multicast and unset addresses, also inside IPv6 notations, are never called."""
    with pytest.raises(RefusedError, match="never called"):
        call(HttpClient(), "GET", f"http://{host}/latest/meta-data/")


def test_a_name_that_means_a_special_address_is_refused():
    """The name is looked up, and every address of it is checked before anything is sent."""

    async def resolve(host, port):
        return ["127.0.0.1", "169.254.169.254"]

    with pytest.raises(RefusedError, match=r"metadata\.example\.org"):
        call(HttpClient(resolve=resolve), "GET", "http://metadata.example.org/")


def test_the_connection_goes_to_the_address_that_was_checked():
    """The name is looked up once; the server still sees the name it was called by."""
    asked = []

    async def resolve(host, port):
        asked.append(host)
        return ["127.0.0.1"]

    with serving(Reply()) as server:
        port = server.url.rpartition(":")[2]
        client = HttpClient(resolve=resolve)

        async def work():
            for _ in range(2):
                await client.request("GET", f"http://search.example.org:{port}/")
            await client.close()

        asyncio.run(work())
    assert asked == ["search.example.org"]
    assert server.seen[1].headers["Host"] == f"search.example.org:{port}"


def test_the_second_address_is_tried_when_the_first_refuses():
    """A host with an address nobody listens at is reached by its other one."""

    async def resolve(host, port):
        return ["::1", "127.0.0.1"]

    with serving(Reply()) as server:
        port = server.url.rpartition(":")[2]
        answer = call(HttpClient(resolve=resolve), "GET", f"http://search.example.org:{port}/")
    assert answer.status == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.8", "192.168.1.1", "::1", "8.8.8.8", "2001:db8::1"])
def test_ordinary_addresses_are_allowed(address):
    """This machine, private networks and public ones are no special addresses."""
    assert not is_forbidden(address)


def test_redirects_within_an_origin_are_followed():
    """A 307 keeps method and body; the answer is that of the last address."""

    def answer(asked):
        if asked.path == "/old":
            return Reply(307, b"", {"Location": "/new"})
        return Reply(body=asked.method.encode() + asked.body)

    with serving(answer) as server:
        assert call(HttpClient(), "POST", f"{server.url}/old", content=b"x").body == b"POSTx"


def test_redirects_to_another_origin_are_refused():
    """Another port is another origin: neither query nor headers go there."""
    with (
        serving(Reply()) as other,
        serving(Reply(302, b"", {"Location": f"{other.url}/x?{CANARY}"})) as server,
    ):
        with pytest.raises(RefusedError, match="another origin") as caught:
            call(HttpClient(), "GET", server.url, headers={"Authorization": "Bearer x"})
        assert other.seen == []
    assert CANARY not in f"{caught.value} {caught.value.hint}"


def test_a_post_is_not_turned_into_a_get():
    """A 302 after a POST would lose the query: it is an error that says so."""
    with serving(Reply(302, b"", {"Location": "/login"})) as server:
        with pytest.raises(EngineError, match="losing the query"):
            call(HttpClient(), "POST", f"{server.url}/find", content=b"{}")
        assert len(server.seen) == 1


def test_redirects_end():
    """Five redirects are followed, the sixth is an error."""
    with serving(Reply(302, b"", {"Location": "/again"})) as server:
        with pytest.raises(EngineError, match="more than 5 redirects"):
            call(HttpClient(), "GET", server.url)
        assert len(server.seen) == 6


def test_a_huge_answer_is_not_read():
    """Reading stops at the limit, also where a small answer unpacks to a large one."""
    for reply in (
        Reply(body=b"x" * 200_000),
        Reply(body=gzip.compress(b"x" * 2_000_000), headers={"Content-Encoding": "gzip"}),
    ):
        with serving(reply) as server, pytest.raises(EngineError, match="longer than 100,000 bytes"):
            call(HttpClient(max_bytes=100_000), "GET", server.url)


def test_a_hanging_server_is_given_up():
    """The limit counts for the whole call."""
    with serving(Reply(wait=5)) as server:
        begun = time.monotonic()
        with pytest.raises(EngineError, match=r"no answer within 0\.2 s"):
            call(HttpClient(timeout=0.2), "GET", server.url)
        assert time.monotonic() - begun < 2


def test_nobody_there_is_said_without_the_query():
    """A closed port: the address is named, the query string is not."""
    with serving(Reply()) as server:
        url = server.url
    with pytest.raises(EngineError, match="cannot connect") as caught:
        call(HttpClient(), "GET", f"{url}/find?q={CANARY}")
    assert CANARY not in f"{caught.value} {caught.value.hint}"
    assert "/find" in str(caught.value)


def test_an_address_with_a_password_is_refused_and_not_shown():
    """Credentials belong into a header from the environment."""
    with pytest.raises(RefusedError) as caught:
        call(HttpClient(), "GET", f"http://ann:{CANARY}@127.0.0.1:9/x")
    assert CANARY not in str(caught.value)


def test_cookies_do_not_travel_from_one_search_to_the_next():
    """What one answer sets is not sent with the next request."""
    with serving(Reply(headers={"Set-Cookie": "seen=1"})) as server:
        client = HttpClient()

        async def work():
            for _ in range(2):
                await client.request("GET", server.url)
            await client.close()

        asyncio.run(work())
    assert "Cookie" not in server.seen[1].headers


def test_a_client_outlives_an_event_loop():
    """Two runs one after the other use the same client object."""
    with serving(Reply()) as server:
        client = HttpClient()
        assert [call(client, "GET", server.url).status for _ in range(2)] == [200, 200]


def test_logs_do_not_hold_addresses(caplog):
    """No log record of our calls, at any level, holds the query; other people's records stay."""
    caplog.set_level(logging.DEBUG)
    url = f"/{CANARY}?q={CANARY}"
    replies = iter([Reply(), Reply(302, b"", {"Location": f"/x?{CANARY}"})])
    with serving(lambda _asked: next(replies)) as server:
        call(HttpClient(), "GET", server.url + url, shown="S")
        with pytest.raises(EngineError):
            call(HttpClient(), "POST", server.url + url, content=CANARY.encode(), shown="S")
    assert CANARY not in caplog.text
    logging.getLogger("httpx2").info("somebody else's")
    assert "somebody else's" in caplog.text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a:b@h.example.org:8/p?q=1#f", "https://h.example.org:8/p"),
        ("http://[::1", "(an address that cannot be read)"),
    ],
)
def test_shown_addresses(url, shown):
    """Neither user, password, query nor fragment is shown."""
    assert without_query(url) == shown


def test_an_origin_is_scheme_host_and_port():
    """Letter case and a port left out make no difference; scheme, host and port do."""
    assert origin_of("HTTPS://Search.Example.org/a?b#c") == origin_of("https://search.example.org:443/")
    assert origin_of("http://search.example.org/") == "http://search.example.org:80"
    assert origin_of("http://[::1]:9200/") == "http://[::1]:9200"
    assert [origin_of(url) for url in ("http://[::1", "/find", "http://a:99999/")] == ["", "", ""]
