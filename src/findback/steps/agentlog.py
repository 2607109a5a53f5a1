"""The log of what agents searched for: redacted before it is written, a file a day, gone when its time is over."""

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import orjson
from pydantic import ValidationError

from findback.files import PRIVATE_FILE, storage_errors, write_atomically
from findback.model.mcp_call import McpCall
from findback.workspace import Workspace

PLACE = "mcp"
SOURCE = "mcp"
"""Kind of source that reads the log."""


class AgentLog:
    """Adds lines; whole ones, each in a single write, so that several servers may use one folder."""

    def __init__(self, folder: Path, *, keep_days: int) -> None:
        self._folder = folder
        self._keep_days = keep_days
        self._swept: date | None = None

    def add(self, call: McpCall) -> None:
        """Write a call down; with the first of a day, what is too old goes.

        Raises:
            StorageError: If the disk refuses.
        """
        day = call.at.astimezone(UTC).date()
        if day != self._swept:
            sweep_agent_log(self._folder, keep_days=self._keep_days, now=call.at)
            self._swept = day
        file = self._folder / f"calls-{day}.jsonl"
        line = orjson.dumps(call.model_dump(mode="json")) + b"\n"
        with storage_errors(file):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(file, flags, PRIVATE_FILE)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)


def open_agent_log(workspace: Workspace) -> AgentLog:
    """Return the log of a workspace.

    Raises:
        StorageError: If the disk refuses.
    """
    return AgentLog(workspace.private_part(PLACE), keep_days=workspace.settings.mcp.keep_days)


def agent_log_folder(workspace: Workspace) -> Path:
    """Return where the log of a workspace lies, whether or not there is one."""
    return workspace.private / PLACE


def sweep_agent_log(folder: Path, *, keep_days: int, now: datetime) -> int:
    """Remove the days that are older than they may be, and return how many there were.

    Raises:
        StorageError: If the disk refuses.
    """
    oldest = now.astimezone(UTC).date() - timedelta(days=keep_days)
    gone = 0
    for file in _files(folder):
        with suppress(ValueError):
            if date.fromisoformat(file.stem.removeprefix("calls-")) < oldest:
                with storage_errors(file):
                    file.unlink(missing_ok=True)
                gone += 1
    return gone


def forget_calls(
    workspace: Workspace, people: Collection[str], channels: Collection[str], *, hmac: Callable[[str], str]
) -> int:
    """Take out every line that names one of these people, or is of one of these channels, and return how many.

    A line that cannot be read goes as well: nobody can tell whom it names.

    Args:
        workspace: Whose log.
        people: Digests of whatever stands for them.
        channels: Digests of channels, as `findback purge --channel mcp:RETRIEVER` makes them.
        hmac: Keyed digest of the workspace.

    Raises:
        StorageError: If the disk refuses.
    """
    gone = 0
    for file in _files(agent_log_folder(workspace)):
        lines = file.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not _concerns(line, people, channels, hmac)]
        if len(kept) == len(lines):
            continue
        gone += len(lines) - len(kept)
        if kept:
            write_atomically(file, b"".join(kept), private=True)
        else:
            with storage_errors(file):
                file.unlink()
    return gone


def _concerns(line: bytes, people: Collection[str], channels: Collection[str], hmac: Callable[[str], str]) -> bool:
    try:
        call = McpCall.model_validate_json(line)
    except ValidationError:
        return True
    if not set(call.people).isdisjoint(people):
        return True
    return bool(channels) and hmac(f"container\0{SOURCE}\0{call.system or SOURCE}") in channels


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("calls-*.jsonl")) if folder.is_dir() else []
