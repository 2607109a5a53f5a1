"""Looks at the holdout, each written down: what was looked at often is no longer unseen."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from findback.errors import DataError
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, read_lines
from findback.evalset.writing import write_pieces
from findback.model.case import Name
from findback.model.record import Record

LOOKS = "looks.jsonl"
MOST_LOOKS = 10
"""Looks after which every figure of the holdout says how often it was looked at."""
_LINE_LIMIT = 100_000


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
    path = evalset / LOOKS
    if not path.exists():
        return ()
    faults = Faults()
    found = []
    for line in read_lines(path, faults, limit=_LINE_LIMIT):
        if not line.text.strip():
            continue
        try:
            found.append(Look.model_validate_json(line.text))
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
    if faults.found:
        raise DataError(
            f"{path.name} has faults", faults=faults.found, hint="restore it from version control: it only grows"
        )
    return tuple(found)


def add_look(evalset: Path, look: Look) -> int:
    """Write a look down and return which one it is, from 1.

    Raises:
        DataError: If the looks before cannot be read.
        StorageError: If the disk refuses; nothing should be shown then.
    """
    looks = (*read_looks(evalset), look)
    write_pieces(evalset / LOOKS, (f"{one.model_dump_json()}\n" for one in looks))
    return len(looks)


def describe_looks(count: int) -> str:
    """Return what stands over the figures of a holdout that was looked at so often.

    >>> describe_looks(3), describe_looks(11)
    ('holdout, look 3', 'holdout, look 11: no longer unseen')
    """
    return f"holdout, look {count}" + (": no longer unseen" if count > MOST_LOOKS else "")
