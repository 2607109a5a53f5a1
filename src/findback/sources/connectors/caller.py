"""Calls of one system's API: the token sent along, the pace the system asks for, and patience with its moods."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from findback.errors import EngineError
from findback.net import HttpAnswer, HttpClient

TRIES = 5
"""Times a call is made that the system fails at; each wait is twice the one before."""
MOST_WAITS = 60
"""Times in a row that a system may ask to wait."""
LONGEST_WAIT = 900.0
"""Most seconds that are waited because a system asks for it."""
USUAL_WAIT = 30.0
_MOODS = frozenset((500, 502, 503, 504))

Sleep = Callable[[float], Awaitable[None]]


class Caller:
    """One conversation with an API, from a program that is not asynchronous."""

    def __init__(
        self,
        name: str,
        headers: Mapping[str, str],
        *,
        client: HttpClient | None = None,
        sleep: Sleep = asyncio.sleep,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare; nothing is called yet.

        Args:
            name: How errors call the system, such as `[connectors.chat]`.
            headers: Sent with every call; the token is in them, so they are never shown.
            client: The HTTP client.
            sleep: Waits.
            tick: Is called with every answer.
        """
        self.name = name
        self._headers = headers
        self._client = client or HttpClient()
        self._sleep = sleep
        self._tick = tick
        self._runner: asyncio.Runner | None = None

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        runner, self._runner = self._runner, None
        if runner is not None:
            with runner:
                runner.run(self._client.close())

    def call(self, method: str, url: str, *, content: bytes | None = None, form: bool = False) -> HttpAnswer:
        """Call an address and return its answer, whatever the status but for those that ask to come again.

        Raises:
            EngineError: If the system does not answer, fails again and again, or asks to wait for too long.
            RefusedError: If a safety rule forbids the address.
        """
        headers = {**self._headers, "Accept": "application/json"}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if self._runner is None:
            self._runner = asyncio.Runner()
        answer = self._runner.run(self._call(method, url, headers, content))
        self._tick()
        return answer

    def read(self, answer: HttpAnswer) -> dict[str, Any]:
        """Return the JSON object of an answer.

        Raises:
            EngineError: If it is none.
        """
        try:
            value = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            raise EngineError(f"{self.name} answered status {answer.status} with what is no JSON object")
        return value

    async def _call(self, method: str, url: str, headers: dict[str, str], content: bytes | None) -> HttpAnswer:
        failures = waits = 0
        while True:
            try:
                answer = await self._client.request(method, url, headers=headers, content=content)
            except EngineError:
                failures += 1
                if failures >= TRIES:
                    raise
                await self._sleep(2.0 ** (failures - 1))
                continue
            if answer.status == 429:
                waits += 1
                await self._wait(answer, waits)
            elif answer.status in _MOODS and failures + 1 < TRIES:
                failures += 1
                await self._sleep(2.0 ** (failures - 1))
            else:
                return answer

    async def _wait(self, answer: HttpAnswer, waits: int) -> None:
        asked = answer.headers.get("retry-after", "")
        seconds = float(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 8 else USUAL_WAIT
        if waits > MOST_WAITS or seconds > LONGEST_WAIT:
            raise EngineError(
                f"{self.name} asks to come back in {seconds:g} s, for the {waits}. time",
                hint="run it again later: it goes on from where it came to",
            )
        await self._sleep(seconds)
