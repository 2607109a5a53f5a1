"""What a model's answers are expected to cost, and what they cost."""

from typing import Annotated

from pydantic import Field

from findback.model.case import Name
from findback.model.record import Record

Count = Annotated[int, Field(ge=0)]
Money = Annotated[float, Field(ge=0)]


class Bill(Record):
    """What one model answered in a run, and what that cost."""

    model: Name
    """Its name in findback.toml."""
    label: Name
    """Provider and model."""
    calls: Count
    """Calls that were answered and paid, also those whose answer made no sense."""
    cached: Count
    """Answers that were known already; nothing was paid for them in this run."""
    tokens_in: Count
    """Tokens sent, of the paid calls."""
    tokens_out: Count
    """Tokens answered, of the paid calls."""
    price: Money | None
    """What the paid calls cost; None where no price is known."""
    currency: Annotated[str, Field(min_length=1, max_length=10)]


class Estimate(Record):
    """What calls are expected to cost before the first is made."""

    model: Name
    """Its name in findback.toml."""
    calls: Count
    tokens_in: Count
    tokens_out: Count
    price: Money | None
    """None where no price is known."""
    currency: Annotated[str, Field(min_length=1, max_length=10)]
