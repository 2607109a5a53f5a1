"""What answers cost: estimated before, counted after, and never more than a budget."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from findback.errors import SettingsError
from findback.llm.ask import BudgetError, Usage
from findback.model.bill import Bill, Estimate
from findback.model.settings import ModelSettings

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 that a token has at least, as a rule: English has four or more, Japanese three."""
MILLION = 1_000_000


class Price(NamedTuple):
    """What a million tokens cost."""

    sent: float
    answered: float
    currency: str

    def of(self, usage: Usage) -> float:
        """Return what a call costs."""
        return (usage.tokens_in * self.sent + usage.tokens_out * self.answered) / MILLION


def price_of(settings: ModelSettings) -> Price | None:
    """Return a model's price: nothing for one that runs here, None where findback.toml does not say it."""
    if settings.provider == "local":
        return Price(0.0, 0.0, settings.currency)
    if settings.price_in is None or settings.price_out is None:
        return None
    return Price(settings.price_in, settings.price_out, settings.currency)


def count_tokens(*texts: str) -> int:
    """Return about how many tokens texts have; rather too many than too few.

    >>> count_tokens("How do I get back what I lost?")
    10
    """
    return sum(-(-len(text.encode()) // BYTES_PER_TOKEN) for text in texts)


def estimate(name: str, settings: ModelSettings, *, calls: int, tokens_in: int, tokens_out: int) -> Estimate:
    """Return what calls are expected to cost.

    Args:
        name: The model's name in findback.toml.
        settings: Its settings.
        calls: How many calls.
        tokens_in: Tokens of all their prompts together, as `count_tokens` counts.
        tokens_out: Tokens of all their answers together.
    """
    price = price_of(settings)
    return Estimate(
        model=name,
        calls=calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        price=None if price is None else price.of(Usage(tokens_in, tokens_out)),
        currency=settings.currency,
    )


class Account:
    """What one model's calls of a run cost."""

    def __init__(self, budget: "Budget", name: str, label: str, price: Price | None, currency: str) -> None:
        """Begin at nothing; `Budget.open_account` makes it."""
        self._budget, self._name, self._label, self._price, self._currency = budget, name, label, price, currency
        self._calls = self._cached = 0
        self._used = Usage()

    def note_cached(self) -> None:
        """Count an answer that was known already."""
        self._cached += 1

    def note_paid(self, usage: Usage) -> None:
        """Count a call that was answered."""
        self._calls += 1
        self._used = Usage(self._used.tokens_in + usage.tokens_in, self._used.tokens_out + usage.tokens_out)
        if self._price is not None:
            self._budget.spent += self._price.of(usage)

    @asynccontextmanager
    async def paying(self, most: Usage) -> AsyncIterator[None]:
        """Make a call only if the budget bears it; wait while calls under way may still leave enough.

        Args:
            most: The most that the call may use; what it did use is told to `note_paid`.

        Raises:
            BudgetError: If the budget does not bear it.
        """
        cost = 0.0 if self._price is None else self._price.of(most)
        await self._budget.reserve(cost)
        try:
            yield
        finally:
            self._budget.release(cost)

    def bill(self) -> Bill:
        """Return what was answered and what it cost so far."""
        return Bill(
            model=self._name,
            label=self._label,
            calls=self._calls,
            cached=self._cached,
            tokens_in=self._used.tokens_in,
            tokens_out=self._used.tokens_out,
            price=None if self._price is None else self._price.of(self._used),
            currency=self._currency,
        )


class Budget:
    """What a run may cost, over all its models."""

    def __init__(self, limit: float | None = None) -> None:
        """Begin with nothing spent.

        Args:
            limit: Most that the run may cost, in the models' currency; None for no limit.
        """
        self.limit = limit
        self.spent = 0.0
        """What the answered calls cost, where a price is known."""
        self._reserved = 0.0
        self._under_way = 0
        self._accounts: dict[str, Account] = {}
        self._currency: str | None = None
        self._waiting: list[asyncio.Future[None]] = []

    def open_account(self, name: str, label: str, settings: ModelSettings) -> Account:
        """Return the account of a model, the same one for the same name.

        Raises:
            SettingsError: If there is a limit, and the model has no price or another currency.
        """
        if name in self._accounts:
            return self._accounts[name]
        price = price_of(settings)
        if self.limit is not None:
            if price is None:
                raise SettingsError(
                    f"[models.{name}]: a budget of {self.limit:g} cannot be kept without a price",
                    hint="say price_in and price_out, per million tokens; or leave out the budget",
                )
            if (price.sent or price.answered) and self._currency not in (None, price.currency):
                raise SettingsError(
                    f"[models.{name}]: one budget, and prices in {self._currency} and {price.currency}",
                    hint="give all prices in one currency",
                )
            self._currency = price.currency if price.sent or price.answered else self._currency
        account = self._accounts[name] = Account(self, name, label, price, settings.currency)
        return account

    def bills(self) -> tuple[Bill, ...]:
        """Return what each model cost, in the order they were opened."""
        return tuple(account.bill() for account in self._accounts.values())

    async def reserve(self, cost: float) -> None:
        """Keep room for a call; wait while calls under way may still leave enough.

        Raises:
            BudgetError: If there is no room and no call under way.
        """
        while self.limit is not None and self.spent + self._reserved + cost > self.limit:
            if not self._under_way:
                raise BudgetError(
                    f"the budget of {self.limit:g} {self._currency or ''} does not bear another call: "
                    f"{self.spent:.4g} spent, {cost:.4g} the most it may cost".replace("  ", " "),
                    hint="what was answered is kept; run again with a higher budget to go on",
                )
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        self._reserved += cost
        self._under_way += 1

    def release(self, cost: float) -> None:
        """Give back the room kept for a call that has ended."""
        self._reserved = max(0.0, self._reserved - cost)
        self._under_way -= 1
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
