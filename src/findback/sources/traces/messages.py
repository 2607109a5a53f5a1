"""Conversations of people, assistants and tools, in every shape that chat APIs and frameworks write them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from findback.model.thread import Place
from findback.model.turn import RetrievalCall
from findback.sources.traces.drafts import Draft, make_calls
from findback.sources.traces.payloads import documents_in, queries_in, results_in
from findback.sources.traces.tools import RetrievalTools, ToolMark
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, unpack

Role = Literal["user", "assistant", "tool", "system"]

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "system": "system",
    "developer": "system",
}
_CLASSES = {"HumanMessage": "human", "AIMessage": "ai", "ToolMessage": "tool", "SystemMessage": "system"}
_TEXT_BLOCKS = ("text", "input_text", "output_text")
_SEVERAL = 10_000


@dataclass(slots=True, kw_only=True)
class ToolUse:
    """An assistant's call of a tool, and what came of it."""

    id: str
    name: str
    arguments: Any = None
    queries: tuple[str, ...] | None = None
    answer: Any = None
    """None while unanswered, or where the trace did not capture it."""
    failed: bool = False
    mark: ToolMark = "none"
    batch: str | None = None
    """Shared by the calls of one message."""
    results: int | None = None
    documents: tuple[str, ...] = ()

    def without_answer(self) -> "ToolUse":
        """Return it with what its answer counts up to instead of the answer's texts."""
        if self.answer is None:
            return self
        return replace(self, answer=None, results=results_in(self.answer), documents=documents_in(self.answer))


@dataclass(slots=True, kw_only=True)
class Said:
    """One message."""

    role: Role
    id: str | None = None
    text: str | None = None
    at: datetime | None = None
    uses: list[ToolUse] = field(default_factory=list)
    answers: list[tuple[str, Any, bool]] = field(default_factory=list)
    """Id of the call, what the tool answered, whether it failed."""
    place: Place | None = None


def read_messages(value: Any, field: str = "messages") -> list[Said]:
    """Return the messages of a list; entries that say nothing here, such as reasoning, are left out.

    Raises:
        FieldError: If the list or an entry is no such thing.
    """
    entries = as_list(unpack(value), field)
    if len(entries) > _SEVERAL:
        raise FieldError(f"`{field}` holds more than {_SEVERAL:,} messages")
    return [said for entry in entries if (said := read_message(entry)) is not None]


def read_message(value: Any) -> Said | None:
    """Return one message of OpenAI, GenAI conventions, LangChain or Anthropic shape, or None where it says nothing.

    Raises:
        FieldError: If it is no message.
    """
    entry = _unwrapped(as_record(unpack(value)))
    kind = entry.get("type")
    if isinstance(kind, str) and kind.endswith(("_call", "_call_output")):
        return _read_item(entry, kind)
    named = entry.get("role", kind)
    if not isinstance(named, str):
        raise FieldError("a message has no role")
    role = _ROLES.get(named.casefold())
    if role is None:
        return None
    said = Said(role=role, id=as_text(entry.get("id"), "id"))
    content = entry.get("parts", entry.get("content"))
    said.text = _read_content(content, said)
    for call in as_list(entry.get("tool_calls"), "tool_calls"):
        said.uses.append(_read_use(as_record(call), len(said.uses)))
    if role == "tool":
        answered = as_text(entry.get("tool_call_id"), "tool_call_id") or ""
        if not said.answers:
            said.answers.append((answered, content, entry.get("status") == "error"))
    return said


def last_wording(messages: Sequence[Said]) -> str | None:
    """Return what the person said last, or None."""
    for said in reversed(messages):
        if said.role == "user" and said.text:
            return said.text
    return None


def last_answer(messages: Sequence[Said]) -> str | None:
    """Return what the assistant said last, or None."""
    for said in reversed(messages):
        if said.role == "assistant" and said.text:
            return said.text
    return None


def settle_uses(messages: Iterable[Said]) -> None:
    """Give each call of a tool the answer that came for it, also where a log is out of order."""
    uses: dict[str, ToolUse] = {}
    early: list[tuple[str, Any, bool]] = []
    latest: ToolUse | None = None
    for said in messages:
        for use in said.uses:
            use.batch = said.uses[0].id if len(said.uses) > 1 else None
            uses[use.id] = latest = use
        for call, answer, failed in said.answers:
            found = uses.get(call) or (latest if not call else None)
            if found is None:
                early.append((call, answer, failed))
            else:
                _settle(found, answer, failed=failed)
    for call, answer, failed in early:
        found = uses.get(call)
        if found is not None:
            _settle(found, answer, failed=failed)


def _settle(use: ToolUse, answer: Any, *, failed: bool) -> None:
    if use.answer is None:
        use.answer, use.failed = answer, use.failed or failed


def turns_of(messages: Sequence[Said], conversation: str, tools: RetrievalTools) -> list[Draft]:
    """Return a turn for each message of the person, with the searches made before the next one."""
    settle_uses(messages)
    drafts: list[Draft] = []
    for position, said in enumerate(messages):
        if said.role == "user" and said.text:
            identity = said.id or f"{conversation}#{position}"
            if drafts:
                drafts[-1].next_text = said.text
            drafts.append(Draft(id=identity, conversation=conversation, text=said.text, at=said.at, place=said.place))
            continue
        if not said.uses and said.role != "assistant":
            continue
        if not drafts:
            drafts.append(Draft(id=f"{conversation}#{position}", conversation=conversation, place=said.place))
        draft = drafts[-1]
        if said.role == "assistant" and said.text:
            draft.answer = said.text
        for use in said.uses:
            draft.calls += calls_of(use, tools, started=said.at)
    return drafts


def calls_of(use: ToolUse, tools: RetrievalTools, *, started: datetime | None = None) -> list[RetrievalCall]:
    """Return the retrieval calls that an assistant's call of a tool is."""
    return make_calls(
        tools,
        key=use.id,
        tool=use.name,
        mark=use.mark,
        arguments=use.arguments,
        queries=use.queries,
        answer=use.answer,
        results=use.results,
        documents=use.documents,
        started=started,
        batch=use.batch,
        failed=use.failed,
    )


def _unwrapped(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message out of the wrappings of LangChain's and OpenInference's serialisers."""
    if entry.get("lc") == 1 and isinstance(entry.get("kwargs"), dict):
        path = entry.get("id")
        named = path[-1] if isinstance(path, (list, tuple)) and path else ""
        return {"type": _CLASSES.get(str(named).removesuffix("Chunk"), "other"), **entry["kwargs"]}
    if isinstance(entry.get("data"), dict) and isinstance(entry.get("type"), str):
        return {**entry["data"], "type": entry["type"]}
    if isinstance(entry.get("message"), dict) and "role" not in entry:
        return dict(entry["message"])
    return entry


def _read_content(content: Any, said: Said) -> str | None:
    if content is None or isinstance(content, str):
        return content or None
    if isinstance(content, dict):
        content = [content]
    texts: list[str] = []
    for block in as_list(content, "content"):
        if isinstance(block, str):
            texts.append(block)
            continue
        part = as_record(block)
        kind = part.get("type")
        if kind in _TEXT_BLOCKS:
            text = part.get("text", part.get("content"))
            if isinstance(text, dict):
                text = text.get("value")
            texts.append(as_text(text, "text") or "")
        elif kind in ("tool_call", "tool_use", "function_call"):
            said.uses.append(_read_use(part, len(said.uses)))
        elif kind in ("tool_result", "tool_call_response"):
            answered = as_text(part.get("tool_use_id", part.get("id")), "id") or ""
            answer = part.get("content", part.get("response", part.get("result")))
            said.answers.append((answered, answer, part.get("is_error") is True))
    return "\n".join(text for text in texts if text) or None


def _read_use(call: Mapping[str, Any], position: int) -> ToolUse:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = as_text(inner.get("name"), "name") or "tool"
    arguments = inner.get("arguments", inner.get("args", inner.get("input")))
    return ToolUse(
        id=as_text(call.get("call_id", call.get("id")), "id") or f"call-{position}",
        name=name,
        arguments=arguments,
        mark="datastore" if call.get("tool_type") == "datastore" else "none",
    )


def _read_item(entry: Mapping[str, Any], kind: str) -> Said | None:
    """Return an item of the Responses API that is no plain message."""
    identity = as_text(entry.get("call_id", entry.get("id")), "id") or kind
    failed = entry.get("status") == "failed" or entry.get("error") is not None
    if kind.endswith("_call_output"):
        return Said(role="tool", answers=[(identity, entry.get("output"), failed)])
    if kind == "file_search_call":
        queries = tuple(query for query in as_list(entry.get("queries"), "queries") if isinstance(query, str))
        # Results are null unless the request asked for them: unknown, not none.
        use = ToolUse(id=identity, name="file_search", queries=queries, answer=entry.get("results"), failed=failed)
    elif kind == "web_search_call":
        action = entry.get("action")
        use = ToolUse(id=identity, name="web_search", queries=queries_in(action), failed=failed)
    else:
        name = as_text(entry.get("name"), "name") or kind.removesuffix("_call")
        server = as_text(entry.get("server_label"), "server_label")
        use = ToolUse(
            id=identity,
            name=f"mcp__{server}__{name}" if kind == "mcp_call" and server else name,
            arguments=entry.get("arguments"),
            answer=entry.get("output"),
            failed=failed,
        )
    return Said(role="assistant", uses=[use])
