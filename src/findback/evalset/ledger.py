"""Ledgers of looks: files of one record a line that only grow."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from findback.errors import DataError
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, read_lines
from findback.evalset.writing import write_pieces
from findback.model.record import Record

_LINE_LIMIT = 100_000

Line = TypeVar("Line", bound=Record)


def read_ledger(path: Path, kind: type[Line]) -> tuple[Line, ...]:
    """Return every line of a ledger, oldest first; nothing where there is no file.

    Raises:
        DataError: If a line is none of that kind; every fault with its line.
    """
    if not path.exists():
        return ()
    faults = Faults()
    found = []
    for line in read_lines(path, faults, limit=_LINE_LIMIT):
        if not line.text.strip():
            continue
        try:
            found.append(kind.model_validate_json(line.text))
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
    if faults.found:
        raise DataError(
            f"{path.name} has faults", faults=faults.found, hint="restore it from version control: it only grows"
        )
    return tuple(found)


def add_to_ledger(path: Path, line: Record) -> int:
    """Write a line down and return which one it is, from 1.

    Raises:
        DataError: If the lines before cannot be read.
        StorageError: If the disk refuses.
    """
    lines = (*read_ledger(path, type(line)), line)
    write_pieces(path, (f"{one.model_dump_json()}\n" for one in lines))
    return len(lines)
