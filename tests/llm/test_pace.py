"""How many calls run at a time, in a time of the tests' own."""

import asyncio
import math
import random

import pytest

from builders.asked import Query, an_ask
from builders.virtualtime import run_virtually
from findback.llm.address import find_address
from findback.llm.ask import Usage
from findback.llm.asked import AskedModel
from findback.llm.budget import Budget
from findback.llm.pace import Pace
from findback.llm.said import CallFailedError, Failure, Said
from findback.model.settings import ModelSettings


class LimitedServer:
    """Lets so many requests a second in, out of a bucket that holds those of one second; the rest get a 429."""

    def __init__(self, rate, latency, *, burst=None, trouble=lambda number: None):
        self.rate, self.latency, self.trouble = rate, latency, trouble
        self.burst = self.tokens = burst or rate
        self.filled = 0.0
        self.times, self.refused, self.at_a_time, self.most = [], 0, 0, 0
        self.random = random.Random(0)

    async def say(self, system, user, answer, *, temperature, schema):
        self.at_a_time += 1
        self.most = max(self.most, self.at_a_time)
        try:
            return await self._say(user)
        finally:
            self.at_a_time -= 1

    async def _say(self, user):
        now = asyncio.get_running_loop().time()
        self.tokens = min(self.burst, self.tokens + (now - self.filled) * self.rate)
        self.filled = now
        if self.tokens < 1 - 1e-9:
            self.refused += 1
            await asyncio.sleep(0.02)
            raise CallFailedError(Failure(429, retry_after=math.ceil((1 - self.tokens) / self.rate)))
        self.tokens -= 1
        self.times.append(now)
        await asyncio.sleep(self.latency * self.random.uniform(0.5, 1.5))
        if (status := self.trouble(len(self.times))) is not None:
            raise CallFailedError(Failure(status))
        return Said(Query(query=user[:100]).model_dump_json(), Usage(10, 10))

    async def close(self):
        pass


def ask_through(server, asks, *, connections=256):
    """Ask so many questions at once; return the pace at the end."""
    settings = ModelSettings(provider="openai", model="m", base_url="http://127.0.0.1:1/v1", connections=connections)
    pace = Pace(connections)

    async def run():
        model = AskedModel(
            find_address("m", settings),
            settings,
            place="here",
            connect=lambda: server,
            answers=None,
            account=Budget().open_account("m", "m", settings),
            pace=pace,
        )
        return await asyncio.gather(*(model.ask(an_ask(number)) for number in range(asks)))

    replies, took = run_virtually(run())
    assert len(replies) == asks
    return pace, took


@pytest.mark.parametrize(("rate", "latency"), [(10, 0.5), (25, 0.2), (50, 0.2), (50, 1.0), (20, 3.0)])
def test_what_the_server_accepts_comes_near_to_its_limit(rate, latency):
    """After the first fifty of 300 questions the accepted requests per second are within 1.25 of the limit."""
    server = LimitedServer(rate, latency)
    ask_through(server, 300)
    assert len(server.times) == 300
    after = server.times[50:]
    accepted = (len(after) - 1) / (after[-1] - after[0])
    print(f"limit {rate}/s, latency {latency} s: accepted {accepted:.1f}/s, {server.refused} refused")
    assert rate / accepted <= 1.25


def test_without_a_limit_calls_double_until_all_connections_are_used():
    """The first calls are few; each clean round doubles them, up to the connections and no further."""
    server = LimitedServer(10_000, 1.0)
    pace, took = ask_through(server, 300, connections=32)
    assert server.most == 32
    assert pace.limit == 32
    # 2 + 4 + 8 + 16 in the first four rounds, then 32 at a time, each round a second or a little more.
    assert took < 20


def test_the_first_calls_are_two():
    """Nothing is known of a server yet: two calls, whoever waits."""
    server = LimitedServer(1_000, 1.0)
    most_early = []

    async def watch():
        await asyncio.sleep(0.4)
        most_early.append(server.most)

    async def run():
        pace = Pace(64)

        async def call():
            async with pace.turn() as turn:
                await server.say("s", "u", Query, temperature=False, schema=False)
                turn.answered = True

        await asyncio.gather(watch(), *(call() for _ in range(100)))

    run_virtually(run())
    assert most_early == [2]


def learn(pace, *, refused=False, began=None, again_in=0.0):
    """Have one call end."""

    async def call():
        async with pace.turn() as turn:
            if began is not None:
                turn.began = began
            turn.refused, turn.answered, turn.again_in = refused, not refused, again_in
            await asyncio.sleep(0.1)

    return call()


def test_a_refusal_cuts_to_four_fifths_once():
    """Refusals of calls that were under way together are one cut; so are those while the server asks to wait."""

    async def run():
        pace = Pace(100)
        pace.limit = 20.0
        await asyncio.gather(*(learn(pace, refused=True, again_in=5.0) for _ in range(5)))
        assert pace.limit == 16.0
        await learn(pace, refused=True, again_in=5.0)
        assert pace.limit == 16.0
        await asyncio.sleep(5)
        await learn(pace, refused=True, again_in=1.0)
        assert pace.limit == 12.8

    run_virtually(run())


def test_clean_rounds_raise_the_limit_by_a_twentieth():
    """Once the limit is known, as many answers as it allows at a time, ten at least, raise it by 5 %."""

    async def run():
        pace = Pace(100)
        pace.limit = 25.0
        await learn(pace, refused=True)
        assert pace.limit == 20.0
        for _ in range(19):
            await learn(pace)
        assert pace.limit == 20.0
        await learn(pace)
        assert pace.limit == 21.0

    run_virtually(run())


def test_a_limit_found_too_low_is_left_behind():
    """A refusal that was an accident does not keep a run slow: many clean rounds raise the limit faster."""
    server = LimitedServer(10_000, 1.0, trouble=lambda number: 429 if number == 3 else None)
    pace, took = ask_through(server, 1_000, connections=64)
    assert pace.limit == 64
    assert took < 120


def test_nothing_is_sent_while_a_server_refuses_everybody():
    """After three refusals without an answer nothing is sent until the time that the server asked for is over."""

    async def run():
        pace = Pace(100)
        begun = []

        async def call():
            async with pace.turn() as turn:
                begun.append(asyncio.get_running_loop().time())
                turn.refused, turn.again_in = True, 30.0

        for _ in range(3):
            await call()
        await call()
        assert begun[2] < 1
        assert 30 <= begun[3] < 31

    run_virtually(run())


def test_who_waits_again_goes_first_and_who_gives_up_holds_no_place():
    """A call that has waited before goes before new ones; a cancelled one leaves its place to others."""

    async def run():
        pace, order = Pace(1), []

        async def call(name, *, again=False):
            async with pace.turn(again=again) as turn:
                order.append(name)
                turn.answered = True
                await asyncio.sleep(1)

        first = asyncio.create_task(call("first"))
        await asyncio.sleep(0.1)
        new, gone = asyncio.create_task(call("new")), asyncio.create_task(call("gone"))
        await asyncio.sleep(0.1)
        gone.cancel()
        await asyncio.gather(first, new, call("again", again=True), gone, return_exceptions=True)
        assert order == ["first", "again", "new"]
        assert pace._under_way == 0

    run_virtually(run())


def test_a_call_that_waits_leaves_its_place_to_others():
    """While one question waits to be tried again, the one place goes to the others."""
    server = LimitedServer(1_000, 0.1, trouble=lambda number: 500 if number == 1 else None)
    _, took = ask_through(server, 20, connections=1)
    # Twenty-one calls of .1 s one after the other; the wait of .5 to 1 s takes no time from them.
    assert took < 3.5
    assert server.most == 1
