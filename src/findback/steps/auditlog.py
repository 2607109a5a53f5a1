"""The event log for whoever checks what was done with people's words: names, states and counts, never a text."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from findback.errors import MissingError
from findback.model.record import Request
from findback.steps.bench import has_bench, open_bench
from findback.text.delimited import Cell, delimited_lines
from findback.workbench.columns import as_utc
from findback.workbench.event import Event
from findback.workspace import Workspace

NAMED = frozenset({"original", "token"})
"""Kinds of events whose doer stands in the log. Who reviewed what does not: it would add up to figures about people."""
COLUMNS = ("number", "at", "kind", "candidate", "by", "details")
PAGE = 1_000


class LogRequest(Request):
    """Export the event log: what was done when, without any text."""

    since: datetime | None = None
    """Leave out what is older; UTC where no zone is given."""
    format: Literal["csv", "jsonl"] = "csv"
    """A table, or JSON Lines."""


def export_log(workspace: Workspace, request: LogRequest) -> Iterator[str]:
    """Yield the log line by line, oldest first.

    Raises:
        MissingError: If there is no workbench.
        StorageError: If the database refuses.
    """
    if not has_bench(workspace):
        raise MissingError("there is no workbench, so nothing was done", hint="findback mine fills one")
    rows = _rows(workspace, request)
    if request.format == "csv":
        yield from delimited_lines(_with_header(rows), shown=True)
        return
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n"


def _with_header(rows: Iterator[tuple[Cell, Cell, Cell, Cell, Cell, dict[str, int | str]]]) -> Iterator[list[Cell]]:
    yield list(COLUMNS)
    for *cells, details in rows:
        yield [*cells, json.dumps(details, sort_keys=True)]


def _rows(
    workspace: Workspace, request: LogRequest
) -> Iterator[tuple[Cell, Cell, Cell, Cell, Cell, dict[str, int | str]]]:
    since = as_utc(request.since) if request.since is not None else None
    with open_bench(workspace) as bench:
        after = 0
        while events := bench.events(limit=PAGE, after=after):
            for event in events:
                if since is None or event.at >= since:
                    yield _row(event)
            after = events[-1].number


def _row(event: Event) -> tuple[Cell, Cell, Cell, Cell, Cell, dict[str, int | str]]:
    who = event.reviewer if event.kind in NAMED else None
    return event.number, event.at.isoformat(), event.kind, event.candidate, who, dict(event.details)
