"""Asking about many things: each with one end, and nothing sent that may not leave."""

import asyncio
from pathlib import Path

import pytest

from builders.ready import portal
from findback.errors import RefusedError, UsageError
from findback.llm.ask import Ask, ItemFailedError, Reply, ScriptedModel, StoppedError
from findback.llm.budget import Budget
from findback.model.record import Record
from findback.steps.assist_asking import (
    Assistant,
    AssistRequest,
    chosen,
    count_ends,
    count_errors,
    estimate_asks,
    open_assistant,
)

PRICED = """
[models.far]
provider = "openai"
model = "gpt-test"
max_tokens = 100
price_in = 2.0
price_out = 10.0
currency = "EUR"
"""


class Said(Record):
    word: str


class Counted:
    """Progress that is counted."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def start(self, label: str, total: int | None) -> None:
        self.seen.append((label, total))

    def advance(self, units: int = 1) -> None:
        self.seen.append(units)

    def finish(self) -> None:
        self.seen.append("finished")


def assistant(answer, attempts: int = 3) -> Assistant:
    return Assistant(ScriptedModel(answer), Budget(), attempts, owned=False)


def ask(user: str, attempt: int = 1) -> Ask[Said]:
    return Ask("be brief", user, Said, "test@1", "unreviewed", user, attempt)


def test_everything_ends_in_exactly_one_way() -> None:
    """An answer, a failure, and what a stop leaves: in the order given, progress told of each."""

    def answer(one: Ask[Record]) -> Record:
        if one.user == "bad":
            raise ItemFailedError("it refused")
        if one.user == "stop":
            raise StoppedError("the quota is used up")
        return Said(word=one.user.upper())

    helper, progress = assistant(answer), Counted()

    async def handle(user: str) -> str:
        return (await helper.model.ask(ask(user))).value.word

    given = ["a", "bad", "b", "stop", *(f"later {n}" for n in range(500))]
    answers = helper.answer_all(given, handle, label="Asking", progress=progress)
    assert [one.ended for one in answers[:5]] == ["answered", "error", "answered", "not reached", "not reached"]
    assert [one.value for one in answers[:3]] == ["A", None, "B"]
    assert sum(count_ends(answers).values()) == len(given)
    assert count_ends(answers)["not reached"] == 501
    assert count_errors(answers) == {"the quota is used up": 501, "it refused": 1}
    assert progress.seen == [("Asking", 504), *[1] * 504, "finished"]
    assert len(helper.model.asked) == 4


def test_an_error_of_ours_stops_all_and_leaves_no_task(tmp_path: Path) -> None:
    """What is neither the item's nor the model's fault is raised as it is."""
    helper = assistant(lambda one: Said(word="x"))
    cancelled: list[str] = []

    async def handle(user: str) -> str:
        if user == "broken":
            raise RefusedError("it may not go there")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(user)
            raise
        return user

    with pytest.raises(RefusedError, match="it may not go there"):
        helper.answer_all(["slow", "broken"], handle, label="Asking")
    assert cancelled == ["slow"]


def test_an_answer_that_makes_no_sense_is_asked_for_anew() -> None:
    """Each attempt is another call with its number; after the last the item failed with the reason."""
    helper = assistant(lambda one: Said(word=f"{one.user} {one.attempt}"))

    def accept(wanted: str):
        def check(reply: Reply[Said]) -> str | None:
            return reply.value.word if reply.value.word == wanted else None

        return check

    async def handle(wanted: str) -> str:
        return await helper.insist(lambda attempt: ask("try", attempt), accept(wanted), why="no such word")

    second, never = helper.answer_all(["try 2", "try 9"], handle, label="Asking")
    assert (second.ended, second.value) == ("answered", "try 2")
    assert (never.ended, never.reason) == ("error", "no such word")
    assert sorted(one.attempt for one in helper.model.asked) == [1, 1, 2, 2, 3]


def test_unreviewed_text_stays_here_unless_the_setting_names_the_model(tmp_path: Path) -> None:
    """The refusal names the setting; a local model, reviewed text, and a model allowed by name pass."""
    workspace = portal(tmp_path)
    far = ScriptedModel(lambda one: Said(word="x"), name="far", egress="internal")
    with pytest.raises(RefusedError, match=r"far \(internal\)") as caught:
        open_assistant(workspace, AssistRequest(), unreviewed=True, given=far)
    assert caught.value.hint is not None
    assert '[egress] unreviewed_to = ["far"]' in caught.value.hint
    assert open_assistant(workspace, AssistRequest(), unreviewed=False, given=far).model is far
    near = ScriptedModel(lambda one: Said(word="x"))
    assert open_assistant(workspace, AssistRequest(), unreviewed=True, given=near).model is near
    allowed = portal(tmp_path / "other", '[egress]\nunreviewed_to = ["far"]')
    assert open_assistant(allowed, AssistRequest(), unreviewed=True, given=far).model is far


def test_an_estimate_asks_nothing_and_counts_tokens_and_price(tmp_path: Path) -> None:
    """By hand: 8 and 5 bytes are 3 + 2 tokens, twice; 100 tokens answered each: 10 at 2 and 200 at 10 a million."""
    expected = estimate_asks(portal(tmp_path, PRICED), AssistRequest(), [ask("hello"), ask("world")])
    assert (expected.calls, expected.tokens_in, expected.tokens_out) == (2, 10, 200)
    assert expected.price == pytest.approx((10 * 2 + 200 * 10) / 1e6)
    assert expected.currency == "EUR"
    with pytest.raises(UsageError):
        estimate_asks(portal(tmp_path / "none"), AssistRequest(), [])


def test_what_is_beyond_the_limit_is_counted() -> None:
    """Nothing disappears."""
    assert chosen([1, 2, 3], 2, {"held out": 4, "retired": 0}) == ([1, 2], {"held out": 4, "beyond the limit": 1})
    assert chosen([1, 2, 3], None, {}) == ([1, 2, 3], {})
