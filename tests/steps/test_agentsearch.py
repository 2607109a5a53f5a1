"""Searches of agents: what they may see, what is written down of them, and how it goes away."""

import asyncio
import hashlib
import json
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from builders.agents import write_agents
from builders.readings import turns_of
from findback.errors import EngineError, MissingError, RefusedError, SettingsError, UntrustedError
from findback.model.mcp_call import McpCall
from findback.sources.traces import mcp_log
from findback.steps.agentlog import AgentLog, forget_calls, sweep_agent_log
from findback.steps.agentsearch import AgentResults, AgentSearchRequest, Client, open_agent_search
from findback.steps.agentturns import IDLE, Turns
from findback.steps.bench import open_workspace_key
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.mine import MineRequest, mine
from findback.steps.opening import trusted_items
from findback.steps.retention import sweep
from findback.steps.verify import VerifyRequest, verify
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLIENT = Client("test", alone=True)
MAIL = "noor" + "@example.org"

Make = Callable[..., Workspace]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return what makes a workspace whose documents agents may search."""

    def opened(*, code: str | None = None, **given: Any) -> Workspace:
        folder = write_agents(tmp_path / "team", **given)
        if code is not None:
            (folder / f"{module_of(code)}.py").write_text(code, "utf-8")
        variables = {"HOME": str(tmp_path / "home")}
        known = open_workspace(folder, environment=variables)
        trust = digest_of(known.root, trusted_items(known))
        return open_workspace(folder, environment=variables | {"FINDBACK_TRUST": trust})

    return opened


def module_of(code: str) -> str:
    """Return a name that no other test's module has."""
    return f"fb_agents_{hashlib.sha256(code.encode()).hexdigest()[:12]}"


def python(code: str, **given: str | int) -> dict[str, str]:
    """Return what makes agents search a function."""
    own = "\n".join(f"{name} = {json.dumps(value)}" for name, value in given.items())
    return {
        "code": code,
        "more": f'[retrievers.own]\nkind = "python"\nfunction = "{module_of(code)}:find"\n{own}\n',
    }


def search(workspace: Workspace, *queries: str, question: str | None = None, limit: int | None = None) -> AgentResults:
    """Search, one query after the other, and return what the last one gave."""

    async def ask() -> AgentResults:
        async with open_agent_search(workspace) as opened:
            assert opened is not None
            for query in queries:
                request = AgentSearchRequest(query=query, question=question, limit=limit)
                found = await opened.search(request, CLIENT, now=NOW)
            return found

    return asyncio.run(ask())


def use(workspace: Workspace, name: str) -> Workspace:
    """Return the workspace with another retriever for agents."""
    settings = workspace.settings
    changed = settings.model_copy(update={"mcp": settings.mcp.model_copy(update={"search": name})})
    return Workspace(workspace.root, changed, workspace.origins, workspace.file, workspace.environment)


def rows(workspace: Workspace) -> list[dict[str, Any]]:
    """Return the lines of the log."""
    files = sorted((workspace.private / "mcp").glob("*"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_search_is_off_unless_a_retriever_is_named(make: Make) -> None:
    """Without mcp.search there is nothing to search, whatever is configured."""
    workspace = use(make(), "bm25")
    off = workspace.settings.model_copy(update={"mcp": workspace.settings.mcp.model_copy(update={"search": None})})

    async def ask() -> object:
        closed = Workspace(workspace.root, off, workspace.origins, workspace.file, workspace.environment)
        async with open_agent_search(closed) as opened:
            return opened

    assert asyncio.run(ask()) is None


def test_documents_must_be_marked(make: Make) -> None:
    """Documents that nobody marked for agents are not searched."""
    with pytest.raises(SettingsError, match="not marked for agents") as caught:
        search(make(for_agents=False), "badge")
    assert "for_agents = true" in (caught.value.hint or "")


def test_unknown_retriever_is_named(make: Make) -> None:
    """A retriever that is not there is named before anything is answered."""
    with pytest.raises(MissingError, match="other"):
        search(use(make(), "other"), "badge")


def test_only_marked_documents_come_back(make: Make) -> None:
    """What an engine returns besides the documents, or twice, is not shown; the text is the documents' own."""
    code = (
        "def find(query, k):\n"
        '    hits = ["secret/plan.md", "howto/vpn.md", "howto/badge.md", "howto/vpn.md", "policies/leave.md"]\n'
        '    return [{"id": one, "passage": "planted by the engine"} for one in hits]\n'
    )
    found = search(use(make(**python(code)), "own"), "device certificate", limit=2)
    assert [one.document for one in found.results] == ["howto/vpn.md", "howto/badge.md"]
    assert found.results[0].untrusted_excerpt.startswith("Install the tunnel client")
    assert "planted" not in found.model_dump_json()


def test_agents_see_what_their_role_may_read(make: Make, tmp_path: Path) -> None:
    """A document for some roles is shown to agents of one of them, and to no others, whatever the engine returns."""
    code = 'def find(query, k):\n    return ["pay.md", "open.md"]\n'
    for audience, seen in ((None, ["open.md"]), ("customer", ["open.md"]), ("staff", ["pay.md", "open.md"])):
        given = python(code)
        workspace = use(make(**given), "own")
        (workspace.root / "docs" / "pay.md").write_text("---\nroles: [staff]\n---\n# Pay\n\nBands.", "utf-8")
        (workspace.root / "docs" / "open.md").write_text("# Open\n\nAll.", "utf-8")
        settings = workspace.settings
        assert settings.corpus is not None
        corpus = settings.corpus.model_copy(update={"audience_field": "roles"})
        mcp = settings.mcp.model_copy(update={"audience": audience})
        changed = settings.model_copy(update={"corpus": corpus, "mcp": mcp})
        opened = Workspace(workspace.root, changed, workspace.origins, workspace.file, workspace.environment)
        assert [one.document for one in search(opened, "pay").results] == seen, audience


def test_results_and_excerpts_are_bounded(make: Make) -> None:
    """A client may ask for fewer results than the server's bound, never for more; excerpts end at theirs."""
    workspace = make(mcp="results = 2\nexcerpt = 50")
    assert len(search(workspace, "the", limit=50).results) <= 2
    long = workspace.root / "docs" / "long.md"
    long.write_text("# Long\n\n" + "zebra crossing " * 400, "utf-8")
    found = search(workspace, "zebra crossing")
    assert all(len(one.untrusted_excerpt) <= 50 for one in found.results)
    assert [one.document for one in search(workspace, "zebra badge leave", limit=1).results] != []
    assert len(search(workspace, "zebra badge leave", limit=1).results) == 1


def test_what_agents_ask_stays_here_unless_allowed(make: Make) -> None:
    """A retriever on another machine gets nothing nobody reviewed, until findback.toml names it."""
    note = '(pathlib.Path(__file__).parent / "asked").write_text(query)'
    code = f"import pathlib\ndef find(query, k):\n    {note}\n    return []\n"
    workspace = use(make(**python(code, egress="external")), "own")
    with pytest.raises(RefusedError, match="own \\(external\\)") as caught:
        search(workspace, "badge")
    assert 'unreviewed_to = ["own"]' in (caught.value.hint or "")
    assert not (workspace.root / "asked").exists()
    allowed = workspace.settings.model_copy(
        update={"egress": workspace.settings.egress.model_copy(update={"unreviewed_to": ("own",)})}
    )
    opened = Workspace(workspace.root, allowed, workspace.origins, workspace.file, workspace.environment)
    trust = digest_of(opened.root, trusted_items(opened))
    trusted = Workspace(
        opened.root, allowed, opened.origins, opened.file, {**opened.environment, "FINDBACK_TRUST": trust}
    )
    assert search(trusted, "badge").results == ()
    assert (workspace.root / "asked").read_text() == "badge"


def test_nothing_untrusted_is_built(make: Make) -> None:
    """A function that nobody agreed to is not imported."""
    code = 'import pathlib\n(pathlib.Path(__file__).parent / "ran").touch()\ndef find(query, k):\n    return []\n'
    workspace = use(make(**python(code)), "own")
    closed = Workspace(workspace.root, workspace.settings, workspace.origins, workspace.file, {"HOME": "/nonexistent"})
    with pytest.raises(UntrustedError):
        search(closed, "badge")
    assert not (workspace.root / "ran").exists()


def test_failed_search_is_no_miss(make: Make) -> None:
    """An engine that fails is said to have failed, without its words, and the log says failed, not zero results."""
    code = "def find(query, k):\n    raise ValueError(query)\n"
    workspace = use(make(**python(code)), "own")
    with pytest.raises(EngineError) as caught:
        search(workspace, "lost zebra")
    assert "zebra" not in str(caught.value)
    (row,) = rows(workspace)
    assert (row["failed"], row.get("n_results"), row["query"]) == (True, None, "lost zebra")


def test_retriever_is_not_asked_more_than_it_bears(make: Make) -> None:
    """However many agents ask at once, a retriever gets no more searches at a time than it says it bears."""
    code = (
        "import asyncio\nbusy, most = 0, 0\n"
        "async def find(query, k):\n    global busy, most\n    busy += 1\n    most = max(most, busy)\n"
        "    await asyncio.sleep(0)\n    busy -= 1\n    return []\n"
    )
    workspace = use(make(**python(code, concurrency=2)), "own")

    async def ask() -> None:
        async with open_agent_search(workspace) as opened:
            assert opened is not None
            request = AgentSearchRequest(query="badge")
            await asyncio.gather(*(opened.search(request, CLIENT, now=NOW) for _ in range(6)))

    asyncio.run(ask())
    assert sys.modules[module_of(code)].most == 2


def test_text_that_cannot_be_looked_at_is_not_written(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where redaction refuses a text, the log says that there was a search, and holds none of its words."""
    from findback.privacy.thread_redactor import JointRedactor

    def refuse(*_: object, **__: object) -> None:
        raise RefusedError("cannot be looked at")

    monkeypatch.setattr(JointRedactor, "redact_all", refuse)
    workspace = make()
    search(workspace, f"badge {MAIL}", question=f"my badge {MAIL}")
    (row,) = rows(workspace)
    assert (row["query"], row["asked"]) == (None, None)
    assert row["n_results"] >= 1


@pytest.mark.parametrize("called", [MAIL, "Noor Sørvik", "+44 20 7946 0018"])
def test_erasing_a_person_reaches_the_log(make: Make, called: str) -> None:
    """A purge takes out the searches that name somebody, by address, name or number; the rest stays."""
    workspace = make()
    search(workspace, "lost badge", question="where did my badge go")
    search(workspace, f"badge of {called}", question=f"Hi, this is Noor Sørvik ({called}), my badge is gone")
    assert [row.get("people", []) != [] for row in rows(workspace)] == [False, True]
    erased = purge(workspace, PurgeRequest(person=(called,)))
    assert erased.counts["searches of agents"] == 1
    assert [row["asked"] for row in rows(workspace)] == ["where did my badge go"]
    assert "searches of agents" not in purge(workspace, PurgeRequest(person=(called,))).counts


def test_keeping_a_person_out_reaches_the_log(make: Make) -> None:
    """Who objects is taken out of the log as well; a file without any line left goes."""
    workspace = make()
    search(workspace, f"badge of {MAIL}")
    assert exclude(workspace, ExcludeRequest(person=(MAIL,))).counts["searches of agents"] == 1
    assert list((workspace.private / "mcp").iterdir()) == []


def test_erasing_a_channel_reaches_the_log(make: Make) -> None:
    """The searches of one retriever are a channel of the source mcp."""
    workspace = make()
    search(workspace, "badge")
    assert "searches of agents" not in purge(workspace, PurgeRequest(channel=("mcp:other",))).counts
    assert purge(workspace, PurgeRequest(channel=("mcp:bm25",))).counts["searches of agents"] == 1


def test_a_line_nobody_can_read_goes_with_an_erasure(make: Make) -> None:
    """A torn line may name anybody, so it does not outlive an erasure."""
    workspace = make()
    search(workspace, "badge")
    (file,) = (workspace.private / "mcp").iterdir()
    file.write_bytes(file.read_bytes() + b'{"format":1,"asked":"torn\n')
    key = open_workspace_key(workspace)
    assert forget_calls(workspace, {"nobody"}, (), hmac=key.hmac) == 1
    assert len(rows(workspace)) == 1


def test_old_days_go_by_themselves(make: Make) -> None:
    """With the first search of a day, days beyond keep_days are gone; the last day that may stay stays."""
    workspace = make(mcp="keep_days = 30")
    search(workspace, "badge")
    folder = workspace.private / "mcp"
    for days in (31, 30):
        (folder / f"calls-{NOW.date() - timedelta(days=days)}.jsonl").write_text("{}\n")
    (folder / "calls-notes.jsonl").write_text("{}\n")
    search(workspace, "badge")
    left = {file.name for file in folder.iterdir()}
    assert left == {"calls-2026-03-02.jsonl", "calls-2026-01-31.jsonl", "calls-notes.jsonl"}
    assert sweep_agent_log(folder, keep_days=30, now=NOW + timedelta(days=1)) == 1


def test_old_days_go_where_no_agent_searches_any_more(make: Make) -> None:
    """What other steps take out because its time is over includes the log, though the server never runs again."""
    workspace = make(mcp="keep_days = 30")
    search(workspace, "badge")
    assert sweep(workspace, NOW + timedelta(days=30)).logs == 0
    assert sweep(workspace, NOW + timedelta(days=31)).logs == 1
    assert rows(workspace) == []


def test_mining_the_log_needs_one(make: Make) -> None:
    """Where no agent has searched, mining says so; what is too old is gone before it is read."""
    workspace = make()
    with pytest.raises(MissingError, match="no agent has searched"):
        mine(workspace, MineRequest(own_log=True))
    search(workspace, "badge")
    with pytest.raises(MissingError, match="no agent has searched"):
        mine(workspace, MineRequest(own_log=True))
    assert rows(workspace) == []


def test_log_passes_the_scan(make: Make) -> None:
    """`findback verify` reads the log, and finds nothing that redaction should have caught."""
    workspace = make()
    search(workspace, f"badge of {MAIL}", question=f"call me on +44 20 7946 0018 or {MAIL}")
    seen = verify(workspace, VerifyRequest())
    assert [hit for hit in seen.findings if "mcp" in hit.where] == []
    (file,) = (workspace.private / "mcp").iterdir()
    file.write_bytes(file.read_bytes().replace("⟦EMAIL_1⟧".encode(), MAIL.encode()))
    assert [hit.type for hit in verify(workspace, VerifyRequest()).findings if "mcp" in hit.where] != []


def test_servers_share_a_log_without_tearing_lines(tmp_path: Path) -> None:
    """Lines that several servers add at the same time stay whole, whatever their length."""
    call = McpCall(at=NOW, session="s", tool="search", query="q" * 20_000, n_results=0)

    def add() -> None:
        log = AgentLog(tmp_path, keep_days=1)
        for _ in range(25):
            log.add(call)

    workers = [threading.Thread(target=add) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = (tmp_path / "calls-2026-03-02.jsonl").read_bytes().splitlines()
    assert len(lines) == 100
    assert all(McpCall.model_validate_json(line) == call for line in lines)


def test_the_same_question_is_one_turn() -> None:
    """Searches for one question belong together until half an hour without any; those of others do not."""
    turns = Turns()
    first = turns.find("a", "Where is the badge desk?", alone=True, now=NOW)
    assert turns.find("a", "where is the  badge desk", alone=True, now=NOW + IDLE) == first
    other = turns.find("a", "who pays", alone=True, now=NOW)
    assert (other.conversation == first.conversation, other.question == first.question) == (True, False)
    late = turns.find("a", "where is the badge desk", alone=True, now=NOW + 2 * IDLE + timedelta(seconds=1))
    assert late.question != first.question
    shared = [turns.find("b", text, alone=False, now=NOW) for text in ("one thing", "another thing", "one thing")]
    assert shared[0] == shared[2]
    assert shared[0].conversation != shared[1].conversation
    assert turns.find("c", "one thing", alone=False, now=NOW).conversation != shared[0].conversation


def test_interleaved_questions_are_read_as_two_turns(tmp_path: Path) -> None:
    """Two questions of one conversation whose searches alternate keep their searches apart."""
    log = AgentLog(tmp_path, keep_days=1)
    asked_of = {"t1": "one thing", "t2": "another"}
    for place, turn in enumerate(["t1", "t2", "t1", "t2"]):
        at = NOW + timedelta(seconds=place)
        log.add(
            McpCall(at=at, session="s", turn=turn, tool="search", asked=asked_of[turn], query=f"q{place}", n_results=1)
        )
    turns, _ = turns_of(mcp_log, tmp_path)
    assert {turn.text: [call.query for call in turn.calls] for turn in turns} == {
        "one thing": ["q0", "q2"],
        "another": ["q1", "q3"],
    }


def test_marked_searches_are_no_persons(make: Make) -> None:
    """What a client says is an exam is written down as one, and not mined."""
    workspace = make()

    async def ask() -> None:
        async with open_agent_search(workspace) as opened:
            assert opened is not None
            request = AgentSearchRequest(query="xyzzy", question="where is the xyzzy")
            await opened.search(request, CLIENT, now=datetime.now(UTC), marked=True)

    asyncio.run(ask())
    assert rows(workspace)[0]["marker"] == "evaluation"
    assert mine(workspace, MineRequest(own_log=True)).candidates == 0
