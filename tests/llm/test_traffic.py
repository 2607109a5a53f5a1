"""What goes out, where, and what is counted."""

import asyncio
import os

import httpx2
import pytest

from builders.asked import an_ask, ask_all, ask_one, open_for, say_back
from builders.llmserver import KEY, LlmServer
from findback.departures import Departure, Departures
from findback.errors import EngineError, RefusedError
from findback.llm import traffic
from findback.llm.ask import ItemFailedError
from findback.llm.traffic import Traffic


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/v1",
        "http://[fd00:ec2::254]/v1",
        "ftp://models.example.org/v1",
        "file:///etc/passwd",
        "https://ann:hunter@models.example.org/v1",
        "//models.example.org",
    ],
)
def test_addresses_that_no_model_has_are_refused(address):
    """Metadata services, other schemes and addresses with a password are refused before anything is sent."""
    with LlmServer(say_back) as server, pytest.raises(RefusedError) as caught:
        open_for(server, base_url=address)
    assert "[models.m] base_url" in str(caught.value)
    assert "hunter" not in f"{caught.value} {caught.value.hint}"


def test_a_name_that_leads_to_the_metadata_service_is_refused():
    """The name is looked up, and the address that is called is the one that was looked at."""
    with pytest.raises(RefusedError, match="metadata"):
        Traffic("http://169.254.169.254/")

    async def look_up(host, port):
        return ["169.254.169.254"]

    async def call():
        sent = Traffic("http://models.example.org/v1")
        sent._inner._resolve = look_up
        async with httpx2.AsyncClient(transport=sent) as client:
            await client.get("http://models.example.org/v1/models")

    with pytest.raises(RefusedError, match="metadata"):
        asyncio.run(call())


def test_what_is_sent_is_counted_with_its_state(tmp_path):
    """Every request counts, tried again or not, by origin, level and the text's state; a known answer does not."""
    kept = {}
    with LlmServer(say_back, mood=lambda question, times: "500" if times == 0 else None) as server:
        for _ in range(2):
            model = open_for(server, cache=tmp_path, egress="internal", departures=Departures(kept.update))
            ask_all(model, an_ask(1), an_ask(2), an_ask(3, state="reviewed"))
        origin = server.openai.removesuffix("/v1")
    assert kept == {Departure(origin, "internal", "document"): 4, Departure(origin, "internal", "reviewed"): 2}


def test_nothing_counts_as_sent_without_a_connection():
    """A server that is not there was sent nothing."""
    kept = {}
    with LlmServer(say_back) as server:
        pass
    ask_all(open_for(server, departures=Departures(kept.update)), an_ask())
    assert kept == {}


def test_the_environment_adds_nothing(monkeypatch):
    """Proxies, keys, organisations and headers that libraries read from the environment are not used."""
    secret = "canary" + "4711"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:9")
    for library in ("OPENAI", "ANTHROPIC"):
        for name in ("API_KEY", "AUTH_TOKEN", "ORG_ID", "PROJECT_ID", "BASE_URL"):
            monkeypatch.setitem(os.environ, f"{library}_{name}", f"https://{secret}.example.org")
        monkeypatch.setitem(os.environ, f"{library}_CUSTOM_HEADERS", f"X-Canary: {secret}")
    seen = []
    with LlmServer(lambda question: seen.append(question) or say_back(question)) as server:
        for provider in ("openai", "anthropic"):
            ask_one(open_for(server, provider=provider))
    assert len(seen) == 2
    for question in seen:
        assert secret not in str(question.headers)
        assert question.headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent():
    """A server that wants no key is not sent what the library puts in its place."""
    seen = []
    with LlmServer(lambda question: seen.append(question) or say_back(question), key=None) as server:
        ask_one(open_for(server, key=None))
    assert "authorization" not in seen[0].headers


def test_an_answer_without_end_is_not_read(monkeypatch):
    """An answer longer than the limit fails its item."""
    monkeypatch.setattr(traffic, "MOST_BYTES", 5_000)
    with LlmServer(lambda question: {"query": "boat " * 2_000}) as server:
        with pytest.raises(ItemFailedError, match="longer than 5,000 bytes"):
            ask_one(open_for(server))
        assert server.counts.accepted == 1
    assert issubclass(ItemFailedError, EngineError)
