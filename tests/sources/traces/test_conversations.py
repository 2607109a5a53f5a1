"""OpenAI logs, Claude Code sessions, LangGraph checkpoints and findback's own MCP log."""

import json
from datetime import UTC, datetime

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import messages_to_dict

from builders.readings import turns_of
from builders.traces import (
    QUESTION,
    REWRITES,
    checkpoints,
    claude_line,
    tool_result,
    tool_use,
    write_json,
    write_lines,
)
from findback.errors import DataError
from findback.model.mcp_call import McpCall
from findback.sources.traces import claude_code, langgraph, mcp_log, openai


def call(identity: str, name: str, arguments: dict) -> dict:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": None, "tool_calls": [call("c1", "docs_search", {"query": REWRITES[0]})]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"results": []}'},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("c2", "docs_search", {"q": REWRITES[1]}), call("c3", "docs_search", {"q": REWRITES[2]})],
    },
    {"role": "tool", "tool_call_id": "c3", "content": '[{"id": "docs/tls.md"}]'},
    {"role": "tool", "tool_call_id": "c2", "content": "not a list"},
    {"role": "assistant", "content": "Look at the TLS page."},
    {"role": "user", "content": [{"type": "text", "text": "No, I meant the mail server"}]},
    {"role": "assistant", "content": "I see."},
]


def test_chat_messages(tmp_path):
    """Each message of the person is a turn; answers go to their calls, and calls of one message are one batch."""
    path = write_lines(tmp_path / "chat.jsonl", [{"messages": CHAT, "conversation_id": "c-9", "user": "u-1"}] * 1)
    assert openai.recognise(path) == "chat messages in OpenAI's form"
    turns, _ = turns_of(openai, path, retrieval_tools=("docs_*",))
    assert [turn.text for turn in turns] == [QUESTION, "No, I meant the mail server"]
    first = turns[0]
    assert (first.conversation, first.user, first.next_text) == ("c-9", "u-1", turns[1].text)
    assert first.answer == "Look at the TLS page."
    assert [(c.query, c.results, c.documents) for c in first.calls] == [
        (REWRITES[0], 0, ()),
        (REWRITES[1], None, ()),
        (REWRITES[2], 1, ("docs/tls.md",)),
    ]
    assert first.calls[0].batch is None
    assert first.calls[1].batch == first.calls[2].batch is not None


def test_requests_that_repeat_the_conversation_are_read_once(tmp_path):
    """A log of requests repeats the history in each: only the longest is read, the others are counted."""
    rows = []
    for end in (2, 4, 7):
        answer = {"choices": [{"message": CHAT[end]}], "id": f"r-{end}"}
        rows.append({"request": {"messages": CHAT[:end]}, "response": answer})
    turns, reading = turns_of(openai, write_lines(tmp_path / "log.jsonl", rows), retrieval_tools=("docs_*",))
    assert [len(turn.calls) for turn in turns] == [3]
    assert reading.skipped.counts == {"requests whose messages a later one repeats": 2}


def response(identity: str, previous: str | None, given: object, *output: dict) -> dict:
    return {
        "id": identity,
        "object": "response",
        "created_at": 1_772_352_000 + int(identity[-1]),
        "previous_response_id": previous,
        "input": given,
        "output": list(output),
    }


def spoken(text: str) -> dict:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_responses_chain_fan_out_and_unknown_results(tmp_path):
    """Responses join by their forerunner; several queries of one call are a batch; null results are unknown, not 0."""
    search = {"type": "file_search_call", "id": "fs1", "queries": list(REWRITES), "status": "completed"}
    empty = {"type": "file_search_call", "id": "fs2", "queries": ["tls"], "results": []}
    wanted = {"type": "function_call", "call_id": "f1", "name": "lookup", "arguments": '{"query": "certs"}'}
    web = {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "certs"}}
    mcp = {"type": "mcp_call", "id": "m1", "server_label": "docs", "name": "find", "arguments": '{"query": "a"}'}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    rows = [
        response("resp_1", None, QUESTION, reasoning, {**search, "results": None}, wanted),
        response("resp_2", "resp_1", [{"type": "function_call_output", "call_id": "f1", "output": "[]"}], empty, web),
        response(
            "resp_3", "resp_2", "No, I meant mail", {**mcp, "output": '{"results": [{"id": "x"}]}'}, spoken("Ok.")
        ),
    ]
    path = write_lines(tmp_path / "responses.jsonl", reversed(rows))
    assert openai.recognise(path) == "items of OpenAI's Responses"
    turns, reading = turns_of(openai, path, retrieval_tools=("lookup", "mcp__docs__*"))
    turns.sort(key=lambda turn: turn.at)
    assert [turn.text for turn in turns] == [QUESTION, "No, I meant mail"]
    assert turns[0].next_text == "No, I meant mail"
    assert {turn.conversation for turn in turns} == {"resp_1"}
    fan = [c for c in turns[0].calls if c.tool == "file_search" and c.query in REWRITES]
    assert len(fan) == 3
    assert {c.results for c in fan} == {None}
    assert len({c.batch for c in fan}) == 1
    assert {(c.tool, c.query, c.results) for c in turns[0].calls if c not in fan} == {
        ("lookup", "certs", 0),
        ("file_search", "tls", 0),
    }
    assert [(c.tool, c.documents) for c in turns[1].calls] == [("mcp__docs__find", ("x",))]
    assert "tool calls not counted as search (name those that are): web_search 1" in reading.notes


SESSION = [
    {"type": "summary", "summary": "Portal", "leafUuid": "a5"},
    claude_line("user", "u1", None, f"<system-reminder>be brief</system-reminder>\n{QUESTION}"),
    claude_line(
        "assistant", "a1", "u1", [{"type": "text", "text": "Let me look."}, tool_use("t1", "mcp__kb__q", "certs")]
    ),
    claude_line("user", "r1", "a1", [tool_result("t1", [{"type": "text", "text": '{"results": []}'}])]),
    claude_line("user", "m1", "r1", "This text was put in by a hook", isMeta=True),
    claude_line("user", "x1", "m1", "Task finished", origin={"kind": "task-notification"}),
    claude_line("user", "c1", "x1", "<command-name>/clear</command-name><command-args>all</command-args>"),
    claude_line("user", "k1", "c1", "Summary so far", isCompactSummary=True),
    claude_line("assistant", "a2", "k1", [tool_use("t2", "Grep", "certs")]),
    claude_line("user", "s1", None, "Search everything about TLS", isSidechain=True),
    claude_line("assistant", "s2", "s1", [tool_use("t3", "mcp__kb__q", "tls")], isSidechain=True),
    claude_line("assistant", "a3", "a2", [{"type": "text", "text": "It is in the runbook."}]),
    claude_line("user", "u2", "a3", "and for mail?"),
    claude_line("user", "u3", "a3", "No, I meant the mail server certificates", origin={"kind": "human"}),
    claude_line("assistant", "a4", "u3", [tool_use("t4", "mcp__kb__q", "mail certificates")]),
]
TIMES = [None, *(f"2026-03-01T08:00:{second:02d}.000Z" for second in range(1, len(SESSION)))]


def session(lines=SESSION) -> list[dict]:
    return [line if at is None else {**line, "timestamp": at} for line, at in zip(lines, TIMES, strict=False)]


def test_claude_code_traps(tmp_path):
    """Tool results, meta lines, notices, commands, summaries and sub-agents are nobody's turns."""
    path = write_lines(tmp_path / "s-1.jsonl", session())
    assert claude_code.recognise(path) == "a Claude Code session"
    turns, reading = turns_of(claude_code, path, retrieval_tools=("mcp__kb__*",))
    assert [turn.text for turn in turns] == [QUESTION, "and for mail?", "No, I meant the mail server certificates"]
    first, _, last = turns
    assert [(c.query, c.results) for c in first.calls] == [("certs", 0), ("tls", None)]
    assert first.answer == "It is in the runbook."
    assert first.next_text == "No, I meant the mail server certificates"
    assert [c.query for c in last.calls] == ["mail certificates"]
    assert (first.conversation, first.project) == ("s-1", "portal")
    assert reading.skipped.counts == {
        "lines that are no messages": 1,
        "lines the program wrote in the person's name": 3,
    }
    assert "tool calls not counted as search (name those that are): Grep 1" in reading.notes


def test_claude_code_counts_no_tool_by_itself(tmp_path):
    """Without an allow-list nothing in a coding session is a document search."""
    turns, reading = turns_of(claude_code, write_lines(tmp_path / "s-1.jsonl", session()))
    assert sum(len(turn.calls) for turn in turns) == 0
    assert reading.notes[0] == "0 retrieval spans, 0 with query text"


def test_claude_code_order_of_lines_does_not_matter(tmp_path):
    """The session is a tree: read backwards, and with its first half repeated in a resumed file, it is the same."""
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in" / "a.jsonl", reversed(session()))
    write_lines(tmp_path / "in" / "b.jsonl", session()[:6])
    turns, _ = turns_of(claude_code, tmp_path / "in", retrieval_tools=("mcp__kb__*",))
    by_text = {turn.text: turn for turn in turns}
    assert len(turns) == 3
    assert sorted((c.query, c.results) for c in by_text[QUESTION].calls) == [("certs", 0), ("tls", None)]
    assert [c.query for c in by_text["No, I meant the mail server certificates"].calls] == ["mail certificates"]


def test_claude_code_real_samples(data):
    """The public sample sessions give their two and five turns; tool results typed as user are none of them."""
    lines, _ = turns_of(claude_code, data / "claude-code" / "sample_session.jsonl")
    assert [turn.text for turn in lines] == ["Create a hello world function", "Now add a goodbye function"]
    assert lines[0].next_text == "Now add a goodbye function"
    path = data / "claude-code" / "sample_session.json"
    assert claude_code.recognise(path) == "a Claude Code session from the web"
    web, reading = turns_of(claude_code, path, retrieval_tools=("Grep", "Glob"))
    assert [turn.text for turn in web] == [
        "Create a simple Python function to add two numbers",
        "Now edit the file to add a subtract function",
        "Run the tests again",
        "Fix the issue and commit",
        "Add a multiply function too",
    ]
    assert [[c.tool for c in turn.calls] for turn in web] == [[], ["Glob", "Grep"], [], [], []]
    assert reading.skipped.counts == {"lines the program wrote in the person's name": 1}


@pytest.mark.parametrize("line", [7, [], {"type": ["user"]}, claude_line("user", "u", None, {"a": {"b": 1}}), {}])
def test_claude_code_wrong_lines(tmp_path, line):
    """A line of a wrong shape is a fault with its number, or counted; the good lines are kept on request."""
    path = write_lines(tmp_path / "s.jsonl", [*session()[:4], line])
    turns, reading = turns_of(claude_code, path, skip_bad=True)
    assert [turn.text for turn in turns] == [QUESTION]
    if "records that cannot be read" in reading.skipped.counts:
        with pytest.raises(DataError) as caught:
            turns_of(claude_code, path)
        assert caught.value.faults[0].line == 5


@pytest.mark.parametrize("dump", [messages_to_dict, dumpd, lambda said: [m.model_dump() for m in said]])
def test_langgraph_checkpoints(tmp_path, dump):
    """Of all checkpoints only the newest of a thread is read; each way of dumping messages gives the same turns."""
    saved = checkpoints([QUESTION, "No, I meant mail"], REWRITES[:2], dump)
    path = write_lines(tmp_path / "checkpoints.jsonl", saved)
    assert langgraph.recognise(path) == "LangGraph checkpoints"
    turns, reading = turns_of(langgraph, path, retrieval_tools=("docs_search",))
    assert [turn.text for turn in turns] == [QUESTION, "No, I meant mail"]
    assert [[(c.query, c.results) for c in turn.calls] for turn in turns] == [[(q, 0) for q in REWRITES[:2]]] * 2
    assert (turns[0].next_text, turns[0].conversation) == ("No, I meant mail", "t-1")
    assert reading.skipped.counts["checkpoints that a newer one of the thread repeats"] == len(saved) - 1


def test_langgraph_mapping_and_subgraphs(tmp_path):
    """A mapping says where another export keeps its parts; checkpoints of subgraphs are counted."""
    [newest, *_] = checkpoints([QUESTION], REWRITES[:1], messages_to_dict)
    moved = {"chat": "t-7", "state": {"talk": newest["checkpoint"]["channel_values"]["messages"]}}
    path = write_lines(tmp_path / "c.jsonl", [moved, {**moved, "checkpoint_ns": "inner"}])
    mapping = {"conversation": "chat", "messages": "state.talk"}
    turns, reading = turns_of(langgraph, path, mapping=mapping, retrieval_tools=("docs_*",))
    assert [(turn.conversation, len(turn.calls)) for turn in turns] == [("t-7", 1)]
    assert reading.skipped.counts == {"checkpoints of subgraphs": 1}


def log_line(second: int, query: str | None, **extra) -> dict:
    """A line as the MCP server writes it: through the record."""
    call = McpCall(
        at=datetime(2026, 3, 1, 8, 0, second, tzinfo=UTC), session="s-1", tool="search", query=query, **extra
    )
    return json.loads(call.model_dump_json())


def test_mcp_log_round_trip(tmp_path):
    """What the record writes the reader reads: turns by what was asked, results, documents, marked calls dropped."""
    rows = [
        log_line(1, REWRITES[0], asked=QUESTION, n_results=0),
        log_line(2, REWRITES[1], asked=QUESTION, n_results=2, documents=("docs/a.md", "docs/b.md")),
        log_line(3, "vpn", asked="Where is the VPN guide for ⟦PERSON_1⟧?", n_results=None, failed=True),
    ]
    path = write_lines(tmp_path / "mcp.jsonl", [*rows, {**log_line(4, "exam", marker="evaluation"), "session": "s-2"}])
    assert mcp_log.recognise(path) == "findback's MCP log, format 1"
    turns, reading = turns_of(mcp_log, path)
    assert [turn.text for turn in turns] == [QUESTION, "Where is the VPN guide for ⟦PERSON_1⟧?"]
    assert [(c.results, c.documents) for c in turns[0].calls] == [(0, ()), (2, ("docs/a.md", "docs/b.md"))]
    assert turns[1].calls[0].failed
    assert reading.skipped.counts == {"marked evaluation traffic": 1}


def test_mcp_log_without_wordings_says_so(tmp_path):
    """Calls whose client passed no wording are counted and give no text of the agent as a person's."""
    turns, reading = turns_of(mcp_log, write_lines(tmp_path / "mcp.jsonl", [log_line(1, REWRITES[0], n_results=0)]))
    assert [turn.text for turn in turns] == [None]
    assert "1 turns with retrieval hold no person's wording" in reading.notes


def test_mcp_log_of_another_format_is_refused(tmp_path):
    """A line of a newer format, or with a field of a wrong type, is a fault that says which."""
    rows = [{**log_line(1, "a"), "format": 2}, {**log_line(2, "b"), "n_results": -1}]
    with pytest.raises(DataError) as caught:
        turns_of(mcp_log, write_lines(tmp_path / "mcp.jsonl", rows))
    messages = [(fault.line, fault.message) for fault in caught.value.faults]
    assert messages[0][0] == 1
    assert "`format` must be 1" in messages[0][1]
    assert messages[1][1].startswith("`n_results`")


@pytest.mark.parametrize("reader", [openai, claude_code, langgraph, mcp_log])
def test_recognise_never_raises(tmp_path, reader):
    """Rubbish of every kind is simply not recognised."""
    for number, content in enumerate(
        (
            b"",
            b"\x00\xff",
            b"[",
            b"{}",
            b"[]",
            b"7",
            b"[[[",
            b'{"messages": 7}',
            b'{"role": "user"}',
            b"PK\x03\x04rubbish",
        )
    ):
        path = tmp_path / f"{number}.json"
        path.write_bytes(content)
        assert reader.recognise(path) is None
    assert reader.recognise(tmp_path / "absent") is None


def test_pages_of_json_documents(tmp_path):
    """A conversation as one JSON array of messages, and a page of stored completions, are read."""
    turns, _ = turns_of(openai, write_json(tmp_path / "chat.json", {"messages": CHAT}))
    assert len(turns) == 2
    assert openai.recognise(write_json(tmp_path / "array.json", CHAT)) == "one conversation in OpenAI's form"
    turns, _ = turns_of(openai, tmp_path / "array.json")
    assert [turn.text for turn in turns] == [QUESTION, "No, I meant the mail server"]
