"""Settings of kind `mcp`, and what a tool's result is read from."""

import re
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, PositiveInt

from findback.endpoint import origin_of
from findback.errors import EngineError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.model.record import LOCAL_ONLY
from findback.model.trusted import Trusted
from findback.retrievers.calling import trusted_calls
from findback.retrievers.http_settings import check_headers, check_url
from findback.retrievers.json_answer import PathSettings
from findback.retrievers.templates import check_names

LONGEST_TEXT = 2_000_000
"""Characters of a tool's result that are read."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class McpSettings(PathSettings):
    """Settings of kind `mcp`."""

    command: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], LOCAL_ONLY] = ()
    """Program of the server and its arguments, started in the folder of findback.toml; or its `url`."""
    url: Annotated[str | None, LOCAL_ONLY] = None
    """Address of a running server (streamable HTTP)."""
    headers: dict[str, Annotated[str, LOCAL_ONLY]] = Field(default_factory=dict)
    """Sent to that address. `env:NAME`, or `{{env:NAME}}` inside a text, takes a secret from the environment."""
    environment: tuple[Annotated[str, LOCAL_ONLY], ...] = ()
    """Names of variables that the program gets besides the few that every program needs."""
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the tool that searches."""
    arguments: dict[str, Any] = Field(default_factory=lambda: {"query": "{{query}}"})
    """Its arguments, with `{{query}}`, `{{k}}` and `{{context.…}}`."""
    result: Literal["structured", "text", "resources"] | None = None
    """What is read: structured content, JSON in the text, or resources; by default the first that is there."""
    pattern: str | None = None
    """For results that are prose: a regular expression whose first group is a document's id."""
    hits: str = "$.result[*]"
    score: str | None = None
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    concurrency: PositiveInt = 4
    """Most calls at the same time."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for one call, and for the server to start."""


def check_mcp(name: str, own: McpSettings) -> None:
    """Refuse settings that cannot work; nothing is started.

    Raises:
        SettingsError: If there is neither a command nor an address, or both, or a template or pattern makes no sense.
        RefusedError: If the address is one that must not be called.
    """
    where = f"[retrievers.{name}]"
    if bool(own.command) == (own.url is not None):
        raise SettingsError(f"{where} command: name either the server's `command` or its `url`")
    if own.url is not None:
        check_url(where, own.url)
        check_names([own.url], allowed=lambda _: False, where=where)
    check_headers(where, own.headers)
    check_names([own.arguments], allowed=lambda used: used != "id", where=f"{where} arguments")
    if not all(_VARIABLE.fullmatch(variable) for variable in own.environment):
        raise SettingsError(f"{where} environment: lists names of variables, not values")
    if own.pattern is not None:
        compile_pattern(name, own.pattern)


def trusted_of(name: str, own: McpSettings) -> tuple[Trusted, ...]:
    """Return the program that would be started, or the address asked, and the variables either would be given."""
    if own.url is not None:
        return trusted_calls(name, (own.url,), own.headers)
    line = " ".join(own.command)
    given = (Trusted("variable", f"${variable}, given to {line} by {name}") for variable in own.environment)
    return (Trusted("command", line), *given)


def endpoint_of(own: McpSettings) -> str:
    """Return how counts of what left call the server."""
    return origin_of(own.url) if own.url is not None else f"mcp {own.command[0]}"


def compile_pattern(name: str, pattern: str) -> re.Pattern[str]:
    """Return a pattern with one group or more.

    Raises:
        SettingsError: If it is no regular expression, or has no group.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise SettingsError(f"[retrievers.{name}] pattern: is no regular expression: {error.msg}") from None
    if compiled.groups < 1:
        raise SettingsError(f"[retrievers.{name}] pattern: has no group", hint=r"pattern = 'docs/(\S+)'")
    return compiled


def read_result(result: Any, own: McpSettings, pattern: re.Pattern[str] | None) -> Any:
    """Return the content of a tool's result in which the paths are looked for.

    Raises:
        EngineError: If it holds nothing of the wanted kind.
    """
    texts = [block.text for block in result.content if getattr(block, "type", None) == "text"]
    text = "\n".join(texts)[:LONGEST_TEXT]
    if pattern is not None:
        return {"result": [{"id": found[1]} for found in pattern.finditer(text) if found[1]]}
    structured = result.structured_content
    # A tool that returns a text is given as {"result": text} beside the text itself.
    is_text = isinstance(structured, dict) and isinstance(structured.get("result"), str) and len(structured) == 1
    if structured is not None and (own.result == "structured" or (own.result is None and not is_text)):
        return structured
    resources = [_resource(block) for block in result.content if getattr(block, "type", "").startswith("resource")]
    if own.result == "resources" or (own.result is None and resources):
        return {"result": resources}
    if own.result in (None, "text"):
        return _read_texts(texts)
    raise EngineError("the tool's result holds no structured content", hint='try result = "text", or a `pattern`')


def _read_texts(texts: list[str]) -> Any:
    """Return the JSON of a text, or of each of several, as servers write lists that way."""
    try:
        contents = [orjson.loads(text) for text in texts if text.strip()]
    except orjson.JSONDecodeError:
        raise EngineError(
            "the tool's result is prose, not JSON", hint=r"read the ids out of it: pattern = 'docs/(\S+)'"
        ) from None
    if len(contents) == 1:
        return contents[0] if isinstance(contents[0], dict) and "result" in contents[0] else _wrapped(contents[0])
    return {"result": contents}


def _wrapped(content: Any) -> Any:
    return {"result": content} if isinstance(content, list) else content


def _resource(block: Any) -> dict[str, Any]:
    """Return a resource, or a link to one, as a result; its address is its id."""
    inner = getattr(block, "resource", block)
    return {"id": str(inner.uri), "name": getattr(inner, "name", None), "text": getattr(inner, "text", None)}
