"""Models to ask in tests, and things to ask them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from builders.llmserver import KEY, MODEL, LlmServer, Question
from findback.departures import Departures
from findback.llm.ask import Ask, Model, Reply
from findback.llm.budget import Budget
from findback.llm.open import open_model
from findback.model.record import Record
from findback.model.settings import ModelSettings

VARIABLE = "LLM_KEY"


class Query(Record):
    """What somebody would type."""

    # Said here, not in a docstring: its schema is the same whichever way this file was imported.
    query: Annotated[str, Field(min_length=1, max_length=200, description="The question.")]


def an_ask(number: int = 1, **changed) -> Ask[Query]:
    """Return a question about a document."""
    given = {
        "system": "You write what people type into a search box.",
        "user": f"Document {number}: how boats are moored at pier {number}.",
        "answer": Query,
        "prompt": "describe@0123456789ab",
        "state": "document",
        "item": f"doc{number}.md",
    }
    return Ask(**(given | changed))


def say_back(question: Question) -> dict[str, str]:
    """Answer with words of the question."""
    return {"query": question.user.rpartition(":")[2].strip()[:100]}


def settings_for(server: LlmServer, *, provider: str = "openai", **changed) -> ModelSettings:
    """Return settings of a model that the server has."""
    base_url = server.anthropic if provider == "anthropic" else server.openai
    given = {"provider": provider, "model": MODEL, "base_url": base_url, "key": f"env:{VARIABLE}", "timeout": 20.0}
    return ModelSettings(**(given | changed))


def open_for(
    server: LlmServer,
    *,
    cache: Path | None = None,
    budget: Budget | None = None,
    departures: Departures | None = None,
    unreviewed_allowed: bool = False,
    waited: list[float] | None = None,
    **changed,
) -> Model:
    """Return a model that asks the server; waits are noted instead of waited."""
    model = open_model(
        "m",
        settings_for(server, **changed),
        cache=cache,
        budget=budget,
        departures=departures,
        secret=KEY,
        unreviewed_allowed=unreviewed_allowed,
    )
    model._sleep = noting(waited if waited is not None else [])
    model._now = lambda: datetime(2026, 3, 1, tzinfo=UTC)
    return model


def noting(waited: list[float]) -> Callable[[float], Awaitable[None]]:
    """Return a way to wait that only notes how long."""

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(0)

    return sleep


def ask_all(model: Model, *asks: Ask[Query]) -> list[Reply[Query] | BaseException]:
    """Return every answer, or what was raised instead, and close the model."""

    async def run() -> list[Reply[Query] | BaseException]:
        try:
            return await asyncio.gather(*map(model.ask, asks), return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(run())


def ask_one(model: Model, ask: Ask[Query] | None = None) -> Reply[Query]:
    """Return the answer and close the model, or raise what it raises."""
    (answered,) = ask_all(model, ask or an_ask())
    if isinstance(answered, BaseException):
        raise answered
    return answered
