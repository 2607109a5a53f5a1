"""Printing: one console for tables and lines, and JSON."""

import os
import sys
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from findback.model.record import Record
from findback.text.safe import escape_terminal


def console() -> Console:
    """Return the console results are printed on; NO_COLOR and dumb terminals are honoured by rich."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "100"))
    return Console(width=width, highlight=False, emoji=False, markup=False)


def show(renderable: RenderableType) -> None:
    """Print a renderable."""
    console().print(renderable)


def show_json(record: Record) -> None:
    """Print a record as JSON."""
    print(record.model_dump_json(indent=2))


def say(line: str) -> None:
    """Print one line of untrusted text, made safe for the terminal."""
    print(escape_terminal(line))


def warn(line: str) -> None:
    """Print one line of untrusted text to stderr, made safe for the terminal."""
    print(f"warning: {escape_terminal(line)}", file=sys.stderr)


def table(headers: tuple[str, ...], rows: list[tuple[Any, ...]], *, title: str | None = None) -> Table:
    """Return a plain table of untrusted cells."""
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for header in headers:
        grid.add_column(header, overflow="fold")
    for row in rows:
        grid.add_row(*(escape_terminal("" if cell is None else str(cell)) for cell in row))
    return grid
