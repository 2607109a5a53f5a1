"""The server over HTTP: who may call it, from where, how often, and what the official client gets."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders.agents import client_of, serve_http, write_agents
from findback.errors import SettingsError, UsageError
from findback.steps.agenttokens import (
    AgentTokenRequest,
    find_grant,
    list_agent_tokens,
    make_agent_token,
    revoke_agent_token,
)
from findback.steps.bench import open_bench
from findback.steps.kept import now
from findback.steps.mine import MineRequest, mine
from findback.workspace import Workspace, open_workspace

pytest.importorskip("mcp")
httpx2 = pytest.importorskip("httpx2")

CANARY = "noor" + "@example.org"
ASKED = f"door badge lost, I am {CANARY}"
TRIED = ("lost badge", "badge replacement door", "badge card gone")
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "badge"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def make_token(workspace: Workspace, *scopes: Any, days: int = 7) -> str:
    wanted = AgentTokenRequest(name="test", scopes=scopes or ("flag", "expand", "search"), days=days)
    return make_agent_token(workspace, wanted, now=now()).token


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Serve a workspace, with tokens of every kind."""
    parent = tmp_path_factory.mktemp("http")
    folder = write_agents(parent / "team", mcp='origins = ["https://chat.example.org"]\ncalls_per_minute = 12')
    workspace = open_workspace(folder, environment={"HOME": str(parent / "home")})
    tokens = SimpleNamespace(all=make_token(workspace), flag=make_token(workspace, "flag"))
    tokens.busy, tokens.checked = make_token(workspace), make_token(workspace)
    with open_bench(workspace) as bench:
        past = now() - timedelta(days=3)
        tokens.over = bench.add_api_token(
            "over", reviewer="ann", scopes=["search"], now=past, until=past + timedelta(days=1)
        )
        tokens.page = bench.add_api_token(
            "page", reviewer="ann", scopes=["lead"], now=now(), until=now() + timedelta(days=1)
        )
    tokens.revoked = make_token(workspace)
    revoke_agent_token(workspace, list_agent_tokens(workspace, now=now()).tokens[0].number, now=now())
    with serve_http(folder, errors=parent / "stderr.txt") as address:
        yield SimpleNamespace(address=address, tokens=tokens, workspace=workspace, errors=parent / "stderr.txt")


def post(site: SimpleNamespace, token: str | None, body: Any = CALL, **headers: str) -> Any:
    given = HEADERS | headers | ({"Authorization": f"Bearer {token}"} if token is not None else {})
    content = body if isinstance(body, bytes) else json.dumps(body)
    return httpx2.post(site.address, content=content, headers=given, trust_env=False, timeout=60)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_uses_the_tools(site: SimpleNamespace, mode: str) -> None:
    """The official client lists, searches, expands and flags, by today's protocol and by the one before."""

    async def talk() -> SimpleNamespace:
        async with client_of(site.address, site.tokens.all, mode=mode) as client:
            return SimpleNamespace(
                tools=[tool.name for tool in (await client.list_tools()).tools],
                found=await client.call_tool("search", {"query": "lost badge"}),
                expanded=await client.call_tool("expand_query", {"question": "badge"}),
                flagged=await client.call_tool("flag_not_found", {"question": "where is the gym"}),
            )

    spoken = asyncio.run(talk())
    assert spoken.tools == ["flag_not_found", "expand_query", "search"]
    assert spoken.found.structured_content["results"][0]["document"] == "howto/badge.md"
    assert spoken.expanded.structured_content == {"query": "badge", "added": []}
    assert spoken.flagged.structured_content["status_token"]


@pytest.mark.parametrize("kind", [None, "over", "revoked", "unknown"])
def test_without_a_good_token_nobody_is_answered(site: SimpleNamespace, kind: str | None) -> None:
    """A missing, expired, revoked or invented token is refused alike, before anything is read."""
    token = "x" * 43 if kind == "unknown" else getattr(site.tokens, kind) if kind else None
    answer = post(site, token)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "result" not in answer.json()


def test_token_of_the_review_page_is_no_agents(site: SimpleNamespace) -> None:
    """A token whose scopes are roles of the review page opens nothing here."""
    assert post(site, site.tokens.page).status_code == 403


def test_scope_bounds_what_a_token_does(site: SimpleNamespace) -> None:
    """A token to flag lists the flag alone, and is refused a search."""

    async def talk() -> SimpleNamespace:
        async with client_of(site.address, site.tokens.flag) as client:
            return SimpleNamespace(
                tools=[tool.name for tool in (await client.list_tools()).tools],
                search=await client.call_tool("search", {"query": "badge"}),
                expand=await client.call_tool("expand_query", {"question": "badge"}),
            )

    spoken = asyncio.run(talk())
    assert spoken.tools == ["flag_not_found"]
    assert (spoken.search.is_error, spoken.search.structured_content) == (True, None)
    assert spoken.search.content[0].text == "this token may not be used for search: it lacks the scope search"
    assert spoken.expand.is_error is True


@pytest.mark.parametrize(
    "host", ["evil.example.org", "127.0.0.1.evil.example.org", "127.0.0.1", "localhost:1", "127.0.0.1:8328@evil"]
)
def test_forged_host_is_refused(site: SimpleNamespace, host: str) -> None:
    """A name that was pointed at this machine, another port, or a name that only begins alike: none is answered."""
    assert post(site, site.tokens.checked, Host=host).status_code == 421


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example.org",
        "https://chat.example.org.evil.example.org",
        "https://chat.example.org:8443",
        "http://chat.example.org",
        "http://127.0.0.1:8000",
        "null",
    ],
)
def test_forged_origin_is_refused(site: SimpleNamespace, origin: str) -> None:
    """A page of any site but exactly those that are listed is refused, whatever token it has."""
    assert post(site, site.tokens.checked, Origin=origin).status_code == 403


def test_listed_origin_and_own_names_are_answered(site: SimpleNamespace) -> None:
    """The listed site is answered, and so is the machine by its other name."""
    assert post(site, site.tokens.checked, Origin="https://chat.example.org").status_code == 200
    port = site.address.split(":")[2].split("/")[0]
    assert post(site, site.tokens.checked, Host=f"localhost:{port}").status_code == 200


def test_browsers_are_told_of_listed_sites_alone(site: SimpleNamespace) -> None:
    """A page of the listed site may ask from a browser, without cookies; one of another site is told no."""
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    good = httpx2.options(site.address, headers={"Origin": "https://chat.example.org", **asked}, trust_env=False)
    assert (good.status_code, good.headers["access-control-allow-origin"]) == (200, "https://chat.example.org")
    assert "access-control-allow-credentials" not in good.headers
    bad = httpx2.options(site.address, headers={"Origin": "https://evil.example.org", **asked}, trust_env=False)
    assert bad.status_code == 400
    assert "access-control-allow-origin" not in bad.headers


def test_too_large_a_request_is_refused(site: SimpleNamespace) -> None:
    """A body beyond the bound is refused, announced or not; a query beyond its own bound too, without its text."""
    assert post(site, site.tokens.checked, b"x" * 300_000).status_code == 413
    long = {**CALL, "params": {"name": "search", "arguments": {"query": CANARY * 1_000}}}
    said = post(site, site.tokens.checked, long).json()["result"]
    assert said["isError"] is True
    assert CANARY not in json.dumps(said)


def test_other_methods_and_paths_give_nothing(site: SimpleNamespace) -> None:
    """There is no stream to open, no session to end, and no other page."""
    given = {"Authorization": f"Bearer {site.tokens.checked}", **HEADERS}
    for method, path in (("GET", "/"), ("GET", "/.well-known/oauth-protected-resource"), ("POST", "/token")):
        address = site.address.removesuffix("/mcp") + path
        assert httpx2.request(method, address, headers=given, trust_env=False).status_code == 404
    for method in ("GET", "PUT", "DELETE"):
        assert httpx2.request(method, site.address, headers=given, trust_env=False).status_code == 405


def test_calls_are_counted_by_token(site: SimpleNamespace) -> None:
    """The thirteenth call in a minute is refused; another token is not kept waiting."""
    answers = [post(site, site.tokens.busy).json()["result"] for _ in range(13)]
    assert [one.get("isError", False) for one in answers] == [False] * 12 + [True]
    assert answers[-1]["content"][0]["text"] == "too many calls: 12 in a minute; wait a little"
    assert post(site, site.tokens.checked).json()["result"]["isError"] is False


def test_log_is_mined(site: SimpleNamespace) -> None:
    """Three wordings of one question, each a request of its own, are one candidate; an exam's searches are none."""
    token = make_token(site.workspace)

    async def talk(question: str, queries: tuple[str, ...]) -> None:
        for query in queries:
            async with client_of(site.address, token) as client:
                await client.call_tool("search", {"query": query, "question": question})

    async def both() -> None:
        # Two agents with one token, at the same time.
        await asyncio.gather(talk(ASKED, TRIED), talk("book a flight", ("book a flight",)))

    asyncio.run(both())
    for query in ("exam one", "exam two", "exam three"):
        arguments = {"query": f"{query} printer", "question": "the printer of the exam"}
        body = {**CALL, "params": {"name": "search", "arguments": arguments}}
        assert post(site, token, body, **{"X-Findback": "evaluation"}).status_code == 200
    mined = mine(site.workspace, MineRequest(own_log=True))
    assert mined.exports[0].rules == {"reformulation": 1}
    with open_bench(site.workspace) as bench:
        texts = {one.text for one in bench.texts()}
    assert "door badge lost, I am ⟦EMAIL_1⟧" in texts or "door badge lost, I am ⟦OTHER_1⟧" in texts
    assert not any(CANARY in text for text in texts)


def test_server_says_no_text_of_its_own(site: SimpleNamespace) -> None:
    """After all of that, stderr names no host, no origin, no wording and no token: lines of JSON only."""
    post(site, site.tokens.checked, Host=f"{CANARY}.example.org")
    post(site, CANARY)
    said = site.errors.read_text("utf-8")
    for row in map(json.loads, said.splitlines()):
        assert row["event"] in {"call", "library"}, row
    for text in (CANARY, "badge", "evil", *vars(site.tokens).values()):
        assert text not in said


def test_tokens_are_listed_without_their_secret(site: SimpleNamespace) -> None:
    """The list names tokens of agents, their scopes and state; the review page's own are not among them."""
    listed = list_agent_tokens(site.workspace, now=now())
    states = {one.name: one.state for one in listed.tokens}
    assert states["over"] == "over"
    assert "page" not in states
    assert "revoked" in {one.state for one in listed.tokens}
    text = listed.model_dump_json()
    assert not any(token in text for token in vars(site.tokens).values())


def test_scope_is_no_role_of_the_page(site: SimpleNamespace) -> None:
    """A token of an agent gives no role on the review page, whoever made it."""
    with open_bench(site.workspace) as bench:
        found = bench.api_token(site.tokens.all, now=now())
        assert found is not None
        assert found.roles == frozenset()
        assert find_grant(bench, site.tokens.page, now=now()).scopes == frozenset()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('host = "0.0.0.0"', "nothing encrypts"),
        ('host = "192.0.2.7"\npublic_url = "https://findback.example.org"', "nothing encrypts"),
        ('host = "0.0.0.0"\nproxies = ["192.0.2.1"]', "must begin with https"),
        ('host = "0.0.0.0"\nproxies = ["192.0.2.1"]\npublic_url = "http://a.example.org"', "must begin with https"),
        (
            'host = "0.0.0.0"\ntls_certificate = "c.pem"\ntls_key = "k.pem"\npublic_url = "https://a.example.org"',
            "no file",
        ),
        ('origins = ["*"]', "no address of a site"),
        ('origins = ["https://a.example.org:*"]', "no address of a site"),
        ('origins = ["https://a.example.org/"]', "compared exactly"),
    ],
)
def test_open_to_others_needs_tls(tmp_path: Path, settings: str, said: str) -> None:
    """Beyond this machine it is served with TLS under an https name or not at all; lists hold exact names."""
    from findback.mcp.http import serve_http as serve

    workspace = open_workspace(write_agents(tmp_path / "team", mcp=settings), environment={"HOME": str(tmp_path)})
    make_token(workspace)
    with pytest.raises(SettingsError, match=said):
        serve(workspace, port=0, ready=print)


def test_without_any_token_it_is_not_served(tmp_path: Path) -> None:
    """A server that nobody could call says which command makes a token, and does not start."""
    from findback.mcp.http import serve_http as serve

    workspace = open_workspace(write_agents(tmp_path / "team"), environment={"HOME": str(tmp_path)})
    with pytest.raises(UsageError, match="no agent has a token") as caught:
        serve(workspace, port=0, ready=print)
    assert caught.value.hint == "findback mcp token NAME"
