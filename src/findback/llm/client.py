"""The one file that knows pydantic-ai: a question goes out in a provider's own protocol, a text comes back."""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ModelHTTPError, UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings as CallSettings

from findback.endpoint import host_of
from findback.errors import EngineError, FindbackError, SettingsError
from findback.llm.ask import Usage
from findback.llm.said import CallFailedError, Failure, Said
from findback.llm.schema import schema_of
from findback.llm.traffic import Traffic
from findback.model.record import Record
from findback.model.settings import ModelSettings
from findback.net import LIBRARIES, hush, quiet_libraries

PLACEHOLDER = "none"
"""Sent as key to servers that want none: their libraries insist on one."""

_TALKERS = frozenset({"anthropic", "openai", "pydantic_ai", "httpx", "httpx2", "httpcore", "httpcore2"})
_CODE = re.compile(r"[a-z0-9_.-]{1,60}")
_SLACK = 5.0
"""Seconds that libraries get more than we do, so that ours is the limit that counts."""


class Client:
    """Asks one model of one server, one question a call: no retries, no memory, nothing from the environment."""

    def __init__(self, name: str, settings: ModelSettings, base_url: str, secret: str | None, traffic: Traffic) -> None:
        """Prepare; it connects when it is asked.

        Args:
            name: Its name in findback.toml.
            settings: Its settings.
            base_url: Address of the server.
            secret: The key, or None.
            traffic: What requests go through.

        Raises:
            SettingsError: If pydantic-ai knows no such provider, or reaches it in a way that cannot be watched.
        """
        self._settings, self._secret = settings, secret
        self._traffic = traffic
        self._http = httpx2.AsyncClient(transport=traffic, trust_env=False, follow_redirects=False, timeout=None)
        self._model = _open_model(name, settings, base_url, secret, self._http)
        self._obeys_schema = bool(self._model.profile.get("supports_json_schema_output", False))
        # OpenAI obeys to the letter where the library finds that the schema allows it; others may not know the word.
        self._strict = False if settings.provider in ("openai", "local") and not _is_openai(base_url) else None
        hush(*LIBRARIES, *_loggers())

    async def say(self, system: str, user: str, answer: type[Record], *, temperature: bool, schema: bool) -> Said:
        """Return what the model says.

        Args:
            system: What it is told about its task.
            user: What it is asked.
            answer: What its answer has to be.
            temperature: Whether a temperature is sent, where there is one.
            schema: Whether the server is told to obey the schema; the model is told in words otherwise.

        Raises:
            CallFailedError: If no answer came.
            RefusedError: If the address is one that must not be called.
            EngineError: If the answer is too long.
        """
        settings = CallSettings(
            max_tokens=self._settings.max_tokens, timeout=self._settings.timeout + _SLACK, max_retries=0
        )
        if temperature and self._settings.temperature is not None:
            settings["temperature"] = self._settings.temperature
        obeyed = schema and self._obeys_schema
        wanted = schema_of(answer)
        parameters = ModelRequestParameters(
            output_mode="native" if obeyed else "text",
            output_object=OutputObjectDefinition(wanted, answer.__name__, strict=self._strict) if obeyed else None,
        )
        told = (
            system if obeyed else f"{system}\n\nAnswer with one JSON object of this schema only:\n{json.dumps(wanted)}"
        )
        message = ModelRequest(parts=[SystemPromptPart(told), UserPromptPart(user)])
        try:
            with quiet_libraries():
                async with asyncio.timeout(self._settings.timeout):
                    return _read(
                        await model_request(
                            self._model,
                            [message],
                            model_settings=settings,
                            model_request_parameters=parameters,
                            instrument=False,
                        )
                    )
        except TimeoutError:
            raise CallFailedError(Failure(slow=True)) from None
        except FindbackError:
            raise
        except Exception as error:  # noqa: BLE001  (libraries raise what they like, and their texts quote the question)
            # Only what was understood of it goes on: whatever it says may quote the question or the key.
            ours = next((one for one in _causes(error) if isinstance(one, FindbackError)), None)
            failure = _understand(error)
        if ours is not None:
            raise ours
        raise CallFailedError(failure)

    async def close(self) -> None:
        """Close the connections."""
        with quiet_libraries():
            await self._http.aclose()


def _open_model(
    name: str, settings: ModelSettings, base_url: str, secret: str | None, http: httpx2.AsyncClient
) -> Model:
    """Return pydantic-ai's model, connected through our client only."""
    key = secret or PLACEHOLDER
    if settings.provider in ("openai", "local"):
        return _open_openai(settings, base_url, key, http)
    if settings.provider == "anthropic":
        return _open_anthropic(settings, base_url, key, http)
    try:
        return infer_model(
            f"{settings.provider}:{settings.model}",
            provider_factory=lambda provider: _make_provider(name, provider, base_url, key, http),
        )
    except (UserError, ValueError):
        raise SettingsError(
            f"[models.{name}] provider: there is no {settings.provider!r}",
            hint="openai (with base_url for every server that speaks its protocol), anthropic or local",
        ) from None
    except ImportError:
        raise SettingsError(
            f"[models.{name}] provider: the library that reaches {settings.provider} is not installed",
            hint=f"pip install 'pydantic-ai-slim[{settings.provider}]'",
        ) from None


def _open_openai(settings: ModelSettings, base_url: str, key: str, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI  # noqa: PLC0415  (costs a second; other providers do without)
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    client = AsyncOpenAI(base_url=base_url, api_key=key, http_client=http, max_retries=0)
    provider = OpenAIProvider(openai_client=client)
    if _is_openai(base_url):
        return OpenAIChatModel(settings.model, provider=provider)
    # Servers that only speak the protocol know the older name of the limit, and obey a schema whatever they run; what
    # documents hold that they would take for the beginning of another turn is broken on its way to them.
    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False,
        supports_json_schema_output=True,
        json_schema_transformer=None,
        may_tokenize_special_tokens_in_content=True,
    )
    return OpenAIChatModel(settings.model, provider=provider, profile=profile)


def _is_openai(base_url: str) -> bool:
    return host_of(base_url) == "api.openai.com"


def _open_anthropic(settings: ModelSettings, base_url: str, key: str, http: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic  # noqa: PLC0415  (costs a second; other providers do without)
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = AsyncAnthropic(base_url=base_url, api_key=key, http_client=http, max_retries=0)
    return AnthropicModel(settings.model, provider=AnthropicProvider(anthropic_client=client))


def _make_provider(name: str, provider: str, base_url: str, key: str, http: httpx2.AsyncClient) -> Provider[Any]:
    """Return another provider of pydantic-ai, if it takes our client and so only goes where it may."""
    made = infer_provider_class(provider)
    takes = inspect.signature(made.__init__).parameters
    if "http_client" not in takes or "api_key" not in takes:
        raise SettingsError(
            f"[models.{name}] provider: {provider} cannot be reached by way of findback's own HTTP client",
            hint="use a server that speaks OpenAI's protocol: provider = 'openai' and its base_url",
        )
    given: dict[str, Any] = {"api_key": key, "http_client": http}
    if "base_url" in takes:
        given["base_url"] = base_url
    return made(**given)


def _read(response: ModelResponse) -> Said:
    return Said(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        usage=Usage(response.usage.input_tokens, response.usage.output_tokens),
        cut=response.finish_reason == "length",
        refused=response.finish_reason == "content_filter",
    )


def _understand(error: Exception) -> Failure:
    if any(isinstance(one, httpx2.ConnectError) for one in _causes(error)):
        return Failure(connected=False)
    if isinstance(error, ModelHTTPError):
        code = next(filter(None, map(_code, (error.provider_error_code, error.provider_error_type))), "")
        return Failure(error.status_code, code, str(error.body).lower()[:10_000], error.retry_after)
    if any(isinstance(one, httpx2.TimeoutException) for one in _causes(error)):
        return Failure(slow=True)
    if any(isinstance(one, httpx2.TransportError) for one in _causes(error)):
        return Failure()
    if isinstance(error, ModelAPIError) and any(isinstance(one, httpx2.HTTPError) for one in _causes(error)):
        return Failure()
    if isinstance(error, AgentRunError | ValueError):
        return Failure(nonsense=True)
    raise EngineError(f"the library that asks the model failed with {type(error).__name__}") from None


def _code(word: str | None) -> str:
    found = (word or "").lower()
    return found if _CODE.fullmatch(found) else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]


def _loggers() -> list[str]:
    return [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _TALKERS]
