"""A server on this machine that behaves like the APIs of OpenAI and Anthropic, with their limits and their moods.

    with LlmServer(answer=lambda question: {"query": "…"}, rate=50) as server:
        settings = ModelSettings(provider="openai", model=MODEL, base_url=server.openai, key="env:LLM_KEY")

`answer` is a function of the question: an object that becomes the JSON of the answer, or a text taken as it is.
`mood` decides by question and by how often the same was received before what goes wrong; see `MOODS`.
It counts every request that it accepted, when, and which of them it had answered well before.
"""

import asyncio
import hashlib
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MODEL = "gpt-test"
KEY = "sk-" + "test" + "4711"

MOODS = {
    "500": "an error of the server",
    "503": "overloaded; 529 in Anthropic's protocol",
    "429": "too many requests, whatever the limit says",
    "quota": "the quota, or the credit, is used up",
    "cut": "the answer ends at the token limit",
    "malformed": "the answer's text is no JSON",
    "fenced": "the answer's JSON stands in a fence, with talk around it",
    "garbage": "what comes back is not this protocol at all",
    "empty": "an answer without content",
    "slow": "the answer takes `slow` seconds",
    "disconnect": "the connection breaks in the middle of the answer",
    "hang up": "the connection breaks before any answer",
    "refusal": "the model will not answer",
    "no temperature": "400: a temperature is not supported",
    "no schema": "400: response_format is not supported",
    "context": "400: the question is too long",
    "redirect": "307 to somewhere else",
    "wait long": "429 with a Retry-After of an hour",
}


class Question(NamedTuple):
    """What a request asks."""

    system: str
    user: str
    schema: dict[str, Any] | None
    body: dict[str, Any]
    """All of it."""
    headers: dict[str, str]
    anthropic: bool


@dataclass
class Counts:
    """What the server saw."""

    accepted: int = 0
    """Requests that were let in: neither over the limit nor without a key."""
    limited: int = 0
    """Requests refused with 429 because of the limit."""
    answered: Counter[str] = field(default_factory=Counter)
    """Good answers sent whole, by digest of the question."""
    duplicates: int = 0
    """Accepted requests that had been answered well before."""
    times: list[float] = field(default_factory=list)
    """When each was accepted, in seconds."""
    most: int = 0
    """Most requests at a time."""
    user_agents: set[str] = field(default_factory=set)

    def rate_after(self, first: int) -> float:
        """Return accepted requests per second after the first ones."""
        times = self.times[first:]
        return (len(times) - 1) / (times[-1] - times[0])


class LlmServer:
    """A server in a thread of its own."""

    def __init__(
        self,
        answer: Callable[[Question], dict[str, Any] | str],
        *,
        rate: float | None = None,
        burst: float | None = None,
        latency: float = 0.0,
        slow: float = 5.0,
        mood: Callable[[Question, int], str | None] = lambda question, times: None,
        models: tuple[str, ...] = (MODEL,),
        key: str | None = KEY,
    ) -> None:
        """Prepare.

        Args:
            answer: Gives the answer to each question.
            rate: Requests a second that are let in; all when None.
            burst: Requests that may come at once; those of one second when None.
            latency: Seconds an answer takes.
            slow: Seconds a slow answer takes.
            mood: Says what goes wrong with a question that was received this often before.
            models: Names of the models it has.
            key: The key it wants; none when None.
        """
        self._answer, self._mood, self._models, self._key = answer, mood, models, key
        self._rate, self._latency, self._slow = rate, latency, slow
        self._burst = self._tokens = float(burst if burst is not None else rate or 0.0)
        self._filled = time.monotonic()
        self.counts = Counts()
        self._received: Counter[str] = Counter()
        self._at_a_time = 0
        self._ready = threading.Event()
        self._port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def openai(self) -> str:
        """Return the base URL in OpenAI's protocol."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def anthropic(self) -> str:
        """Return the base URL in Anthropic's protocol."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> "LlmServer":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop answering; a second time does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=20_000_000)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read_request(reader):
                self._at_a_time += 1
                self.counts.most = max(self.counts.most, self._at_a_time)
                try:
                    if not await self._respond(*request, writer):
                        return
                finally:
                    self._at_a_time -= 1
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _respond(self, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays."""
        question = _read_question(path, headers, body)
        self.counts.user_agents.add(headers.get("user-agent", ""))
        refused = self._check(path, question)
        if refused is not None:
            await _send(writer, *refused)
            return True
        digest = hashlib.sha256(body).hexdigest()
        times = self._received[digest]
        self._received[digest] += 1
        self.counts.accepted += 1
        self.counts.times.append(time.monotonic())
        self.counts.duplicates += self.counts.answered[digest] > 0
        mood = self._mood(question, times)
        await asyncio.sleep(self._slow if mood == "slow" else self._latency)
        if mood == "hang up":
            return False
        status, answer, more = self._make(question, mood)
        if mood == "disconnect":
            await _send(writer, status, answer, more, only=0.5)
            return False
        await _send(writer, status, answer, more)
        if status == 200 and mood in (None, "fenced", "slow"):
            self.counts.answered[digest] += 1
        return True

    def _check(self, path: str, question: Question) -> tuple[int, bytes, dict[str, str]] | None:
        """Return why a request is not let in, or None."""
        given = question.headers.get("x-api-key") or question.headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is not None and given != self._key:
            return self._error(question, 401, "authentication_error", "invalid_api_key", f"Incorrect API key: {given}")
        if path not in ("/v1/chat/completions", "/v1/messages"):
            return self._error(question, 404, "not_found_error", "", "Unknown request URL")
        model = question.body.get("model")
        if model not in self._models:
            message = f"The model `{model}` does not exist"
            return self._error(question, 404, "not_found_error", "model_not_found", message)
        if self._rate is not None:
            now = time.monotonic()
            self._tokens = min(self._burst, self._tokens + (now - self._filled) * self._rate)
            self._filled = now
            if self._tokens < 1:
                self.counts.limited += 1
                after = math.ceil((1 - self._tokens) / self._rate)
                return self._too_many(question, after)
            self._tokens -= 1
        return None

    def _too_many(self, question: Question, after: int) -> tuple[int, bytes, dict[str, str]]:
        status, body, more = self._error(question, 429, "rate_limit_error", "rate_limit_exceeded", "Rate limit reached")
        return status, body, {**more, "Retry-After": str(after)}

    def _make(self, question: Question, mood: str | None) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers of what is answered."""
        if mood in ("429", "wait long"):
            return self._too_many(question, 1 if mood == "429" else 3_600)
        if mood == "redirect":
            return 307, b"{}", {"Location": "http://127.0.0.1:9/v1/elsewhere"}
        if mood == "garbage":
            return 200, f"<html>Welcome to the proxy: {question.user}</html>".encode(), {"Content-Type": "text/html"}
        if (wrong := _what_is_wrong(question, mood)) is not None:
            status, kind, code, message = wrong
            # Real servers quote what they were sent.
            return self._error(question, status, kind, code, f"{message}: {question.user}")
        said = self._answer(question)
        text, finish = _spoil(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False), mood)
        make = _anthropic_message if question.anthropic else _openai_completion
        return 200, json.dumps(make(question, text, finish)).encode(), {}

    @staticmethod
    def _error(
        question: Question, status: int, kind: str, code: str, message: str
    ) -> tuple[int, bytes, dict[str, str]]:
        inner: dict[str, Any] = {"type": kind, "message": message}
        if question.anthropic:
            return status, json.dumps({"type": "error", "error": inner}).encode(), {}
        return status, json.dumps({"error": {**inner, "param": None, "code": code or None}}).encode(), {}


def _what_is_wrong(question: Question, mood: str | None) -> tuple[int, str, str, str] | None:
    """Return status, type, code and message of the error that a mood answers with; None where it answers."""
    if mood == "quota" and question.anthropic:
        return 400, "invalid_request_error", "", "Your credit balance is too low to access the Anthropic API"
    if mood == "no temperature" and "temperature" not in question.body:
        return None
    if mood == "no schema" and not {"response_format", "output_config"} & set(question.body):
        return None
    return {
        "500": (500, "api_error", "", "The server had an error"),
        "503": (529 if question.anthropic else 503, "overloaded_error", "", "Overloaded"),
        "quota": (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
        "no temperature": (400, "invalid_request_error", "unsupported_value", "Unsupported value: 'temperature'"),
        "no schema": (400, "invalid_request_error", "", "Invalid parameter: 'response_format' of type 'json_schema'"),
        "context": (400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length"),
    }.get(mood or "")


def _spoil(text: str, mood: str | None) -> tuple[str, str]:
    """Return the answer's text, and why it ended, as a mood has it."""
    if mood == "cut":
        return text[: len(text) // 2], "length"
    if mood == "malformed":
        return text.replace('"', "'"), "stop"
    if mood == "fenced":
        return f"Sure! Here is the JSON {{as asked}}:\n```json\n{text}\n```\nAnything else?", "stop"
    if mood in ("empty", "refusal"):
        return "", mood
    return text, "stop"


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return first.split(" ")[1].partition("?")[0], headers, body


def _read_question(path: str, headers: dict[str, str], body: bytes) -> Question:
    read = json.loads(body or b"{}")
    anthropic = path == "/v1/messages"
    messages = read.get("messages", [])
    system = "\n".join(_text(one["content"]) for one in messages if one["role"] == "system")
    schema = (read.get("response_format") or {}).get("json_schema", {}).get("schema")
    if anthropic:
        system = _text(read.get("system", ""))
        schema = ((read.get("output_config") or {}).get("format") or {}).get("schema")
    user = "\n".join(_text(one["content"]) for one in messages if one["role"] == "user")
    return Question(system, user, schema, read, headers, anthropic)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _openai_completion(question: Question, text: str, finish: str) -> dict[str, Any]:
    refused = finish == "refusal"
    message = {"role": "assistant", "content": None if refused else text, "refusal": "I cannot." if refused else None}
    tokens_in, tokens_out = _tokens(question.system + question.user), _tokens(text)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": question.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if finish == "length" else "stop"}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }


def _anthropic_message(question: Question, text: str, finish: str) -> dict[str, Any]:
    reasons = {"length": "max_tokens", "refusal": "refusal"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": question.body["model"],
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": reasons.get(finish, "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": _tokens(question.system + question.user), "output_tokens": _tokens(text)},
    }


def _tokens(text: str) -> int:
    return len(text) // 4 + 1


async def _send(
    writer: asyncio.StreamWriter, status: int, body: bytes, more: dict[str, str], *, only: float = 1.0
) -> None:
    headers = {"Content-Type": "application/json", **more, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body[: int(len(body) * only)])
    await writer.drain()
