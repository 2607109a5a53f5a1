"""A tool of real MCP servers: over stdio, over HTTP, and on bad days."""

import json
import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.hits import Hit
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import config_digest
from findback.retrievers.mcp import McpRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import CANARY, ask, assert_no_canary, documents, message_of, run_closing, search

SERVER = """
import json, os, sys
from mcp.server import MCPServer
from mcp.types import CallToolResult, ResourceLink, TextContent

server = MCPServer("docs")
RESULTS = [{"path": "tracing.md", "score": 2.0}, {"path": "claims.md", "score": 1.0}]

def texts(*said):
    return CallToolResult(content=[TextContent(type="text", text=one) for one in said])

@server.tool()
def rows(query: str, limit: int = 10) -> list[dict]:
    return RESULTS[:limit]

@server.tool()
def prose(query: str) -> CallToolResult:
    return texts("Found https://docs.example.org/a.md and\\nhttps://docs.example.org/b.md, sorry for the rest")

@server.tool()
def lines(query: str) -> CallToolResult:
    return texts(*map(json.dumps, RESULTS))

@server.tool()
def whole(query: str) -> CallToolResult:
    return texts(json.dumps({"found": {"docs": RESULTS}}))

@server.tool()
def links(query: str) -> CallToolResult:
    link = ResourceLink(type="resource_link", name="Tracing", uri="https://docs.example.org/tracing.md")
    return CallToolResult(content=[TextContent(type="text", text="one page"), link])

@server.tool()
def variables(query: str) -> list[str]:
    return sorted(os.environ)

@server.tool()
async def slow(query: str) -> str:
    import asyncio
    await asyncio.sleep(30)
    return ""

@server.tool()
def chatty(query: str) -> list[dict]:
    os.write(1, f"searching {query}\\n".encode())
    return RESULTS

@server.tool()
def crash(query: str) -> str:
    if query == "now":
        os._exit(3)
    return json.dumps([{"path": "alive.md"}])

if len(sys.argv) > 1:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the server."""
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Run the server over HTTP."""
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "server.py").write_text(SERVER, "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "server.py", str(port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            assert process.poll() is None
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(20)


def make(folder: Path, tool: str, variables=None, **own):
    """Return a retriever as findback.toml would have it."""
    settings = {"id": "$.path", **own}
    if "url" not in own:
        settings = {"command": [sys.executable, "server.py"], **settings}
    around = Surroundings(base=folder, environment=variables or {})
    return McpRetriever.build("tool", RetrieverSettings(kind="mcp", tool=tool, **settings), around)


def test_a_tool_is_asked_over_http(address: str, folder: Path):
    """Structured content, ids and scores; k goes into the arguments; the level follows the address."""
    own = {"url": address, "score": "$.score", "arguments": {"query": "{{query}}", "limit": "{{k}}"}}
    retriever = make(folder, "rows", **own)
    answer = search(retriever, "parcel", 1)
    assert answer.hits == (Hit("tracing.md", 2.0),)
    assert not answer.exhausted
    assert retriever.egress == "local"
    assert retriever.score_direction == "higher"


def test_every_form_of_result_is_read(folder: Path):
    """JSON in several texts, in one text, links to resources, and ids in prose: one session each."""
    both = (Hit("tracing.md"), Hit("claims.md"))
    assert search(make(folder, "lines"), "x").hits == both
    assert search(make(folder, "whole", hits="$.found.docs[*]"), "x").hits == both
    assert search(make(folder, "links", id="$.id"), "x").hits == (Hit("https://docs.example.org/tracing.md"),)
    pattern = r"https://docs\.example\.org/(\w+\.md)"
    assert search(make(folder, "prose", id="$.id", pattern=pattern), "x").hits == (Hit("a.md"), Hit("b.md"))
    with pytest.raises(EngineError, match="prose, not JSON") as caught:
        search(make(folder, "prose"), "x")
    assert "pattern" in caught.value.hint


def test_a_tool_without_a_k_is_not_asked_for_more(folder: Path):
    """Two results where ten were wanted: that is all there is."""
    answer = search(make(folder, "rows"), "x", 10)
    assert (len(answer.hits), answer.exhausted) == (2, True)
    assert not search(make(folder, "rows"), "x", 1).exhausted


def test_a_server_gets_the_variables_that_are_named_and_no_others(folder: Path):
    """What is in our environment stays there."""
    given = {"DOCS_TOKEN": "t" + "1", "OTHER_SECRET": "o" + "1"}
    retriever = make(folder, "variables", given, environment=["DOCS_TOKEN"], id="$", hits="$.result[*]")
    names = {hit.document for hit in search(retriever, "x", 500).hits}
    assert "DOCS_TOKEN" in names
    assert not names & {"OTHER_SECRET", "FINDBACK_DATA", "PYTEST_CURRENT_TEST"}
    assert "DOCS_TOKEN" not in os.environ


def test_a_session_that_ends_is_that_questions_error_and_the_next_is_answered(folder: Path):
    """The server ends on one question; the one after it has a new server."""
    run = ask(make(folder, "crash", timeout=20), ["a", "now", "b"], depth=1, concurrency=1).run
    assert documents(run, 0) == ["alive.md"]
    assert documents(run, 2) == ["alive.md"]
    assert run.reason_of(1)


def test_a_server_that_writes_the_question_to_its_output_is_read_past(folder: Path, caplog):
    """What is no message of the protocol ends nothing, and is in no log."""
    caplog.set_level(logging.DEBUG)
    run = ask(make(folder, "chatty", timeout=20), [CANARY, "b"], depth=2).run
    assert [documents(run, at) for at in range(2)] == [["tracing.md", "claims.md"]] * 2
    assert_no_canary([], caplog)


def test_a_tool_that_takes_too_long_is_stopped(folder: Path):
    """At the limit, with the limit; the server has started by then."""
    retriever = make(folder, "slow", timeout=6)

    async def work():
        with pytest.raises(EngineError, match="no answer within 6 s"):
            await retriever.search(Query("x"), 1)

    run_closing(retriever, work)


@pytest.mark.parametrize(
    ("tool", "own", "said"),
    [
        ("nowhere", {}, "nowhere"),
        ("rows", {"arguments": {"question": "{{query}}"}}, "rows"),
        ("rows", {"hits": "$.hits[*]"}, "matches nothing"),
        ("rows", {"command": ["no-such-program-anywhere"]}, "no MCP session with no-such-program-anywhere"),
        ("rows", {"command": [sys.executable, "-c", "pass"]}, "no MCP session with"),
    ],
)
def test_what_goes_wrong_is_one_clear_line(folder: Path, tool, own, said):
    """No such tool, other arguments, another shape, a program that is not there or ends at once."""
    with pytest.raises(EngineError, match=said) as caught:
        search(make(folder, tool, timeout=20, **own), CANARY)
    assert CANARY not in message_of(caught.value)


def test_an_address_where_no_server_is_is_one_clear_line(folder: Path):
    """Nothing listens there."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(EngineError, match="no MCP session with"):
        search(make(folder, "rows", url=f"http://127.0.0.1:{port}/mcp", timeout=20), "x")


def test_trust_names_program_host_and_variables(folder: Path):
    """The command line as it would run, and what it is given; a secret's value is in neither settings nor trust."""
    secret = "s3cr" + "et"
    local = {"command": ["docs-mcp", "--stdio"], "environment": ["DOCS_TOKEN"]}
    assert McpRetriever.trusts("agent", RetrieverSettings(kind="mcp", tool="find", **local)) == (
        Trusted("command", "docs-mcp --stdio"),
        Trusted("variable", "$DOCS_TOKEN, given to docs-mcp --stdio by agent"),
    )
    remote = {"url": "https://mcp.example.org/mcp", "headers": {"Authorization": "Bearer {{env:DOCS_TOKEN}}"}}
    assert McpRetriever.trusts("agent", RetrieverSettings(kind="mcp", tool="find", **remote)) == (
        Trusted("host", "https://mcp.example.org:443, asked by agent"),
        Trusted("variable", "$DOCS_TOKEN, sent to https://mcp.example.org:443 in header Authorization by agent"),
    )
    retriever = make(folder, "rows", {"DOCS_TOKEN": secret}, **remote)
    assert retriever.egress == "external"
    assert secret not in json.dumps(dict(retriever.settings()), default=str)
    assert config_digest(retriever) != config_digest(make(folder, "other", {"DOCS_TOKEN": secret}, **remote))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"command": []}, "either the server's `command` or its `url`"),
        ({"url": "http://127.0.0.1/mcp", "command": ["x"]}, "either the server's `command` or its `url`"),
        ({"arguments": {"q": "{{querry}}"}}, "querry"),
        ({"pattern": "docs/"}, "has no group"),
        ({"pattern": "("}, "no regular expression"),
        ({"environment": ["A=1"]}, "names of variables, not values"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_starts(folder: Path, own, said):
    """When built, and when trust is asked."""
    with pytest.raises(SettingsError, match=said):
        make(folder, "rows", **own)
