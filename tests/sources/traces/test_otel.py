"""OpenTelemetry traces, made by the real SDK."""

import json
from functools import partial
from pathlib import Path

import pytest

from builders.readings import turns_of
from builders.traces import QUESTION, REWRITES, Spans, agent_turn, messages, said, write_json, write_lines
from findback.errors import DataError
from findback.net import MARKER, USER_AGENT
from findback.sources.traces import otel
from findback.sources.traces.evaluation import is_marked

read = partial(turns_of, otel)


def turns_or_error(path: Path) -> list | DataError:
    try:
        return read(path)[0]
    except DataError as error:
        return error


def test_turn_is_read_whole(tmp_path):
    """A turn has the person's wording, each retrieval with its results, the answer and where it lies."""
    spans = Spans()
    searches = [(REWRITES[0], []), (REWRITES[1], ["docs/certs.md", "docs/tls.md"])]
    agent_turn(spans, QUESTION, searches, answer="See the certificates page.", conversation="c-1")
    path = write_json(tmp_path / "spans.json", spans.otlp())
    assert otel.recognise(path) == "OpenTelemetry spans (OTLP JSON)"
    [turn], reading = read(path)
    assert (turn.text, turn.answer, turn.conversation) == (QUESTION, "See the certificates page.", "c-1")
    assert [(call.query, call.results) for call in turn.calls] == [(REWRITES[0], 0), (REWRITES[1], 2)]
    assert turn.calls[1].documents == ("docs/certs.md", "docs/tls.md")
    assert (turn.system, turn.project, turn.audience) == ("portal", "help-bot", "private")
    assert turn.at.isoformat() == "2026-03-01T08:00:01+00:00"
    assert turn.calls[0].ended <= turn.calls[1].started
    assert reading.notes == ["2 retrieval spans, 2 with query text"]


def test_sdk_print_and_otlp_lines_say_the_same(tmp_path):
    """What the SDK prints and what a collector writes as lines give the same turn."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], ["a"])], conversation="c-1")
    printed, _ = read(write_lines(tmp_path / "printed.jsonl", spans.printed()))
    lines, _ = read(write_lines(tmp_path / "otlp.jsonl", [spans.otlp()]))
    assert printed[0].calls == lines[0].calls
    assert (printed[0].text, printed[0].at, printed[0].id) == (lines[0].text, lines[0].at, lines[0].id)


def test_spans_of_one_trace_may_lie_in_several_files(tmp_path):
    """A folder is one export: a trace cut over two files is one turn."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], ["a"]), (REWRITES[1], [])])
    whole = spans.otlp()
    every = whole["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (tmp_path / "in").mkdir()
    for number, half in enumerate((every[:2], every[2:])):
        whole["resourceSpans"][0]["scopeSpans"][0]["spans"] = half
        write_lines(tmp_path / "in" / f"{number}.jsonl", [whole])
    (tmp_path / "in" / "README.txt").write_text("not a trace")
    turns, reading = read(tmp_path / "in")
    assert [len(turn.calls) for turn in turns] == [2]
    assert reading.skipped.counts == {"files beside that are no traces": 1}


def test_spans_without_content_are_said_to_be_without(tmp_path):
    """With content capture off the note says so, and no number of results is invented."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(query, []) for query in REWRITES], content=False)
    [turn], reading = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert reading.notes[0] == "3 retrieval spans, 0 with query text"
    assert "content capture" in reading.notes[1]
    assert turn.text is None
    assert [(call.query, call.results) for call in turn.calls] == [(None, None)] * 3


def test_history_before_the_question_is_not_the_question(tmp_path):
    """The wording is what the person said last; the turn before it gets it as the next message."""
    spans = Spans()
    agent_turn(spans, "Where is the VPN guide?", [("vpn guide", ["a"])], conversation="c")
    earlier = [said("user", "Where is the VPN guide?"), said("assistant", "Here.")]
    agent_turn(spans, "No, I meant the Linux one", [("vpn linux", ["b"])], conversation="c", history=earlier)
    turns, _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert [turn.text for turn in turns] == ["Where is the VPN guide?", "No, I meant the Linux one"]
    assert [turn.next_text for turn in turns] == ["No, I meant the Linux one", None]


def test_sub_agents_serve_the_turn_above(tmp_path):
    """Agents inside an agent, or beside one without its history, are charged to the person's turn."""
    spans = Spans()
    inner = messages(said("user", "find every page about certificates"))
    with spans.span("POST /chat", {}):
        agent_turn(spans, QUESTION, [(REWRITES[0], [])])
        with spans.span("invoke_agent x", {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": inner}):
            agent_turn(spans, "search tls", [("tls", [])])
    turns, _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert [(turn.text, len(turn.calls)) for turn in turns] == [(QUESTION, 2)]


def test_turns_of_one_long_trace_are_told_apart(tmp_path):
    """Where a whole conversation is one trace, an agent that knows the earlier question opens the next turn."""
    spans = Spans()
    earlier = [said("user", QUESTION), said("assistant", "Done.")]
    with spans.span("session", {}):
        agent_turn(spans, QUESTION, [(REWRITES[0], [])])
        agent_turn(spans, "And for production?", [("production certificates", ["a"])], history=earlier)
    turns, _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert [(turn.text, len(turn.calls)) for turn in turns] == [(QUESTION, 1), ("And for production?", 1)]
    assert turns[0].next_text == "And for production?"
    assert len({turn.id for turn in turns}) == 2


def test_one_search_seen_by_client_and_server_counts_once(tmp_path):
    """A tool span around an MCP span around a retrieval span is one call, with what any of them knows."""
    spans = Spans()
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "portal_search",
        "gen_ai.tool.type": "datastore",
        "gen_ai.tool.call.arguments": json.dumps({"query": "vpn", "offset": 10}),
    }
    retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": "[]"}
    with (
        spans.span("execute_tool portal_search", tool),
        spans.span("tools/call portal_search", {"mcp.method.name": "tools/call"}),
        spans.span("retrieval", retrieval),
    ):
        pass
    [turn], _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    [call] = turn.calls
    assert (call.tool, call.query, call.results, call.offset) == ("portal_search", "vpn", 0, 10)


@pytest.mark.parametrize(
    ("name", "kind", "tools", "counted"),
    [
        ("portal_search", "datastore", (), 1),
        ("portal_search", "function", (), 0),
        ("portal_delete", "datastore", (), 0),
        ("file_search", "extension", (), 1),
        ("Grep", "function", (), 0),
        ("Grep", "function", ("grep",), 1),
        ("portal_search", "datastore", ("!portal_*",), 0),
    ],
)
def test_tools_count_by_their_mark_or_by_name(tmp_path, name, kind, tools, counted):
    """A tool counts as search when the trace marks it so or the user names it, never for its name alone."""
    spans = Spans()
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": kind}
    with spans.span(f"execute_tool {name}", {**attributes, "gen_ai.tool.call.arguments": '{"query": "x"}'}):
        pass
    [turn], reading = read(write_json(tmp_path / "spans.json", spans.otlp()), retrieval_tools=tools)
    assert len(turn.calls) == counted
    assert any(f"{name} 1" in note for note in reading.notes) == (not counted)


def test_legacy_prompts_and_events_are_read(tmp_path):
    """Older instrumentations wrote indexed prompts, or one event a message."""
    spans = Spans()
    with spans.span(
        "chat", {"gen_ai.system": "x", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": QUESTION}
    ):
        pass
    with spans.span("chat", {"gen_ai.system": "x"}) as span:
        span.add_event("gen_ai.system.message", {"content": "Be brief."})
        span.add_event("gen_ai.user.message", {"content": "Where is the VPN guide?"})
        span.add_event("gen_ai.choice", {"message": json.dumps({"content": "I do not know."})})
    turns, _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert [(turn.text, turn.answer) for turn in turns] == [
        (QUESTION, None),
        ("Where is the VPN guide?", "I do not know."),
    ]


def test_calls_told_only_by_messages_are_read(tmp_path):
    """Without tool spans the messages of the last model call tell which tools were called."""
    spans = Spans()
    call = {"type": "tool_call", "id": "c1", "name": "file_search", "arguments": {"query": "vpn"}}
    answer = {"type": "tool_call_response", "id": "c1", "response": {"results": []}}
    first = [said("user", QUESTION)]
    second = [*first, {"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}]
    with spans.span("invoke_agent x", {"gen_ai.operation.name": "invoke_agent"}):
        for heard in (first, second):
            with spans.span("chat", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages(*heard)}):
                pass
    [turn], _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert [(call.query, call.results) for call in turn.calls] == [("vpn", 0)]
    assert turn.text == QUESTION


def test_feedback_is_a_persons_not_a_judges(tmp_path):
    """A thumbs-down event counts as feedback; a program's relevance score does not."""
    spans = Spans()
    for name, label in (("user_feedback", "thumbs_down"), ("relevance", "bad")):
        with spans.span("invoke_agent x", {"gen_ai.operation.name": "invoke_agent"}) as span:
            verdict = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}
            span.add_event("gen_ai.evaluation.result", verdict)
    turns, _ = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert sorted((turn.feedback for turn in turns), key=str) == [0.0, None]


@pytest.mark.parametrize("place", ["attribute", "agent", "resource"])
def test_marked_evaluation_is_dropped_and_counted(tmp_path, place):
    """Findback's own header, user agent or a marked resource drops the whole trace."""
    marks = {
        "attribute": {"http.request.header.x-findback": ["evaluation"]},
        "agent": {"user_agent.original": USER_AGENT},
        "resource": {},
    }[place]
    spans = Spans(**({"x-findback": "evaluation"} if place == "resource" else {}))
    with spans.span("POST /ask", marks):
        agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    turns, reading = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert turns == []
    assert reading.skipped.counts == {"marked evaluation traffic": 1}


def test_marker_is_the_one_findback_sends():
    """What the client sends is what the readers drop."""
    assert is_marked(MARKER)
    assert is_marked({"User-Agent": USER_AGENT})


def test_burst_of_exam_queries_is_dropped_but_one_person_is_not(tmp_path):
    """Five different exam questions within minutes are a run of the exam; one asked an hour later is a person."""
    spans = Spans()
    exam = [f"Where is guide number {number}?" for number in range(5)]
    for text in exam:
        agent_turn(spans, text, [(text, ["a"])])
    agent_turn(spans, QUESTION, [(REWRITES[0], ["a"])])
    spans._clock += 3_600_000_000_000
    agent_turn(spans, exam[0], [("guide", ["a"])])
    turns, reading = read(write_json(tmp_path / "spans.json", spans.otlp()), exam_queries=frozenset(exam))
    assert sorted(turn.text for turn in turns) == sorted([QUESTION, exam[0]])
    assert reading.skipped.counts == {"burst of the exam's own queries": 5}


def test_projects_and_dates_limit_what_is_read(tmp_path):
    """Services not asked for, excluded ones and turns before a date are counted by reason."""
    spans, other = Spans("help-bot"), Spans("hr-bot")
    for made in (spans, other):
        agent_turn(made, QUESTION, [(REWRITES[0], [])])
    path = write_lines(tmp_path / "spans.jsonl", [spans.otlp(), other.otlp()])
    assert len(read(path, channels=("help-*",))[0]) == 1
    turns, reading = read(path, exclude=("hr-*",))
    assert [turn.project for turn in turns] == ["help-bot"]
    assert reading.skipped.counts == {"turns of excluded projects": 1}
    late = turns[0].at.replace(year=2027)
    turns, reading = read(path, since=late)
    assert (turns, reading.skipped.counts) == ([], {"turns before the date asked for": 2})


def test_faults_name_file_line_and_place_and_lose_nothing(tmp_path):
    """Wrong types, cut lines and deep nesting are faults with file and line; skipping them keeps the rest."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    good = spans.otlp()
    wrong = json.loads(json.dumps(good))
    wrong["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = ["no"]
    deep = '{"resourceSpans": ' + "[" * 500 + "]" * 500 + "}"
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join([json.dumps(good), json.dumps(wrong), '{"resourceSpans": [', deep, '{"a": 1}']) + "\n")
    with pytest.raises(DataError) as caught:
        read(path)
    lines = [(fault.line, fault.message) for fault in caught.value.faults]
    assert lines[0] == (2, "resourceSpans[0].scopeSpans[0].spans[0]: `traceId` must be text, and is a list")
    assert [line for line, _ in lines] == [2, 3, 4, 5]
    assert "nested deeper" in lines[2][1]
    assert all(fault.path == str(path) for fault in caught.value.faults)
    turns, reading = read(path, skip_bad=True)
    assert [turn.text for turn in turns] == [QUESTION]
    assert reading.skipped.counts == {"records that cannot be read": 4}


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        "text",
        7,
        None,
        {"resourceSpans": 7},
        {"resourceSpans": [7]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 1, "spanId": 2, "attributes": {"a": [1]}}]}]}]},
        {"resourceSpans": [{"resource": 7, "scopeSpans": []}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "startTimeUnixNano": "x"}]}]}]},
    ],
)
def test_rubbish_is_a_fault_or_nothing_never_a_crash(tmp_path, value):
    """Whatever JSON holds, reading ends in turns or in a DataError."""
    path = write_lines(tmp_path / "spans.jsonl", [value])
    otel.recognise(path)
    result = turns_or_error(path)
    if isinstance(result, DataError):
        assert [fault.line for fault in result.faults] == [1]
    else:
        assert [turn.text for turn in result] in ([], [None])


def test_huge_wordings_are_no_questions(tmp_path):
    """A text over the limit is counted and not taken for a wording."""
    spans = Spans()
    agent_turn(spans, "x" * 100_001, [("y" * 100_001, [])])
    [turn], reading = read(write_json(tmp_path / "spans.json", spans.otlp()))
    assert (turn.text, turn.calls[0].query) == (None, None)
    assert reading.skipped.counts == {"wordings over 100,000 characters": 1, "queries over 100,000 characters": 1}


def test_circles_of_parents_end(tmp_path):
    """Spans that are each other's parents are read once."""
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    made = spans.otlp()
    every = made["resourceSpans"][0]["scopeSpans"][0]["spans"]
    every[0]["parentSpanId"], every[1]["parentSpanId"] = every[1]["spanId"], every[0]["spanId"]
    turns, _ = read(write_json(tmp_path / "spans.json", made))
    assert sum(len(turn.calls) for turn in turns) == 1
