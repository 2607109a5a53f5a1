"""Every trace export is taken for what it is, and for nothing else."""

import pytest
from langchain_core.messages import messages_to_dict

from builders.traces import QUESTION, READERS, REWRITES, Spans, agent_turn, checkpoints, write_json, write_lines
from findback.sources.format import Source


def otel_rows():
    spans = Spans()
    agent_turn(spans, QUESTION, [(REWRITES[0], [])])
    return spans


SAMPLES = {
    "otel": lambda: [otel_rows().otlp()],
    "otel printed": lambda: otel_rows().printed(),
    "openinference": lambda: [
        {"context.trace_id": "a", "context.span_id": "b", "name": "x", "span_kind": "RETRIEVER"},
    ],
    "langfuse": lambda: [{"id": "o", "trace_id": "t", "type": "SPAN", "parent_observation_id": None, "input": "x"}],
    "langsmith": lambda: [{"id": "r", "run_type": "chain", "trace_id": "t", "inputs": {}, "session_id": "p"}],
    "openai": lambda: [{"messages": [{"role": "user", "content": "x"}]}, {"messages": []}],
    "claude-code": lambda: [{"type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "x"}}],
    "langgraph": lambda: checkpoints([QUESTION], [], messages_to_dict),
    "mcp": lambda: [
        {"format": 1, "at": "2026-03-01T08:00:00Z", "session": "s", "tool": "search", "asked": "x", "query": "x",
         "n_results": 0, "documents": []},
    ],
    "retrieval-calls": lambda: [{"session_id": "s", "question": "x", "tool": "kb", "query": "x", "n_results": 1}],
    "agent-runs": lambda: [{"id": 1, "reward": True, "traj": [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": "Action: finish[x]"}]}],
}  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES)
def test_one_reader_takes_it(tmp_path, sample):
    """Exactly one reader of traces says that a file is its own, by whichever container it comes in."""
    for write, suffix in ((write_lines, "jsonl"), (write_json, "json")):
        path = write(tmp_path / f"x.{suffix}", list(SAMPLES[sample]()))
        taken = [reader.name for reader in READERS if reader.recognise(path)]
        assert taken == [sample.split()[0]], suffix


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_readers_keep_the_contract(reader):
    """A reader is a source, says its family and which rules it can support."""
    assert isinstance(reader, Source)
    assert reader.family == "traces"
    assert set(reader.rules) <= {"zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down"}
    assert reader.rules
