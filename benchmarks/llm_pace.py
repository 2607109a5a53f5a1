"""How near asking a language model comes to what its server allows: a server on this machine with a stated limit.

    python benchmarks/llm_pace.py [asks] [limit]

Prints what the server accepted a second after the first fifty requests, beside the limit it states.
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated

from pydantic import Field

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from builders.llmserver import KEY, MODEL, LlmServer, Question
from findback.llm.ask import Ask, Reply
from findback.llm.budget import Budget
from findback.llm.open import open_model
from findback.model.record import Record
from findback.model.settings import ModelSettings

FIRST = 50


class Query(Record):
    """What somebody would type."""

    query: Annotated[str, Field(max_length=200)]
    """The question."""


def mood(question: Question, times: int) -> str | None:
    """Go wrong at first on some questions, as servers do."""
    number = int(question.user.rpartition(" ")[2])
    moods = {7: "500", 13: "malformed", 17: "cut", 19: "503"}
    return next((what for step, what in moods.items() if number % step == 0 and times == 0), None)


def measure(asks: int, limit: float, latency: float) -> None:
    """Ask through a server with this limit, and print what it accepted."""
    with LlmServer(lambda question: {"query": question.user}, rate=limit, latency=latency, mood=mood) as server:
        settings = ModelSettings(
            provider="openai", model=MODEL, base_url=server.openai, key="env:LLM_KEY", connections=128
        )
        budget = Budget()
        model = open_model("m", settings, secret=KEY, budget=budget)

        async def ask_all() -> list[Reply[Query]]:
            try:
                wanted = (Ask("s", f"number {n}", Query, "p@1", "document", str(n)) for n in range(1, asks + 1))
                return list(await asyncio.gather(*map(model.ask, wanted)))
            finally:
                await model.close()

        began = time.monotonic()
        replies = asyncio.run(ask_all())
        took = time.monotonic() - began
    counts = server.counts
    rate = counts.rate_after(FIRST)
    print(
        f"{len(replies)} asks, limit {limit:g}/s, latency {latency:g} s: {took:.1f} s, accepted {counts.accepted}, "
        f"refused {counts.limited}, at most {counts.most} at a time, answered twice {counts.duplicates}; after the "
        f"first {FIRST}: {rate:.1f}/s, limit / accepted {limit / rate:.2f}, calls paid {budget.bills()[0].calls}"
    )


if __name__ == "__main__":
    asks = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    limits = [float(sys.argv[2])] if len(sys.argv) > 2 else [10.0, 25.0, 50.0]
    for limit in limits:
        for latency in (0.2, 1.0):
            measure(asks, limit, latency)
