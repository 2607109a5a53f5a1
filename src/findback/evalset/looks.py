"""Looks at the holdout, each written down: what was looked at often is no longer unseen."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from findback.evalset.ledger import add_to_ledger, read_ledger
from findback.model.case import Name
from findback.model.record import Record

LOOKS = "looks.jsonl"
MOST_LOOKS = 10
"""Looks after which every figure of the holdout says how often it was looked at."""


class Look(Record):
    """One line: somebody saw the scores of the holdout. Who it was is not written down."""

    format: Literal[1] = 1
    at: datetime
    """UTC."""
    release: Annotated[int, Field(ge=1)]
    retrievers: tuple[Name, ...]
    findback: Name


def read_looks(evalset: Path) -> tuple[Look, ...]:
    """Return every look at the holdout of a set, oldest first.

    Raises:
        DataError: If a line is none; every fault with its line.
    """
    return read_ledger(evalset / LOOKS, Look)


def add_look(evalset: Path, look: Look) -> int:
    """Write a look down and return which one it is, from 1.

    Raises:
        DataError: If the looks before cannot be read.
        StorageError: If the disk refuses; nothing should be shown then.
    """
    return add_to_ledger(evalset / LOOKS, look)


def describe_looks(count: int) -> str:
    """Return what stands over the figures of a holdout that was looked at so often.

    >>> describe_looks(3), describe_looks(11)
    ('holdout, look 3', 'holdout, look 11: no longer unseen')
    """
    return f"holdout, look {count}" + (": no longer unseen" if count > MOST_LOOKS else "")
