"""A model that is asked: answers known already, what it may cost, how fast, and what to do when it fails."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from findback.departures import TextState, carrying
from findback.errors import EngineError, RefusedError
from findback.llm.address import Address
from findback.llm.ask import Ask, ItemFailedError, Reply, StoppedError, Usage
from findback.llm.budget import Account, count_tokens
from findback.llm.cache import Answers, digest_ask
from findback.llm.faults import describe, explain_stop, is_busy, sort_failure
from findback.llm.jsontext import find_answer
from findback.llm.pace import Pace
from findback.llm.said import CallFailedError, Failure, Said
from findback.model.record import Record
from findback.model.settings import ModelSettings
from findback.text.safe import escape_terminal

LOG = logging.getLogger("findback.llm")
"""Whoever waits reads its warnings on stderr, unless the program they run in says otherwise."""
Given = TypeVar("Given", bound=Record)

TRIES = 3
"""Fresh calls that an answer gets to make sense."""
WAITS = 10
"""Times that one call waits and is made again."""
SLOW = 3
"""Calls without an answer in time after which an item is given up: each may have been paid for."""
LONGEST_WAIT = 60.0
FIRST_BATCH = 5
"""Items that fail before the first success after which nothing more is tried."""


class Speaker(Protocol):
    """What makes one call."""

    async def say(self, system: str, user: str, answer: type[Record], *, temperature: bool, schema: bool) -> Said:
        """Return what the model says."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


class AskedModel:
    """A model of findback.toml."""

    def __init__(
        self,
        address: Address,
        settings: ModelSettings,
        *,
        place: str,
        connect: Callable[[], Speaker],
        answers: Answers | None,
        account: Account,
        pace: Pace,
        unreviewed_allowed: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        seed: int = 0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Prepare; nothing is connected before the first question whose answer is not known.

        Args:
            address: Where it is reached.
            settings: Its settings.
            place: What stands for its server, or its file, where answers are kept.
            connect: Makes what makes the calls.
            answers: The kept answers; None keeps nothing.
            account: What its calls cost.
            pace: Lets calls through.
            unreviewed_allowed: Whether text that nobody reviewed may go beyond this machine.
            sleep: Waits.
            seed: Of the jitter.
            now: Tells the time.
        """
        self.name, self.label, self.egress = address.name, address.label, address.level
        self.for_decisions = settings.for_decisions
        self.parameters: dict[str, str | int | float | None] = {
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        self._settings, self._key, self._place = settings, address.variable, place
        self._connect, self._answers = connect, answers
        self._account, self._pace, self._sleep, self._now = account, pace, sleep, now
        self._unreviewed_allowed = unreviewed_allowed
        self._random = random.Random(seed)  # noqa: S311  (jitter)
        self._speaker: Speaker | None = None
        self._under_way: dict[str, asyncio.Lock] = {}
        self._temperature = self._schema = True
        self._reached = self._said_waiting = False
        self._successes = self._failures = 0
        self._stopped: tuple[str, str | None] | None = None

    async def ask(self, ask: Ask[Given]) -> Reply[Given]:
        """Return the answer, from the cache where it is known.

        Raises:
            ItemFailedError: If this one cannot be answered.
            StoppedError: If no further call can go well, or the budget is used up.
            RefusedError: If the text may not go there.
            StorageError: If the disk refuses to keep the answer.
        """
        self._check_egress(ask.state)
        key = digest_ask(
            ask,
            provider=self._settings.provider,
            base_url=self._place,
            model=self._settings.model,
            parameters=self.parameters,
        )
        lock = self._under_way.setdefault(key, asyncio.Lock())
        # Who asks the same at the same time waits for the one answer.
        async with lock:
            try:
                return self._find(key, ask) or await self._answer(key, ask)
            finally:
                self._under_way.pop(key, None)

    async def close(self) -> None:
        """Let go of connections, of the model's memory, and of the kept answers."""
        speaker, self._speaker = self._speaker, None
        if speaker is not None:
            await speaker.close()
        if self._answers is not None:
            self._answers.close()

    def _check_egress(self, state: TextState) -> None:
        if state == "unreviewed" and self.egress != "local" and not self._unreviewed_allowed:
            raise RefusedError(
                f"text that nobody reviewed would leave this machine: {self.name} ({self.egress})",
                hint=f'allow it in findback.toml: [egress] unreviewed_to = ["{self.name}"]; or name another model',
            )

    def _find(self, key: str, ask: Ask[Given]) -> Reply[Given] | None:
        known = None if self._answers is None else self._answers.find(key, ask.answer)
        if known is None:
            return None
        self._account.note_cached()
        return Reply(known.value, known.usage, cached=True, at=known.at)

    async def _answer(self, key: str, ask: Ask[Given]) -> Reply[Given]:
        try:
            value, usage = await self._try(ask)
        except ItemFailedError as error:
            self._note_failure(error)
            raise
        self._successes += 1
        at = self._now()
        if self._answers is not None:
            self._answers.keep(key, value, usage, at)
        return Reply(value, usage, cached=False, at=at)

    async def _try(self, ask: Ask[Given]) -> tuple[Given, Usage]:
        """Call until an answer makes sense."""
        cut = 0
        for number in range(TRIES):
            async with self._account.paying(Usage(count_tokens(ask.system, ask.user), self._settings.max_tokens)):
                said = await self._call(ask, again=number > 0)
                self._account.note_paid(said.usage)
            if said.refused:
                raise ItemFailedError(f"{self.name} would not answer about {ask.item}")
            value = None if said.cut else find_answer(said.text, ask.answer)
            if value is not None:
                return value, said.usage
            cut += said.cut
        why = "each time cut by the token limit" if cut == TRIES else "no answer that makes sense"
        raise ItemFailedError(
            f"{self.name} gave {why} in {TRIES} calls about {ask.item}",
            hint="raise max_tokens" if cut else None,
        )

    async def _call(self, ask: Ask[Given], *, again: bool) -> Said:
        """Call, and wait and call again where that may help."""
        waits, slow, before = 0, 0, self._successes
        while True:
            self._check_stopped()
            sent = self._temperature, self._schema
            failure = await self._call_once(ask, *sent, again=again or waits > 0)
            if isinstance(failure, Said):
                return failure
            verdict = sort_failure(
                failure, temperature=sent[0] and self._settings.temperature is not None, schema=sent[1]
            )
            if verdict == "stop" or (not failure.connected and not self._reached):
                raise self._stop(*explain_stop(failure, self._settings.model, self._key))
            if verdict == "temperature":
                self._temperature = False
            elif verdict == "schema":
                self._schema = False
            elif verdict == "item":
                raise ItemFailedError(f"{self.name} could not be asked about {ask.item}: {describe(failure)}")
            else:
                waits, slow = waits + 1, slow + failure.slow
                if slow >= SLOW or waits > WAITS:
                    raise self._give_up(failure, ask.item, answered_others=self._successes > before)
                self._say_waiting(failure)
                await self._sleep(self._wait(waits, failure.retry_after))

    async def _call_once(self, ask: Ask[Given], temperature: bool, schema: bool, *, again: bool) -> Said | Failure:
        async with self._pace.turn(again=again) as turn:
            self._check_stopped()
            if self._speaker is None:
                self._speaker = self._connect()
            try:
                with carrying(ask.state):
                    said = await self._speaker.say(
                        ask.system, ask.user, ask.answer, temperature=temperature, schema=schema
                    )
            except CallFailedError as error:
                failure = error.failure
                self._reached = self._reached or failure.status is not None
                turn.refused = is_busy(failure)
                turn.again_in = min(failure.retry_after or 0.0, LONGEST_WAIT)
                return failure
            except RefusedError as error:
                raise self._stop(error.message, error.hint) from None
            except EngineError as error:
                raise ItemFailedError(f"{self.name} could not be asked about {ask.item}: {error.message}") from None
            turn.answered = self._reached = True
            return said

    def _say_waiting(self, failure: Failure) -> None:
        """Say once why nothing seems to happen."""
        if not self._said_waiting:
            self._said_waiting = True
            longest = WAITS * LONGEST_WAIT / 60
            said = f"{self.label}: {describe(failure)}; trying again for up to {longest:.0f} minutes"
            LOG.warning("%s", escape_terminal(said))

    def _wait(self, number: int, asked: float | None) -> float:
        """Return the seconds to wait: what the server asks, else longer each time; never two calls the same."""
        if asked is not None:
            return min(LONGEST_WAIT, asked + self._random.uniform(0, 0.1 + 0.1 * asked))
        longest = min(LONGEST_WAIT, 2.0 ** (number - 1))
        return self._random.uniform(longest / 2, longest)

    def _give_up(self, failure: Failure, item: str, *, answered_others: bool) -> EngineError:
        if answered_others or failure.slow:
            return ItemFailedError(f"{self.name} kept failing on {item}: {describe(failure)}")
        return self._stop(*explain_stop(failure, self._settings.model, self._key))

    def _note_failure(self, error: ItemFailedError) -> None:
        self._failures += 1
        if not self._successes and self._failures >= FIRST_BATCH:
            raise self._stop(
                f"the first {FIRST_BATCH} questions all failed; the last: {error.message}",
                error.hint or "try the model by itself; look at max_tokens, and whether it can write JSON",
            ) from None

    def _stop(self, why: str, hint: str | None) -> StoppedError:
        self._stopped = self._stopped or (f"[models.{self.name}]: {why}", hint)
        return StoppedError(self._stopped[0], hint=self._stopped[1])

    def _check_stopped(self) -> None:
        if self._stopped is not None:
            raise StoppedError(self._stopped[0], hint=self._stopped[1])
