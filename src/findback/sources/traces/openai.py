"""Logs of OpenAI's Chat Completions and Responses: messages or items, one request or conversation a record."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from findback.model.thread import Place
from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.evaluation import is_marked
from findback.sources.traces.feedback import as_outcome, as_score
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.messages import Said, read_messages
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.tree import Node, turns_of_tree
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time, look_up, unpack

name = "openai"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")

REPEATED = "requests whose messages a later one repeats"

_CONVERSATION = (
    "conversation.id | conversation_id | thread_id | session_id | metadata.conversation_id | metadata.thread_id | "
    "metadata.session_id | request.metadata.conversation_id | request.metadata.thread_id | conversation"
)
_TIME = "created_at | created | timestamp | response.created_at | response.created"
_USER = "user | user_id | safety_identifier | request.user"
_FEEDBACK = "feedback | rating | metadata.feedback"
_OUTCOME = "outcome | success | metadata.success"


def recognise(path: Path) -> str | None:
    """Return why the path holds OpenAI messages or items, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading. Each request repeats the conversation so far; only the longest form of it is read."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    record = look.record
    if not isinstance(record, dict):
        return None
    bodies = [record, *(record[key] for key in ("request", "response", "body") if isinstance(record.get(key), dict))]
    for body in bodies:
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[0], dict) and "role" in messages[0]:
            return "chat messages in OpenAI's form"
        if isinstance(body.get("output"), list) and ("object" in body or "previous_response_id" in body):
            return "items of OpenAI's Responses"
    if record.get("role") in ("system", "developer", "user") and "content" in record and look.kind == "json":
        return "one conversation in OpenAI's form"
    return None


@dataclass(slots=True, kw_only=True)
class _Request:
    """One request with its answer, or one whole conversation."""

    id: str
    said: list[Said]
    conversation: str | None
    previous: str | None
    user: str | None
    at: datetime | None
    score: float | None
    outcome: bool | None
    marked: bool
    place: Place


def _gather(gathering: Gathering) -> Iterable[Draft]:
    requests: dict[str, _Request] = {}
    loose: list[Any] = []

    def take(record: TraceRecord) -> None:
        value = record.value
        if isinstance(value, dict) and "role" in value and "messages" not in value:
            loose.append((record, value))
            return
        entries = [{"messages": value}] if isinstance(value, list) else _pages(as_record(value))
        for number, entry in enumerate(entries):
            request = _request(as_record(entry), record, f"{record.key}.{number}")
            requests.setdefault(request.id, request)

    gathering.each(take)
    if loose:
        record = loose[0][0]
        whole = {"messages": [value for _, value in loose]}
        try:
            request = _request(whole, record, f"{record.key}.messages")
            requests[request.id] = request
        except FieldError as fault:
            gathering.fault(record, str(fault))
    return _drafts(list(requests.values()), gathering)


def _pages(value: Mapping[str, Any]) -> list[Any]:
    data = value.get("data")
    return list(data) if isinstance(data, list) and "messages" not in value and "output" not in value else [value]


def _request(entry: Mapping[str, Any], record: TraceRecord, fallback: str) -> _Request:
    asked = as_record(unpack(entry.get("request", entry.get("body"))) or entry)
    answered = unpack(entry.get("response")) or entry
    answered = as_record(unpack(answered.get("body")) or answered) if isinstance(answered, dict) else {}
    said = _given(asked) + _gave(answered)
    if not said:
        raise FieldError("no messages, no input and no output are there")
    return _Request(
        id=as_text(answered.get("id"), "id") or as_text(entry.get("id"), "id") or fallback,
        said=said,
        conversation=_conversation(entry),
        previous=as_text(
            look_up(entry, "previous_response_id | request.previous_response_id | response.previous_response_id"),
            "previous_response_id",
        ),
        user=as_text(look_up(entry, _USER), "user"),
        at=as_time(look_up(entry, _TIME), "created_at"),
        score=as_score(look_up(entry, _FEEDBACK)),
        outcome=as_outcome(look_up(entry, _OUTCOME)),
        marked=any(is_marked(part) for part in (entry, asked, answered)),
        place=record.place,
    )


def _given(asked: Mapping[str, Any]) -> list[Said]:
    if asked.get("messages") is not None:
        return read_messages(asked["messages"])
    given = asked.get("input")
    if isinstance(given, str):
        return read_messages([{"role": "user", "content": given}])
    return read_messages(given, "input")


def _gave(answered: Mapping[str, Any]) -> list[Said]:
    if isinstance(answered.get("output"), list):
        return read_messages(answered["output"], "output")
    choices = as_list(answered.get("choices"), "choices")
    if not choices:
        return []
    message = as_record(choices[0]).get("message")
    return [] if message is None else read_messages([message], "choices")


def _conversation(entry: Mapping[str, Any]) -> str | None:
    found = look_up(entry, _CONVERSATION)
    return None if isinstance(found, dict) else as_text(found, "conversation")


def _drafts(requests: list[_Request], gathering: Gathering) -> list[Draft]:
    kept = _without_repeats(requests, gathering)
    known = {request.id: request for request in requests}
    roots = {request.id: _root(request, known) for request in kept}
    last = {request.id: f"{request.id}:{len(request.said) - 1}" for request in requests}
    nodes: list[Node] = []
    for request in kept:
        conversation = request.conversation or roots[request.id]
        parent = last.get(request.previous) if request.previous is not None else None
        for number, said in enumerate(request.said):
            said.at = said.at or request.at
            identity = f"{request.id}:{number}"
            nodes.append(
                Node(
                    id=identity,
                    conversation=conversation,
                    parent=parent,
                    said=said,
                    user=request.user,
                    marked=request.marked,
                    place=request.place,
                )
            )
            parent = identity
    drafts = turns_of_tree(nodes, gathering.tools)
    verdicts = {request.id: request for request in kept}
    for draft in drafts:
        told = verdicts.get(draft.id.rpartition(":")[0])
        if told is not None:
            draft.feedback, draft.outcome = told.score, told.outcome
    return drafts


def _without_repeats(requests: list[_Request], gathering: Gathering) -> list[_Request]:
    """Return the requests whose messages are not the beginning of another one's."""
    beginnings: set[int] = set()
    whole: dict[str, int] = {}
    for request in requests:
        chain = hash(request.conversation)
        for number, said in enumerate(request.said):
            chain = hash((chain, said.role, said.text, tuple(use.name for use in said.uses)))
            if number < len(request.said) - 1:
                beginnings.add(chain)
        whole[request.id] = chain
    kept: list[_Request] = []
    seen: set[int] = set()
    for request in requests:
        chain = whole[request.id]
        if chain in beginnings or (chain in seen and request.previous is None):
            gathering.skipped.add(REPEATED)
        else:
            seen.add(chain)
            kept.append(request)
    return kept


def _root(request: _Request, known: Mapping[str, _Request]) -> str:
    seen = {request.id}
    at = request
    while at.previous is not None and at.previous not in seen and at.previous in known:
        seen.add(at.previous)
        at = known[at.previous]
    # A response whose forerunner was not exported still names it.
    return at.previous if at.previous is not None and at.previous not in seen else at.id
