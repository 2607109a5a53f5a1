"""Traces of an assistant: OTLP JSON Lines by the GenAI conventions, one turn a line, content captured."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from shapes.texts import Texts, hexadecimal

_SECOND = 1_000_000_000


class Traces:
    """Writes the turns of an assistant as spans."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.requests: list[dict[str, Any]] = []
        self.heard: dict[str, list[dict[str, Any]]] = {}

    def add(self, turns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Write the turns, and yield the truth of each; its id is the trace's."""
        for number, entry in enumerate(turns):
            trace = hexadecimal(32, "trace", number)
            asked = self.texts.fill(entry["ask"], "otel", trace, lambda word, rest: None).shown
            spans = self._spans(trace, entry, asked)
            service = [_attribute("service.name", "harbour-assistant")]
            scope = {"scope": {"name": "harbour.assistant", "version": "0.9"}, "spans": spans}
            self.requests.append({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [scope]}]})
            truth = entry["truth"]
            yield {
                "source": "otel",
                "id": trace,
                "query": asked,
                "rule": truth.get("rule", "not a failure"),
                "documents": truth.get("docs", []),
                "why": truth.get("not"),
            }

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        for request in self.requests:
            yield json.dumps(request, ensure_ascii=False)

    def _spans(self, trace: str, entry: Mapping[str, Any], asked: str) -> list[dict[str, Any]]:
        history = self.heard.setdefault(entry["talk"], [])
        given = json.dumps([*history, _said("user", asked)], ensure_ascii=False)
        answer = _said("assistant", entry["say"])
        history += [_said("user", asked), answer]
        at = int(datetime.fromisoformat(entry["at"]).replace(tzinfo=UTC).timestamp()) * _SECOND
        root = hexadecimal(16, trace, "root")
        talk = {"gen_ai.conversation.id": f"conversation-{entry['talk']}", "user.id": hexadecimal(12, entry["user"])}
        model = {"gen_ai.provider.name": "example", "gen_ai.request.model": "example-small"}
        inner = [
            self._span(trace, root, "chat example-small", at + _SECOND, {
                "gen_ai.operation.name": "chat", **talk, **model, "gen_ai.input.messages": given}),
        ]  # fmt: skip
        for number, (query, found, *offset) in enumerate(entry["calls"]):
            start = at + 3 * _SECOND + (0 if entry.get("together") else number * 2 * _SECOND)
            name, attributes = _call(query, found, offset)
            inner.append(self._span(trace, root, name, start, attributes, number=number))
        spoken = {"gen_ai.output.messages": json.dumps([{**answer, "finish_reason": "stop"}], ensure_ascii=False)}
        turn = self._span(trace, None, "invoke_agent guide", at, {
            "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide", **talk,
            "gen_ai.input.messages": given, **spoken,
        })  # fmt: skip
        turn["endTimeUnixNano"] = str(at + (len(inner) * 2 + 4) * _SECOND)
        if "feedback" in entry:
            said = {"gen_ai.evaluation.name": "user_feedback", "gen_ai.evaluation.score.value": entry["feedback"]}
            turn["events"] = [
                {"name": "gen_ai.evaluation.result", "timeUnixNano": turn["endTimeUnixNano"],
                 "attributes": [_attribute(*pair) for pair in said.items()]}
            ]  # fmt: skip
        return [turn, *inner]

    def _span(
        self, trace: str, parent: str | None, name: str, start: int, attributes: Mapping[str, Any], *, number: int = -1
    ) -> dict[str, Any]:
        span = hexadecimal(16, trace, "root" if parent is None else f"{name} {number}")
        return {
            "traceId": trace, "spanId": span, **({"parentSpanId": parent} if parent else {}), "name": name, "kind": 1,
            "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + _SECOND),
            "attributes": [_attribute(*pair) for pair in attributes.items()], "status": {},
        }  # fmt: skip


def _call(query: str, found: Sequence[str], offset: Sequence[int]) -> tuple[str, dict[str, Any]]:
    """Return a retrieval; one that reads on from an offset is a call of a tool, as only tools take arguments."""
    documents = json.dumps([{"id": path, "score": round(0.9 - 0.1 * at, 1)} for at, path in enumerate(found)])
    if not offset:
        return "retrieval portal", {
            "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "portal-search",
            "gen_ai.retrieval.query.text": query, "gen_ai.retrieval.documents": documents,
        }  # fmt: skip
    return "execute_tool portal_search", {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "portal_search", "gen_ai.tool.type": "datastore",
        "gen_ai.tool.call.arguments": json.dumps({"query": query, "offset": offset[0]}),
        "gen_ai.tool.call.result": documents,
    }  # fmt: skip


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _attribute(key: str, value: object) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"stringValue": str(value)}}
