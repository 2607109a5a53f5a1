"""Calls of an API: the pace it asks for, and patience that ends."""

import asyncio
from collections.abc import Iterator

import pytest

from builders.loopback import Answer, Asked, serve
from findback.errors import EngineError
from findback.sources.connectors.caller import LONGEST_WAIT, MOST_WAITS, TRIES, Caller


class Moody:
    """Answers with what a test wrote down, the last of it for ever."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [Answer({"ok": True})]
        self.asked: list[Asked] = []

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def moody() -> Moody:
    return Moody()


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def caller(waited: list[float]) -> Iterator[Caller]:
    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(0)

    caller = Caller("[connectors.chat]", {"Authorization": "Bearer abc"}, sleep=sleep)
    yield caller
    caller.close()


def later(seconds: str) -> Answer:
    return Answer({}, 429, (("Retry-After", seconds),))


def test_wait_is_as_long_as_asked(moody: Moody, caller: Caller, waited: list[float]) -> None:
    """Each 429 is waited for exactly as long as it says, half a minute where it does not, and then asked again."""
    moody.answers = [later("7"), later("61"), Answer({}, 429), later("soon"), Answer({"ok": True})]
    with serve(moody) as address:
        assert caller.read(caller.call("GET", f"{address}/x")) == {"ok": True}
    assert waited == [7.0, 61.0, 30.0, 30.0]
    assert {asked.headers["authorization"] for asked in moody.asked} == {"Bearer abc"}


@pytest.mark.parametrize("seconds", [str(int(LONGEST_WAIT) + 1), "9999999"])
def test_wait_that_is_too_long_ends_it(moody: Moody, caller: Caller, waited: list[float], seconds: str) -> None:
    """A wait of more than a quarter of an hour is left to the next run."""
    moody.answers = [later(seconds)]
    with serve(moody) as address, pytest.raises(EngineError, match="come back in"):
        caller.call("GET", f"{address}/x")
    assert waited == []


def test_waiting_ends(moody: Moody, caller: Caller, waited: list[float]) -> None:
    """A system that only ever asks to wait is given up."""
    moody.answers = [later("1")]
    with serve(moody) as address, pytest.raises(EngineError):
        caller.call("GET", f"{address}/x")
    assert len(waited) == MOST_WAITS


def test_failing_system_is_asked_again(moody: Moody, caller: Caller, waited: list[float]) -> None:
    """A system that fails twice is asked again after one and two seconds; one that always fails is shown as it is."""
    moody.answers = [Answer({}, 502), Answer({}, 503), Answer({"ok": True})]
    with serve(moody) as address:
        assert caller.call("GET", f"{address}/x").status == 200
        assert waited == [1.0, 2.0]
        moody.answers = [Answer({}, 500)]
        assert caller.call("GET", f"{address}/x").status == 500
    assert len(moody.asked) == 3 + TRIES


def test_system_that_is_not_there_is_given_up(caller: Caller, waited: list[float]) -> None:
    """Where nothing listens, a few tries are made, and the error names the place without its query."""
    with pytest.raises(EngineError) as caught:
        caller.call("GET", "http://127.0.0.1:9/x?secret=abc")
    assert waited == [1.0, 2.0, 4.0, 8.0]
    assert "abc" not in str(caught.value)


def test_what_is_no_object_is_said(moody: Moody, caller: Caller) -> None:
    """An answer that is no JSON object is said to be none, and not quoted."""
    moody.answers = [Answer(["private words"])]
    with serve(moody) as address, pytest.raises(EngineError) as caught:
        caller.read(caller.call("GET", f"{address}/x"))
    assert "private" not in str(caught.value)
