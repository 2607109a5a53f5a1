"""Nightly looks of the gate, each written down: false alarms are budgeted over a year of them."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from findback.evalset.ledger import add_to_ledger, read_ledger
from findback.model.case import Name
from findback.model.gated import GateVerdict
from findback.model.record import Record

GATE = "gate.jsonl"
YEAR = timedelta(days=365)


class GateLook(Record):
    """One line: a nightly look at a system; figures of the whole set, nothing about a case."""

    format: Literal[1] = 1
    at: AwareDatetime
    """UTC."""
    set: Name
    """The set's heading."""
    retriever: Name
    config_digest: Annotated[str, Field(max_length=200)]
    baseline: Name
    """The anchor."""
    alarm: Annotated[float, Field(gt=0, le=0.5)]
    """Chance of a false alarm that each test had."""
    tests: Annotated[int, Field(ge=1)]
    cases: Annotated[int, Field(ge=0)]
    """Cases paired with the anchor."""
    difference: float | None
    """From the anchor; None where a search failed."""
    lower: float | None
    upper: float | None
    verdict: GateVerdict
    findback: Name


def read_gate_looks(evalset: Path) -> tuple[GateLook, ...]:
    """Return every nightly look at a set, oldest first.

    Raises:
        DataError: If a line is none; every fault with its line.
    """
    return read_ledger(evalset / GATE, GateLook)


def count_past_year(looks: tuple[GateLook, ...], at: datetime) -> int:
    """Return how many looks there were in the year before."""
    return sum(at - YEAR < look.at <= at for look in looks)


def add_gate_look(evalset: Path, look: GateLook) -> int:
    """Write a look down and return which one it is, from 1.

    Raises:
        DataError: If the looks before cannot be read.
        StorageError: If the disk refuses.
    """
    return add_to_ledger(evalset / GATE, look)
