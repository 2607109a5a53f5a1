"""What answers cost."""

import pytest

from builders.asked import an_ask, ask_all, open_for, say_back
from builders.llmserver import LlmServer
from findback.errors import SettingsError
from findback.llm.ask import BudgetError, Usage
from findback.llm.budget import Budget, count_tokens, estimate, price_of
from findback.model.settings import ModelSettings


def settings(**changed):
    given = {"provider": "openai", "model": "m", "price_in": 2.0, "price_out": 8.0}
    return ModelSettings(**(given | changed))


def test_an_estimate_says_calls_tokens_and_price():
    """A million tokens sent at 2 and half a million answered at 8 are 6; without prices there is none."""
    found = estimate("m", settings(), calls=10, tokens_in=1_000_000, tokens_out=500_000)
    assert (found.calls, found.tokens_in, found.tokens_out) == (10, 1_000_000, 500_000)
    assert (found.price, found.currency) == (6.0, "USD")
    assert estimate("m", settings(price_out=None), calls=1, tokens_in=1, tokens_out=1).price is None
    assert estimate("m", settings(provider="local"), calls=1, tokens_in=1, tokens_out=1).price == 0.0


def test_tokens_are_rather_counted_too_high():
    """Three bytes a token: an English word of four letters is two, a Japanese sign is one."""
    assert count_tokens("boat") == 2
    assert count_tokens("船舶係留") == 4
    assert count_tokens("", "a") == 1


def test_the_bill_says_what_was_paid():
    """The bill has the calls, the tokens the server counted, and their price, per model."""
    budget = Budget()
    with LlmServer(say_back) as server:
        replies = ask_all(open_for(server, budget=budget, price_in=1_000.0, price_out=3_000.0), an_ask(1), an_ask(2))
    (bill,) = budget.bills()
    used = Usage(*map(sum, zip(*(reply.usage for reply in replies), strict=True)))
    assert (bill.model, bill.label, bill.calls, bill.cached) == ("m", "openai:gpt-test", 2, 0)
    assert (bill.tokens_in, bill.tokens_out) == used
    assert bill.price == pytest.approx((used.tokens_in * 1_000 + used.tokens_out * 3_000) / 1_000_000)
    assert budget.spent == pytest.approx(bill.price)


def test_a_budget_stops_cleanly_and_is_never_exceeded():
    """Calls are made while the most they may cost fits in; the rest is not asked, and what was answered is kept."""
    # A call sends 23 tokens and may answer 600: .023 + .6 at most, and is answered with 12 or so.
    prices = {"price_in": 1_000.0, "price_out": 1_000.0}
    budget = Budget(limit=1.0)
    with LlmServer(say_back, latency=0.01) as server:
        found = ask_all(open_for(server, budget=budget, **prices), *map(an_ask, range(100)))
        accepted = server.counts.accepted
    answered = [one for one in found if not isinstance(one, BaseException)]
    stopped = [one for one in found if isinstance(one, BudgetError)]
    assert len(answered) + len(stopped) == 100
    assert len(answered) == accepted > 5
    assert budget.spent <= 1.0
    # The next call might have cost more than what was left.
    assert 1.0 - budget.spent < 0.7
    assert "the budget of 1 USD does not bear another call" in str(stopped[0])
    assert "run again with a higher budget" in stopped[0].hint


def test_a_budget_is_shared_by_the_models_of_a_run():
    """Two models spend from one budget; the same name is the same account."""
    budget = Budget(limit=10.0)
    first = budget.open_account("a", "openai:a", settings())
    assert budget.open_account("a", "openai:a", settings()) is first
    first.note_paid(Usage(1_000_000, 0))
    budget.open_account("b", "openai:b", settings()).note_paid(Usage(0, 1_000_000))
    assert budget.spent == 10.0
    assert [bill.price for bill in budget.bills()] == [2.0, 8.0]


def test_a_budget_without_a_price_is_refused():
    """A limit cannot be kept where no price is known, nor across currencies; models that run here cost nothing."""
    with pytest.raises(SettingsError, match=r"\[models.m\]: a budget of 5 cannot be kept without a price"):
        Budget(limit=5.0).open_account("m", "m", settings(price_in=None))
    budget = Budget(limit=5.0)
    budget.open_account("a", "a", settings())
    budget.open_account("here", "here", settings(provider="local", currency="EUR"))
    with pytest.raises(SettingsError, match="prices in USD and EUR"):
        budget.open_account("b", "b", settings(currency="EUR"))


def test_without_prices_tokens_are_counted_only():
    """No price known: the bill has tokens and says no price."""
    budget = Budget()
    with LlmServer(say_back) as server:
        ask_all(open_for(server, budget=budget), an_ask(1))
    (bill,) = budget.bills()
    assert bill.tokens_in > 0
    assert bill.price is None
    assert price_of(settings(price_in=None)) is None
