"""The list of what was erased, in digests alone: beside the workbench, where no backup reaches it."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from findback.errors import MissingError
from findback.files import PRIVATE_FILE, storage_errors
from findback.model.record import Record
from findback.steps.bench import open_workspace_key
from findback.workbench.gone import Gone, GoneKind, Why
from findback.workbench.store import Workbench
from findback.workspace import Workspace

FILE = "erased.jsonl"


class Entry(Record):
    """One thing that must not come back."""

    key: str = Field(max_length=64)
    """Tells which key its digest was made with."""
    why: Why
    kind: GoneKind
    name: str = Field(max_length=200)
    since: datetime


class Ledger(NamedTuple):
    """What a list holds."""

    gone: list[Gone]
    foreign: int
    """Entries whose digests were made with another key, and say nothing here."""
    unreadable: int
    """Lines that cannot be read; the last one may have been cut short."""


def ledger_file(workspace: Workspace) -> Path:
    """Return where the list of a workspace lies, whether or not it is there yet."""
    return workspace.private / "workbench" / FILE


def record_erasures(workspace: Workspace, bench: Workbench) -> int:
    """Write down what was erased and is not on the list yet, which is made where there is none; return how much.

    Raises:
        StorageError: If the disk or the database refuses.
    """
    key = open_workspace_key(workspace).id
    file = workspace.private_part("workbench") / FILE
    known = {one.mark for one in read_ledger(file, key).gone}
    new = [one for one in bench.gone() if one.mark not in known]
    if new or not file.exists():
        _append(file, key, new)
    return len(new)


def read_ledger(file: Path, key: str, *, required: bool = False) -> Ledger:
    """Return what a list holds; nothing where there is none.

    Args:
        file: The list.
        key: Tells the key that digests must have been made with to mean anything.
        required: Whether a missing file is an error.

    Raises:
        MissingError: If there is none and one is required.
        StorageError: If it cannot be read.
    """
    if not file.exists():
        if required:
            raise MissingError(f"there is no list of what was erased at {file}")
        return Ledger([], 0, 0)
    with storage_errors(file), file.open("rb") as handle:
        entries = [_read(line) for line in handle if line.strip()]
    read = [entry for entry in entries if entry is not None]
    # The id of a case is public, and no digest.
    ours = [entry for entry in read if entry.key == key or entry.kind == "case"]
    gone = [Gone(entry.why, entry.kind, entry.name, entry.since) for entry in ours]
    return Ledger(gone, len(read) - len(ours), len(entries) - len(read))


def _read(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return None


def _append(file: Path, key: str, gone: Iterable[Gone]) -> None:
    entries = (Entry(key=key, why=one.why, kind=one.kind, name=one.name, since=one.since) for one in gone)
    lines = "".join(entry.model_dump_json() + "\n" for entry in entries)
    with storage_errors(file):
        handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
        with os.fdopen(handle, "rb+") as opened:
            opened.seek(0, os.SEEK_END)
            if opened.tell():
                # A line that was cut short ends here, and is counted as one that cannot be read.
                opened.seek(-1, os.SEEK_END)
                lines = lines if opened.read(1) == b"\n" else "\n" + lines
            opened.write(lines.encode())
            opened.flush()
            os.fsync(opened.fileno())
