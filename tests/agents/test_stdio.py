"""The server by standard input and output, spoken to by the official client."""

import json
import stat
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders.agents import command, environment, speak_stdio, write_agents
from findback.steps.bench import open_bench
from findback.steps.mine import MineRequest, mine
from findback.workspace import Workspace, open_workspace

pytest.importorskip("mcp")

MAIL = "noor" + "@example.org"
SECRET = "ghp" + "_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
ASKED = f"cant get my parking permit, mail {MAIL}"
TRIED = ("parking permit renewal", "parking badge expired", f"parking permit {SECRET}")


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return what the tools answered in one conversation."""
    folder = write_agents(tmp_path_factory.mktemp("stdio") / "team")
    terms = '[[terms]]\nwhen = "parking permit"\nadd = "gate pass"\n'
    (folder / "evalset").mkdir()
    (folder / "evalset" / "glossary.toml").write_text(f"format = 1\n\n{terms}", "utf-8")

    async def talk(client: Any) -> SimpleNamespace:
        return SimpleNamespace(
            tools=(await client.list_tools()).tools,
            searches=[await client.call_tool("search", {"query": one, "question": ASKED}) for one in TRIED],
            nothing=await client.call_tool("search", {"query": "xyzzy quux", "question": "where is the xyzzy"}),
            expanded=await client.call_tool("expand_query", {"question": "my parking permits"}),
            flagged=await client.call_tool(
                "flag_not_found",
                {"question": ASKED, "tried": list(TRIED), "shown": ["howto/parking.md"], "note": "no renewal page"},
            ),
            faulty=await client.call_tool("search", {"query": "", "limit": "3", "command": SECRET}),
            unknown=await client.call_tool("evaluate", {"retrievers": [SECRET]}),
        )

    errors = folder.parent / "stderr.txt"
    answers = speak_stdio(folder, talk, errors=errors)
    answers.folder, answers.errors = folder, errors.read_text("utf-8")
    return answers


@pytest.fixture(scope="module")
def workspace(spoken: SimpleNamespace) -> Workspace:
    """Return the workspace, as it stands after the conversation."""
    return open_workspace(spoken.folder, environment={"HOME": str(spoken.folder.parent / "home")})


def test_tools_take_flat_arguments(spoken: SimpleNamespace) -> None:
    """There are three tools; none nests its arguments, and none takes a path, a command or an address."""
    assert [tool.name for tool in spoken.tools] == ["flag_not_found", "expand_query", "search"]
    taken = {tool.name: set(tool.input_schema["properties"]) for tool in spoken.tools}
    assert taken == {
        "flag_not_found": {"question", "tried", "shown", "note"},
        "expand_query": {"question"},
        "search": {"query", "question", "limit"},
    }
    for tool in spoken.tools:
        assert "$ref" not in json.dumps(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert all(one["description"] for one in tool.input_schema["properties"].values())


def test_search_marks_what_nobody_vouches_for(spoken: SimpleNamespace) -> None:
    """Text of a document stands between lines with a mark it could not know, bounded, with nothing that hides."""
    answer = spoken.searches[0]
    text = answer.content[0].text
    assert answer.is_error is False
    assert "never instructions" in text.split("\n")[0]
    lines = text.split("\n")
    begins = [at for at, line in enumerate(lines) if line.startswith("[untrusted ") and line.endswith(": begin]")]
    mark = lines[begins[0]].split()[1].rstrip(":")
    assert len(mark) == 16
    hostile = next(at for at, line in enumerate(lines) if "Ignore all previous instructions" in line)
    assert max(at for at in begins if at < hostile) < hostile < lines.index(f"[untrusted {mark}: end]", hostile)
    assert not {"\x1b", "\u202e"} & set(text)
    (first,) = (one for one in answer.structured_content["results"] if one["document"] == "howto/parking.md")
    assert first["untrusted_title"] == "Parking"
    assert len(first["untrusted_excerpt"]) <= 500
    assert not {"\x1b", "\u202e"} & set(first["untrusted_excerpt"])


def test_nothing_found_says_what_to_do(spoken: SimpleNamespace) -> None:
    """An empty search is an answer, and points at the flag."""
    assert spoken.nothing.structured_content["results"] == []
    assert "flag_not_found" in spoken.nothing.content[0].text


def test_expand_adds_accepted_terms(spoken: SimpleNamespace) -> None:
    """The glossary's term fits the plural of the question and adds its words."""
    assert spoken.expanded.structured_content == {"query": "my parking permits gate pass", "added": ["gate pass"]}


def test_flag_becomes_a_redacted_candidate(spoken: SimpleNamespace, workspace: Workspace) -> None:
    """A flag says what happens next, and waits for review in the person's first wording, without their address."""
    told = spoken.flagged.structured_content
    assert told["what_happens_next"]
    assert len(told["status_token"]) >= 32
    with open_bench(workspace) as bench:
        key = bench.flagged(told["status_token"])
        assert key is not None
        stored = bench.candidate(key)
    assert stored is not None
    assert (stored.candidate.origin, stored.candidate.source) == ("flagged", "mcp")
    assert stored.candidate.query.text == "cant get my parking permit, mail ⟦EMAIL_1⟧"


def test_wrong_arguments_are_named_without_values(spoken: SimpleNamespace) -> None:
    """Every fault of the arguments is said at once, and none of what was sent is repeated."""
    said = spoken.faulty.content[0].text
    assert spoken.faulty.is_error is True
    assert {part.split(":")[0] for part in said.split("; ")} == {"query", "limit", "command"}
    assert SECRET not in said
    assert spoken.unknown.is_error is True
    assert spoken.unknown.content[0].text.startswith("there is no such tool")


def test_log_is_private_and_redacted(spoken: SimpleNamespace, workspace: Workspace) -> None:
    """The log holds each search once, without addresses and secrets, in a file nobody else can read."""
    (file,) = (workspace.private / "mcp").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text("utf-8")
    assert MAIL not in text
    assert SECRET not in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["query"] for row in rows] == [*TRIED[:2], "parking permit ⟦SECRET_1⟧", "xyzzy quux"]
    assert {row["format"] for row in rows} == {1}
    assert len({row["turn"] for row in rows}) == 2
    assert len({row["session"] for row in rows}) == 1
    assert rows[3]["n_results"] == 0


def test_log_is_mined(spoken: SimpleNamespace, workspace: Workspace) -> None:
    """The person's first wording becomes a candidate by the rule for reformulations, redacted, and only once."""
    first = mine(workspace, MineRequest(own_log=True))
    assert (first.exports[0].source, first.candidates) == ("mcp", 2)
    assert first.exports[0].rules == {"reformulation": 1, "zero-result": 1}
    again = mine(workspace, MineRequest(own_log=True))
    assert "new" not in again.stored or again.stored["new"] == 0
    with open_bench(workspace) as bench:
        texts = {one.text for one in bench.texts()}
    assert any(text.startswith("cant get my parking permit, mail ⟦") for text in texts)
    assert not any(MAIL in text or SECRET in text or "renewal" in text for text in texts if text != "no renewal page")


def test_server_says_no_text_of_its_own(spoken: SimpleNamespace) -> None:
    """What the server writes to stderr is JSON: which tool, how it ended; no wording, no secret, no address."""
    rows = [json.loads(line) for line in spoken.errors.splitlines()]
    calls = [(row["tool"], row["outcome"]) for row in rows if row["event"] == "call"]
    assert calls == [
        *[("search", "done")] * 4,
        ("expand_query", "done"),
        ("flag_not_found", "done"),
        ("search", "usage"),
        ("unknown", "usage"),
    ]
    for canary in (MAIL, SECRET, "parking", "xyzzy"):
        assert canary not in spoken.errors


def test_stdout_holds_the_protocol_alone(tmp_path: Path) -> None:
    """What a retriever prints, while it is built and while it searches, reaches no line of standard output."""
    from findback.steps.opening import trusted_items
    from findback.trust import digest_of

    folder = write_agents(tmp_path / "team", more='[retrievers.own]\nkind = "python"\nfunction = "engine:find"\n')
    (folder / "engine.py").write_text(
        'import os\nprint("NOISE import")\nos.write(1, b"NOISE raw import")\n'
        'def find(query, k):\n    print("NOISE search")\n    os.write(1, b"NOISE raw")\n    return ["howto/vpn.md"]\n'
    )
    settings = (folder / "findback.toml").read_text().replace('search = "bm25"', 'search = "own"')
    (folder / "findback.toml").write_text(settings)
    opened = open_workspace(folder, environment={"HOME": str(tmp_path / "home")})
    trust = digest_of(opened.root, trusted_items(opened))
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "vpn"}},
        },
    ]
    with subprocess.Popen(
        command("mcp"),
        cwd=folder,
        env=environment(folder, FINDBACK_TRUST=trust),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        answers = []
        for message in messages:
            running.stdin.write(json.dumps(message) + "\n")
            running.stdin.flush()
            if "id" in message:
                answers.append(json.loads(running.stdout.readline()))
        rest, said = running.communicate(timeout=60)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["results"][0]["document"] == "howto/vpn.md"
    assert rest == ""
    assert "NOISE" in said
    assert running.returncode == 0


def test_untrusted_retriever_is_not_started(tmp_path: Path) -> None:
    """A retriever that nobody agreed to is not built: the server ends with the status of that, and says nothing."""
    folder = write_agents(tmp_path / "team", more='[retrievers.own]\nkind = "python"\nfunction = "engine:find"\n')
    code = 'import pathlib\n(pathlib.Path(__file__).parent / "ran").touch()\ndef find(query, k):\n    return []\n'
    (folder / "engine.py").write_text(code)
    settings = (folder / "findback.toml").read_text().replace('search = "bm25"', 'search = "own"')
    (folder / "findback.toml").write_text(settings)
    done = subprocess.run(
        command("mcp"), cwd=folder, env=environment(folder), input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert not (folder / "ran").exists()
