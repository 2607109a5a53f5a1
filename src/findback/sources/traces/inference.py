"""OpenInference's attributes, flattened or nested: to steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from findback.sources.traces.messages import Said, last_wording, read_messages
from findback.sources.traces.payloads import documents_in, queries_in, results_in
from findback.sources.traces.steps import Step, StepKind, hear
from findback.sources.traces.values import FieldError, unpack

KIND = "openinference.span.kind"

_KINDS: dict[str, StepKind] = {"AGENT": "turn", "RETRIEVER": "call", "TOOL": "call", "LLM": "model"}
_ASKED_KEYS = (
    "question", "query", "input", "user_input", "user_query", "prompt", "message", "text", "content", "chat_input",
)  # fmt: skip
_ANSWER_KEYS = ("answer", "output", "response", "result", "text", "content", "message", "final_output")
_DEEPEST = 5
_MOST = 1_000
_VERDICTS = ("annotations", "trace.annotations", "annotation")


def nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes with their dotted, indexed keys folded into objects and lists.

    Raises:
        FieldError: If keys nest too deep or an index is out of all bounds.

    >>> nested({"a.0.b": 1, "a.1.b": 2, "c": {"d": 3}})
    {'a': [{'b': 1}, {'b': 2}], 'c': {'d': 3}}
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        parts = key.split(".")
        if len(parts) > 20:
            raise FieldError("an attribute's name nests deeper than 20 levels")
        at = tree
        for part in parts[:-1]:
            inner = at.get(part)
            if not isinstance(inner, dict):
                inner = {}
                at[part] = inner
            at = inner
        if not (isinstance(at.get(parts[-1]), dict) and not isinstance(value, dict)):
            at[parts[-1]] = dict(value) if isinstance(value, dict) else value
    listed: dict[str, Any] = _as_lists(tree)
    return listed


def _as_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(key, str) and key.isdecimal() and len(key) < 6 for key in value):
        return [_as_lists(value[key]) for key in sorted(value, key=int)]
    return {key: _as_lists(entry) for key, entry in value.items()}


def see_inference(step: Step, attributes: Mapping[str, Any]) -> None:
    """Fill a step from a span's OpenInference attributes.

    Raises:
        FieldError: If an attribute is not what it should be.
    """
    tree = nested(attributes)
    kind = _pick(tree, "openinference", "span", "kind")
    name = str(kind).upper() if isinstance(kind, str) else ""
    step.kind = _KINDS.get(name, "other")
    step.conversation = _string(_pick(tree, "session", "id")) or step.conversation
    step.user = _string(_pick(tree, "user", "id")) or step.user
    given, gave = _pick(tree, "input", "value"), _pick(tree, "output", "value")
    if name == "RETRIEVER":
        _see_retriever(step, tree, given, gave)
    elif name == "TOOL":
        step.tool = _string(_pick(tree, "tool", "name")) or step.tool
        step.arguments, step.answered = given, gave
        if step.arguments is None:
            step.arguments = _pick(tree, "tool", "parameters")
    else:
        _see_words(step, tree, given, gave)
    _see_verdicts(step, tree)


def wording_in(value: Any, depth: int = 0) -> str | None:
    """Return the person's words in what a chain or agent was given: plain text, an object, or messages."""
    value = unpack(value)
    if depth > _DEEPEST or value is None:
        return None
    if isinstance(value, str):
        return value or None
    if isinstance(value, (list, tuple)):
        return last_wording(_lenient(value))
    return _wording_in_object(value, depth) if isinstance(value, dict) else None


def _wording_in_object(value: Mapping[str, Any], depth: int) -> str | None:
    messages = unpack(value.get("messages", value.get("chat_history")))
    if isinstance(messages, (list, tuple)) and (heard := last_wording(_lenient(messages))):
        return heard
    for key in (*_ASKED_KEYS, "kwargs", "args", "inputs", "data"):
        found = value.get(key)
        wrapped = key in ("kwargs", "args", "inputs", "data")
        if isinstance(found, (dict, list) if wrapped else (str, dict, list)):
            text = wording_in(found, depth + 1)
            if text:
                return text
    return None


def answer_in(value: Any, depth: int = 0) -> str | None:
    """Return what the assistant said in what a chain or agent gave back."""
    value = unpack(value)
    if depth > _DEEPEST or value is None:
        return None
    if isinstance(value, str):
        return value or None
    if isinstance(value, (list, tuple)):
        spoken = [said.text for said in _lenient(value) if said.role == "assistant" and said.text]
        return spoken[-1] if spoken else None
    if isinstance(value, dict):
        if isinstance(value.get("messages"), (list, tuple)) and (text := answer_in(value["messages"], depth + 1)):
            return text
        for key in (*_ANSWER_KEYS, "generations", "choices", "kwargs"):
            found = value.get(key)
            if isinstance(found, (str, dict, list)) and (text := answer_in(found, depth + 1)):
                return text
    return None


def see_words(step: Step, given: Any, gave: Any) -> None:
    """Note on a step what the person asked and the assistant said, from what a chain, agent or model got and gave."""
    hear(step, heard_in(given))
    step.asked = step.asked or wording_in(given)
    step.said_answer = answer_in(gave)


def heard_in(value: Any) -> list[Said]:
    """Return the messages in what a model or chain was given; none where it holds no list of them."""
    value = unpack(value)
    if isinstance(value, dict):
        value = unpack(value.get("messages"))
    return _lenient(value) if isinstance(value, (list, tuple)) else []


def _lenient(entries: Sequence[Any]) -> list[Said]:
    found = []
    for entry in entries[:_MOST]:
        if isinstance(entry, (list, tuple)):
            found += _lenient(entry)
        elif isinstance(entry, dict):
            try:
                found += read_messages([entry])
            except FieldError:
                continue
    return found


def _see_retriever(step: Step, tree: Mapping[str, Any], given: Any, gave: Any) -> None:
    step.mark = "retriever"
    step.queries = queries_in(given) or queries_in(_pick(tree, "retrieval", "query"))
    documents = unpack(_pick(tree, "retrieval", "documents"))
    if isinstance(documents, (list, tuple)):
        rows = [entry.get("document", entry) if isinstance(entry, dict) else entry for entry in documents]
        step.results, step.documents = len(rows), documents_in(rows)
    elif gave is not None:
        # Some code leaves the documents out although there were hits; only the output can say that there were none.
        step.results, step.documents = results_in(gave), documents_in(gave)


def _see_words(step: Step, tree: Mapping[str, Any], given: Any, gave: Any) -> None:
    heard = _messages(_pick(tree, "llm", "input_messages"))
    spoken = _messages(_pick(tree, "llm", "output_messages"))
    hear(step, heard, output=spoken)
    if step.kind != "model" or not heard:
        step.asked = wording_in(given) or step.asked
    step.said_answer = step.said_answer or answer_in(gave)


def _messages(value: Any) -> list[Said]:
    entries = unpack(value)
    if entries is None:
        return []
    if not isinstance(entries, (list, tuple)):
        raise FieldError("`llm` messages must be a list")
    return read_messages([_message(entry) for entry in entries[:_MOST]], "llm messages")


def _message(entry: Any) -> Any:
    """Return a message without the prefixes its keys carry."""
    message = entry.get("message", entry) if isinstance(entry, dict) else entry
    if not isinstance(message, dict):
        return message
    plain = {key.removeprefix("message."): value for key, value in message.items() if isinstance(key, str)}
    calls = plain.get("tool_calls")
    if isinstance(calls, (list, tuple)):
        plain["tool_calls"] = [call.get("tool_call", call) if isinstance(call, dict) else call for call in calls]
    contents = plain.pop("contents", None)
    if "content" not in plain and isinstance(contents, (list, tuple)):
        blocks = [block.get("message_content", block) if isinstance(block, dict) else block for block in contents]
        plain["content"] = [block for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return plain


def _see_verdicts(step: Step, tree: Mapping[str, Any]) -> None:
    for path in _VERDICTS:
        entries = unpack(_pick(tree, *path.split(".")))
        for entry in entries if isinstance(entries, (list, tuple)) else [entries]:
            verdict = entry.get("annotation", entry) if isinstance(entry, dict) else None
            if isinstance(verdict, dict):
                see_verdict(step, verdict)


def see_verdict(step: Step, verdict: Mapping[str, Any]) -> None:
    """Take a person's annotation as feedback; those of models and code are none."""
    if str(verdict.get("annotator_kind", "")).upper() != "HUMAN":
        return
    step.rate(verdict.get("label"), verdict.get("score"))


def _pick(tree: Any, *path: str) -> Any:
    for key in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(key)
    return tree


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
