"""The GenAI conventions of OpenTelemetry, with their older names: attributes to steps."""

from collections.abc import Mapping
from typing import Any

from findback.sources.traces.feedback import is_feedback
from findback.sources.traces.messages import Said, read_messages
from findback.sources.traces.otlp import OtelSpan
from findback.sources.traces.payloads import documents_in, results_in
from findback.sources.traces.steps import Step, hear
from findback.sources.traces.values import FieldError, unpack

# The conventions moved to a repository of their own and their constants are deprecated; the strings stand.
_QUERY = ("gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "retrieval.query", "db.query.text.retrieval")
_DOCUMENTS = ("gen_ai.retrieval.documents", "retrieval.documents")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.input", "input.value")
_RESULT = ("gen_ai.tool.call.result", "gen_ai.tool.output", "output.value")
_INPUT = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUT = ("gen_ai.output.messages", "gen_ai.completion")
_CONVERSATION = ("gen_ai.conversation.id", "session.id", "mcp.session.id", "langfuse.session.id")
_USER = ("user.id", "enduser.id", "langfuse.user.id")
_TURNS = frozenset({"invoke_agent", "invoke_workflow"})
_MODELS = frozenset({"chat", "text_completion", "generate_content"})
_SEARCHES = frozenset({"retrieval", "retrieve"})
_EVENT_ROLES = {
    "gen_ai.user.message": "user",
    "gen_ai.system.message": "system",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_MOST_INDEXED = 1_000


def speaks_genai(attributes: Mapping[str, Any]) -> bool:
    """Say whether a span follows the GenAI or MCP conventions."""
    return any(key.startswith(("gen_ai.", "mcp.")) for key in attributes)


def genai_step(span: OtelSpan) -> Step:
    """Return the step a span of these conventions is.

    Raises:
        FieldError: If messages or attributes are not what they should be.
    """
    attributes = span.attributes
    step = Step(id=span.id, trace=span.trace, parent=span.parent, started=span.started, ended=span.ended)
    step.conversation = _text(attributes, _CONVERSATION)
    step.user = _text(attributes, _USER)
    step.project = span.service or _text(attributes, ("gen_ai.workflow.name", "gen_ai.agent.name"))
    step.failed, step.marked = span.failed, span.marked
    operation = attributes.get("gen_ai.operation.name")
    tool = _text(attributes, ("gen_ai.tool.name", "mcp.tool.name"))
    if operation in _SEARCHES or any(key in attributes for key in (*_QUERY[:2], _DOCUMENTS[0])):
        _see_retrieval(step, attributes, span.name)
    elif operation == "execute_tool" or attributes.get("mcp.method.name") == "tools/call" or (tool and not operation):
        _see_tool(step, attributes, tool or span.name.partition(" ")[2] or span.name)
    else:
        step.kind = "turn" if operation in _TURNS else "model" if operation in _MODELS else "other"
        _see_messages(step, span)
    _see_feedback(step, span)
    return step


def _see_retrieval(step: Step, attributes: Mapping[str, Any], name: str) -> None:
    source = _text(attributes, ("gen_ai.data_source.id",))
    step.kind, step.mark, step.system = "call", "retriever", source
    step.tool = _text(attributes, ("gen_ai.tool.name",)) or source or name or "retriever"
    query = _text(attributes, _QUERY)
    step.queries = (query,) if query else ()
    documents = next((attributes[key] for key in _DOCUMENTS if attributes.get(key) is not None), None)
    if documents is not None:
        step.results, step.documents = results_in(documents), documents_in(documents)


def _see_tool(step: Step, attributes: Mapping[str, Any], tool: str) -> None:
    step.kind, step.tool = "call", tool
    step.mark = "datastore" if attributes.get("gen_ai.tool.type") == "datastore" else "none"
    step.system = _text(attributes, ("gen_ai.data_source.id",))
    step.arguments = next((attributes[key] for key in _ARGUMENTS if attributes.get(key) is not None), None)
    step.answered = next((attributes[key] for key in _RESULT if attributes.get(key) is not None), None)


def _see_messages(step: Step, span: OtelSpan) -> None:
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    heard: list[Said] = []
    answered: list[Said] = []
    for attributes in sources:
        heard = heard or _messages(attributes, _INPUT, "user")
        answered = answered or _messages(attributes, _OUTPUT, "assistant")
    if not heard:
        heard, spoken = _event_messages(span)
        answered = answered or spoken
    if heard and step.kind == "other":
        step.kind = "model"
    hear(step, heard, output=answered)


def _messages(attributes: Mapping[str, Any], names: tuple[str, ...], role: str) -> list[Said]:
    for name in names:
        value = unpack(attributes.get(name))
        if isinstance(value, str) and value.strip():
            return read_messages([{"role": role, "content": value}], name)
        if isinstance(value, dict):
            return read_messages([{"role": role, **value}], name)
        if isinstance(value, (list, tuple)):
            named = [{"role": role, **entry} if isinstance(entry, dict) else entry for entry in value]
            return read_messages(named, name)
        if value is not None and not isinstance(value, str):
            raise FieldError(f"`{name}` must be messages")
        indexed = indexed_messages(attributes, f"{name}.", role)
        if indexed:
            return read_messages(indexed, name)
    return []


def indexed_messages(attributes: Mapping[str, Any], prefix: str, role: str) -> list[dict[str, Any]]:
    """Return messages that are flattened over keys `prefix0.role`, and so on."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        number, _, name = key[len(prefix) :].partition(".")
        if number.isdecimal() and len(number) < 6 and name in ("role", "content") and len(found) < _MOST_INDEXED:
            found.setdefault(int(number), {"role": role})[name] = unpack(value) if name == "content" else value
    return [found[number] for number in sorted(found)]


def _event_messages(span: OtelSpan) -> tuple[list[Said], list[Said]]:
    """Return what older instrumentations wrote as one event for each message, and the model's choice."""
    heard: list[Any] = []
    spoken: list[Any] = []
    for name, attributes in span.events:
        content = attributes.get("content", attributes.get("gen_ai.event.content"))
        if name in _EVENT_ROLES and content is not None:
            heard.append({"role": _EVENT_ROLES[name], "content": content, "tool_call_id": attributes.get("id")})
        elif name == "gen_ai.choice":
            message = unpack(attributes.get("message", content))
            text = message.get("content") if isinstance(message, dict) else message
            if isinstance(text, str):
                spoken.append({"role": "assistant", "content": text})
    return read_messages(heard), read_messages(spoken)


def _see_feedback(step: Step, span: OtelSpan) -> None:
    """Take a person's verdict; the many scores that programs give are none."""
    for attributes in (span.attributes, *(attributes for _, attributes in span.events)):
        name = attributes.get("gen_ai.evaluation.name")
        if isinstance(name, str) and is_feedback(name):
            step.rate(attributes.get("gen_ai.evaluation.score.label"), attributes.get("gen_ai.evaluation.score.value"))


def _text(attributes: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return None
