"""Agent traces in the shapes their own tools write them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from findback.sources.traces import (
    agent_runs,
    calls,
    claude_code,
    langfuse,
    langgraph,
    langsmith,
    mcp_log,
    openai,
    openinference,
    otel,
)

READERS = (agent_runs, calls, claude_code, langfuse, langgraph, langsmith, mcp_log, openai, openinference, otel)
"""Every reader of traces."""
QUESTION = "How do I rotate the staging certificates?"
REWRITES = ("rotate staging certificates", "staging certificate rotation runbook", "certificates renewal staging zqx")


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


class Spans:
    """Runs the real SDK and keeps what it exported."""

    def __init__(self, service: str = "help-bot", **resource: str) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": service, **resource}))
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._tracer = provider.get_tracer("tests")
        self._clock = 1_772_352_000_000_000_000

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Any], *, parallel: bool = False) -> Iterator[Any]:
        """One span; time goes on by a second at its start and its end, or not at all when `parallel`."""
        step = 0 if parallel else 1_000_000_000
        self._clock += step
        with self._tracer.start_as_current_span(
            name, kind=SpanKind.INTERNAL, attributes=dict(attributes), start_time=self._clock, end_on_exit=False
        ) as span:
            yield span
            self._clock += step
            span.end(self._clock + (500_000_000 if parallel else 0))

    @property
    def finished(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    def otlp(self) -> dict[str, Any]:
        """What a collector's file exporter writes of them."""
        return {"resourceSpans": [_resource_spans(self.finished)]}

    def printed(self) -> list[dict[str, Any]]:
        """What the SDK's own console exporter prints of them."""
        return [json.loads(span.to_json(indent=None)) for span in self.finished]


def _resource_spans(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    return {
        "resource": {"attributes": _pairs(spans[0].resource.attributes)},
        "scopeSpans": [{"scope": {"name": "tests"}, "spans": [_otlp_span(span) for span in spans]}],
    }


def _otlp_span(span: ReadableSpan) -> dict[str, Any]:
    context = span.get_span_context()
    return {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        **({"parentSpanId": f"{span.parent.span_id:016x}"} if span.parent else {}),
        "name": span.name,
        "kind": 1,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": _pairs(span.attributes or {}),
        "events": [
            {"name": event.name, "timeUnixNano": str(event.timestamp), "attributes": _pairs(event.attributes or {})}
            for event in span.events
        ],
        "status": {},
    }


def _pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]


def _any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_any_value(entry) for entry in value]}}
    return {"stringValue": str(value)}


def said(role: str, text: str) -> dict[str, Any]:
    """A message of the GenAI conventions."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def messages(*entries: dict[str, Any]) -> str:
    return json.dumps(list(entries))


def documents(*names: str) -> str:
    return json.dumps([{"id": name, "score": 0.5} for name in names])


def agent_turn(
    spans: Spans,
    question: str | None,
    searches: Iterable[tuple[str, Sequence[str] | None]],
    *,
    answer: str | None = None,
    conversation: str | None = None,
    history: Sequence[dict[str, Any]] = (),
    content: bool = True,
    parallel: bool = False,
    **extra: Any,
) -> None:
    """One `invoke_agent` span with a chat span and its retrieval spans."""
    given = {"gen_ai.input.messages": messages(*history, said("user", question))} if content and question else {}
    gave = {"gen_ai.output.messages": messages(said("assistant", answer))} if content and answer else {}
    named = {"gen_ai.conversation.id": conversation} if conversation else {}
    with spans.span("invoke_agent guide", {"gen_ai.operation.name": "invoke_agent", **named, **given, **gave, **extra}):
        with spans.span("chat some-model", {"gen_ai.operation.name": "chat", **given}):
            pass
        for query, found in searches:
            attributes: dict[str, Any] = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "portal"}
            if content:
                attributes["gen_ai.retrieval.query.text"] = query
                if found is not None:
                    attributes["gen_ai.retrieval.documents"] = documents(*found)
            with spans.span("retrieval portal", attributes, parallel=parallel):
                pass


def checkpoints(
    questions: Sequence[str], searches: Sequence[str], dump: Callable[[list[Any]], Any], *, thread: str = "t-1"
) -> list[dict[str, Any]]:
    """What a real LangGraph checkpointer lists after these questions, newest first, messages dumped by `dump`."""

    def think(state: MessagesState) -> dict[str, Any]:
        since = 0
        for message in reversed(state["messages"]):
            if isinstance(message, HumanMessage):
                break
            since += isinstance(message, ToolMessage)
        if since < len(searches):
            call = {"name": "docs_search", "args": {"query": searches[since]}, "id": f"c{len(state['messages'])}"}
            return {"messages": [AIMessage(content="", tool_calls=[call])]}
        return {"messages": [AIMessage(content="That is all there is.")]}

    def search(state: MessagesState) -> dict[str, Any]:
        call = state["messages"][-1].tool_calls[0]
        return {"messages": [ToolMessage(content="[]", tool_call_id=call["id"], name=call["name"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("search", search)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", lambda state: "search" if state["messages"][-1].tool_calls else END)
    graph.add_edge("search", "think")
    saver = InMemorySaver()
    compiled = graph.compile(checkpointer=saver)
    for question in questions:
        compiled.invoke({"messages": [HumanMessage(question)]}, {"configurable": {"thread_id": thread}})
    return [
        {
            "config": saved.config,
            "checkpoint": {
                "v": saved.checkpoint["v"],
                "id": saved.checkpoint["id"],
                "ts": saved.checkpoint["ts"],
                "channel_values": {"messages": dump(saved.checkpoint["channel_values"].get("messages", []))},
            },
            "metadata": dict(saved.metadata),
        }
        for saved in saver.list(None)
    ]


def claude_line(kind: str, uuid: str, parent: str | None, content: Any, **extra: Any) -> dict[str, Any]:
    """A line of a Claude Code session."""
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s-1",
        "cwd": "/home/someone/portal",
        "isSidechain": False,
        "message": {"role": kind, "content": content},
        **extra,
    }


def tool_use(identity: str, name: str, query: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": {"query": query}}


def tool_result(identity: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}
